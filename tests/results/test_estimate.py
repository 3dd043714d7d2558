"""The line that a result prints: digits as its error allows, and no error that looks like none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zhat import evidence, zoo


@pytest.fixture(scope="module")
def result():
    return evidence(zoo.example("E1").model, "prior-mean", seed=1, progress=False)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (0.0123, "-7.963 ± 0.012"),
        (2.5, "-7.96 ± 2.50"),
        (0.0, "-7.963382 ± 0"),
        (3e-9, "-7.963382 ± 3e-09"),
        (None, "-7.963 ± ?"),
    ],
)
def test_a_number_is_shown_to_the_second_figure_of_its_error(result, error, shown):
    line = str(replace(result, log_evidence=-7.9633818, log_evidence_se=error))
    assert line.startswith(f"log Z = {shown}  prior-mean")
