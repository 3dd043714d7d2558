"""The check for missed mass around given draws, where there is no prior to start from."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import zhat

HALF = float(np.log(0.5))


def two_modes(theta):
    """Two equal normals, at 0 and at 6 standard deviations, of total mass one."""
    first, second = -0.5 * jnp.sum(theta**2), -0.5 * jnp.sum((theta - 6.0) ** 2)
    return jnp.logaddexp(first, second) + HALF - 0.5 * theta.size * jnp.log(2.0 * jnp.pi)


def one_mode(theta):
    return -0.5 * jnp.sum(theta**2) - 0.5 * theta.size * jnp.log(2.0 * jnp.pi)


def draws(rng, d=2):
    return {"theta": rng.standard_normal((4, 500, d))}


@pytest.mark.parametrize("method", [zhat.Bridge(), zhat.Reciprocal()])
def test_a_normal_is_right_and_the_result_says_what_was_not_checked(method):
    result = zhat.evidence(zhat.Model.from_log_density(one_mode, 2), method, draws=draws(np.random.default_rng(1)), seed=1)
    assert str(result.status) == "ok (note: joint-density)"
    assert abs(result.log_evidence) < 4.5 * result.log_evidence_se + 1e-9
    assert "integrates to one" in result.explain()
    assert result.diagnostics["mode_check"] == "done" and result.diagnostics["unseen"] == ["prior"]


@pytest.mark.parametrize("seed", range(4))
def test_a_proposal_that_is_refitted_may_reach_the_mode_that_the_draws_missed(seed):
    model = zhat.Model.from_log_density(two_modes, 2)
    result = zhat.evidence(model, "importance", draws=draws(np.random.default_rng(2 + seed)), seed=seed)
    print(result)
    assert not result.status.is_ok or abs(result.log_evidence) < 4.0 * result.log_evidence_se  # the draws alone: 0.69 too low


@pytest.mark.parametrize("method", [None, "bridge", "reciprocal"])
def test_draws_that_missed_a_mode_within_reach_are_suspect(method):
    model = zhat.Model.from_log_density(two_modes, 2)
    result = zhat.evidence(model, method, draws=draws(np.random.default_rng(2)), seed=1)
    assert not result.status.is_ok
    assert {reason.code for reason in result.status.reasons} <= {"missed-peak", "pareto-k", "low-ess", "foreign-draws"}


def test_a_black_box_is_checked_too_and_a_wall_makes_no_draws_foreign():
    def half_normal(theta):
        return -0.5 * np.sum(theta**2) if (theta > 0).all() else -np.inf

    model = zhat.Model.from_log_density(half_normal, 1, black_box=True)
    rng = np.random.default_rng(3)
    result = zhat.evidence(
        model, zhat.Bridge(mode_check=False), draws={"theta": np.abs(rng.standard_normal((4, 500, 1)))}, seed=1
    )
    assert result.diagnostics["score_not_tested"]
    assert abs(result.log_evidence - 0.5 * np.log(np.pi / 2.0)) < 0.1
