"""The study of change points: its table and its picture, on a coarse grid."""

from __future__ import annotations

import pytest

from zhat.studies import change_points


@pytest.mark.slow
def test_the_table_and_the_picture(tmp_path):
    study = change_points.run_all()
    assert len(study.rows) == 5 + 5 + 3 and all(len(row) == len(change_points.HEADER) for row in study.rows)
    for row in study.rows:
        assert float(row[2]) == pytest.approx(float(row[3]), abs=2e-3)
    (path,) = change_points.draw(study, tmp_path)
    assert path.stat().st_size > 1000
