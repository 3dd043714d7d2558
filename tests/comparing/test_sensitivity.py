"""Prior sensitivity: the curve against closed forms and runs of their own; few runs, and more where the weights ask for them."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType


@pytest.mark.parametrize("method", ["importance", "smc"])
def test_the_pine_curve_is_the_closed_form(method):
    """The rate of the gamma prior over a decade: every point within its error of the exact value, from few runs."""
    model = zoo.running_example().model
    values = np.geomspace(0.5, 8.0, 9)
    curve = zhat.sensitivity(model, "b0", values, method, seed=1, progress=False)
    exact = [zoo.running_example(b0=value).log_evidence for value in values]
    z = (curve.log_evidence - exact) / curve.se
    assert np.abs(z).max() < 4.5
    assert len(curve.runs) < len(values)


def test_tau_of_the_pima_models_over_four_decades():
    model = zoo.pima(tau=0.01).model
    key = next(iter(model.hyper))
    curve = zhat.sensitivity(model, key, [0.001, 0.01, 0.1, 1.0], "importance", seed=2, progress=False)
    found = dict(zip(curve.values, curve.log_evidence, strict=True))
    assert found[0.01] == pytest.approx(-257.2323, abs=0.02)
    assert found[1.0] == pytest.approx(-247.3033, abs=0.02)
    assert 1.0 in curve.runs or curve.se[-1] < 0.02
    assert "for 4 values" in str(curve)


def test_a_value_out_of_reach_gets_a_run_of_its_own():
    model = zoo.running_example().model
    curve = zhat.sensitivity(model, "xi", [0.0, 50.0], "importance", seed=3, progress=False)
    for value, log_z, se in zip(curve.values, curve.log_evidence, curve.se, strict=True):
        assert abs(log_z - zoo.running_example(xi=value).log_evidence) < 4.5 * se + 1e-9


def test_one_curve_against_another():
    """The Bayes factor of the two Pima models over tau."""
    values = [0.01, 0.1, 1.0]
    first, second = (
        zhat.sensitivity(zoo.pima(names).model, "tau", values, "importance", seed=i, progress=False)
        for i, names in enumerate((("NP", "PGC", "BMI", "DP"), ("NP", "PGC", "BMI", "DP", "AGE")))
    )
    factor, error = first.against(second)
    known = np.array([2.6260, 0.2594])
    assert np.abs((factor[[0, 2]] - known) / np.hypot(error[[0, 2]], 0.0005)).max() < 4.5
    assert factor[0] > factor[1] > factor[2]
    other = zhat.sensitivity(zoo.running_example().model, "b0", values, "importance", seed=5, progress=False)
    with pytest.raises(BadInput, match="different data"):
        first.against(other)
    with pytest.raises(BadInput, match="different values"):
        first.against(zhat.sensitivity(zoo.pima().model, "tau", [0.5, 1.0], "importance", seed=6, progress=False))


def test_bad_input_gets_a_sentence():
    model = zoo.running_example().model
    with pytest.raises(BadInput, match="no hyperparameter 'rate'"):
        zhat.sensitivity(model, "rate", [1.0, 2.0])
    with pytest.raises(BadInput, match="at least two different"):
        zhat.sensitivity(model, "b0", [1.0, 1.0])
    with pytest.raises(BadType, match="takes a Model"):
        zhat.sensitivity(3, "b0", [1.0, 2.0])


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from zhat.report.pictures.sensitivity_curve import sensitivity_curve

    curve = zhat.sensitivity(zoo.running_example().model, "b0", [1.0, 2.0, 4.0], "importance", seed=4, progress=False)
    figure = Figure()
    ax = sensitivity_curve(curve, figure.subplots())
    assert ax.get_xlabel() == "b0"
    figure.savefig(tmp_path / "curve.png")
