"""Slopes with a heavy tail mark a posterior that narrows without end."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import zhat
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.neck import look_into_neck
from zhat.seeding import Key
from zhat.verdicts.from_chains import neck_status


def neck_of(log_density, draws):
    model = zhat.Model.from_log_density(log_density, draws.shape[1])
    with jax.enable_x64(True):
        return look_into_neck(model, draws, Key(1), Loop(None, False, "test"))


def narrowing(t):
    """Log width u with density e^u below zero (a = 1), x given u normal of width e^u: slopes have the index 1 / a = 1."""
    return jnp.where(t[0] < 0.0, 0.0, -jnp.inf) - 0.5 * (t[1] / jnp.exp(t[0])) ** 2


def draws_of_narrowing(rng, n=4000):
    u = np.log(rng.random(n))
    return np.stack([u, np.exp(u) * rng.standard_normal(n)], axis=1)


def test_a_normal_has_light_slopes_and_moves_leave_them():
    neck = neck_of(lambda t: -0.5 * jnp.sum(t**2), np.random.default_rng(1).standard_normal((4000, 3)))
    assert max(neck.at_draws, neck.after_moves) < 0.3
    assert neck_status(neck).is_ok


def test_a_neck_has_the_index_of_its_width():
    neck = neck_of(narrowing, draws_of_narrowing(np.random.default_rng(1)))
    assert abs(neck.at_draws - 1.0) < 0.3
    assert str(neck_status(neck)) == "suspect (neck)"


def test_moves_enter_a_neck_that_the_draws_left_out():
    draws = draws_of_narrowing(np.random.default_rng(2), 6000)
    neck = neck_of(narrowing, draws[np.abs(draws[:, 0]) < 2.5][:4000])  # 8 % of the posterior are narrower
    assert neck.after_moves > max(0.5, neck.at_draws) and str(neck_status(neck)) == "suspect (neck)"


def test_a_wall_is_no_neck():
    """The soft edge of a wide half normal: slopes a thousand times those of the bulk at a hundredth of the draws."""
    rng = np.random.default_rng(3)
    wide = np.abs(100.0 * rng.standard_normal(5000))
    kept = wide[rng.random(5000) < 1.0 / (1.0 + np.exp(-2.0 * wide))][:4000, None]
    neck = neck_of(lambda t: -0.5 * (t[0] / 100.0) ** 2 + jax.nn.log_sigmoid(2.0 * t[0]), kept)
    assert neck_status(neck).is_ok and max(neck.at_draws, neck.after_moves) < 0.3


def test_a_corner_of_walls_is_no_neck():
    """Two classes that are separated by many lines: walls on several sides, along no coordinate."""
    rng = np.random.default_rng(6)
    walls = np.array([[1.0, 0.4], [-0.3, 1.0]])
    wide = 100.0 * rng.standard_normal((30_000, 2))
    share = np.exp(-np.logaddexp(0.0, -wide @ walls.T).sum(axis=1))
    kept = wide[rng.random(len(wide)) < share][:4000]

    def log_density(t):
        return -0.5 * jnp.sum((t / 100.0) ** 2) + jnp.sum(jax.nn.log_sigmoid(jnp.asarray(walls) @ t))

    assert len(kept) == 4000 and neck_status(neck_of(log_density, kept)).is_ok


def test_a_lopsided_neck_is_one():
    """A neck of which one side is ten times as steep as the other."""
    draws = draws_of_narrowing(np.random.default_rng(4))
    draws[:, 1] = np.where(draws[:, 1] > 0.0, 1.0, 0.1) * draws[:, 1]

    def log_density(t):
        return narrowing(jnp.stack([t[0], t[1] * jnp.where(t[1] > 0.0, 1.0, 10.0)]))

    assert str(neck_status(neck_of(log_density, draws))) == "suspect (neck)"


def test_a_black_box_is_not_judged():
    box = zhat.Model.from_log_density(lambda t: -0.5 * float(np.sum(t**2)), 1, black_box=True)
    assert neck_status(look_into_neck(box, np.zeros((10, 1)), Key(1), Loop(None, False, "test"))).is_ok
