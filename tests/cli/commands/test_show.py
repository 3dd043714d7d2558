"""`zhat show`: kept results read back; refusals of the commands that read results."""

from __future__ import annotations

import re

import pytest

import zhat
from zhat.cli import main
from zhat.cli.exits import Exit
from zhat.cli.terminal import comparison_text, painted


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    result = zhat.evidence(zhat.zoo.example("E1").model, "importance", seed=7, repeats=2, progress=False)
    return result.save(tmp_path_factory.mktemp("kept") / "run.json")


def test_show_tells_all_that_a_result_knows(kept, capsys):
    assert main(["show", str(kept)]) == Exit.OK
    out = capsys.readouterr().out
    for words in ("log Z = -7.96", "Pareto k", "2 independent runs", "--seed 7 --repeats 2", "jax"):
        assert words in out


def test_show_says_again_what_was_doubted(tmp_path, capsys):
    doubtful = zhat.evidence(zhat.zoo.example("E1").model, "harmonic-mean", seed=1, progress=False).save(tmp_path / "run.json")
    assert main(["show", str(doubtful)]) == Exit.SUSPECT
    assert "suspect:" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "message"), [
    (("show", "absent.json"), "there is no such file"),
    (("cite", "smcc"), "did you mean 'smc'"),
    (("average", "zoo:E8s-none", "zoo:E8s-slope", "--quantity", "nothing", "--seed", "1"), "has no parameter 'nothing'"),
    (("average", "zoo:E8s-none", "zoo:E8s-slope", "--quantity", "absent.py:f"), "there is no file"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(words, message, capsys):
    assert main(list(words)) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err


def test_colour_marks_verdicts_and_not_names():
    text = "log Z = 1.0 ± 0.1  smc  1 s  ok\n  suspect: look\nok is a name  suspect (pareto-k)\nundecided: a and b"
    shown = painted(text)
    assert shown.count("\x1b[0m") == 4 and "\x1b[32mok\x1b[0m\n" in shown and "\nok is a name" in shown
    assert re.sub(r"\x1b\[\d+m", "", shown) == text


def test_a_narrow_terminal_gets_fewer_columns():
    runs = {
        name: zhat.evidence(zhat.zoo.example(f"E8s-{name}").model, "importance", seed=1, progress=False)
        for name in ("none", "slope")
    }
    comparison = zhat.Comparison.of(runs)
    assert comparison_text(comparison, False, None) == comparison_text(comparison, False, 200) == str(comparison)
    narrow = comparison_text(comparison, False, 80).split("\n\n")[0]
    assert all(len(line) <= 80 for line in narrow.splitlines())
    assert "verdict" in narrow and "no room for prior" in narrow
    long = zhat.Comparison.of({"n" * 60: runs["none"], "s" * 60: runs["slope"]})
    narrow = comparison_text(long, False, 80).split("\n\n")[0]
    assert all(len(line) <= 80 for line in narrow.splitlines()) and "nnn…  " in narrow
