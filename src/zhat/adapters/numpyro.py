"""NumPyro models: observed sites are the likelihood, latent sites the prior. `Model.from_numpyro` is the door to `model`.

The arguments are split: arrays and floats become the model's data, which are traced and can be replaced; all else (ints,
strings, flags, None) is fixed, and two models that differ in it are different models.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from numpyro import handlers
from numpyro.distributions import Unit

from zhat.errors import BadInput, BadType
from zhat.model.core import Core
from zhat.model.data import columns_of_frames, host_arrays, lists_as_arrays, split_arrays
from zhat.model.model import Model
from zhat.model.program import Program, sites_of, space_of
from zhat.model.space import Params
from zhat.model.traced.check import check_traceable
from zhat.seeding import key_shape


def model(
    fn: Callable[..., Any],
    *args: Any,
    name: str | None = None,
    zero_where_nan: bool = False,
    data_id: str | None = None,
    **kwargs: Any,
) -> Model:
    """The model ``fn(*args, **kwargs)``; see `Model.from_numpyro`."""
    if not callable(fn):
        raise BadType(
            f"from_numpyro(fn, *args, **kwargs) takes the model first, a function of numpyro.sample statements, not a "
            f"{type(fn).__name__}; its data come after it."
        )
    _check_call(fn, args, kwargs)
    arrays, rebuild = split_arrays(lists_as_arrays(columns_of_frames((args, kwargs), "data")))
    fixed, structure = jax.tree.flatten(rebuild([None] * len(arrays)), is_leaf=lambda x: x is None)

    def program(data: Any, hyper: Any) -> None:
        call_args, call_kwargs = rebuild(data)
        fn(*call_args, **call_kwargs)

    def log_likelihood(params: Params, data: Any, hyper: Any) -> Any:
        trace = sites_of(handlers.seed(handlers.substitute(program, data=params), 0), data, hyper)
        terms = []
        for site in trace.values():
            if site["type"] == "sample" and site["is_observed"]:
                scale = 1.0 if site["scale"] is None else site["scale"]
                terms.append(jnp.sum(site["fn"].log_prob(site["value"])) * scale)
        return sum(terms)

    arrays = host_arrays(arrays, "data")
    space = space_of(program, arrays, None)
    if not _has_observed(program, arrays):
        raise BadInput(
            f"{getattr(fn, '__name__', 'model')} has no observed site: pass the data that it conditions on "
            "(obs=...), or there is nothing to support."
        )
    label = str(name or getattr(fn, "__name__", "model"))

    def pack(new: Any) -> list[Any]:
        if isinstance(new, tuple) and len(new) == 2 and isinstance(new[0], tuple) and isinstance(new[1], dict):
            new = split_arrays(lists_as_arrays(columns_of_frames(new, "data")))[0]
        if not isinstance(new, list) or len(new) != len(arrays):
            raise BadInput(f"with_data takes (args, kwargs) like those of the NumPyro model {label!r}: {len(arrays)} arrays.")
        return new

    core = Core(log_likelihood, space, black_box=False, batched=False, pack=pack, made_from=(fn, structure, *fixed))
    made = Model(log_likelihood, fn, data=arrays, name=label, zero_where_nan=zero_where_nan, data_id=data_id, core=core)
    check_traceable(made)
    return made


def _check_call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        inspect.signature(fn).bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(fn, "__name__", "model")
        raise BadType(
            f"{name} cannot be called with these arguments: {error}. Give the data of the model after it: from_numpyro({name}, y)."
        ) from None
    except ValueError:  # a callable without a signature that Python can read
        return


def _has_observed(program: Program, data: Any) -> bool:
    found: list[Any] = []

    def look(key: jax.Array, data: Any) -> int:
        trace = sites_of(handlers.seed(program, key), data, None)
        found.extend(s for s in trace.values() if s["type"] == "sample" and s["is_observed"] and not isinstance(s["fn"], Unit))
        return 0

    with jax.enable_x64(True):
        jax.eval_shape(look, key_shape(), data)
    return bool(found)
