"""The study of approximate partition functions against values computed independently."""

from __future__ import annotations

import pytest

from zhat.numerics.fields.ising import bethe
from zhat.studies import ising


@pytest.mark.slow
def test_the_evidence_of_the_coupling_by_partition_function():
    found = {name: ising.integral(curve) for name, curve in ising.coupling_curves().items()}
    assert found["exact"] == pytest.approx(-64.973999, abs=1e-5)
    assert found["pseudo-likelihood"] == pytest.approx(-62.0836, abs=1e-3)
    # Of fixed points reached, so to the digits on which two searches agree.
    assert found["Bethe"] == pytest.approx(-64.3600, abs=2e-3)
    assert found["mean field"] == pytest.approx(-58.2080, abs=2e-3)
    assert found["mean field"] > found["exact"], "a lower bound on Z is no lower bound on the evidence"


@pytest.mark.parametrize(
    ("edges", "exact"), [("none", -7087.71432), ("pairs", -6746.15021), ("five", -6728.891), ("all", -6737.075)]
)
def test_laplace_with_bethe(edges, exact):
    assert ising.laplace(edges, bethe) == pytest.approx(exact, abs=2e-3)
