"""Moves that stay in the prior above a likelihood threshold: a walk, slices, Crank-Nicolson.

See `sampling.constrained` for what they are for, and how long they are repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput, BadType
from zhat.results.records import Array
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Tuning, log_uniforms, screen, toward
from zhat.sampling.nested.replacement import MarkovMoves, Points, Scale, Stepped, check_whole
from zhat.sampling.tempering.population import Moves

# Looks along one line after which the interval is a speck and the point stays where it is.
MAX_LOOKS = 60
# An interval this many times the mean distance moved covers most lines twice over (a third of a line is moved on average).
WIDTH = 8.0
# Above this many dimensions three of four Crank-Nicolson moves are turns, which are tuned to an acceptance and begin at an angle
# (its sine) of their own. Measured in a hundred dimensions: fewer turns, shorter or longer ones, or angles drawn by lot forget
# more slowly; without any it takes two and a half times as many moves.
FEW_DIMENSIONS = 20
TURN_ACCEPTANCE, FIRST_TURN = 0.3, 0.5


@dataclass(frozen=True)
class ConstrainedWalk(MarkovMoves):
    """Random-walk Metropolis on the prior, within the threshold; the scale follows the acceptance."""

    moves: Moves = field(default_factory=lambda: Moves(correlation=0.1, at_once=16, at_most=400))
    acceptance: float = 0.25

    def __post_init__(self) -> None:
        """Check the settings."""
        _check_moves("ConstrainedWalk", self.moves)
        if not 0.0 < self.acceptance < 1.0:
            raise BadInput(f"ConstrainedWalk(acceptance={self.acceptance}): give a rate between 0 and 1.")

    def first_scale(self, n_dimensions: int) -> float:
        """The scaling for a Gaussian target."""
        return 2.38 / np.sqrt(n_dimensions)

    def next_scale(self, scale: Scale, stepped: Stepped) -> Scale:
        """Toward the goal acceptance."""
        return min(toward(float(scale), float(stepped.acceptance), self.acceptance), 10.0)

    def noise(self, rng: np.random.Generator, n: int, tuning: Tuning) -> dict[str, Array]:
        """Shaped steps, and uniforms for the prior's Metropolis ratio."""
        m, d = self.moves.at_once, tuning.mean.shape[1]
        return {
            "step": tuning.scale * _shaped(rng.standard_normal((m, n, d)), tuning),
            "log_uniform": log_uniforms(rng, m, n),
        }

    def steps(self, backend: Backend, start: Points, threshold: Any, noise: dict[str, Any]) -> Any:
        """All moves of a call."""
        state, accepted, *rest = _metropolis(
            backend, start, threshold, noise, lambda position, noise: (position + noise["step"], 0.0)
        )
        return state, backend.xp.mean(accepted), *rest


@dataclass(frozen=True)
class ConstrainedSlice(MarkovMoves):
    """Hit-and-run slice moves within the threshold; the interval follows the distance that moves go."""

    moves: Moves = field(default_factory=lambda: Moves(correlation=0.1, at_once=8, at_most=160))

    def __post_init__(self) -> None:
        """Check the settings."""
        _check_moves("ConstrainedSlice", self.moves)

    def first_scale(self, n_dimensions: int) -> float:
        """An interval of some standard deviations."""
        return 4.0

    def next_scale(self, scale: Scale, stepped: Stepped) -> Scale:
        """The interval that suits the mean distance moved; half way there."""
        if not stepped.distance > 0.0:
            return 0.5 * scale
        return float(scale * np.sqrt(np.clip(WIDTH * stepped.distance, 0.01, 100.0)))

    def noise(self, rng: np.random.Generator, n: int, tuning: Tuning) -> dict[str, Array]:
        """Lines as long as the interval, heights under the prior, the point's place in the interval, and where to look."""
        m, d = self.moves.at_once, tuning.mean.shape[1]
        direction = rng.standard_normal((m, n, d))
        direction /= np.sqrt(np.einsum("mnd,mnd->mn", direction, direction))[..., None]
        return {
            "line": tuning.scale * _shaped(direction, tuning),
            "log_height": log_uniforms(rng, m, n),
            "place": rng.random((m, n)),
            "look": rng.random((12 * m + MAX_LOOKS, n)),
        }

    def steps(self, backend: Backend, start: Points, threshold: Any, noise: dict[str, Any]) -> Any:
        """All moves of a call; every point goes through its own."""
        xp = backend.xp
        m, n = noise["place"].shape
        lanes = xp.arange(n)

        def going(carry: Any) -> Any:
            return xp.any(carry["move"] < m) & (carry["looked"] < noise["look"].shape[0])

        def look(carry: Any) -> Any:
            x, log_prior, log_likelihood = carry["state"]
            active = carry["move"] < m
            now = xp.minimum(carry["move"], m - 1)
            at = carry["low"] + (carry["high"] - carry["low"]) * noise["look"][carry["looked"]]
            there = x + at[:, None] * noise["line"][now, lanes]
            new_prior, new_likelihood = backend.density(there, active)
            new_likelihood, n_bad, bad = screen(xp, there, new_likelihood)
            inside = (new_prior - log_prior > noise["log_height"][now, lanes]) & (new_likelihood > threshold)
            take = active & inside
            tries = carry["tries"] + 1
            over = active & (inside | (tries >= MAX_LOOKS))
            place = noise["place"][xp.minimum(carry["move"] + over, m - 1), lanes]
            return {
                "state": (
                    xp.where(take[:, None], there, x),
                    xp.where(take, new_prior, log_prior),
                    xp.where(take, new_likelihood, log_likelihood),
                ),
                "move": carry["move"] + over,
                "tries": xp.where(over, 0, tries),
                "low": xp.where(over, -place, xp.where(at < 0.0, at, carry["low"])),
                "high": xp.where(over, 1.0 - place, xp.where(at < 0.0, carry["high"], at)),
                "looked": carry["looked"] + 1,
                "moved": carry["moved"] + xp.sum(take),
                "distance": carry["distance"] + xp.sum(xp.where(take, xp.abs(at), 0.0)),
                "n_bad": carry["n_bad"] + xp.sum(n_bad),
                "bad": xp.where(n_bad > 0, bad, carry["bad"]),
            }

        zero = xp.zeros(n, dtype=int)
        first = {
            "state": tuple(start),
            "move": zero,
            "tries": zero,
            "low": -noise["place"][0],
            "high": 1.0 - noise["place"][0],
            "looked": 0,
            "moved": 0,
            "distance": 0.0,
            "n_bad": 0,
            "bad": start.position[0],
        }
        last = backend.while_loop(going, look, first)
        looked = last["looked"] * n
        distance = last["distance"] / xp.maximum(last["moved"], 1)
        return last["state"], last["moved"] / looked, distance, looked, last["n_bad"], last["bad"]


@dataclass(frozen=True)
class ConstrainedCrankNicolson(MarkovMoves):
    """Crank-Nicolson moves in a Student t frame, within the threshold: see `sampling.kernels.crank_nicolson`.

    A region that is nearly an ellipsoid, or a prior that is nearly normal, differs little from the t that is fitted to its
    points, and then steps may be long however many the dimensions. Where it differs much they shorten, to those of a walk.
    The t must not have lighter tails than the prior: with twenty degrees of freedom points stuck far out (on S5, where the
    likelihood rises toward a bound), which the insertion ranks showed.

    In many dimensions d nearly all of a region lies within a d-th of its radius from its boundary. Fresh noise changes the
    radius, so that its share must be about one in the root of d, and points forget only in d moves and more. So above
    `FEW_DIMENSIONS` most moves are turns: by a fixed angle toward a direction drawn at random, in the frame, where the radius
    stays. There and back are equally likely, so that the prior alone decides. How far they go is limited by how round the
    region is in the frame. Every fourth move is as before, for the radius.
    """

    moves: Moves = field(default_factory=lambda: Moves(correlation=0.15, at_once=4, at_most=400))
    acceptance: float = 0.25
    degrees_of_freedom: int = 5

    def __post_init__(self) -> None:
        """Check the settings."""
        _check_moves("ConstrainedCrankNicolson", self.moves)
        if not 0.0 < self.acceptance < 1.0:
            raise BadInput(f"ConstrainedCrankNicolson(acceptance={self.acceptance}): give a rate between 0 and 1.")
        check_whole("ConstrainedCrankNicolson", "degrees_of_freedom", self.degrees_of_freedom, 1)

    def turns(self, n_dimensions: int) -> NDArray[np.bool_]:
        """Which moves of a call are turns."""
        return (np.arange(self.moves.at_once) % 4 > 0) & (n_dimensions > FEW_DIMENSIONS)

    def first_scale(self, n_dimensions: int) -> Scale:
        """Nearly independent proposals to begin with; and long turns, where there are any."""
        return np.array([0.9, FIRST_TURN][: 1 + self.turns(n_dimensions).any()])

    def next_scale(self, scale: Scale, stepped: Stepped) -> Scale:
        """Toward the goal acceptances; a scale is the share of what is fresh and stays below one."""
        goals = (self.acceptance, TURN_ACCEPTANCE)[: np.size(scale)]
        return np.array([min(toward(*each), 0.999) for each in zip(np.asarray(scale), stepped.acceptance, goals, strict=True)])

    def noise(self, rng: np.random.Generator, n: int, tuning: Tuning) -> dict[str, Any]:
        """Fresh normals, gammas for the t's latent scale, uniforms; and the tuning."""
        m, d = self.moves.at_once, tuning.mean.shape[1]
        return {
            "each": {
                "step": rng.standard_normal((m, n, d)),
                "gamma": rng.standard_gamma(0.5 * (self.degrees_of_freedom + d), (m, n)),
                "log_uniform": log_uniforms(rng, m, n),
                "turn": self.turns(d),
            },
            "tuning": tuning,
        }

    def steps(self, backend: Backend, start: Points, threshold: Any, noise: dict[str, Any]) -> Any:
        """All moves of a call."""
        xp = backend.xp
        tuning, nu, d = noise["tuning"], self.degrees_of_freedom, start.position.shape[1]
        turns = self.turns(d)

        def propose(position: Any, noise: Any) -> tuple[Any, Any]:
            z = tuning.whiten(position)
            radius = xp.sum(z * z, axis=1)
            share, fresh = tuning.scale[0], noise["step"] / xp.sqrt(noise["gamma"] / (0.5 * (nu + radius)))[:, None]
            if turns.any():
                share = xp.where(noise["turn"], tuning.scale[1], share)
                fresh = xp.where(noise["turn"], _across(xp, z, radius, noise["step"]), fresh)
            z_new = xp.sqrt(1.0 - share**2) * z + share * fresh
            # After a turn the radius is as before, and this is nothing.
            radius_new = xp.sum(z_new * z_new, axis=1)
            return tuning.place(z_new), 0.5 * (nu + d) * (xp.log1p(radius_new / nu) - xp.log1p(radius / nu))

        state, accepted, *rest = _metropolis(backend, start, threshold, noise["each"], propose)
        kinds = [~turns, turns] if turns.any() else [~turns]
        return state, xp.stack([xp.mean(accepted[kind]) for kind in kinds]), *rest


def _across(xp: Any, z: Any, radius: Any, step: Any) -> Any:
    """The part of each step at right angles to z, made as long as z, whose squared length is given."""
    across = step - (xp.sum(step * z, axis=1) / radius)[:, None] * z
    return across * xp.sqrt(radius / xp.sum(across * across, axis=1))[:, None]


def _metropolis(
    backend: Backend, start: Points, threshold: Any, noise: Any, propose: Callable[[Any, Any], tuple[Any, Any]]
) -> Any:
    """Metropolis moves for the prior that refuse whatever falls below the threshold; the acceptance of each."""
    xp = backend.xp

    def one(state: Any, noise: Any) -> Any:
        position, log_prior, log_likelihood = state
        there, correction = propose(position, noise)
        new_prior, new_likelihood = backend.density(there)
        new_likelihood, n_bad, bad = screen(xp, there, new_likelihood)
        take = (noise["log_uniform"] < new_prior - log_prior + correction) & (new_likelihood > threshold)
        state = (
            xp.where(take[:, None], there, position),
            xp.where(take, new_prior, log_prior),
            xp.where(take, new_likelihood, log_likelihood),
        )
        return state, (xp.mean(take * 1.0), n_bad, bad)

    state, (accepted, n_bad, bad) = backend.scan(one, tuple(start), noise)
    looked = accepted.shape[0] * start.position.shape[0]
    return state, accepted, 0.0, looked, xp.sum(n_bad), bad[xp.argmax(n_bad > 0)]


def _shaped(z: Array, tuning: Tuning) -> Array:
    """White steps (m, n, d) of points in blocks, in the shape of each block."""
    m, n, d = z.shape
    k = len(tuning.mean)
    return (z.reshape(m, k, -1, d) @ tuning.factor.swapaxes(1, 2)).reshape(m, n, d)


def _check_moves(owner: str, moves: Any) -> None:
    if not isinstance(moves, Moves):
        raise BadType(f"{owner}(moves={moves!r}): give Moves(correlation=..., at_once=..., at_most=...).")
