"""The loop of nested sampling: how a run begins with more draws from the prior than stay alive."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.numerics.nested import log_volumes
from zhat.sampling.backend.loop import Loop
from zhat.sampling.nested.replacement import MarkovReplacement
from zhat.sampling.nested.run import LivePoints, run_nested
from zhat.sampling.nested.stopping import Iterations, RemainingEvidence
from zhat.seeding import Key
from zhat.verdicts.nested import evidence_shares, genealogical_se

N_LIVE, N_FIRST = 100, 800


def made(model, stop, n_first=N_FIRST, seed=1):
    return run_nested(model, LivePoints(N_LIVE, 48, MarkovReplacement(), stop, n_first), Key(seed), Loop(None, False))


def test_the_lowest_first_draws_die_one_by_one_until_the_live_points_are_left():
    run = made(zoo.example("E8").model, Iterations(N_FIRST))
    n_unreplaced = N_FIRST - N_LIVE
    np.testing.assert_array_equal(run.n_alive[:n_unreplaced], np.arange(N_FIRST, N_LIVE, -1))
    assert run.n_alive[n_unreplaced] == N_LIVE
    assert (np.diff(run.log_likelihood) >= 0.0).all()
    # Every draw is an ancestor: those that died of themselves, and those that stayed of all points after them.
    assert len(set(run.ancestors[:n_unreplaced])) == n_unreplaced
    assert set(run.ancestors[n_unreplaced:]).isdisjoint(run.ancestors[:n_unreplaced])
    assert run.ancestors.max() < N_FIRST
    # Batches of replacements are those after.
    assert len(run.n_dead) == len(run.threshold) == len(run.n_moves) > 0
    assert len(run.insertion_rank) == run.n_dead.sum()
    assert log_volumes(run.n_alive)[n_unreplaced - 1] == pytest.approx(np.log(N_LIVE / N_FIRST), abs=0.01)


def test_the_genealogical_standard_error_counts_all_first_draws():
    run = made(zoo.example("E8").model, RemainingEvidence(0.01))
    shares = evidence_shares(run)
    by_ancestor = np.bincount(run.ancestors, weights=shares, minlength=N_FIRST)
    assert genealogical_se(run, shares)[0] == pytest.approx(np.sqrt(((by_ancestor - 1.0 / N_FIRST) ** 2).sum()), rel=0.01)


def test_both_beginnings_have_the_evidence_and_the_standard_error_of_their_masses():
    example = zoo.example("E8")
    values = {}
    for n_first in (N_LIVE, N_FIRST):
        runs = [made(example.model, RemainingEvidence(0.01), n_first, seed) for seed in range(24)]
        estimates = [zhat.NestedSampling().read(run) for run in runs]
        z = [(e.log_evidence - example.log_evidence) / e.diagnostics["shrinkage_se"] for e in estimates]
        assert abs(np.mean(z)) < 4.0 / np.sqrt(24)
        assert 0.4 < np.mean(np.square(z)) < 2.2  # a chi-squared of 24, four standard deviations
        values[n_first] = np.mean([e.diagnostics["shrinkage_se"] for e in estimates])
    assert values[N_FIRST] < 0.95 * values[N_LIVE]


def test_first_draws_without_likelihood_die_first_whatever_their_number():
    """Zero for all but some draws: the plateau goes on among the live points, and those above it found all lines of descent."""
    prior = {"x": dist.Uniform(0.0, 1.0).expand([5]).to_event(1)}
    model = zhat.Model(lambda p: jnp.where(p["x"][0] < 0.02, -0.5 * p["x"][0], -jnp.inf), prior, name="corner")
    truth = np.log(2.0 * -np.expm1(-0.01))
    method = zhat.NestedSampling(n_live=400)
    results = [zhat.evidence(model, method, seed=seed, progress=False) for seed in (1, 2, 3)]
    for result in results:
        assert result.status.is_ok
        assert abs(result.log_evidence - truth) < 4 * result.error
        assert result.record.n_alive[0] == 400 * 32
        assert 20 < result.record.n_survivors[0] < 400


def test_nothing_moves_where_all_first_draws_have_one_likelihood():
    model = zhat.Model(lambda p: 0.0 * p["x"].sum() - 2.0, {"x": dist.Normal(0.0, 1.0).expand([5]).to_event(1)}, name="flat")
    result = zhat.evidence(model, zhat.NestedSampling(n_live=100, mode_check=False), seed=1, progress=False)
    assert result.log_evidence == pytest.approx(-2.0, abs=1e-12)
    assert result.log_evidence_se == 0.0
    assert not len(result.record.n_moves)
