"""Slopes with a heavy tail mark a posterior that narrows without end."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import zhat
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.neck import slope_tail
from zhat.verdicts.from_chains import neck_status


def tail(log_density, draws):
    model = zhat.Model.from_log_density(log_density, draws.shape[1])
    with jax.enable_x64(True):
        return slope_tail(model, draws, Loop(None, False, "test"))


def test_a_normal_has_light_slopes_and_a_neck_has_the_index_of_its_width():
    rng = np.random.default_rng(1)
    assert tail(lambda t: -0.5 * jnp.sum(t**2), rng.standard_normal((4000, 3))) < 0.3
    # log width u with density e^u below zero (a = 1), x given u normal of width e^u: slopes have the index 1 / a = 1.
    u = np.log(rng.random(4000))
    draws = np.stack([u, np.exp(u) * rng.standard_normal(4000)], axis=1)
    index = tail(lambda t: t[0] - 0.5 * (t[1] / jnp.exp(t[0])) ** 2 - t[0], draws)
    assert abs(index - 1.0) < 0.3 and str(neck_status(index)) == "suspect (neck)"


def test_a_black_box_is_not_judged():
    box = zhat.Model.from_log_density(lambda t: -0.5 * float(np.sum(t**2)), 1, black_box=True)
    assert np.isnan(slope_tail(box, np.zeros((10, 1)), Loop(None, False, "test"))) and neck_status(float("nan")).is_ok
