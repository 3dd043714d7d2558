"""Proposals in the parameters themselves, as proposals for their unconstrained coordinates (`parameter_maps`).

The density of the parameters is that of the coordinates without the log-Jacobian, the sum of log t'(u_i), which moves the mode by a Newton step and
takes its curvature away. A t at this mode is drawn in the parameters; a draw outside of the support has weight zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.importance.curvature import definite
from zhat.sampling.importance.modes import Mode
from zhat.sampling.importance.parameter_maps import diagonal, positions_at, with_derivatives
from zhat.sampling.importance.proposals import Proposal


@dataclass(frozen=True)
class InParameters:
    """A proposal for the parameters as one for the coordinates; a draw outside of the support is at minus infinity."""

    of: Proposal
    model: Model = field(repr=False)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Proposal`."""
        position = positions_at(self.model, self.of.draw(rng, n))
        return np.where(np.isfinite(position).all(axis=1, keepdims=True), position, -np.inf)

    def log_density(self, position: Array) -> Array:
        """See `Proposal`."""
        x, slope, *_ = with_derivatives(self.model, position)
        with np.errstate(divide="ignore"):
            return np.asarray(self.of.log_density(x) + np.log(np.abs(slope)).sum(axis=1))


def modes_in_parameters(model: Model, modes: tuple[Mode, ...]) -> tuple[Mode, ...]:
    """The modes of the density of the parameters near these of the coordinates; none where one of them has no peak there."""
    position, precision = np.stack([mode.position for mode in modes]), np.stack([mode.precision for mode in modes])
    x, slope, bend, third = with_derivatives(model, position)
    with np.errstate(all="ignore"):
        curved = precision / (slope[:, :, None] * slope[:, None, :])
        curved = curved + diagonal(third / slope**3 - 2.0 * bend**2 / slope**4)
        if not definite(curved).all():
            return ()
        steps = np.linalg.solve(curved, -(bend / slope**2)[..., None])[..., 0]
    heights = [mode.log_density for mode in modes] - np.log(np.abs(slope)).sum(axis=1)
    return tuple(
        replace(mode, position=x[k] + steps[k], precision=curved[k], log_density=float(heights[k]))
        for k, mode in enumerate(modes)
    )
