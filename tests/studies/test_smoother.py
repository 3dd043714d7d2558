"""The study of INLA: a row for each model, and the picture of the smoother."""

from __future__ import annotations

from zhat.studies import smoother


def test_rows_and_picture(tmp_path):
    study = smoother.run_all(1, ("coal-smooth",))
    assert len(study.rows[0]) == len(smoother.HEADER)
    (path,) = smoother.draw(study, tmp_path)
    assert path.stat().st_size > 1000
