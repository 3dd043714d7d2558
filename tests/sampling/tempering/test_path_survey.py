"""A survey of the path: its length, the step onto the support, rungs at equal distances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.tempering.lineages import LineageRun
from zhat.sampling.tempering.path_survey import PathSurvey, Station, measured
from zhat.sampling.tempering.schedules import ON_SUPPORT


def test_the_length_of_a_path_between_two_gaussians_is_the_textbooks():
    """Log likelihood -x^2/2 under N(0, 1/(1 + beta)): the variance of log L is 1 / (2 (1 + beta)^2)."""
    rng = np.random.default_rng(0)
    betas = np.array([0.0, 0.3, 1.0])
    rungs = tuple(-0.5 * (rng.standard_normal((1, 200_000)) / np.sqrt(1 + b)) ** 2 for b in betas[:-1])
    at, distance = measured(betas, rungs)
    assert at[-1] == 1.0
    assert np.all(np.diff(distance) >= 0)
    assert distance[-1] == pytest.approx(math.log(2.0) / math.sqrt(2.0), rel=0.02)


def test_the_step_onto_the_support_is_a_rung_of_its_own_and_has_no_length():
    rng = np.random.default_rng(1)
    alive = rng.standard_normal((1, 500))
    first = np.where(np.arange(500) < 400, -np.inf, alive)
    at, distance = measured(np.array([0.0, ON_SUPPORT, 1.0]), (first, alive))
    assert distance[1] == 0.0
    station = Station(1.0, np.zeros(1), np.eye(1), CrankNicolson(), 1.0)
    record = LineageRun(np.array([0.0, ON_SUPPORT, 1.0]), np.zeros((2, 5)), np.zeros((5, 1)), np.zeros(5), np.ones(1), 1).record()
    rungs = PathSurvey(record, (station,), at, distance).rungs(8)
    assert len(rungs) == 10
    assert rungs[1] == ON_SUPPORT
    assert np.all(np.diff(rungs) > 0)


def test_rungs_of_a_map_are_at_equal_distances_and_tuned_between_its_stations():
    record = LineageRun(np.array([0.0, 1.0]), np.zeros((1, 5)), np.zeros((5, 1)), np.zeros(5), np.empty(0), 1).record()
    seen = ((0.5, 4.0, 0.9), (1.0, 1.0, 0.5))
    stations = tuple(Station(b, np.array([b]), np.array([[v]]), CrankNicolson(), scale) for b, v, scale in seen)
    path = PathSurvey(record, stations, np.array([0.0, 0.5, 1.0]), np.array([0.0, 3.0, 4.0]))
    assert path.rungs(3) == pytest.approx([0.0, 1 / 6, 1 / 3, 0.5, 1.0])
    plan = path.plan(np.array([0.0, 0.25, 0.75, 1.0]), 1)
    assert plan.shapes.mean[:, 0, 0] == pytest.approx([0.5, 0.75])
    assert plan.shapes.factor[:, 0, 0, 0] ** 2 == pytest.approx([4.0, 2.5])
    back = plan.backwards()
    assert back.betas.tolist() == [1.0, 0.75, 0.25, 0.0]
    assert back.shapes.mean[:, 0, 0] == pytest.approx([0.75, 0.5])
