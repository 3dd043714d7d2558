"""docs/add_an_adapter.md, followed to the letter in a copy of the repository: one file."""

from __future__ import annotations

import pytest

from zhat import zoo

pytestmark = pytest.mark.xdist_group("clone")


def test_the_adapter_builds_a_model_with_the_right_evidence(run, code_of):
    use = code_of("add_an_adapter.md")[1]
    log_evidence, status = (
        run("-c", use + "\nr = zhat.evidence(model, 'importance', seed=2)\nprint()\nprint(r.log_evidence, r.status)")
        .splitlines()[-1]
        .split()
    )
    assert status == "ok"
    assert float(log_evidence) == pytest.approx(zoo.example("E1").log_evidence, abs=0.02)
