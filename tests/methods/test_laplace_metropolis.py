"""Laplace at the MAP of a sample: the formula by hand, the known errors of Laplace's method, and its own in many dimensions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.methods.laplace_metropolis import (
    Curvature,
    LaplaceMetropolis,
    SampleCovariance,
    best_of_each_chain,
    laplace_at,
)
from zhat.results.estimate import Kind
from zhat.results.records import Draws
from zhat.sampling.kernels.gibbs import Gibbs

# Laplace - exact, in the unconstrained coordinates.
KNOWN_ERRORS = {"E1": 0.0, "E3a": -0.0300, "E4": -0.0069, "E11": -0.0251}


def test_the_formula_by_hand():
    covariances = np.array([[[4.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
    answers = laplace_at(np.array([-3.0, -3.0]), covariances)
    assert answers[0] == pytest.approx(-3.0 + math.log(2 * math.pi) + 0.5 * math.log(4.0), abs=1e-13)
    assert np.isnan(answers[1])  # not a covariance


def test_the_best_draw_of_each_chain():
    log_likelihood, log_prior = np.array([1.0, 5, 2, 0, 0, 9]), np.array([0.0, -9, 0, 1, 2, 0])
    chain = np.repeat([0, 1], 3)
    draws = Draws(position=np.zeros((6, 1)), log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=6, chain=chain)
    assert best_of_each_chain(draws).tolist() == [2, 5]


@pytest.mark.parametrize("id", KNOWN_ERRORS)
def test_it_makes_laplaces_known_error_within_the_noise_of_the_sample(id):
    example = zoo.example(id)
    result = zhat.evidence(example.model, "laplace-metropolis", seed=1, progress=False)
    assert result.kind is Kind.APPROXIMATION
    assert result.log_evidence_se is None and result.no_se_because
    assert result.status.is_ok, result.explain()
    noise = result.diagnostics["between_chain_sd"]
    assert result.log_evidence - example.log_evidence == pytest.approx(KNOWN_ERRORS[id], abs=2e-3 + noise)
    assert abs(result.log_evidence - example.log_evidence) < 4.5 * result.approximation_error


def test_in_ten_dimensions_the_best_draw_is_below_the_mode_by_what_it_says():
    example = zoo.example("E9a")
    result = zhat.evidence(example.model, "laplace-metropolis", seed=1, progress=False)
    short = result.diagnostics["short_of_top"]
    assert 0.2 < short < 2.0
    assert result.log_evidence == pytest.approx(example.log_evidence - short, abs=1e-8)  # exactly Gaussian: nothing else is wrong


def test_the_covariance_of_the_draws_instead_of_the_curvature():
    example = zoo.example("E1")
    result = zhat.evidence(example.model, LaplaceMetropolis(spread=SampleCovariance()), seed=1, progress=False)
    assert result.log_evidence == pytest.approx(example.log_evidence, abs=0.05)
    assert result.settings["spread"] == {"type": "SampleCovariance"}


def test_from_gibbs_sweeps_on_the_running_example():
    example = zoo.example("running-example")
    method = LaplaceMetropolis(kernel=Gibbs(example.model.conditionals), n_draws=500)
    result = zhat.evidence(example.model, method, seed=1, progress=False)
    assert result.status.is_ok
    assert result.log_evidence == pytest.approx(example.log_evidence, abs=0.02)


def test_a_mirrored_mode_shows_in_the_correction():
    result = zhat.evidence(zoo.example("E16b").model, "laplace-metropolis", seed=1, progress=False)
    assert not result.status.is_ok


def test_without_a_peak_it_fails_with_a_sentence():
    result = zhat.evidence(zoo.example("E15").model, "laplace-metropolis", seed=1, progress=False)
    assert not result.status.is_ok
    assert result.log_evidence_se is None


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"n_chains": 1}, BadInput),
        ({"n_draws": 10}, BadInput),
        ({"n_check": 10}, BadInput),
        ({"spread": "hessian"}, BadType),
        ({"kernel": "gibbs"}, BadType),
    ],
)
def test_bad_settings_are_refused(settings, error):
    with pytest.raises(error, match=next(iter(settings))):
        LaplaceMetropolis(**settings)


def test_curvature_is_the_default():
    assert LaplaceMetropolis().spread == Curvature()
