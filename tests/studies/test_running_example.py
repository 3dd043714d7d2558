"""Every method on the running example of Friel & Wyse (2012)."""

from __future__ import annotations

import zhat
from zhat.studies import running_example


def test_the_running_example_by_every_method():
    study = running_example.run_all(seed=1)
    assert set(study.results) == set(zhat.methods.registry()) - {"exact"}  # the example carries no formula
    refused = {name for name, result in study.results.items() if not result.status.is_ok}
    assert refused == {"harmonic-mean", "prior-mean"}  # infinite variance, and a prior much wider than the data
    for name, result in study.results.items():
        if name not in refused:
            assert result.error is not None and abs(result.log_evidence - study.exact) < 4.5 * result.error
    assert study.results["harmonic-mean"].log_evidence > study.exact + 1.0
