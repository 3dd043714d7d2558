"""Does NaN come near the posterior? Posterior draws, each moved a little, are evaluated again.

A log likelihood that is NaN counts as zero likelihood. That is harmless where the likelihood is negligible, as at the absurd points that
proposals reach, and it removes mass where the posterior would otherwise continue. Which of the two holds cannot be read off the run:
its draws are by construction where the likelihood is a number. So each of some posterior draws x_i is moved by half the distance of two
others,

    y_i = x_i + (x_j - x_k) / (2 sqrt(2)),

half a standard deviation of the posterior in its own shape, and the share of NaN among the y_i is an estimate of the share of a smoothed
posterior that was set to zero. For a normal posterior cut at a point c standard deviations from its mean it is 1 - Phi(0.89 c), somewhat
more than the mass that is cut, 1 - Phi(c): at c = 3, 0.0037 and 0.0013.

It costs some evaluations, and is made only after a run that met NaN.

*What it cannot see*: a mode that lies wholly inside a region of NaN, away from the posterior that the run found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from zhat.missed_mass.effort import EFFORT
from zhat.model.model import Model
from zhat.model.values import describe_point
from zhat.results.records import Array, Draws
from zhat.sampling.backend.backend import shown_parameters
from zhat.sampling.backend.evaluation import unscreened_densities
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key


@dataclass(frozen=True)
class NanFound:
    """What is known of the points at which a log likelihood was NaN.

    Attributes
    ----------
    n_nan, n_evaluated : int
        Points of the run with a NaN log likelihood, and all points.
    prior_share : float or None
        Share of NaN among prior draws; None where none were made for this run.
    n_near : int
        Points near the posterior that were evaluated; 0 where there were no draws to move.
    near_share : float
        Share of NaN among them.
    example : str
        One of them: the user's parameters in words.
    """

    n_nan: int
    n_evaluated: int
    prior_share: float | None
    n_near: int = 0
    near_share: float = 0.0
    example: str = ""


def nan_near(model: Model, draws: Draws | None, found: NanFound, key: Key, loop: Loop) -> NanFound:
    """The same with the share of NaN near the posterior that these draws stand for."""
    position = _near(draws, EFFORT.n_moved_if_expensive if model.is_black_box else EFFORT.n_moved, key)
    if position is None:
        return found
    bad = np.isnan(unscreened_densities(model, position, loop)[1])
    example = describe_point(shown_parameters(model, position[bad][:1]), 0) if bad.any() else ""
    return replace(found, n_near=len(position), near_share=float(bad.mean()), example=example)


def _near(draws: Draws | None, n: int, key: Key) -> Array | None:
    """n posterior draws, each moved by half a standard deviation along the difference of two others."""
    if draws is None:
        return None
    weight = np.isfinite(draws.position).all(axis=1) & np.isfinite(draws.log_likelihood)
    if draws.log_weight is not None:
        top = draws.log_weight.max(initial=-np.inf)
        weight = weight * (np.exp(draws.log_weight - top) if np.isfinite(top) else 0.0)
    if not weight.sum() > 0:
        return None
    rows = partial(key.generator().choice, len(weight), n, p=weight / weight.sum())
    drawn, first, second = rows(), rows(), rows()
    step = EFFORT.share_of_difference * (draws.position[first] - draws.position[second])
    return np.asarray(draws.position[drawn] + step)
