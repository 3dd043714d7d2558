"""The space of a prior that is a *program* of NumPyro `sample` statements; a dictionary of distributions is the simplest one.

NumPyro's supports and bijections map between parameters and the unconstrained vector. Parameters may depend on each other, also in
their supports: every site is transformed at its place in the program, where the values of its parents are known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.distributions.transforms import biject_to

from zhat.errors import BadInput, BadType
from zhat.model.coordinates.standard import depend_on_first, standard_transform, taken_out
from zhat.model.scipy_priors import translated
from zhat.model.space import Params, Site, Space
from zhat.seeding import key_shape
from zhat.surroundings import check_surroundings

Program = Callable[[Any, Any], Any]

_ONE_PROGRAM_AT_A_TIME = RLock()

# Distributions whose quantile functions in NumPyro are right to seven digits and more from 1e-9 to 1 - 1e-9 (tests/model/test_program.py).
EXACT_QUANTILES = {
    dist.Cauchy,
    dist.Exponential,
    dist.HalfCauchy,
    dist.HalfNormal,
    dist.Laplace,
    dist.LogNormal,
    dist.Logistic,
    dist.Normal,
    dist.Uniform,
}


@dataclass(frozen=True)
class ProgramSpace(Space):
    """The sites of a program, in its order; the data and hyperparameters are arguments of the program. See `Space` for the methods.

    With `standard` the location and scale of sites whose prior depends on other sites are taken out (`model.coordinates.standard`).
    """

    sites: tuple[Site, ...]
    program: Program
    standard: bool = False

    def transform(self, name: str, fn: Any) -> Any:
        """The map from the coordinates of a site to its parameter; `fn` is its distribution given the sites before it."""
        if self.standard and name in self._dependent:
            return standard_transform(base_of(fn))
        return biject_to(fn.support)

    @property
    def _dependent(self) -> set[str]:
        return {site.name for site in self.sites if site.depends}

    @property
    def other_coordinates(self) -> ProgramSpace | None:
        """See `Space`."""
        return replace(self, standard=not self.standard) if self._dependent else None

    def constrain(self, u: jax.Array, data: Any, hyper: Any) -> tuple[Params, jax.Array]:
        """See `Space`."""
        trace, log_jacobians = self._at(u, data, hyper)
        params = {name: trace[name]["value"] for name in self.names}
        log_prior = sum(_log_prob(trace[name]) for name in self.names)
        log_prior = jnp.asarray(log_prior + sum(log_jacobians), dtype=jnp.float64)
        finite = jnp.isfinite(u).all()
        for value in params.values():
            finite &= jnp.isfinite(value).all()
        return params, jnp.where(finite, log_prior, -jnp.inf)

    def log_priors(self, u: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        trace, log_jacobians = self._at(u, data, hyper)
        return jnp.stack([_log_prob(trace[name]) + one for name, one in zip(self.names, log_jacobians, strict=True)])

    def log_prior(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        trace = sites_of(handlers.seed(handlers.substitute(self.program, data=params), 0), data, hyper)
        return jnp.asarray(sum(_log_prob(trace[name]) for name in self.names), dtype=jnp.float64)

    def coordinates(self, params: Params, data: Any, hyper: Any) -> list[jax.Array]:
        """See `Space`."""
        trace = sites_of(handlers.seed(handlers.substitute(self.program, data=params), 0), data, hyper)
        return [jnp.ravel(self.transform(name, trace[name]["fn"]).inv(params[name])) for name in self.names]

    def _at(self, u: jax.Array, data: Any, hyper: Any) -> tuple[dict[str, Any], list[jax.Array]]:
        """The sites of the program at `u`, and the log-Jacobian of each.

        These are read off after the program has run: inside a `scan` of NumPyro a site's value is one step of a series, and what a
        handler would keep there does not outlive the step.
        """
        free = self.split(u)

        def substitute(msg: dict[str, Any]) -> Any:
            if msg["type"] != "sample" or msg["name"] not in free:
                return None
            return self.transform(msg["name"], msg["fn"])(free[msg["name"]])

        trace = sites_of(handlers.seed(handlers.substitute(self.program, substitute_fn=substitute), 0), data, hyper)
        log_jacobians = []
        for name in self.names:
            transform = self.transform(name, trace[name]["fn"])
            log_jacobians.append(jnp.sum(transform.log_abs_det_jacobian(free[name], trace[name]["value"])))
        return trace, log_jacobians

    def sample_prior(self, key: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        trace = sites_of(handlers.seed(self.program, key), data, hyper)
        return self.unconstrain({name: trace[name]["value"] for name in self.names}, data, hyper)

    def for_data(self, data: Any, hyper: Any) -> Space:
        """See `Space`."""
        return replace(space_of(self.program, data, hyper), standard=self.standard)


def space_of(program: Program, data: Any, hyper: Any) -> ProgramSpace:
    """Read the sites of a program without evaluating it, and refuse what cannot be a prior.

    Only shapes are computed (nothing is compiled). A site without a normalised density that can be separated from the
    likelihood is refused with a sentence.
    """
    sites: list[Site] = []
    last: list[str] = []  # names as they come: the last is at fault where NumPyro refuses to draw
    owners: list[int] = []

    def hides(site: Any) -> bool:
        last.append(str(site.get("name", "")))  # a control flow has none
        return False

    def named(data: Any, hyper: Any) -> Any:
        with handlers.block(hide_fn=hides):
            return program(data, hyper)

    def shapes_only(key: jax.Array, data: Any, hyper: Any) -> list[Any]:
        """What the standard coordinates of each site would take out; it depends on the key where it depends on other sites."""
        trace = sites_of(handlers.seed(named, key), data, hyper)
        arguments: list[Any] = []
        for name, site in trace.items():
            if _is_latent(name, site):
                own = taken_out(base_of(site["fn"]))
                owners.extend([len(sites)] * len(own))
                arguments += own
                sites.append(_site(name, site))
        return arguments

    with jax.enable_x64(True):
        try:
            depend = depend_on_first(shapes_only, key_shape(), data, hyper)
        except NotImplementedError as error:  # raised by NumPyro for a distribution without a sampler
            raise _improper(repr(last[-1]) if last else "of a site that cannot be drawn") from error
        except AssertionError as error:  # raised by NumPyro for two sites of one name
            raise BadInput(f"the prior's statements do not fit together: {error}. Every parameter needs its own name.") from error
        except ValueError as error:  # raised by NumPyro for an argument that is no legal one
            if "distribution got invalid" not in str(error):
                raise
            raise BadInput(
                f"{str(error).rstrip('.')}: the model has a distribution that does not exist. Scales, rates and shapes are positive "
                "numbers, and no argument is NaN."
            ) from error
    if not sites:
        raise BadInput("The prior has no parameters: a model needs at least one; give prior={'name': distribution}.")
    dependent = {owner for owner, depends in zip(owners, depend, strict=True) if depends}
    return ProgramSpace(tuple(replace(site, depends=i in dependent) for i, site in enumerate(sites)), program)


def program_of(prior: Any, takes_hyper: bool) -> Program:
    """The program behind a dictionary of distributions, a function returning one, or a NumPyro function."""
    check_surroundings()
    if isinstance(prior, Mapping):
        distributions = translated(prior)
        _check_dictionary(distributions)

        def from_dictionary(data: Any, hyper: Any) -> None:
            _sample_all(distributions)

        return from_dictionary
    if not callable(prior) or isinstance(prior, dist.Distribution):  # which can be called, to draw from it
        raise BadType(
            f"prior is a {type(prior).__name__}: give a dictionary of NumPyro distributions by the names of the parameters, such as "
            "{'mu': numpyro.distributions.Normal(0.0, 10.0)}, or a function of numpyro.sample statements."
        )
    _check_call(prior, takes_hyper)

    def from_function(data: Any, hyper: Any) -> None:
        returned = prior(hyper) if takes_hyper else prior()
        if not isinstance(returned, Mapping):
            return
        distributions = translated(returned)
        if any(isinstance(v, dist.Distribution) for v in distributions.values()):
            _check_dictionary(distributions)
            _sample_all(distributions)

    return from_function


def _check_call(prior: Callable[..., Any], takes_hyper: bool) -> None:
    """Refuse a function of the prior that does not take the call that is made; most often it is the likelihood."""
    try:
        inspect.signature(prior).bind(*(["hyper"] if takes_hyper else []))
    except TypeError as error:
        called = "prior(hyper)" if takes_hyper else "prior(), because no hyper= is given"
        raise BadType(
            f"the prior is called as {called}, which its signature does not take ({error}). If it is the log likelihood, the two "
            "were swapped: zhat.Model(log_likelihood, prior)."
        ) from None
    except ValueError:  # a callable without a signature that Python can read
        return


def _sample_all(prior: Mapping[str, dist.Distribution]) -> None:
    import numpyro

    for name, distribution in prior.items():
        numpyro.sample(name, distribution)


def _check_dictionary(prior: Mapping[Any, Any]) -> None:
    if not prior:
        raise BadInput("prior is an empty dictionary: a model needs at least one parameter.")
    for name, value in prior.items():
        if not isinstance(name, str) or not name.strip():
            raise BadInput(f"prior has the parameter name {name!r}: names must be non-empty strings.")
        if isinstance(value, dist.ImproperUniform):
            raise _improper(repr(name))
        if not isinstance(value, dist.Distribution):
            given = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
            raise BadType(
                f"prior[{name!r}] is {given}, not a NumPyro distribution; "
                "for example numpyro.distributions.Normal(0.0, 10.0) or scipy.stats.norm(0.0, 10.0)."
            )


def sites_of(fn: Callable[..., Any], data: Any, hyper: Any) -> dict[str, Any]:
    """Run a program once and return its sites by name; one thread at a time.

    NumPyro keeps its handlers on one stack for the whole process: two threads that run programs at the same time would
    mix their sites and tracers. Only the tracing of a program waits here; compiled code does not.
    """
    with _ONE_PROGRAM_AT_A_TIME:
        trace: dict[str, Any] = handlers.trace(fn).get_trace(data, hyper)
    return trace


def with_values(fn: Callable[[], Any], values: Mapping[str, Any]) -> Any:
    """What `fn` returns when its `sample` statements take these values; one thread at a time."""
    with _ONE_PROGRAM_AT_A_TIME, handlers.block(), handlers.substitute(data=dict(values)):
        return fn()


def _log_prob(site: dict[str, Any]) -> jax.Array:
    return jnp.sum(site["fn"].log_prob(site["value"]))


def _is_latent(name: str, site: dict[str, Any]) -> bool:
    """Whether a site is a parameter; raises for sites that make prior and likelihood inseparable."""
    kind = site["type"]
    if kind == "param":
        raise BadInput(f"numpyro.param {name!r} is not a random variable: give it a prior with numpyro.sample.")
    if kind == "plate" and site["args"][1] not in (None, site["args"][0]):
        raise BadInput(f"plate {name!r} is subsampled: the likelihood would be random; use the full data (no subsample_size).")
    if kind != "sample":
        return False
    if site["is_observed"]:
        if isinstance(site["fn"], dist.Unit):
            raise BadInput(
                f"numpyro.factor {name!r} cannot be split into prior and likelihood; write it as an observed "
                "numpyro.sample, or give the log likelihood as a function of its own: zhat.Model(log_likelihood, prior)."
            )
        return False
    if name.endswith("_unobserved"):
        raise BadInput(f"site {name!r} is imputed missing data (obs_mask): drop the missing rows, or make it a parameter.")
    return True


def _site(name: str, site: dict[str, Any]) -> Site:
    fn = site["fn"]
    if isinstance(base_of(fn), dist.Delta):
        raise BadInput(
            f"parameter {name!r} has a Delta prior, all of whose mass is at one value: it is a constant and no parameter. Write the "
            "number into the likelihood, or give it as data or hyper."
        )
    if fn.is_discrete:
        raise BadInput(f"parameter {name!r} is discrete ({type(fn).__name__}): sum it out of the likelihood first.")
    if site.get("scale") is not None:
        raise BadInput(f"parameter {name!r} is inside handlers.scale: its prior would not integrate to one.")
    if isinstance(fn, dist.MaskedDistribution):
        raise BadInput(f"parameter {name!r} is masked: its prior would not integrate to one.")
    if isinstance(fn, dist.ImproperUniform):
        raise _improper(repr(name))
    _check_arguments(name, fn)
    free = jax.eval_shape(biject_to(fn.support).inv, site["value"]).shape
    exact = type(base_of(fn)) in EXACT_QUANTILES
    near = exact or isinstance(base_of(fn), dist.Gamma) or has_quantiles(fn, site["value"])
    return Site(name, tuple(site["value"].shape), tuple(free), str(fn.support), exact, near)


def has_quantiles(fn: dist.Distribution, value: Any) -> bool:
    """Whether a distribution has a distribution function and its inverse, for one number at a time."""
    base = base_of(fn)
    if base.event_shape != () or base.is_discrete:
        return False
    try:
        one = jnp.shape(base.cdf(value)) == jnp.shape(value)
        return bool(one and jnp.shape(base.icdf(base.cdf(value))) == jnp.shape(value))
    except (NotImplementedError, ImportError, AttributeError, TypeError, ValueError):
        return False


def base_of(fn: dist.Distribution) -> dist.Distribution:
    """The distribution behind shapes and events that are constant."""
    while isinstance(fn, dist.Independent | dist.ExpandedDistribution):
        fn = fn.base_dist
    return fn


def _improper(name: str) -> BadInput:
    return BadInput(
        f"parameter {name} has an improper prior: the evidence is then undefined. "
        "Give a proper prior that states what is known of the parameter; its width changes the evidence. If every model that you "
        "compare has this parameter in the same role (a common intercept or scale), its prior nearly cancels in the Bayes factor: "
        "give it the same proper prior in all of them, with the width as hyper, and zhat.sensitivity shows how little the width "
        "matters. If only one of them has it, it does not cancel: a wide prior counts against that model, however wide it is made."
    )


def _check_arguments(name: str, fn: dist.Distribution) -> None:
    """Refuse crossed or infinite bounds where they are known; NumPyro checks the other arguments itself."""
    low, high = getattr(fn, "low", None), getattr(fn, "high", None)
    if low is None or high is None or isinstance(low, jax.core.Tracer) or isinstance(high, jax.core.Tracer):
        return
    if not np.all(np.isfinite(np.asarray(low)) & np.isfinite(np.asarray(high))) and isinstance(fn, dist.Uniform):
        raise _improper(repr(name))
    if not np.all(np.asarray(low) < np.asarray(high)):
        raise BadInput(f"prior of {name!r}: low={low} is not below high={high}.")
