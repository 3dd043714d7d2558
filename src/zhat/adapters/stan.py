"""Stan models: any object with the methods of BridgeStan's `StanModel`. `Model.from_stan` is the door to `model`.

    param_names()  param_unc_names()  param_unc_num()  log_density(u, propto=False, jacobian=...)  param_constrain(u)  param_unconstrain(x)

A Stan program is one density of parameters and data, and nothing can be drawn from its prior: its evidence comes from posterior draws
(bridge sampling). Parameters have Stan's names, and their shapes; the order of a vector's entries is Stan's, by columns.

**Constants.** BridgeStan is always asked for all of them (``propto=False``). That is not enough where a program truncates a prior:
``real<lower=0> tau; tau ~ cauchy(0, 5);`` has prior mass 1/2, and the evidence is log 2 too low. A second object of the same program
with the likelihood switched off (`prior_only`) separates the two; its own evidence is the logarithm of the prior's mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import BadInput, BadType
from zhat.model.core import Core
from zhat.model.model import UNNAMED, Model
from zhat.model.space import Params, Site, Space

METHODS = ("param_names", "param_unc_names", "param_unc_num", "log_density", "param_constrain", "param_unconstrain")
# Points at which the density is tried: the origin, and standard normal ones.
N_TRIED = 20


def model(
    stan_model: Any,
    prior_only: Any = None,
    *,
    name: str | None = None,
    zero_where_nan: bool = False,
    data_id: str | None = None,
) -> Model:
    """The model of a BridgeStan object; see `Model.from_stan`."""
    _check_methods(stan_model, "Model.from_stan takes")
    sites = _sites(stan_model)
    if prior_only is not None:
        _check_methods(prior_only, "prior_only is")
        if list(prior_only.param_names()) != list(stan_model.param_names()):
            raise BadInput("prior_only has other parameters than the model: load the same program twice, with other data.")
    space = StanSpace(sites, stan_model, prior_only)
    _check_density(stan_model, "the model")
    if prior_only is not None:
        _check_density(prior_only, "prior_only")
        _check_switch(stan_model, prior_only)
    density = Rest(space)
    core = Core(density, space, black_box=True, batched=True, made_from=(stan_model, prior_only))
    return Model(density, None, name=name or _name(stan_model), zero_where_nan=zero_where_nan, data_id=data_id, core=core)


@dataclass(frozen=True, eq=False)
class StanSpace(Space):
    """The parameters of a Stan program, whose maps are calls out of compiled code; see `Space` for the methods.

    What stands for the log prior is the log-Jacobian, plus the log density of `prior_only` where there is one.
    """

    sites: tuple[Site, ...]
    stan: Any
    prior_only: Any
    has_prior: ClassVar[bool] = False

    def constrain(self, u: jax.Array, data: Any, hyper: Any) -> tuple[Params, jax.Array]:
        """See `Space`."""
        n = sum(int(np.prod(site.shape)) for site in self.sites)
        out = _called(self._at, n + 1, u)
        values, log_prior = out[:n], out[n]
        return self._named(values), jnp.where(jnp.isfinite(u).all() & jnp.isfinite(values).all(), log_prior, -jnp.inf)

    def log_priors(self, u: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """Refused: Stan gives one density of all parameters."""
        raise BadInput("a Stan program has one density of all of its parameters, and none for each.")

    def log_prior(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """See `Space`; zero without `prior_only`."""
        if self.prior_only is None:
            return jnp.zeros((), jnp.float64)
        u = self.unconstrain(params, data, hyper)
        return _called(lambda u: _each(u, lambda x: [_log_density(self.prior_only, x, False)]), 1, u)[0]

    def coordinates(self, params: Params, data: Any, hyper: Any) -> list[jax.Array]:
        """See `Space`."""
        flat = jnp.concatenate([jnp.ravel(jnp.asarray(params[site.name], jnp.float64).T) for site in self.sites])
        u = _called(lambda x: _each(x, self.to_free), self.n_dimensions, flat)
        return [jnp.ravel(part) for part in self.split(u).values()]

    def sample_prior(self, key: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """Refused: there is none."""
        raise BadInput(
            "nothing can be drawn from the prior of a Stan program: give posterior draws, zhat.evidence(model, draws=...)."
        )

    def for_data(self, data: Any, hyper: Any) -> Space:
        """Refused: the data are in the Stan object."""
        raise BadInput(
            "the data of a Stan model are in its object: load the program with other data and call zhat.Model.from_stan."
        )

    def to_free(self, values: np.ndarray) -> np.ndarray:
        """The coordinates of one vector of parameters; NaN where Stan refuses it."""
        try:
            return np.asarray(self.stan.param_unconstrain(np.ascontiguousarray(values)), np.float64)
        except (RuntimeError, ValueError):
            return np.full(self.n_dimensions, np.nan)

    def _at(self, u: Any) -> np.ndarray:
        """Parameters and, last, the log-Jacobian, with the log prior if it is known, at points with any leading axes."""
        u = np.asarray(u, np.float64)
        n = sum(int(np.prod(site.shape)) for site in self.sites)
        values, log_prior = np.full((*u.shape[:-1], n), np.nan), np.full(u.shape[:-1], -np.inf)
        known = self.stan if self.prior_only is None else self.prior_only
        for i in np.ndindex(*u.shape[:-1]):
            if not np.isfinite(u[i]).all():
                continue
            try:
                values[i] = self.stan.param_constrain(np.ascontiguousarray(u[i]))
            except (RuntimeError, ValueError):
                continue
            with_jacobian = _log_density(known, u[i], True)
            log_prior[i] = with_jacobian - _log_density(known, u[i], False) if self.prior_only is None else with_jacobian
        return np.concatenate([values, log_prior[..., None]], axis=-1)

    def _named(self, values: jax.Array) -> Params:
        params, start = {}, 0
        for site in self.sites:
            size = int(np.prod(site.shape))
            params[site.name] = values[start : start + size].reshape(site.shape[::-1]).T  # Stan writes matrices by columns
            start += size
        return params


@dataclass(frozen=True, eq=False)
class Rest:
    """The density of the parameters themselves without what the space has of it, at a batch of points."""

    space: StanSpace

    def __call__(self, params: Params, data: Any, hyper: Any) -> np.ndarray:
        """Log likelihoods if the prior is known apart, else log prior + log likelihood."""
        space = self.space
        n = len(next(iter(params.values())))
        out = np.full(n, -np.inf)
        for i in range(n):
            values = [np.ravel(params[site.name][i], order="F") for site in space.sites]
            u = space.to_free(np.concatenate(values))
            if np.isfinite(u).all():
                out[i] = _log_density(space.stan, u, False)
                if space.prior_only is not None and np.isfinite(out[i]):
                    out[i] -= _log_density(space.prior_only, u, False)
        return np.where(out == np.inf, np.nan, out)


def _log_density(stan: Any, u: np.ndarray, jacobian: bool) -> float:
    """With every constant; -inf where Stan refuses a value (a domain error means zero density)."""
    try:
        return float(stan.log_density(np.ascontiguousarray(u), propto=False, jacobian=jacobian))
    except RuntimeError:
        return -np.inf


def _called(function: Callable[[np.ndarray], np.ndarray], n_out: int, point: jax.Array) -> jax.Array:
    """A NumPy function of a vector, with `n_out` numbers as its result, called out of compiled code.

    Numbers travel as pairs of 32-bit words: JAX calls back from threads of its own, which do not know that double precision was switched
    on for this call, and would round them.
    """

    def on_words(words: Any) -> np.ndarray:
        given = np.ascontiguousarray(words, np.uint32).view(np.float64)[..., 0]
        return np.ascontiguousarray(function(given), np.float64)[..., None].view(np.uint32)

    words = jax.lax.bitcast_convert_type(jnp.asarray(point, jnp.float64), jnp.uint32)
    out = jax.pure_callback(on_words, jax.ShapeDtypeStruct((n_out, 2), jnp.uint32), words, vmap_method="expand_dims")
    return jax.lax.bitcast_convert_type(out, jnp.float64)


def _each(points: Any, function: Any) -> np.ndarray:
    """A function at points with any leading axes."""
    points = np.asarray(points, np.float64)
    rows = [function(points[i]) for i in np.ndindex(*points.shape[:-1])]
    return np.asarray(rows, np.float64).reshape((*points.shape[:-1], *np.shape(rows[0])))


# -- checks at the door ----------------------------------------------------------------------------------------


def _check_methods(stan_model: Any, start: str) -> None:
    missing = [name for name in METHODS if not callable(getattr(stan_model, name, None))]
    if missing:
        kind = type(stan_model)
        shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        raise BadType(
            f"{start} an object with BridgeStan's methods, and this {shown} has no {', '.join(missing)}: load the program with "
            'bridgestan.StanModel("model.stan", data).'
        )


def _name(stan_model: Any) -> str:
    own = getattr(stan_model, "name", None)
    return (str(own()) if callable(own) else UNNAMED) or UNNAMED


def _sites(stan_model: Any) -> tuple[Site, ...]:
    shapes, free = _by_name(stan_model.param_names()), _by_name(stan_model.param_unc_names())
    if not shapes:
        raise BadInput("this Stan program has no parameters: a model needs at least one.")
    sizes = {name: int(np.prod(shape)) for name, shape in free.items()}
    if set(sizes) - set(shapes) or sum(sizes.values()) != stan_model.param_unc_num():
        raise BadInput("param_unc_names() and param_unc_num() of this Stan model do not agree with its param_names().")
    sites = []
    for name, shape in shapes.items():
        own = shape if sizes.get(name, 0) == int(np.prod(shape)) else (sizes.get(name, 0),)
        sites.append(Site(name, shape, own, "as declared in Stan"))
    return tuple(sites)


def _by_name(names: Any) -> dict[str, tuple[int, ...]]:
    """Shapes by name from ``theta.1``, ``theta.2``, ...: Stan counts from one."""
    shapes: dict[str, tuple[int, ...]] = {}
    for full in names:
        name, *index = str(full).split(".")
        if not all(i.isdigit() for i in index):
            raise BadInput(
                f"parameter {full!r} of this Stan program is a tuple or a complex number, which is not read: use real ones."
            )
        shapes[name] = tuple(int(i) for i in index)  # the last has the largest indices
    return shapes


def _check_density(stan_model: Any, which: str) -> None:
    """Refuse a density that is nowhere finite, with what Stan says."""
    points = np.random.default_rng(0).standard_normal((N_TRIED, stan_model.param_unc_num()))
    points[0] = 0.0
    said = "it is not a finite number"
    for u in points:
        try:
            if np.isfinite(stan_model.log_density(u, propto=False, jacobian=True)):
                return
        except RuntimeError as error:
            said = str(error).strip().splitlines()[0] if str(error).strip() else said
    raise BadInput(
        f"the log density of {which} is not finite at any of {N_TRIED} points near the origin of Stan's coordinates: {said}."
    )


def _check_switch(stan_model: Any, prior_only: Any) -> None:
    """Refuse a prior that is the whole density: the switch was not set."""
    points = np.random.default_rng(1).standard_normal((N_TRIED, stan_model.param_unc_num()))
    gaps = [_log_density(stan_model, u, False) - _log_density(prior_only, u, False) for u in points]
    if np.all(np.asarray(gaps) == 0.0):
        raise BadInput(
            "prior_only has the same density as the model at every point tried: load it with the likelihood switched off."
        )
