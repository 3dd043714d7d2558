"""Preconditioned Crank-Nicolson moves in a Student t frame: nearly independent proposals where these are accepted, small steps elsewhere.

In coordinates z whitened by the draws' mean and covariance, with s drawn from its law given z under a multivariate t
(a gamma), the proposal

    z' = sqrt(1 - r^2) z + r xi / sqrt(s),      xi ~ N(0, I)

leaves that t invariant for every r in (0, 1], so only the target's departure from it is left for the Metropolis
ratio: pi(z') t(z) / (pi(z) t(z')). At r = 1 it is independent of z; as r falls it becomes a random walk scaled to
the local radius. For a target close to its fitted t, acceptance hardly falls with dimension. One density and no gradient a
move. The t frame, rather than a Gaussian one, keeps points in the tails moving (Kamatani 2018 for the heavy-tailed
version; Cotter et al. 2013 for the Gaussian one; Grumitt et al. 2024 use it within sequential Monte Carlo).

*Within a likelihood threshold* (nested sampling). A region that is nearly an ellipsoid, or a prior that is nearly normal, differs
little from the t that is fitted to its points, and steps may be long however many the dimensions. The t must not have lighter
tails than the prior: with twenty degrees of freedom points far out were hardly ever moved (on S5, where the likelihood rises
toward a bound), and the insertion ranks were not uniform.

*Turns.* In many dimensions d nearly all of such a region lies within a d-th of its radius from its boundary. Fresh noise changes
the radius, so that its share r must be about d^(-1/2), and the autocorrelation time is of the order of d moves. So above
`turns_above` dimensions three of four moves are turns: by a fixed angle toward a direction drawn at random, in the frame, where
the radius stays. The proposal is symmetric, so that the acceptance depends on the target alone. How far they go is limited by how
round the region is in the frame. Every fourth move is as before, for the radius.

*Moves of several lengths.* Where the target departs from its t, some points accept hardly any move of the length that suits most of them.
Then the moves of a call take `lengths` of the share in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds, shown
from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, log_uniforms, propose, toward
from zhat.sampling.kernels._checks import check_acceptance, check_whole
from zhat.sampling.state import State
from zhat.sampling.tuning import FRAME_DEGREES, Scale, Tuning

# Turns are tuned to an acceptance and begin at an angle (its sine) of their own. Measured in a hundred dimensions: fewer turns,
# shorter or longer ones, or random angles decorrelate more slowly; without turns it takes two and a half times as many moves.
TURN_ACCEPTANCE, FIRST_TURN = 0.3, 0.5


@dataclass(frozen=True)
@checked_kinds
class CrankNicolson:
    """Moves reversible for a fitted multivariate t, corrected for the target.

    Attributes
    ----------
    acceptance : float
        The acceptance rate that the share r of fresh noise is tuned to.
    degrees_of_freedom : int
        Of the t.
    first_share : float, optional
        Where r begins; by default 0.95 in few dimensions and 2.38 / sqrt(d) in many.
    turns_above : int, optional
        Number of dimensions above which three of four moves are turns; none by default.
    lengths : tuple of float
        Where no moves are turns: by how much the share of each move of a call is multiplied, in turn. Moves of length one are tuned.
    """

    acceptance: float = 0.4
    degrees_of_freedom: int = FRAME_DEGREES
    first_share: float | None = None
    turns_above: int | None = None
    lengths: tuple[float, ...] = (1.0,)
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the settings."""
        check_acceptance("CrankNicolson", self.acceptance)
        check_whole("CrankNicolson", "degrees_of_freedom", self.degrees_of_freedom, 1)
        if self.turns_above is not None:
            check_whole("CrankNicolson", "turns_above", self.turns_above, 1)
        if self.first_share is not None:
            if isinstance(self.first_share, bool) or not isinstance(self.first_share, int | float):
                raise BadType(f"CrankNicolson(first_share={self.first_share!r}): give a number between 0 and 1.")
            if not 0.0 < self.first_share < 1.0:
                raise BadInput(f"CrankNicolson(first_share={self.first_share}): give a share between 0 and 1.")
        good = isinstance(self.lengths, tuple) and all(isinstance(x, int | float) and 0.0 < x <= 1.0 for x in self.lengths)
        if not good or self.lengths[:1] != (1.0,):
            raise BadInput(
                f"CrankNicolson(lengths={shown(self.lengths)}): give a tuple of numbers above 0 and at most 1, the first of them 1, "
                "because moves of length 1 are tuned."
            )

    def first_scale(self, n_dimensions: int) -> Scale:
        """Nearly independent proposals in few dimensions, shorter ones in many; and long turns, where there are any."""
        first = min(0.95, 2.38 / np.sqrt(n_dimensions)) if self.first_share is None else self.first_share
        if self._has_turns(n_dimensions):
            return np.array([first, FIRST_TURN])
        return np.array([first]) if len(self.lengths) > 1 else first

    def next_scale(self, scale: Any, acceptance: Any) -> Scale:
        """Toward the goal acceptances; a scale is the share of fresh noise and stays below one."""
        if np.ndim(scale) == 0:
            return min(toward(scale, acceptance, self.acceptance), 0.999)
        if len(scale) == 1:
            full = np.resize(self.lengths, len(acceptance)) == 1.0
            return np.array([min(toward(scale[0], float(np.mean(acceptance[full])), self.acceptance), 0.999)])
        turns = self.turns(len(acceptance))
        kinds = zip(scale, (~turns, turns), (self.acceptance, TURN_ACCEPTANCE), strict=True)
        return np.array([min(toward(one, float(np.mean(acceptance[kind])), goal), 0.999) for one, kind, goal in kinds])

    def turns(self, n_moves: int) -> NDArray[np.bool_]:
        """Which moves of a call are turns, where there are any."""
        return np.arange(n_moves) % 4 > 0

    def _has_turns(self, n_dimensions: int) -> bool:
        return self.turns_above is not None and n_dimensions > self.turns_above

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Fresh normals, gammas for the t's latent scale, acceptance uniforms; and which moves are turns."""
        d = model.n_dimensions
        noise = {
            "step": rng.standard_normal((n_moves, n, d)),
            "gamma": rng.standard_gamma(0.5 * (self.degrees_of_freedom + d), (n_moves, n)),
            "log_uniform": log_uniforms(rng, n_moves, n),
        }
        if self._has_turns(d):
            return {**noise, "turn": self.turns(n_moves)}
        return {**noise, "length": np.resize(self.lengths, n_moves)} if len(self.lengths) > 1 else noise

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """One proposal, accepted or not."""
        xp = backend.xp
        nu, d = self.degrees_of_freedom, state.position.shape[1]
        z = tuning.whiten(state.position)
        radius = xp.sum(z * z, axis=1)
        share, fresh = tuning.scale, noise["step"] / xp.sqrt(noise["gamma"] / (0.5 * (nu + radius)))[:, None]
        if "length" in noise:
            share = noise["length"] * tuning.scale[0]
        if "turn" in noise:
            share = xp.where(noise["turn"], tuning.scale[1], tuning.scale[0])
            fresh = xp.where(noise["turn"], _across(xp, z, radius, noise["step"]), fresh)
        z_new = xp.sqrt(1.0 - share**2) * z + share * fresh
        # After a turn the radius is as before, and the correction is zero.
        radius_new = xp.sum(z_new * z_new, axis=1)
        correction = 0.5 * (nu + d) * (xp.log1p(radius_new / nu) - xp.log1p(radius / nu))
        return propose(backend, state, tuning.place(z_new), correction, noise["log_uniform"], target)


def _across(xp: Any, z: Any, radius: Any, step: Any) -> Any:
    """The part of each step at right angles to z, made as long as z, whose squared length is given."""
    across = step - (xp.sum(step * z, axis=1) / radius)[:, None] * z
    return across * xp.sqrt(radius / xp.sum(across * across, axis=1))[:, None]
