"""Few draws instead of a record: the same posterior, the same number, and no evidence from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.results.marginals import marginals

pytestmark = pytest.mark.xdist_group("E1")
E1 = zoo.example("E1").model


@pytest.mark.parametrize(
    "method", [zhat.PriorMean(n_draws=20_000), zhat.SMC(n_particles=400, mode_check=False)], ids=["draws", "path"]
)
def test_the_posterior_stays_and_the_record_is_small(method, tmp_path):
    whole = zhat.evidence(E1, method, seed=1, progress=False)
    few = whole.thinned(300)
    assert (few.log_evidence, few.log_evidence_se, few.status, few.cost) == (
        whole.log_evidence,
        whole.log_evidence_se,
        whole.status,
        whole.cost,
    )
    assert len(few.record.position) == 300
    for name, expected in marginals(whole).items():
        found = marginals(few)[name]
        assert (np.abs(found.mean - expected.mean) < 0.3 * expected.sd).all()
        assert (np.abs(found.sd / expected.sd - 1.0) < 0.25).all()
    assert few.save(tmp_path / "few.json").with_suffix(".npz").stat().st_size < 20_000
    assert zhat.Evidence.load(tmp_path / "few.json").log_evidence == whole.log_evidence
    for other in ("stepping-stone", "reciprocal", "prior-mean", "importance", "nested", "bridge"):
        with pytest.raises((BadInput, BadType)):
            zhat.read(few, other)


def test_a_result_without_posterior_draws_has_no_record():
    assert replace(zhat.evidence(E1, "laplace", seed=1, progress=False), record=None).thinned(10).record is None
    stopped = zhat.evidence(E1, zhat.SMC(n_particles=400), seed=1, progress=False, budget=zhat.Budget(likelihoods=10))
    assert stopped.record is not None and stopped.thinned(10).record is None


@pytest.mark.parametrize(("n", "error"), [(0, BadInput), (2.5, BadType), (True, BadType)])
def test_bad_numbers(n, error):
    with pytest.raises(error, match="thinned"):
        zhat.evidence(E1, "laplace", seed=1, progress=False).thinned(n)
