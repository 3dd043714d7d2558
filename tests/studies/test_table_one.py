"""Table 1 of Friel & Wyse (2012): the evidence moves with the prior, the harmonic mean does not."""

from __future__ import annotations

from zhat.cli import main
from zhat.studies import table_one


def test_table_one_moves_where_the_harmonic_mean_does_not(capsys, monkeypatch):
    rows = table_one.run_table(seed=1)
    exact = [row.exact for row in rows]
    assert exact == sorted(exact) and exact[-1] - exact[0] > 4.0
    harmonic = [row.harmonic.log_evidence for row in rows]
    assert max(harmonic) - min(harmonic) < 2.0
    assert min(h - e for h, e in zip(harmonic, exact, strict=True)) > 5.0
    for row in rows:
        assert not row.harmonic.status.is_ok and row.harmonic.log_evidence_se is None
        assert row.chib.status.is_ok and abs(row.chib.log_evidence - row.exact) < 4.5 * row.chib.error
    monkeypatch.setattr(table_one, "run_table", lambda *seeds: rows)  # run as a whole in tests/cli/commands/test_schema.py
    assert main(["study", "table-1"]) == 0
    assert "harmonic mean" in capsys.readouterr().out
