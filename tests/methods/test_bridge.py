"""Bridge sampling: exact where the proposal is the posterior, every proposal honest, refusals, and what it says of itself."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.results.records import Draws
from zhat.sampling.chains.bridging import FittedMixture, FittedNormal, FittedT, WarpIII
from zhat.sampling.chains.halves import in_halves

SETTINGS = zhat.settings
Y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])


def normal_draws(n_chains, n=500, seed=1):
    precision = len(Y) + 0.25
    return {"theta": Y.sum() / precision + np.random.default_rng(seed).standard_normal((n_chains, n)) / np.sqrt(precision)}


def e1():
    return zoo.example("E1")


def test_the_posterior_itself_as_the_proposal_is_exact():
    precision = len(Y) + 0.25
    exact = zhat.proposals.Gaussian(np.array([Y.sum() / precision]), np.array([[1.0 / precision]]))
    result = zhat.evidence(e1().model, zhat.Bridge(proposal=exact), draws=normal_draws(4), seed=1, progress=False)
    assert result.log_evidence == pytest.approx(e1().log_evidence, abs=1e-11)
    assert result.log_evidence_se < 1e-9 and result.status.is_ok


@pytest.mark.parametrize("proposal", [WarpIII(), FittedNormal(), FittedT(), FittedMixture()], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("n_chains", [1, 2, 3, 4])
def test_any_number_of_chains_will_do(proposal, n_chains):
    method = zhat.Bridge(proposal=proposal, mode_check=False)
    result = zhat.evidence(e1().model, method, draws=normal_draws(n_chains, 1200), seed=1, progress=False)
    assert result.status.is_ok, result.explain()
    assert abs(result.log_evidence - e1().log_evidence) < 4.5 * result.log_evidence_se


def test_halves_are_made_of_whole_chains():
    def draws(n_chains, n):
        x = np.arange(n_chains * n, dtype=float)
        return Draws(position=x[:, None], log_prior=x, log_likelihood=x, n_drawn=len(x), chain=np.repeat(np.arange(n_chains), n))

    first, second = in_halves(draws(4, 10))
    assert set(first.chain) == {0, 1} and set(second.chain) == {2, 3}
    first, second = in_halves(draws(1, 11))
    assert len(first.position) == len(second.position) == 5 and first.position.max() < second.position.min()


def test_a_reflected_skewed_target_has_a_smaller_error_than_a_normal_one():
    """The log of a gamma variable: the ratio of variances of normal and warp-III proposals is about five."""
    prior = {"x": dist.Gamma(2.0, 1.0)}
    model = zhat.Model(lambda p: 0.0 * p["x"], prior, name="log gamma")
    draws = {"x": np.random.default_rng(2).gamma(2.0, 1.0, (4, 1000))}
    errors = {}
    for family in (WarpIII(), FittedNormal()):
        result = zhat.evidence(model, zhat.Bridge(proposal=family, mode_check=False), draws=draws, seed=1, progress=False)
        assert abs(result.log_evidence) < 4.5 * result.log_evidence_se
        errors[type(family).__name__] = result.log_evidence_se
    assert errors["WarpIII"] < 0.8 * errors["FittedNormal"]


def two_modes():
    def log_likelihood(p):
        return jnp.logaddexp(*(dist.Normal(at, 0.1).log_prob(p["x"]) for at in (-2.0, 2.0))) - jnp.log(2.0)

    return zhat.Model(log_likelihood, {"x": dist.Uniform(-5.0, 5.0)}, name="two modes")


def test_draws_of_one_mode_of_two_are_flagged_by_the_check_alone():
    model, truth = two_modes(), -np.log(10.0)
    draws = {"x": 2.0 + 0.1 * np.random.default_rng(3).standard_normal((4, 1000))}
    blind = zhat.evidence(model, zhat.Bridge(mode_check=False), draws=draws, seed=1, progress=False)
    assert blind.status.is_ok and blind.log_evidence == pytest.approx(truth - np.log(2.0), abs=0.02)  # confidently wrong
    assert "not checked" in blind.explain()
    seen = zhat.evidence(model, "bridge", draws=draws, seed=1, progress=False)
    assert not seen.status.is_ok and {r.code for r in seen.status.reasons} & {"missed-peak", "missed-mode"}


def test_own_chains_in_two_modes_are_flagged():
    result = zhat.evidence(two_modes(), "bridge", seed=1, progress=False)
    assert not result.status.is_ok or abs(result.log_evidence + np.log(10.0)) < 4.5 * result.log_evidence_se


def test_a_slab_around_a_spike_that_no_chain_visits_is_seen():
    result = zhat.evidence(zoo.example("S1-d5").model, "bridge", seed=0, progress=False)
    assert not result.status.is_ok


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"n_chains": 1}, BadInput, "one half"),
        ({"n_draws": 10}, BadInput, "fitted to them"),
        ({"n_proposals": 5}, BadInput, "needs draws"),
        ({"proposal": "normal"}, BadType, "WarpIII"),
        ({"kernel": 3}, BadType, "HMC"),
    ],
)
def test_settings_are_checked(settings, error, words):
    with pytest.raises(error, match=words):
        zhat.Bridge(**settings)
    with pytest.raises(BadInput, match="more than 2"):
        FittedT(2.0)
