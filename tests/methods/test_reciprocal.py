"""Reciprocal importance sampling: its densities integrate to one, its answers are honest, two modes are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.sampling.chains.regions import SHARES, Ellipsoid, Tight, TruncatedNormal

FAMILIES = [TruncatedNormal(), TruncatedNormal(0.6), Ellipsoid(), Tight()]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_every_density_integrates_to_one(family):
    rng = np.random.default_rng(1)
    fit = rng.standard_normal((2000, 2)) * [1.0, 3.0] + [0.5, -1.0]
    wide = stats.multivariate_normal([0.5, -1.0], np.diag([4.0, 36.0]))
    points = wide.rvs(200_000, random_state=rng)
    for region in family.fitted(fit, stats.norm.logpdf(fit).sum(axis=1)):
        weight = np.exp(region.log_density(points) - wide.logpdf(points))
        assert weight.mean() == pytest.approx(1.0, abs=5 * weight.std() / np.sqrt(len(weight)))


def test_a_bent_posterior_gets_a_smaller_region():
    """A parabola of x in y: neither marginal can be straightened by a function of itself."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2000, 2))
    straight, bent = stats.norm.logpdf(x).sum(axis=1), np.column_stack([x[:, 0], 0.5 * x[:, 1] + x[:, 0] ** 2])
    assert TruncatedNormal().fitted(x, straight)[0].shape.share == SHARES[0]
    assert TruncatedNormal().fitted(bent, straight)[0].shape.share < SHARES[0]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_answers_from_independent_draws_are_honest(family):
    example, precision = zoo.example("E1"), 5.25
    z = []
    for seed in range(10):
        theta = 3.9 / precision + np.random.default_rng(seed).standard_normal((4, 500)) / np.sqrt(precision)
        result = zhat.evidence(
            example.model, zhat.Reciprocal(density=family, mode_check=False), draws={"theta": theta}, seed=1, progress=False
        )
        assert result.status.is_ok, result.explain()
        z.append((result.log_evidence - example.log_evidence) / result.log_evidence_se)
    assert np.sqrt(np.mean(np.square(z))) < 1.9


def test_two_modes_under_one_ellipsoid_are_refused():
    result = zhat.evidence(zoo.example("S7").model, "reciprocal", seed=1, progress=False)
    assert not result.status.is_ok or abs(result.log_evidence - zoo.example("S7").log_evidence) < 4.5 * result.log_evidence_se


def test_settings_and_records_are_checked():
    with pytest.raises(BadType, match="TruncatedNormal"):
        zhat.Reciprocal(density="normal")
    with pytest.raises(BadInput, match="between 0 and 1"):
        TruncatedNormal(1.5)
    with pytest.raises(BadInput, match="lighter tails"):
        Tight(1.5)
    weighted = zhat.evidence(zoo.example("E1").model, "importance", seed=1, progress=False)
    with pytest.raises(BadInput, match="weighted"):
        zhat.read(weighted, "reciprocal")
