"""Slice moves along random directions (Neal 2003), without an acceptance rate and with little to tune.

Each point draws a height under its own density and a direction shaped by the draws' covariance, steps out until the
interval leaves the slice, then shrinks it toward itself until a point inside is found. Costs a few density
evaluations a move, and adapts the step to the local scale: suited to funnels and to likelihoods with sharp boundaries.

Moves take different numbers of evaluations. So that no point waits for the slowest at every move, each continues with its next
move, and the points are synchronised only at the end of a call. (Ending the call earlier would favour positions at which moves
take many evaluations.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from zhat.kinds import checked_kinds
from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, log_uniforms, screen, toward
from zhat.sampling.kernels._checks import check_whole
from zhat.sampling.state import State
from zhat.sampling.tuning import Tuning

# The share of tried points in the slice that the width is tuned to without stepping out. Within a likelihood threshold, on E2, S2 and
# the shells, 0.3 took up to 2.1 times and 0.45 up to 1.4 times the likelihoods that 0.6 takes; at 0.65 S2 scattered more.
INSIDE = 0.6
# What a point does next: step out to the left, to the right, or shrink its interval.
LEFT, RIGHT, SHRINK = 0, 1, 2


@dataclass(frozen=True)
@checked_kinds
class Slice:
    """Hit-and-run slice sampling with stepping out and shrinkage.

    Attributes
    ----------
    max_out : int
        The interval is at most so many times its first width. 1 is without stepping out: then the width is tuned instead. Within
        a likelihood threshold (nested sampling) stepping out takes 1.5 to 3.4 times the likelihoods (E2, S2, shells).
    max_shrink : int
        Points tried in an interval before the point stays where it is: by then the interval is very short.
    """

    max_out: int = 8
    max_shrink: int = 40
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check both numbers."""
        check_whole("Slice", "max_out", self.max_out, 1)
        check_whole("Slice", "max_shrink", self.max_shrink, 1)

    def first_scale(self, n_dimensions: int) -> float:
        """An interval of about four standard deviations."""
        return 4.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """Without stepping out toward the width at which the goal share of tried points is in the slice; else it stays.

        With stepping out and shrinkage a wrong width costs little.
        """
        return toward(scale, acceptance, INSIDE) if self.max_out == 1 else scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Directions, heights, the interval's place, how its steps are shared out, and which points to try inside it."""
        d = model.n_dimensions
        direction = rng.standard_normal((n_moves, n, d))
        direction /= np.linalg.norm(direction, axis=2, keepdims=True)
        left = rng.integers(0, self.max_out, (n_moves, n))
        return {
            "direction": direction,
            "log_height": log_uniforms(rng, n_moves, n),
            "place": rng.random((n_moves, n)),
            "steps": np.stack([left, self.max_out - 1 - left], axis=-1),
            "inside": rng.random((n_moves, n, self.max_shrink)),
        }

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """One move of every point."""
        states, info = self.steps(backend, state, jax.tree.map(lambda part: part[None], noise), tuning, target)
        return states.take(0), info._replace(acceptance=info.acceptance[0], accepted=info.accepted[0])

    def steps(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """Several moves of every point, not synchronised between points."""
        xp = backend.xp
        m, n = noise["place"].shape
        rows = xp.arange(n)
        lines = xp.stack([tuning.shape(noise["direction"][k]) for k in range(m)])

        def begun(move: Any, log_density: Any) -> _Interval:
            now = xp.minimum(move, m - 1)
            steps, place = noise["steps"][now, rows], noise["place"][now, rows]
            return _Interval(
                low=-tuning.scale * place,
                high=tuning.scale * (1.0 - place),
                height=log_density + noise["log_height"][now, rows],
                phase=xp.where(steps[:, 0] > 0, LEFT, xp.where(steps[:, 1] > 0, RIGHT, SHRINK)),
                steps=steps,
                tries=xp.zeros(n, dtype=int),
            )

        def unfinished(carry: Any) -> Any:
            return xp.any(carry["move"] < m)

        def evaluate(carry: Any) -> Any:
            here, interval, move = carry["state"], carry["interval"], carry["move"]
            active, now = move < m, xp.minimum(move, m - 1)
            inside = noise["inside"][now, rows, xp.minimum(interval.tries, self.max_shrink - 1)]
            at = interval.place(inside, xp)
            position = here.position + at[:, None] * lines[now, rows]
            log_prior, log_likelihood = backend.density(position, active)
            # Points that have made all their moves are evaluated too; the result is discarded.
            log_likelihood, n_bad, bad = screen(xp, position, xp.where(active, log_likelihood, -xp.inf))
            there = State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)
            log_density = target.log_density(there, xp)
            above = log_density > interval.height
            take = active & above & (interval.phase == SHRINK)
            interval = interval.after(at, above, tuning.scale, xp)
            ended = active & (take | (interval.tries >= self.max_shrink))
            here = there.chosen(take, here, xp)
            log_density = xp.where(take, log_density, carry["log_density"])
            following = begun(move + ended, log_density)
            return {
                "state": here,
                "log_density": log_density,
                "states": State(*(None if part is None else backend.put(whole, (now, rows), part)
                                  for whole, part in zip(carry["states"], here, strict=True))),
                "accepted": backend.put(
                    carry["accepted"], (now, rows), xp.where(take, 1.0 / interval.tries, carry["accepted"][now, rows])
                ),
                "move": move + ended,
                "interval": following.chosen(ended, interval, xp),
                "n_rounds": carry["n_rounds"] + 1,
                "n_bad": carry["n_bad"] + n_bad,
                "bad": xp.where(n_bad > 0, bad, carry["bad"]),
            }  # fmt: skip

        log_density = target.log_density(state, xp)
        none = xp.zeros(n, dtype=int)
        first = {
            "state": state,
            "log_density": log_density,
            "states": State(*(None if part is None else xp.zeros((m, *part.shape)) for part in state)),
            "accepted": xp.zeros((m, n)),
            "move": none,
            "interval": begun(none, log_density),
            "n_rounds": 0,
            "n_bad": 0,
            "bad": state.position[0],
        }
        last = backend.while_loop(unfinished, evaluate, first)
        accepted = last["accepted"]
        acceptance = accepted if self.max_out == 1 else 1.0 * (accepted > 0.0)
        return last["states"], Info(acceptance, accepted, last["n_rounds"] * n, 0, last["n_bad"], last["bad"])


class _Interval(NamedTuple):
    """Where each point's interval ends, along its line; the height of its slice; what it does next; steps and tries left."""

    low: Any
    high: Any
    height: Any
    phase: Any
    steps: Any  # (n, 2): to the left, to the right
    tries: Any

    def place(self, inside: Any, xp: Any) -> Any:
        """Where along its line each point is evaluated next."""
        within = self.low + (self.high - self.low) * inside
        return xp.where(self.phase == LEFT, self.low, xp.where(self.phase == RIGHT, self.high, within))

    def after(self, at: Any, above: Any, width: Any, xp: Any) -> _Interval:
        """The interval after the evaluation at these places, of which some were above the slice."""
        left, right, shrink = (self.phase == phase for phase in (LEFT, RIGHT, SHRINK))
        steps = self.steps - xp.stack([left, right], axis=1)
        out_left, out_right = above & (steps[:, 0] > 0), above & (steps[:, 1] > 0)
        after_left = xp.where(out_left, LEFT, xp.where(steps[:, 1] > 0, RIGHT, SHRINK))
        phase = xp.where(left, after_left, xp.where(right & out_right, RIGHT, SHRINK))
        refused = shrink & ~above
        return self._replace(
            low=xp.where(left & above, self.low - width, xp.where(refused & (at < 0), at, self.low)),
            high=xp.where(right & above, self.high + width, xp.where(refused & (at >= 0), at, self.high)),
            phase=phase,
            steps=steps,
            tries=self.tries + shrink,
        )

    def chosen(self, mask: Any, other: _Interval, xp: Any) -> _Interval:
        """These intervals where the mask is true, the other ones where it is not."""
        return _Interval(
            *(xp.where(mask[:, None] if own.ndim > 1 else mask, own, old) for own, old in zip(self, other, strict=True))
        )
