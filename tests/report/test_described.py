"""A result in full, as text."""

from __future__ import annotations

import zhat
from zhat import zoo
from zhat.report.described import described


def test_everything_that_a_result_records_is_there():
    result = zhat.evidence(zoo.example("E1").model, "importance", seed=1, repeats=2, progress=False)
    text = described(result)
    assert text.startswith(result.explain())
    for part in ("model     E1, 1 parameters" if result.n_dimensions == 1 else "model     E1", "settings  n_draws=", "runs: "):
        assert part in text
