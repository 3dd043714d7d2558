"""Pictures of records: each draws the record it is for, and says so when it is given another."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.report.pictures.nested_trace import nested_trace
from zhat.report.pictures.pareto_tail import pareto_tail, tail_law
from zhat.report.pictures.power_curve import power_curve
from zhat.report.pictures.repeats import repeats, scatter_ratio
from zhat.report.pictures.weights import weights

PICTURES = [(power_curve, "power-posterior"), (nested_trace, "nested"), (weights, "ais"), (weights, "importance")]
PICTURES += [(pareto_tail, "importance"), (pareto_tail, "ais")]
COMPARISONS = (zhat.plots.evidence_intervals, zhat.plots.bayes_factor_matrix, zhat.plots.model_probabilities)


@pytest.mark.parametrize(("picture", "method"), PICTURES)
def test_each_picture_draws_its_record(picture, method, tmp_path):
    result = zhat.evidence(zoo.example("E2").model, method, seed=1, progress=False)
    figure = Figure()
    ax = picture(result, figure.subplots())
    assert f"{result.log_evidence:.3f}" in ax.get_title()
    assert ax.get_xlabel() and ax.get_ylabel()
    figure.savefig(tmp_path / "picture.png")


@pytest.mark.parametrize(("picture", "method"), [
    (power_curve, "importance"), (nested_trace, "importance"), (weights, "nested"), (pareto_tail, "nested"),
])  # fmt: skip
def test_the_wrong_record_gets_a_sentence(picture, method):
    result = zhat.evidence(zoo.example("E2").model, method, seed=1, progress=False)
    with pytest.raises(BadType, match="draws"):
        picture(result, Figure().subplots())


@pytest.fixture(scope="module")
def three():
    """A clear winner, a loser, and one in doubt whose name would be a formula."""
    models = [zoo.example(f"E8s-{name}").model for name in ("slope", "none")]
    slope, none = (zhat.evidence(model, "importance", seed=1, progress=False) for model in models)
    doubtful = replace(none, model="x", status=zhat.Status.suspect("pareto-k", "b."), log_evidence_se=None)
    return zhat.Comparison.of({"slope": slope, "none": none, "$x^{" + "y" * 60: doubtful})


@pytest.mark.parametrize("picture", COMPARISONS)
def test_comparisons_are_drawn_with_names_as_they_are(picture, three, tmp_path):
    figure = Figure()
    ax = picture(three, figure.subplots())
    figure.savefig(tmp_path / "picture.png")
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == "slope" and any(name.startswith(r"\$x^{yyy") and name.endswith("…") for name in names)


def test_repeats_beside_their_errors(tmp_path):
    result = zhat.evidence(zoo.example("E1").model, "prior-mean", seed=1, repeats=6, progress=False)
    figure = Figure()
    ax = repeats(result, figure.subplots())
    assert "6 runs, scatter" in ax.get_title()
    figure.savefig(tmp_path / "picture.png")
    with pytest.raises(BadInput, match="repeats=10"):
        repeats(zhat.evidence(zoo.example("E1").model, "prior-mean", seed=1), Figure().subplots())


def test_scatter_ratio_is_one_for_honest_errors():
    values = np.array([-1.0, 0.0, 1.0])
    assert scatter_ratio(values, np.ones(3)) == pytest.approx(1.0)
    assert math.isnan(scatter_ratio(values, np.array([1.0, np.nan, 1.0])))


@pytest.mark.parametrize("k", [-0.5, 0.0, 0.4, 0.9])
def test_the_drawn_law_halves_at_the_median(k):
    excess = np.array([0.5, 1.0, 4.0])
    law = tail_law(np.array([0.0, 1.0]), excess, k)
    assert law == pytest.approx([1.0, 0.5])
