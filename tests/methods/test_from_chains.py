"""What bridge and reciprocal share: chains of their own or given ones, and the look beside them."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.methods._from_chains import looked_beside, watched_chains
from zhat.results.estimate import Estimate, Status
from zhat.sampling.backend.loop import Loop
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key

pytestmark = pytest.mark.xdist_group("E1")


def bench(given=None):
    return Workbench(zoo.example("E1").model, Key(1), Loop(None, False, "test"), given)


def test_own_chains_come_with_the_outlying_points_of_their_start_and_given_ones_alone():
    method, model = zhat.Bridge(n_draws=100, n_warmup=25), zoo.example("E1").model
    with jax.enable_x64(True):
        own = watched_chains(method, model, bench(), Key(2))
        given = watched_chains(method, model, bench(own.chains), Key(2))
    assert own.outliers is not None and own.chains.draws.n_drawn == 400 and own.chains.path.complete
    assert given.outliers is None and given.chains is own.chains


def test_a_look_that_is_switched_off_is_said_and_an_answer_without_error_is_not_looked_at():
    model, doubtful = zoo.example("E1").model, Estimate(np.nan, None, Status.failed("no-overlap", "none"))
    with jax.enable_x64(True):
        watched = watched_chains(zhat.Bridge(n_draws=100, n_warmup=25), model, bench(), Key(2))
        off = looked_beside(zhat.Bridge(mode_check=False), model, Estimate(-8.0, 0.01, Status.ok()), watched, bench(), Key(3))
        assert looked_beside(zhat.Bridge(), model, doubtful, watched, bench(), Key(3)) is doubtful
    assert off.diagnostics["mode_check"] == "not made"
