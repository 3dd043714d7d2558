"""A run that its budget ends has the best number so far, a status that says so, and a record."""

from __future__ import annotations

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


def test_a_stored_name_forges_no_line(stopped, tmp_path):
    loaded = zhat.Evidence.load(stopped.save(tmp_path / "stopped.json"))
    assert not [line for line in described(loaded).splitlines() if line.startswith("log Z = 0")]
    assert _markdown("<script>|a\nb") == "&lt;script&gt;\\|a b"
