"""The sandwich: an upper number beside the lower one, gaps and crossings, rigorous bounds on simulated data."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.methods.annealed import AIS
from zhat.run.sandwich import gap_status, upper_from


def test_the_upper_number_by_hand():
    upper, se, weights = upper_from(np.log([0.5, 1.5]), None, 0.5, 100)
    assert upper == pytest.approx(-math.log(1.0) + math.log(0.5), abs=1e-14)
    assert se == pytest.approx(math.sqrt(0.5**2 + 0.5 / (0.5 * 100)), abs=1e-14)
    assert weights.n_drawn == 2


def test_gaps_and_crossings():
    assert gap_status(0.05, 0.01, True).is_ok
    assert gap_status(0.5, 0.01, True).reasons[0].code == "gap"
    assert gap_status(-0.5, 0.01, False).reasons[0].code == "crossed"
    assert gap_status(0.5, 1.0, True).is_ok


def test_real_data_give_a_heuristic_sandwich_around_the_truth():
    example = zoo.example("E2")
    result = zhat.sandwich(example.model, seed=1, progress=False)
    assert result.status.is_ok and not result.rigorous
    assert "heuristic" in result.explain()
    assert result.lower - 4 * result.lower_se < example.log_evidence < result.upper + 4 * result.upper_se
    assert result.gap == pytest.approx(result.upper - result.lower)
    assert zhat.sandwich(example.model, seed=1, progress=False).gap == result.gap


def test_simulated_data_give_rigorous_bounds_over_many_data_sets():
    """On average over data sets the truth lies between; each truth is the closed form for its own data."""
    model = zoo.example("E1").model
    below, above = [], []
    for seed in range(6):
        kept = []

        def simulate(params, rng, kept=kept):
            kept.append(params["theta"] + rng.standard_normal(5))
            return kept[-1]

        result = zhat.sandwich(model, AIS(n_particles=200), simulate=simulate, seed=seed, progress=False)
        assert result.rigorous and result.simulated
        y = kept[0]
        covariance = np.eye(5) + 4.0
        truth = -0.5 * (5 * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y))
        below.append((result.lower - truth) / result.lower_se)
        above.append((result.upper - truth) / result.upper_se)
    assert abs(np.mean(below)) < 4 / math.sqrt(6)
    assert abs(np.mean(above)) < 4 / math.sqrt(6)


def test_exact_draws_can_be_given():
    example = zoo.example("E1")
    y = np.asarray(example.model.data)
    draws = y.sum() / 5.25 + np.random.default_rng(0).standard_normal(1000) / math.sqrt(5.25)
    result = zhat.sandwich(example.model, exact_draws={"theta": draws}, seed=1, progress=False)
    assert result.rigorous and not result.simulated
    assert abs(result.upper - example.log_evidence) < 4 * result.upper_se


def test_a_sandwich_of_the_wrong_things_is_refused():
    model = zoo.example("E1").model
    flat = zhat.Model(lambda p: jnp.sum(0.0 * p["x"]), {"x": dist.Normal(0.0, 1.0)}, name="flat")
    for call, error, words in (
        (lambda: zhat.sandwich("E1"), BadType, "takes a zhat.Model"),
        (lambda: zhat.sandwich(model, "smc"), BadType, "AIS"),
        (lambda: zhat.sandwich(model, simulate=3), BadType, "function"),
        (lambda: zhat.sandwich(flat, simulate=lambda p, rng: 0), BadInput, "takes no data"),
        (lambda: zhat.sandwich(model, simulate=lambda p, rng: 0, exact_draws={}), BadInput, "give one of them"),
        (lambda: zhat.sandwich(model, exact_draws={"mu": [1.0]}, seed=1, progress=False), BadInput, "lack the parameter"),
    ):
        with pytest.raises(error, match=words):
            call()
