"""``zhat sensitivity``: one curve, two curves and their Bayes factor, a picture, and sentences."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zhat.cli import main
from zhat.cli.exits import Exit
from zhat.cli.options import spaced
from zhat.errors import BadInput


def sensitivity(*words: str) -> int:
    return main(["sensitivity", *words, "--seed", "1", "--quiet"])


def test_a_table_of_one_curve(capsys):
    assert sensitivity("zoo:E1", "--vary", "scale", "--values", "0.5", "1", "2") == Exit.OK
    out = capsys.readouterr().out.splitlines()
    assert out[0].split()[:3] == ["scale", "log", "evidence"]
    assert len(out) == 5 and "for 3 values" in out[-1]


def test_two_models_their_bayes_factor_and_a_picture(tmp_path, capsys):
    """The Bayes factor of the two Pima models over tau, at the two values where it is known."""
    pytest.importorskip("matplotlib")
    picture = tmp_path / "tau.png"
    words = ["zoo:pima", "zoo:pima-age", "--vary", "tau", "--values", "0.01", "1", "--method", "importance"]
    assert sensitivity(*words, "--json", "--out", str(picture)) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    factor, error = np.array(found["log_bayes_factor"]), np.array(found["log_bayes_factor_error"])
    known = np.array([2.6260, 0.2594])
    assert (np.abs(factor - known) / np.hypot(error, 0.0005)).max() < 4.5
    assert picture.stat().st_size > 1000


def test_ranges():
    assert spaced(0.01, 1.0, 3) == pytest.approx([0.01, 0.1, 1.0], rel=1e-15)
    assert spaced(1.0, 9.0, 3) == pytest.approx([1.0, 3.0, 9.0], rel=1e-15)
    assert spaced(1.0, 9.0, 2) == [1.0, 9.0]
    with pytest.raises(BadInput, match="N is the number of values, 2 or more"):
        spaced(1.0, 2.0, 1)
    with pytest.raises(BadInput, match="0 < START < STOP"):
        spaced(0.0, 1.0, 3)


@pytest.mark.parametrize(("words", "message"), [
    (("zoo:E1", "--vary", "nothing", "--values", "1", "2"), "no hyperparameter 'nothing'"),
    (("zoo:E1", "--vary", "scale", "--range", "2", "1", "5"), "0 < START < STOP"),
    (("zoo:E1", "zoo:E4", "--vary", "scale", "--values", "1", "2"), "different data"),
    (("zoo:E1", "zoo:E1", "zoo:E1", "--vary", "scale", "--values", "1", "2"), "one, or two"),
    (("zoo:E1", "--vary", "scale", "--values", "1", "2", "--out", "curve.txt"), "ends in .svg"),
    (("zoo:E1", "--vary", "scale", "--values", "1", "2", "--out", "nowhere/curve.svg"), "no directory 'nowhere'"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(words, message, capsys):
    assert sensitivity(*words) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err
