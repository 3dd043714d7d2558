"""All points that a run of nested sampling evaluated, as one importance sample: see `sampling.nested.region`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Draws, MeasuredMasses
from zhat.sampling.nested.cube import cube_of
from zhat.sampling.nested.region import Drawn, Region
from zhat.sampling.state import State

# A point is left out of the mixture's density where it can have no more than e^-NEGLIGIBLE of the evidence.
NEGLIGIBLE = 40.0


def measured_masses(model: Model, first: State, batches: Sequence[Drawn], independent: bool = False) -> MeasuredMasses:
    """Every evaluated point and its weight L / g, given the prior draws of a run and what was drawn in its regions.

    `independent` are draws that no region was fitted to.
    """
    at, log_q = cube_of(model).of(first.position)
    strata = [Drawn(Region(None, 0.0, 0.0, np.inf), at, log_q, first), *batches]
    numbers = np.array([len(drawn.log_q) for drawn in strata])
    coordinates, log_q = (np.concatenate([getattr(drawn, name) for drawn in strata]) for name in ("coordinates", "log_q"))
    points = State.joined([drawn.points for drawn in strata])
    log_share = np.log(numbers / numbers.sum())
    # The prior draws alone bound the density from below, so a weight is at most L N / N_0.
    bound = points.log_likelihood - log_share[0]
    counts = np.flatnonzero(bound > points.log_likelihood.max() - _depth(batches) - NEGLIGIBLE)
    known = np.full(len(counts), -1) if independent else counts
    log_parts = np.stack(
        [log_share[s] + drawn.region.log_density(coordinates[counts], log_q[counts], known) for s, drawn in enumerate(strata)]
    )
    log_g = np.logaddexp.reduce(log_parts, axis=0)
    log_weight = np.full(len(log_q), -np.inf)
    log_weight[counts] = points.log_likelihood[counts] - log_g
    weight = np.exp(log_weight[counts] - log_weight[counts].max())
    # A relative change of V_s changes log Z by the share of the evidence that the draws of s stand for.
    influence = np.exp(log_parts - log_g) @ (weight / weight.sum())
    mass_se = np.array([drawn.region.mass_se for drawn in strata])
    draws = Draws(
        position=points.position,
        log_prior=points.log_prior,
        log_likelihood=points.log_likelihood,
        n_drawn=len(log_weight),
        log_weight=log_weight,
    )
    return MeasuredMasses(
        log_weight=log_weight,
        stratum=np.repeat(np.arange(len(strata)), numbers),
        mass_variance=float(np.sum((influence * mass_se) ** 2)),
        draws=draws,
    )


def _depth(batches: Sequence[Drawn]) -> float:
    """How many nats smaller than the prior the smallest region is: the evidence is at least about exp(-depth) of the largest L."""
    return max(-min((drawn.region.log_mass for drawn in batches), default=0.0), 0.0)
