"""Draws that you already have, from any sampler: parameters by name as points of a model, and a proposal fitted to them.

    proposal = proposal_from_draws(model, {"mu": mu, "sigma": sigma})
    evidence(model, Importance(proposal=proposal), seed=1)

A mixture of t's is fitted to the draws, in the unconstrained space, and widened. Importance sampling from it gives the evidence,
and the weights show how well the mixture fits (Pareto k, effective sample size). The draws only shape the proposal: if they are
correlated, thinned or only approximately from the posterior, efficiency suffers, but not validity. (A harmonic mean needs only
the same draws, but its error may be large and invisible in them.)

*When it lies.* A mode that your sampler never visited is not in the proposal. The defensive prior draws and
the coverage check can show it, as for every proposal (`methods.importance`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import unconstrained
from zhat.sampling.importance.proposals import Mixture, Proposal, fitted
from zhat.seeding import Key

# Draws used by a fit; beyond this a fit takes longer and gains nothing.
ENOUGH = 20_000
# Share of the proposal that is one t for all draws.
WHOLE = 0.25

# Components of a density around the weighted draws of a run: enough for the eighteen peaks of the eggbox and for Rosenbrock's valley (at 16 of
# them the weights of the eggbox are too heavy in every run, at 32 in half of the runs), draws that each needs, and their degrees of freedom.
MOST_COMPONENTS, PER_COMPONENT, DEGREES = 32, 20, 5.0


def around_weighted(draws: Draws, key: Key) -> Proposal | None:
    """A mixture of t's fitted to the weighted draws of a run, as many as these allow; None where they have no covariance."""
    if draws.log_weight is None:
        return None
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    alive = (weight > 0.0) & np.isfinite(draws.position).all(axis=1)
    n_effective = float(weight.sum() ** 2 / (weight**2).sum())
    n_components = int(np.clip(n_effective / (PER_COMPONENT * draws.position.shape[1]), 1, MOST_COMPONENTS))
    try:
        return fitted(draws.position[alive], weight[alive], n_components, DEGREES, key.generator())
    except BadInput:
        return None


def proposal_from_draws(
    model: Model, draws: Mapping[str, Any], *, n_components: int = 1, degrees_of_freedom: float = 3.0, seed: int = 0
) -> Proposal:
    """A mixture of `n_components` t's fitted to posterior draws of a model.

    Parameters
    ----------
    model : Model
    draws : mapping of str to array
        An array for every parameter of the model, with one leading axis (draws) or two (chains, draws).
    n_components : int
        One is safest; more follow a curved posterior better, and a tail that they leave uncovered shows in Pareto k.
    degrees_of_freedom : float
        Of the t's: fewer have heavier tails.
    seed : int
        Of the fit, which starts at randomly chosen draws.
    """
    position = positions_of(model, draws, "draws")
    needed = 10 * (model.n_dimensions + 1) * n_components
    if len(position) < needed:
        raise BadInput(
            f"draws: {len(position)} are too few for n_components={n_components} in {model.n_dimensions} dimensions; "
            f"give {needed} at least, or fewer components."
        )
    key = Key(seed).child("proposal from draws")
    if len(position) > ENOUGH:
        position = position[np.linspace(0, len(position) - 1, ENOUGH).astype(np.int64)]
    even = np.ones(len(position))
    fit = fitted(position, even, n_components, degrees_of_freedom, key.generator())
    if n_components == 1:
        return fit
    # Components are narrower than the whole, and so are their tails: one wide t of heavy tails covers what they leave.
    whole = fitted(position, even, 1, min(3.0, degrees_of_freedom), key.child("whole").generator())
    return Mixture((whole, fit), (WHOLE, 1.0 - WHOLE))


def positions_of(model: Model, draws: Mapping[str, Any], argument: str) -> Array:
    """Unconstrained vectors of draws given as named parameters; chains, if there are any, one after the other."""
    flat, _ = by_site(model, draws, argument)
    position = unconstrained(model, flat)
    outside = ~np.isfinite(position).all(axis=1)
    if outside.any():
        first = int(np.argmax(outside))
        at = ", ".join(f"{name} = {np.array2string(array[first], precision=4)}" for name, array in flat.items())
        raise BadInput(f"{argument}: draw {first} ({at}) lies outside of the support of the prior, or on its edge.")
    return position


def by_site(model: Model, draws: Mapping[str, Any], argument: str) -> tuple[dict[str, Array], tuple[int, int]]:
    """The parameters' arrays by name with one leading axis, and the numbers of chains and draws; `argument` is for messages.

    Other names are left out: deterministic sites and transformed parameters stand beside the draws.
    """
    if not isinstance(draws, Mapping):
        raise BadType(f"{argument} is a {type(draws).__name__}: give a dict of arrays, one for every parameter.")
    names = model.space.names
    missing = [name for name in names if name not in draws]
    if missing:
        near = difflib.get_close_matches(missing[0], [str(name) for name in draws], n=1, cutoff=0.4)
        hint = f" (the nearest name there is {near[0]!r})" if near else ""
        raise BadInput(
            f"{argument} lack the parameter {missing[0]!r} of {model.name!r}{hint}: it has {', '.join(map(repr, names))}, and the draws "
            f"have {', '.join(repr(str(name)) for name in draws) or 'none'}. Save every parameter of the model with the draws, under its own name."
        )
    flat: dict[str, Array] = {}
    leading: dict[str, tuple[int, ...]] = {}
    for site in model.space.sites:
        array = _numbers(draws[site.name], f"{argument}: {site.name!r}")
        n_axes = array.ndim - len(site.shape)
        if n_axes not in (1, 2) or array.shape[n_axes:] != site.shape:
            raise ShapeError(
                f"{argument}: {site.name!r} has shape {array.shape}: a draw of it has shape {site.shape}, and before that there "
                "is one axis (draws) or two (chains, draws)."
            )
        if not np.isfinite(array).all():
            raise BadInput(f"{argument}: {site.name!r} has values that are not finite; they cannot be posterior draws.")
        leading[site.name] = array.shape[:n_axes]
        flat[site.name] = array.reshape(-1, *site.shape)
    shape = leading[names[0]]
    if len(set(leading.values())) == 1 and not np.prod(shape):
        raise ShapeError(f"{argument}: there are none; the arrays have shape {shape} before the shape of a draw.")
    if len(set(leading.values())) != 1:
        raise ShapeError(f"{argument}: every parameter needs the same number of chains and draws; there are {leading}.")
    return flat, (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])


def _numbers(values: Any, what: str) -> Array:
    """Real numbers of an array-like; refused where it holds something else, or masked values."""
    if values is None:
        raise BadType(f"{what} is None: give an array of its draws.")
    if np.ma.is_masked(values):
        raise BadInput(f"{what} has masked values; give an array in which every draw has a value.")
    try:
        array = np.asarray(values)
        if not np.issubdtype(array.dtype, np.complexfloating):
            return np.asarray(array, np.float64)
    except (ValueError, TypeError) as error:
        raise BadType(f"{what} is not an array of numbers of one shape; give one such as np.asarray(x, float).") from error
    raise BadType(f"{what} has complex numbers; draws are real.")
