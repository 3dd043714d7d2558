"""A run that its budget ends has the best number so far, a status that says so, and a record."""

from __future__ import annotations

import signal
import time

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.comparing.comparison import _markdown
from zhat.report.described import described
from zhat.results.estimate import Level

MODEL = zhat.Model.black_box(
    lambda p: float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04),
    {"x": dist.Uniform(-5.0, 5.0).expand([3]).to_event(1)},
    name="box\nlog Z = 0  ok",
)


@pytest.fixture(scope="module")
def stopped():
    return zhat.evidence(MODEL, "importance", seed=1, budget=zhat.Budget(likelihoods=300), progress=False)


def test_the_best_number_so_far(stopped):
    assert stopped.status.level is Level.FAILED and stopped.log_evidence_se is None
    assert np.isfinite(stopped.log_evidence)
    assert "the mean likelihood of 256 prior draws" in stopped.explain()
    assert len(stopped.record.position) == 256


@pytest.mark.parametrize(
    ("method", "likelihoods"),
    [(zhat.NestedSampling(n_live=100), 600), (zhat.SMC(n_particles=400), 3000), (zhat.PowerPosterior(), 60_000)],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_run_that_was_under_way_has_the_number_so_far(method, likelihoods):
    found = zhat.evidence(MODEL, method, seed=1, budget=zhat.Budget(likelihoods=likelihoods), progress=False)
    truth = 1.5 * np.log(2.0 * np.pi * 0.04) - 3.0 * np.log(10.0)
    assert found.status.level is Level.FAILED and found.log_evidence_se is None
    assert "most often too low" in found.explain() and truth - 6.0 < found.log_evidence < truth + 1.0


@pytest.mark.parametrize(("likelihoods", "what"), [(300, "256 prior draws"), (30_000, "rungs up to"), (200_000, "its trial")])
def test_annealed_importance_sampling_has_the_number_of_its_pilot_or_trial(likelihoods, what):
    found = zhat.evidence(MODEL, "ais", seed=1, budget=zhat.Budget(likelihoods=likelihoods), progress=False)
    truth = 1.5 * np.log(2.0 * np.pi * 0.04) - 3.0 * np.log(10.0)
    assert found.status.level is Level.FAILED and found.log_evidence_se is None
    assert what in found.explain() and truth - 15.0 < found.log_evidence < truth + 1.0


def test_a_stored_name_forges_no_line(stopped, tmp_path):
    loaded = zhat.Evidence.load(stopped.save(tmp_path / "stopped.json"))
    assert not [line for line in described(loaded).splitlines() if line.startswith("log Z = 0")]
    assert _markdown("<script>|a\nb") == "&lt;script&gt;\\|a b"


def test_a_budget_ends_a_black_box_within_a_sweep():
    """One rung of this run takes 100,000 likelihoods and more."""
    calls = []

    def counted(p):
        calls.append(1)
        return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)

    model = zhat.Model.black_box(counted, {"x": dist.Uniform(-5.0, 5.0).expand([2]).to_event(1)}, name="box")
    budget = zhat.Budget(likelihoods=2500)
    found = zhat.evidence(model, zhat.AIS(n_particles=200, n_sweeps=500, n_pilot=40), seed=1, budget=budget, progress=False)
    assert "budget" in [reason.code for reason in found.status.reasons]
    assert len(calls) <= 2500 + 256 and found.cost.n_likelihood <= 2500 + 256


def test_a_budget_of_seconds_ends_a_slow_black_box_within_a_batch():
    """The first batch, 256 prior draws, would take five seconds."""

    def slow(p):
        time.sleep(0.02)
        return 0.0

    model = zhat.Model.black_box(slow, {"x": dist.Normal(0.0, 1.0)}, name="slow")
    found = zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=1, budget=zhat.Budget(seconds=0.5), progress=False)
    assert "the budget of 0.5 s is spent" in found.explain()
    assert found.cost.n_likelihood < 256


def test_the_part_of_a_batch_that_was_evaluated_gives_the_number():
    """Ctrl-C among the first 256 prior draws, which are evaluated in parts of 1, 2, 4, ... where they take long."""
    calls = []

    def interrupted(p):
        calls.append(1)
        if len(calls) == 20:
            time.sleep(0.6)  # the part with this call is the last
            signal.raise_signal(signal.SIGINT)
        return 0.0

    model = zhat.Model.black_box(interrupted, {"x": dist.Normal(0.0, 1.0)}, name="box")
    found = zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=1, progress=False)
    assert "interrupted" in [reason.code for reason in found.status.reasons]
    assert abs(found.log_evidence) < 1e-9 and f"{found.cost.n_likelihood} prior draws" in found.explain()
    assert len(found.record.position) == found.cost.n_likelihood <= len(calls)
