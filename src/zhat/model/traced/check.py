"""Whether JAX can trace a log likelihood, and what it returns: checked on shapes, before anything is compiled."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import BadType, ShapeError
from zhat.model.core import Sizes
from zhat.model.data import largest_array, largest_factored, largest_made
from zhat.model.values import check_value_type, not_one_value
from zhat.seeding import key_shape

if TYPE_CHECKING:
    from zhat.model.model import Model


def check_traceable(model: Model) -> None:
    """Trace the likelihood on shapes only; what JAX would report in a traceback becomes a sentence."""
    core = model.core
    returned: list[Any] = []

    def one_point(key: jax.Array, data: Any, hyper: Any) -> Any:
        space = core.space
        u = space.sample_prior(key, data, hyper) if space.has_prior else jnp.zeros(space.n_dimensions)
        value = core.log_likelihood(core.space.constrain(u, data, hyper)[0], data, hyper)
        returned.append(type(value).__name__)
        return value

    with jax.enable_x64(True):
        try:
            program, out = jax.make_jaxpr(one_point, return_shape=True)(key_shape(), model.data, model.hyper)
            core.sizes = Sizes(largest=largest_array(program))
            made = largest_made(program) / max(model.data_size, 1)
            of_point = [True] + [False] * (len(program.jaxpr.invars) - 1)
            core.sizes = replace(core.sizes, made_share=made, factored=largest_factored(program, of_point))
        except (
            jax.errors.TracerArrayConversionError,
            jax.errors.TracerBoolConversionError,
            jax.errors.ConcretizationTypeError,
            jax.errors.TracerIntegerConversionError,
        ) as error:
            raise BadType(
                "log_likelihood cannot be traced by JAX (it uses NumPy or Python branches on parameter values): "
                "write it with jax.numpy, or give it to zhat.Model.black_box(...), which needs no tracing."
            ) from error
        except TypeError as error:
            if returned:
                raise BadType(f"log_likelihood returned a {returned[0]}: it must return one number.") from error
            raise _argument_help(model, error) from error
    if out is None:
        raise BadType("log_likelihood returned None: is its return statement missing?")
    if not hasattr(out, "shape"):
        raise BadType(f"log_likelihood returned a {type(out).__name__}: it must return one number.")
    check_value_type(np.dtype(out.dtype))
    if out.shape not in ((), (1,)):
        raise ShapeError(not_one_value(out.shape))


def _argument_help(model: Model, error: TypeError) -> Exception:
    """A sentence with the call that is made, where the function does not take it; else the error itself."""
    if model.core.pack is not None:  # an adapter has written the likelihood
        return BadType(f"the model {model.name!r} does not run on its arguments: {str(error).rstrip('.')}.{_lists(model.data)}")
    expected = 1 if model.data is None else 2
    called = "log_likelihood(params)" if expected == 1 else "log_likelihood(params, data)"
    try:
        inspect.signature(model.log_likelihood).bind(*range(expected))
    except TypeError:
        return BadType(f"log_likelihood is called as {called} here, which its signature does not take: {error}")
    if "string indexing" in str(error):
        names = ", ".join(map(repr, model.space.names))
        return BadType(
            f"log_likelihood is called as {called}, and takes an array for a dictionary ({error}): params is the dictionary "
            f"of the parameters ({names}){'' if model.data is None else ', data are as they were given; were the two swapped?'}"
        )
    if model.data is not None and "list" in str(error):
        return BadType(f"log_likelihood does not take these data: {str(error).rstrip('.')}.{_lists(model.data)}")
    return error


def _lists(data: Any) -> str:
    """What a list in the data is to a function that expects an array."""
    if not isinstance(data, list):
        return ""
    shapes = ", ".join(str(np.shape(part)) for part in data[:6])
    return (
        f" A list of lists or arrays stays a list: data are {len(data)} arrays of shapes {shapes}{', ...' if len(data) > 6 else ''}; "
        "give one array, numpy.array(...), or use them one by one."
    )
