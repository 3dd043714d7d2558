"""Model: a log likelihood and a normalised prior, kept apart, with data and hyperparameters as arguments.

Tempering needs likelihood and prior as two functions, so a model always is two. Data go to the likelihood and
hyperparameters to the prior *as arguments*, not as closures: what is compiled for one data set serves the next
(`with_data`), and a curve over a prior scale compiles once (`with_hyper`).

    model = Model(log_likelihood, prior={"mu": dist.Normal(0.0, 10.0), "tau": dist.Gamma(3.0, 2.0)}, data=y)

Four ways in:

* a JAX log likelihood and a dictionary of NumPyro distributions (above);
* a JAX log likelihood and a NumPyro function of `sample` statements, when parameters depend on each other;
* `Model.from_numpyro(fn, *args, **kwargs)`: observed sites are the likelihood, latent sites the prior;
* `Model.black_box(fn, prior)`: any Python function of NumPy values, one point or a batch at a time, no gradients.

(This file is longer than its neighbours because the class that users hold has four ways in, each with its checks at the door;
apart from each other they would have to share private state.)
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.distributions import Unit

from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.data import fingerprint, host_arrays, largest_array, shapes, split_arrays
from zhat.model.space import Params, Program, Space, program_of, sites_of, space_of
from zhat.model.values import batch_of_values, check_value_type, describe_point, not_one_value, single_value

if TYPE_CHECKING:
    from zhat.run.model_check import Report


class Offer(enum.Enum):
    """What a model can give to a method; the value is how a message names it."""

    PRIOR_DRAWS = "prior draws"
    LIKELIHOOD = "a log likelihood"
    GRADIENT = "gradients"
    CONDITIONALS = "tempered full conditionals"


@dataclass(frozen=True)
class Conditional:
    """One block of a Gibbs sampler for the tempered posterior, prior x likelihood^beta.

    A draw is a deterministic function of standard noise whose law does not depend on the parameters, so that the
    noise of a whole run can be drawn in bulk.

    Attributes
    ----------
    block : tuple of str
        The parameters that this block draws.
    noise : callable ``(rng, shape, beta, data, hyper) -> arrays``
        Standard noise with leading axes `shape` from a NumPy generator; its law may depend on beta (the shape of a
        gamma), not on parameters.
    draw : callable ``(noise, params, beta, data, hyper) -> dict``
        New values of the block given all other parameters, for one point.
    log_density : callable ``(params, beta, data, hyper) -> float``
        The block's *normalised* conditional log density at its value in `params`, given the others in `params`.
    noise_into : callable ``(rng, out, betas, data, hyper)``, optional
        Noise of many rungs straight into one array, that of ``betas[k]`` into ``out[k]``: ``rng.standard_normal(out=out)``.
    """

    block: tuple[str, ...]
    noise: Callable[..., Any]
    draw: Callable[..., dict[str, Any]]
    log_density: Callable[..., Any]
    noise_into: Callable[..., Any] | None = None


class Core:
    """What models that differ only in data or hyperparameters share: functions, space, compiled code.

    `compiled` keeps one jitted function per purpose; `traces` counts how often Python ran through each, which is
    how tests know that nothing is compiled twice.
    """

    def __init__(
        self,
        log_likelihood: Callable[[Params, Any, Any], Any],
        space: Space,
        black_box: bool,
        batched: bool,
        pack: Callable[[Any], Any] | None = None,
    ) -> None:
        self.log_likelihood = log_likelihood
        self.space = space
        self.black_box = black_box
        self.batched = batched
        self.pack = pack  # how a NumPyro model's (args, kwargs) become its data
        self.largest_array = 0  # of numbers that evaluating one point needs, where that was looked at
        self.traces: dict[Any, int] = {}
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def compiled(self, purpose: Any, build: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """The jitted function of this purpose, built on first use; its traces are counted."""
        if purpose not in self._compiled:
            function = build()

            def counted(*args: Any) -> Any:
                self.traces[purpose] = self.traces.get(purpose, 0) + 1
                return function(*args)

            self._compiled[purpose] = jax.jit(counted)
        return self._compiled[purpose]

    def log_densities(self, u: jax.Array, data: Any, hyper: Any) -> tuple[jax.Array, jax.Array]:
        """Log prior (of the unconstrained vector) and log likelihood at one point; traceable models only.

        Where the prior density is zero or its transform overflows, the likelihood is not asked for: its value there
        belongs to no parameter, and a NaN would accuse the user of our own overflow.
        """
        params, log_prior = self.space.constrain(u, data, hyper)
        inside = jnp.isfinite(log_prior)
        log_likelihood = jnp.reshape(jnp.asarray(self.log_likelihood(params, data, hyper), jnp.float64), ())
        return jnp.where(inside, log_prior, -jnp.inf), jnp.where(inside, log_likelihood, -jnp.inf)


@dataclass(frozen=True, eq=False)
class Model:
    """A model whose evidence can be asked for.

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(params)``, or ``log_likelihood(params, data)`` when `data` is given; `params` is a
        dictionary of arrays. Written with jax.numpy (for plain NumPy use `Model.black_box`).
    prior : dict or callable
        Names to NumPyro distributions; or a function returning such a dictionary; or a NumPyro function of
        `sample` statements. A function is called with `hyper` when that is given. Must integrate to one.
    data : arrays in any nesting of tuples, lists and dictionaries, optional
    hyper : numbers or arrays in any nesting, optional
    name : str
    conditionals : sequence of Conditional
        Tempered full conditionals, one per block, covering every parameter; unlocks Gibbs moves and Chib's method.
    zero_where_nan : bool
        Take a NaN log likelihood as zero likelihood instead of stopping; such points are counted and the result
        is marked suspect.
    data_id : str, optional
        Fingerprint of the data; computed from `data` when not given. Evidences are comparable only with equal ones.
    """

    log_likelihood: Callable[..., Any]
    prior: Any
    data: Any = None
    hyper: Any = None
    name: str = "model"
    conditionals: tuple[Conditional, ...] = ()
    zero_where_nan: bool = False
    data_id: str | None = None
    core: Core = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check what can be checked without running anything on numbers."""
        if not isinstance(self.name, str) or not self.name.strip():
            raise BadInput(f"name={self.name!r}: a model's name is a non-empty string.")
        set_ = object.__setattr__
        set_(self, "data", host_arrays(self.data, "data"))
        set_(self, "hyper", host_arrays(self.hyper, "hyper"))
        set_(self, "conditionals", tuple(self.conditionals))
        if self.core is None:
            if not callable(self.log_likelihood):
                raise BadType(f"log_likelihood is a {type(self.log_likelihood).__name__}, not a function.")
            has_data = self.data is not None
            fn = self.log_likelihood
            call = (lambda p, data, hyper: fn(p, data)) if has_data else (lambda p, data, hyper: fn(p))
            space = space_of(program_of(self.prior, self.hyper is not None), self.data, self.hyper)
            set_(self, "core", Core(call, space, black_box=False, batched=False))
            _check_traceable(self)
        if self.data_id is None and self.data is not None:
            set_(self, "data_id", fingerprint(self.data))
        _check_conditionals(self)

    # -- other ways in ---------------------------------------------------------------------------------------

    @classmethod
    def from_numpyro(
        cls, fn: Callable[..., Any], *args: Any, name: str | None = None, zero_where_nan: bool = False, **kwargs: Any
    ) -> Model:
        """A NumPyro model with its data: observed sites are the likelihood, latent sites the prior.

        Arrays among the arguments are data (traced; replace them with ``with_data((args, kwargs))``); everything
        else (ints, strings, flags, None) is fixed. Refused with a sentence: `factor`, discrete latents, improper
        priors, subsampled plates, imputed data, priors inside `scale` or `mask`.
        """
        arrays, rebuild = split_arrays((args, kwargs))

        def program(data: Any, hyper: Any) -> None:
            call_args, call_kwargs = rebuild(data)
            fn(*call_args, **call_kwargs)

        def log_likelihood(params: Params, data: Any, hyper: Any) -> Any:
            trace = sites_of(handlers.substitute(handlers.seed(program, 0), data=params), data, hyper)
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
                new = split_arrays(new)[0]
            if not isinstance(new, list) or len(new) != len(arrays):
                raise BadInput(f"with_data takes (args, kwargs) like those of the NumPyro model {label!r}: {len(arrays)} arrays.")
            return new

        core = Core(log_likelihood, space, black_box=False, batched=False, pack=pack)
        model = cls(log_likelihood, fn, data=arrays, name=label, zero_where_nan=zero_where_nan, core=core)
        _check_traceable(model)
        return model

    @classmethod
    def black_box(
        cls,
        log_likelihood: Callable[..., Any],
        prior: Any,
        *,
        batched: bool = False,
        data: Any = None,
        hyper: Any = None,
        name: str = "model",
        zero_where_nan: bool = False,
    ) -> Model:
        """A likelihood that is any Python function of NumPy values: a simulator, a compiled code, a lookup.

        With ``batched=True`` it receives arrays with a leading axis of n points and returns n values, else one
        point and one value. It is called from Python, never traced, so there are no gradients.
        """
        if not callable(log_likelihood):
            raise BadType(f"log_likelihood is a {type(log_likelihood).__name__}, not a function.")
        data, hyper = host_arrays(data, "data"), host_arrays(hyper, "hyper")
        fn = log_likelihood
        call = (lambda p, d, h: fn(p)) if data is None else (lambda p, d, h: fn(p, d))
        space = space_of(program_of(prior, hyper is not None), data, hyper)
        core = Core(call, space, black_box=True, batched=batched)
        return cls(log_likelihood, prior, data=data, hyper=hyper, name=name, zero_where_nan=zero_where_nan, core=core)

    # -- the same model, other numbers -----------------------------------------------------------------------

    def with_data(self, data: Any, name: str | None = None, data_id: str | None = None) -> Model:
        """The same model for other data of the same structure; what is compiled is reused."""
        if self.core.pack is not None:
            data = self.core.pack(data)
        data = host_arrays(data, "data")
        return replace(self, data=data, data_id=data_id, name=name or self.name, core=self._core_for(data, self.hyper))

    def with_hyper(self, hyper: Any, name: str | None = None) -> Model:
        """The same model with other hyperparameters; what is compiled is reused."""
        if self.hyper is None:
            raise BadInput("this model has no hyperparameters: give hyper=... and a prior that is a function of it.")
        hyper = host_arrays(hyper, "hyper")
        return replace(self, hyper=hyper, name=name or self.name, core=self._core_for(self.data, hyper))

    def _core_for(self, data: Any, hyper: Any) -> Core:
        """This core, unless the new arguments change the space (more groups, other shapes)."""
        if (data is None) != (self.data is None) or (hyper is None) != (self.hyper is None):
            raise BadInput("data and hyper can be replaced, not added or removed: build a new Model for that.")
        if shapes((data, hyper)) == shapes((self.data, self.hyper)):
            return self.core
        space = space_of(self.core.space.program, data, hyper)
        if space.sites == self.core.space.sites:
            return self.core
        core = Core(self.core.log_likelihood, space, self.core.black_box, self.core.batched, self.core.pack)
        core.largest_array = self.core.largest_array
        return core

    # -- what it is and has ----------------------------------------------------------------------------------

    @property
    def space(self) -> Space:
        """Parameter names, shapes and supports."""
        return self.core.space

    @property
    def n_dimensions(self) -> int:
        """Number of unconstrained coordinates."""
        return self.core.space.n_dimensions

    @cached_property
    def data_size(self) -> int:
        """Number of entries of the largest data array; without data, of what the likelihood has in its closure or makes."""
        return max((int(np.size(leaf)) for leaf in jax.tree.leaves(self.data)), default=self.core.largest_array)

    @property
    def is_black_box(self) -> bool:
        """Whether the likelihood is called from Python rather than compiled."""
        return self.core.black_box

    @property
    def offers(self) -> frozenset[Offer]:
        """What methods can ask of this model."""
        offers = {Offer.PRIOR_DRAWS, Offer.LIKELIHOOD}
        if not self.is_black_box:
            offers.add(Offer.GRADIENT)
        if self.conditionals:
            offers.add(Offer.CONDITIONALS)
        return frozenset(offers)

    def evaluate(self, **params: Any) -> tuple[float, float]:
        """Log prior (of the parameters themselves) and log likelihood at one point, for a look or a test."""
        missing, extra = set(self.space.names) - set(params), set(params) - set(self.space.names)
        if missing or extra:
            raise BadInput(f"parameters of {self.name!r} are {list(self.space.names)}; got {sorted(params)}.")
        with jax.enable_x64(True):
            point = {k: np.asarray(v, np.float64) for k, v in params.items()}
            log_prior = self.core.compiled("log_prior", lambda: self.space.log_prior)(point, self.data, self.hyper)
            if self.is_black_box:
                batch = {k: v[None] for k, v in point.items()}
                return float(log_prior), float(black_box_values(self, batch)[0])
            fn = self.core.compiled("log_likelihood", lambda: self.core.log_likelihood)
            return float(log_prior), float(np.reshape(fn(point, self.data, self.hyper), ()))

    def check(self, n_draws: int = 1000, seed: int = 0) -> Report:
        """Evaluate the model on prior draws and say in words what was seen; see `zhat.run.model_check`."""
        from zhat.run.model_check import check_model

        return check_model(self, n_draws, seed)


def black_box_values(model: Model, params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Log likelihoods of a black box at a batch of points (leading axis n), with its answers checked.

    The user's function gets copies, so that it cannot change our points, and its own exceptions come out as they
    are, with the point noted.
    """
    core = model.core
    n = len(next(iter(params.values())))
    if n == 0:
        return np.empty(0)
    if core.batched:
        batch = {k: np.array(v) for k, v in params.items()}
        try:
            values = core.log_likelihood(batch, model.data, model.hyper)
        except Exception as error:  # a user's function may raise anything; it goes on as it is, with a note of where it was
            error.add_note(f"raised by the log likelihood of {model.name!r} on a batch of {n} points.")
            raise
        return batch_of_values(values, n)
    out = np.empty(n)
    for i in range(n):
        point = {k: np.array(v[i]) for k, v in params.items()}
        try:
            value = core.log_likelihood(point, model.data, model.hyper)
        except Exception as error:  # as above
            error.add_note(f"raised by the log likelihood of {model.name!r} at {describe_point(params, i)}.")
            raise
        out[i] = single_value(value)
    return out


# -- checks at the door ----------------------------------------------------------------------------------------


def _has_observed(program: Program, data: Any) -> bool:
    found: list[Any] = []

    def look(key: jax.Array, data: Any) -> int:
        trace = sites_of(handlers.seed(program, key), data, None)
        found.extend(s for s in trace.values() if s["type"] == "sample" and s["is_observed"] and not isinstance(s["fn"], Unit))
        return 0

    with jax.enable_x64(True):
        jax.eval_shape(look, jax.random.key(0), data)
    return bool(found)


def _check_traceable(model: Model) -> None:
    """Run the likelihood on shapes only, and say in words what JAX would say in a traceback."""
    core = model.core
    returned: list[Any] = []

    def one_point(key: jax.Array, data: Any, hyper: Any) -> Any:
        u = core.space.sample_prior(key, data, hyper)
        value = core.log_likelihood(core.space.constrain(u, data, hyper)[0], data, hyper)
        returned.append(type(value).__name__)
        return value

    with jax.enable_x64(True):
        try:
            program, out = jax.make_jaxpr(one_point, return_shape=True)(jax.random.key(0), model.data, model.hyper)
            core.largest_array = largest_array(program)
        except (
            jax.errors.TracerArrayConversionError,
            jax.errors.TracerBoolConversionError,
            jax.errors.ConcretizationTypeError,
            jax.errors.TracerIntegerConversionError,
        ) as error:
            raise BadType(
                "log_likelihood cannot be traced by JAX (it uses NumPy or Python branches on parameter values): "
                "write it with jax.numpy, or give it to Model.black_box(...), which needs no tracing."
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
    """Say what the likelihood is called with, if that is what went wrong."""
    expected = 1 if model.data is None else 2
    try:
        inspect.signature(model.log_likelihood).bind(*range(expected))
    except TypeError:
        called = "log_likelihood(params)" if expected == 1 else "log_likelihood(params, data)"
        return BadType(f"log_likelihood is called as {called} here, which its signature does not take: {error}")
    return error


def _check_conditionals(model: Model) -> None:
    if not model.conditionals:
        return
    blocks = [name for c in model.conditionals for name in c.block]
    if sorted(blocks) != sorted(model.space.names):
        raise BadInput(
            f"conditionals draw {blocks} but the parameters are {list(model.space.names)}: "
            "every parameter must stand in exactly one block."
        )
