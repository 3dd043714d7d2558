"""A lower answer that agrees on what its run visited."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from zhat.missed_mass.finding import Answer
from zhat.missed_mass.visited import Visited, visited_by
from zhat.results.records import Draws
from zhat.seeding import Key

BROAD, NARROW = stats.norm(-1.0, 0.5), stats.norm(2.5, 0.1)


def draws(position, log_likelihood, log_weight):
    return Draws(
        position=position,
        log_prior=np.zeros(len(position)),
        log_likelihood=log_likelihood,
        n_drawn=len(position),
        log_weight=log_weight,
    )


def log_density(x):
    """Two normals in three dimensions, three quarters of the mass in the broad one."""
    return np.logaddexp(math.log(0.75) + BROAD.logpdf(x).sum(axis=1), math.log(0.25) + NARROW.logpdf(x).sum(axis=1))


@pytest.fixture
def runs():
    """Weighted draws of an answer that has both modes, and those of a run that visited the broad one alone."""
    rng = np.random.default_rng(5)
    x = np.concatenate([BROAD.rvs((4000, 3), random_state=rng), NARROW.rvs((4000, 3), random_state=rng)])
    proposal = np.logaddexp(BROAD.logpdf(x).sum(axis=1), NARROW.logpdf(x).sum(axis=1)) + math.log(0.5)
    alone = BROAD.rvs((3000, 3), random_state=rng)
    return draws(x, log_density(x), log_density(x) - proposal), draws(alone, log_density(alone), np.zeros(3000))


def test_the_share_that_a_run_visited(runs):
    both, alone = runs
    visited = visited_by(Answer(0.0, 0.01), both, alone, Key(0))
    assert visited.share == pytest.approx(0.75, abs=4 * visited.se) and 0.0 < visited.se < 0.02
    assert visited.agrees(Answer(0.0, 0.01), Answer(math.log(0.75), 0.01))
    assert not visited.agrees(Answer(0.0, 0.01), Answer(math.log(0.6), 0.01))


def test_a_run_that_visited_all_of_it_has_lost_nothing(runs):
    both, _ = runs
    visited = visited_by(Answer(0.0, 0.01), both, both, Key(0))
    assert visited.share > 0.999
    assert not visited.agrees(Answer(0.0, 0.01), Answer(-1.0, 0.01))
    assert not visited.agrees(Answer(0.0, 0.003), Answer(-0.04, 0.008)), "a small difference that nothing lost explains"
    assert not Visited(1.0, 0.0).agrees(Answer(0.0, 0.01), Answer(0.0, 0.01))


def test_draws_at_one_point_visited_nothing(runs):
    both, _ = runs
    visited = visited_by(Answer(0.0, 0.01), both, draws(np.zeros((50, 3)), np.zeros(50), np.zeros(50)), Key(0))
    assert visited is None or not visited.agrees(Answer(0.0, 0.01), Answer(-1.0, 0.01))
