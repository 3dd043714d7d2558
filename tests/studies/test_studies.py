"""The studies that the command line shows: every method on the running example, and Table 1 of Friel & Wyse (2012)."""

from __future__ import annotations

import pytest

import zhat
from zhat.cli import main
from zhat.errors import BadInput, BadType
from zhat.studies import running_example, table_one


def test_the_running_example_by_every_method():
    study = running_example.run_all(seed=1)
    assert set(study.results) == set(zhat.methods.registry())
    refused = {name for name, result in study.results.items() if not result.status.is_ok}
    assert refused == {"harmonic-mean", "prior-mean"}  # infinite variance, and a prior much wider than the data
    for name, result in study.results.items():
        if name not in refused:
            assert result.error is not None and abs(result.log_evidence - study.exact) < 4.5 * result.error
    assert study.results["harmonic-mean"].log_evidence > study.exact + 1.0


def test_table_one_moves_where_the_harmonic_mean_does_not(capsys):
    rows = table_one.run_table(seed=1)
    exact = [row.exact for row in rows]
    assert exact == sorted(exact) and exact[-1] - exact[0] > 4.0
    harmonic = [row.harmonic.log_evidence for row in rows]
    assert max(harmonic) - min(harmonic) < 2.0
    assert min(h - e for h, e in zip(harmonic, exact, strict=True)) > 5.0
    for row in rows:
        assert not row.harmonic.status.is_ok and row.harmonic.log_evidence_se is None
        assert row.chib.status.is_ok and abs(row.chib.log_evidence - row.exact) < 4.5 * row.chib.error
    assert main(["study", "table-1"]) == 0
    assert "harmonic mean" in capsys.readouterr().out


def test_the_harmonic_mean_reads_draws_and_refuses_weighted_ones():
    model = zhat.zoo.example("E1").model
    weighted = zhat.evidence(model, "importance", seed=1, progress=False)
    with pytest.raises(BadInput, match="equal weight"):
        zhat.read(weighted, "harmonic-mean")
    from dataclasses import replace

    with pytest.raises(BadType, match="posterior draws"):
        zhat.read(replace(weighted, record=None), "harmonic-mean")
