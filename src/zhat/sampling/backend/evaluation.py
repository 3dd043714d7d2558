"""Evaluation of the model at batches of points, counted and checked; and draws from its prior.

Points are evaluated in blocks of one size, so that one compiled function serves any number of them.

*NaN.* A differential equation, a Cholesky factor or any other computation may have no result at absurd parameters, and proposals go
there. Such a point counts as zero likelihood, and is counted (`Loop.n_nan`); whether NaN comes near enough to the posterior to matter
is decided after the run (`missed_mass.nan_check`, `verdicts.nan`). A likelihood that is NaN at every prior draw is an error, and so is
+inf anywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from zhat.errors import BadInput, NonFiniteLikelihood, NoSupport, UnsupportedModel
from zhat.model.coordinates.cube import quantiles_at
from zhat.model.model import Model
from zhat.model.values import describe_point
from zhat.results.records import Array, Draws
from zhat.sampling.backend.backend import NumpyBackend, constrain_batch, shown_parameters
from zhat.sampling.backend.batches import densities_at
from zhat.sampling.backend.compiled import SAVED_BY_MAP, JaxBackend, compiled, is_short, points_at_once
from zhat.sampling.backend.likelihoods import evaluator
from zhat.sampling.backend.loop import Loop
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.seeding import Key, jax_key

# Points of a slow likelihood that are evaluated between two checks of the budget, and how many for each worker at least: a batch ends with its
# slowest piece, for which the other workers wait.
BLACK_BOX_AT_ONCE, FOR_EACH_WORKER = 256, 64
# Prior draws of one compiled call.
PRIOR_AT_ONCE = 1024
# In place of a uniform number of exactly zero.
SMALLEST = 2.0**-54


def log_densities(model: Model, position: Array, loop: Loop) -> tuple[Array, Array]:
    """Log prior (unconstrained) and log likelihood at n points; NaN counts as zero likelihood, +inf raises, naming the point."""
    log_prior, log_likelihood = unscreened_densities(model, position, loop)
    return log_prior, screened(model, position, log_likelihood, loop)


def unscreened_densities(model: Model, position: Array, loop: Loop) -> tuple[Array, Array]:
    """The same with log likelihoods as the model gives them: NaN and +inf stay."""
    if model.is_black_box:
        parts, size = [], black_box_at_once()
        for start in range(0, len(position), size):
            part = position[start : start + size]
            parts.append(NumpyBackend(model, loop, constrained=BLACK_BOX_AT_ONCE).density(part))
            loop.tick(f"{start + len(part):,} of {len(position):,} points", (start + len(part)) / len(position))
        log_prior, log_likelihood = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    else:
        log_prior, log_likelihood = densities_at(model, position)
        loop.count(n_likelihood=len(position))
    return log_prior, log_likelihood


def black_box_at_once() -> int:
    """How many points of a black box are evaluated together."""
    return max(BLACK_BOX_AT_ONCE, FOR_EACH_WORKER * evaluator().n_workers)


def slopes(model: Model, position: Array, loop: Loop) -> Array:
    """The gradient of the log posterior at n points, (n, d); zero where it is not a number. Not for black boxes."""
    size = min(points_at_once(model), 512)
    parts = []
    for start in range(0, len(position), size):
        part = position[start : start + size]
        padded = np.concatenate([part, np.broadcast_to(part[:1], (size - len(part), part.shape[1]))])
        parts.append(np.asarray(compiled(model, "slopes", _slopes, padded))[: len(part)])
    loop.count(n_gradient=len(position))
    return np.concatenate(parts)


def _slopes(backend: JaxBackend, points: Any) -> Any:
    return backend.gradient(points, Tempered(1.0)).gradient


def log_jacobian(model: Model, position: Array, log_prior: Array) -> Array:
    """What turns the log prior of the parameters themselves into that of the unconstrained vectors, at n points."""
    params, _ = constrain_batch(model, position)
    own = np.asarray(compiled(model, "prior of parameters", _prior_of_parameters, params))
    return log_prior - own


def _prior_of_parameters(backend: JaxBackend, params: Any) -> Any:
    return jax.vmap(lambda p: backend.core.space.log_prior(p, backend.data, backend.hyper))(params)


def site_priors(model: Model, position: Array) -> Array:
    """Log prior densities of every site's coordinates at n points, (n, sites)."""
    return np.asarray(compiled(model, "priors of sites", _site_priors, position))


def _site_priors(backend: JaxBackend, points: Any) -> Any:
    return jax.vmap(lambda u: backend.core.space.log_priors(u, backend.data, backend.hyper))(points)


def state_at(model: Model, position: Array, loop: Loop) -> State:
    """The points with their log densities."""
    log_prior, log_likelihood = log_densities(model, position, loop)
    return State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)


def screened(model: Model, position: Array, log_likelihood: Array, loop: Loop) -> Array:
    """The log likelihoods with NaN as zero likelihood, counted; +inf raises, naming the point."""
    if (log_likelihood == np.inf).any():
        _raise_infinite(model, position[np.argmax(log_likelihood == np.inf)])
    bad = np.isnan(log_likelihood)
    loop.n_nan += int(bad.sum())
    return np.where(bad, -np.inf, log_likelihood)


def reevaluate(model: Model, n_bad: Any, positions: Any, loop: Loop) -> None:
    """Evaluate again, outside compiled code, points at which a log likelihood was NaN or +inf.

    Compiled code cannot raise: here +inf raises an error that names the user's parameters. NaN is counted. `n_bad` has any shape;
    `positions`, one of the points of each, has one axis in addition.
    """
    n_bad, positions = np.asarray(n_bad), np.asarray(positions)
    n_nan = loop.n_nan + int(n_bad.sum())
    log_densities(model, positions.reshape(-1, positions.shape[-1])[n_bad.ravel() > 0], loop)
    loop.n_nan = n_nan


def _raise_infinite(model: Model, position: Array) -> None:
    """Raise for a log likelihood of +inf, with the point in the user's own parameters."""
    raise NonFiniteLikelihood(
        f"the log likelihood of {model.name!r} is +inf at {describe_point(shown_parameters(model, position[None]), 0)}: the likelihood is unbounded there and the "
        "evidence may not exist. Bound the parameters away from that point."
    )


def prior_positions(model: Model, n: int, key: Key) -> Array:
    """n independent draws from the prior, as unconstrained vectors."""
    if not model.space.has_prior:
        raise UnsupportedModel(
            f"{model.name!r} is known by its joint density alone, so nothing can be drawn from its prior, which this needs. With posterior "
            "draws of it use zhat.evidence(model, draws=...); or give prior and likelihood apart: zhat.Model(log_likelihood, prior)."
        )
    if model.space.has_exact_quantiles:  # one small program instead of one with random numbers in it
        return positions_at(model, np.maximum(key.generator().random((n, model.n_dimensions)), SMALLEST))
    parts = [np.asarray(compiled(model, "prior", _prior_block, key.child(i).words())) for i in range(-(-n // PRIOR_AT_ONCE))]
    return np.concatenate(parts)[:n].astype(np.float64)


def positions_at(model: Model, coordinates: Array) -> Array:
    """The prior's quantiles at these points of the unit cube, as unconstrained vectors (`model.coordinates.cube.quantiles_at`)."""
    parts, quick = [], is_short(coordinates.size, SAVED_BY_MAP)
    for start in range(0, len(coordinates), PRIOR_AT_ONCE):
        part = coordinates[start : start + PRIOR_AT_ONCE]
        padded = np.concatenate([part, np.broadcast_to(part[:1], (PRIOR_AT_ONCE - len(part), part.shape[1]))])
        parts.append(compiled(model, "quantiles", _quantiles, padded, quick=quick))
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])[: len(coordinates)]


def _quantiles(backend: JaxBackend, coordinates: Any) -> Any:
    return jax.vmap(lambda c: quantiles_at(backend.core.space, c, backend.data, backend.hyper))(coordinates)


def _prior_block(backend: JaxBackend, words: Any) -> Any:
    keys = jax.random.split(jax_key(words), PRIOR_AT_ONCE)
    return jax.vmap(lambda key: backend.core.space.sample_prior(key, backend.data, backend.hyper))(keys)


def prior_draws(model: Model, n: int, key: Key, loop: Loop) -> Draws:
    """n draws from the prior with their log likelihoods; `NoSupport` if all of these are zero, an error if all are NaN."""
    return draws_from_prior(model, prior_positions(model, n, key), loop)


def draws_from_prior(model: Model, position: Array, loop: Loop, some_must_count: bool = True) -> Draws:
    """Positions that were drawn from the prior with their log likelihoods; errors as in `prior_draws`, or none for zero likelihoods."""
    n, n_nan = len(position), loop.n_nan
    log_prior, log_likelihood = log_densities(model, position, loop)
    if not np.isfinite(log_prior).any():
        raise BadInput(
            f"the prior of {model.name!r} is zero or not a number at all of its own draws: check its arguments"
            f"{'' if model.hyper is None else f' (hyper={model.hyper})'}."
        )
    if not np.isfinite(log_likelihood).any():
        n_nan, n_inside = loop.n_nan - n_nan, int(np.isfinite(log_prior).sum())
        if n_nan == n_inside:
            raise NonFiniteLikelihood(
                f"the log likelihood of {model.name!r} is NaN at all of {n_inside:,} draws from the prior, for example at "
                f"{describe_point(shown_parameters(model, position[np.isfinite(log_prior)][:1]), 0)}. Check it there with "
                "model.evaluate(...); return -inf where the likelihood is zero."
            )
        if not some_must_count:
            return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=n)
        raise NoSupport(
            f"no draw in {n:,} from the prior of {model.name!r} has a likelihood above zero: less than {3 / n:.1g} of the "
            f"prior's mass can have any (95 % sure){f'; it is NaN at {n_nan:,} of them' if n_nan else ''}. Check the likelihood, or "
            "give a prior that covers its support."
        )
    return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=n)


def saturated_share(model: Model, draws: Draws) -> float:
    """Share of the draws' weight at points that the map to the parameters rounds to the edge, so that it cannot be inverted.

    Beyond |u| = 36 or so a bounded parameter rounds to its bound; nothing is computed unless some draw is that far out.
    """
    log_weight = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
    weight = np.exp(log_weight - log_weight.max()) if np.isfinite(log_weight).any() else np.zeros(len(log_weight))
    weight = np.where(np.isfinite(draws.position).all(axis=1), weight, 0.0)
    far = (np.abs(np.where(weight[:, None] > 0, draws.position, 0.0)) > 15.0).any(axis=1)
    if not weight.sum() > 0 or (weight[far].sum() < 1e-3 * weight.sum()):
        return 0.0
    some = np.flatnonzero(far)[:: max(1, int(far.sum()) // 1024)][:1024]
    points = np.concatenate([draws.position[some], np.zeros((1024 - len(some), draws.position.shape[1]))])
    back = there_and_back(model, points)[: len(some)]
    with np.errstate(invalid="ignore"):
        lost = ~(np.abs(back - draws.position[some]) < 0.1).all(axis=1)
    return float((weight[some] * lost).sum() / max(weight[some].sum(), 1e-300) * weight[far].sum() / weight.sum())


def there_and_back(model: Model, points: Array) -> Array:
    """Unconstrained vectors taken to the parameters and back; give 1,024 at a time, so that one program serves."""
    return np.asarray(compiled(model, "there and back", _there_and_back, points, quick=True))


def _there_and_back(backend: JaxBackend, points: Any) -> Any:
    space, data, hyper = backend.core.space, backend.data, backend.hyper
    return jax.vmap(lambda u: space.unconstrain(space.constrain(u, data, hyper)[0], data, hyper))(points)


def unconstrained(model: Model, params: dict[str, Any]) -> Array:
    """The unconstrained vectors of n points given in the user's parameters (leading axis n)."""
    return np.asarray(compiled(model, "unconstrain", _unconstrained, model.core.inward(params)), dtype=np.float64)


def _unconstrained(backend: JaxBackend, params: Any) -> Any:
    return jax.vmap(lambda p: backend.core.space.unconstrain(p, backend.data, backend.hyper))(params)


def with_parameters(model: Model, draws: Draws) -> Draws:
    """The same draws with the user's parameters filled in."""
    return replace(draws, parameters=shown_parameters(model, draws.position))
