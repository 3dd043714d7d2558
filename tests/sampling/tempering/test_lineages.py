"""Lineages: weights along a path by hand, and their means forwards and backwards."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from zhat import zoo
from zhat.numerics.weights import Weights
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.tempering.lineages import anneal, path_log_weights
from zhat.sampling.tempering.path_survey import untuned_plan
from zhat.seeding import Key


def quiet() -> Loop:
    return Loop(progress=False)


def test_a_lineage_weighs_the_sum_of_its_steps():
    betas = np.array([0.0, 0.25, 1.0])
    values = np.array([[-2.0, 4.0], [-8.0, 1.0]])
    assert path_log_weights(betas, values) == pytest.approx([0.25 * -2 + 0.75 * -8, 0.25 * 4 + 0.75], abs=1e-14)
    assert path_log_weights(betas[::-1], values[::-1]) == pytest.approx([-0.75 * -8 + 0.25 * 2, -0.75 - 0.25 * 4], abs=1e-14)


def test_a_lineage_that_was_ever_impossible_weighs_nothing():
    values = np.array([[-np.inf, 1.0], [3.0, 2.0]])
    assert path_log_weights(np.array([0.0, 0.5, 1.0]), values).tolist() == [-np.inf, 1.5]


def test_the_walk_up_and_the_walk_down_average_to_z_and_to_one_over_z():
    """Coarse ladder, many lineages: the weights are uneven, and their means right all the same."""
    example = zoo.example("E2")
    model = example.model
    plan = untuned_plan(np.array([0.0, 0.05, 0.3, 1.0]), Gibbs(model.conditionals), 2)
    with jax.enable_x64(True):
        up = Weights.of(anneal(model, plan, prior_draws(model, 20_000, Key(1), quiet()), 5000, Key(2), quiet()).log_weights)
        long = untuned_plan(np.array([0.0, 1.0, 1.0 + 1e-12, 1.0]), Gibbs(model.conditionals), 50)  # many sweeps at the posterior
        settled = anneal(model, long, prior_draws(model, 20_000, Key(3), quiet()), 5000, Key(4), quiet())
        start = Draws(
            position=settled.position, log_prior=settled.log_prior, log_likelihood=settled.log_likelihood[-1], n_drawn=20_000
        )
        down = Weights.of(anneal(model, plan.backwards(), start, 5000, Key(5), quiet()).log_weights)
    assert abs(up.log_mean - example.log_evidence) < 4 * up.log_mean_se
    assert abs(-down.log_mean - example.log_evidence) < 4 * down.log_mean_se + 0.01
