"""Pictures of records: each draws the record it is for, and says so when it is given another."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import evidentia as ev
from evidentia import zoo
from evidentia.errors import BadType
from evidentia.report.nested_trace import nested_trace
from evidentia.report.power_curve import power_curve
from evidentia.report.weights import weights

PICTURES = [(power_curve, "power-posterior"), (nested_trace, "nested"), (weights, "ais"), (weights, "importance")]


@pytest.mark.parametrize(("picture", "method"), PICTURES)
def test_each_picture_draws_its_record(picture, method, tmp_path):
    result = ev.evidence(zoo.example("E2").model, method, seed=1, progress=False)
    figure = Figure()
    ax = picture(result, figure.subplots())
    assert f"{result.log_evidence:.3f}" in ax.get_title()
    assert ax.get_xlabel() and ax.get_ylabel()
    figure.savefig(tmp_path / "picture.png")


@pytest.mark.parametrize(("picture", "method"), [(power_curve, "importance"), (nested_trace, "importance"), (weights, "nested")])
def test_the_wrong_record_gets_a_sentence(picture, method):
    result = ev.evidence(zoo.example("E2").model, method, seed=1, progress=False)
    with pytest.raises(BadType, match="draws"):
        picture(result, Figure().subplots())
