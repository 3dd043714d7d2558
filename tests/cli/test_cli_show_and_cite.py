"""`show`, `cite`, `average`, `completion`: kept results read back, whom to cite, averages, what the shell offers."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess

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


def test_cite_gives_each_entry_once(kept, capsys):
    assert main(["cite", str(kept), "importance", "smc"]) == Exit.OK
    keys = re.findall(r"^@\w+\{(\w+),", capsys.readouterr().out, re.MULTILINE)
    assert len(keys) == len(set(keys)) and {"geweke1989", "delmoral2006"} <= set(keys)


@pytest.mark.parametrize(("words", "message"), [
    (("show", "absent.json"), "there is no such file"),
    (("cite", "smcc"), "did you mean 'smc'"),
    (("average", "zoo:E8s-none", "zoo:E8s-slope", "--quantity", "nothing", "--seed", "1"), "has no parameter 'nothing'"),
    (("average", "zoo:E8s-none", "zoo:E8s-slope", "--quantity", "absent.py:f"), "there is no file"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(words, message, capsys):
    assert main(list(words)) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err


SHRINKING = """
import numpyro.distributions as dist
from zhat import Model

def likelihood(params, y):
    return dist.Normal(params["x"], 1.0).log_prob(y)

wide = Model(likelihood, {"x": dist.Normal(0.0, 1.0)}, data=1.0, name="wide")
tight = Model(likelihood, {"x": dist.Normal(0.0, 0.5)}, data=1.0, name="tight")

def twice(params):
    return 2.0 * params["x"]
"""


@pytest.mark.parametrize(("quantity", "times"), [("x", 1.0), ("FILE:twice", 2.0)])
def test_an_average_over_two_shrinking_means(quantity, times, tmp_path, capsys):
    file = tmp_path / "shrinking.py"
    file.write_text(SHRINKING)
    words = ["average", f"{file}:wide", f"{file}:tight", "--quantity", quantity.replace("FILE", str(file)), "--seed", "1"]
    assert main([*words, "--json", "--quiet"]) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    # y | wide ~ N(0, 2), y | tight ~ N(0, 1.25); posterior means y/2 and y/5.
    density = {"wide": math.exp(-1 / 4) / math.sqrt(2.0), "tight": math.exp(-1 / 2.5) / math.sqrt(1.25)}
    share = density["wide"] / sum(density.values())
    exact = times * (share * 0.5 + (1.0 - share) * 0.2)
    assert found["probabilities"]["wide"] == pytest.approx(share, abs=0.005)
    assert abs(found["mean"] - exact) < 4 * times * 0.8 / math.sqrt(found["n_draws"])
    assert found["low"] < found["mean"] < found["high"]
    page = tmp_path / "page.html"
    assert main([*words, "--html", str(page)]) == Exit.OK
    out, err = capsys.readouterr()
    assert "averaged over models" in out and f"report: {page}" in err
    text = page.read_text(encoding="utf-8")
    assert "Mean under each model alone: wide" in text and f"{found['mean']:.5g}" in text


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


@pytest.mark.parametrize(("line", "offered"), [
    ("zhat est", {"estimate"}),
    ("zhat compare --h", {"--help", "--html"}),
    ("zhat estimate zoo:E1 --method stepp", {"stepping-stone"}),
    ("zhat estimate zoo:pine-adj", {"pine-adjusted"}),
    ("zhat completion f", {"fish"}),
])  # fmt: skip
def test_bash_completes(line, offered, tmp_path, capsys):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.sh"
    script.write_text(capsys.readouterr().out)
    words = line.split(" ")
    ask = f"""source {script}; COMP_LINE='{line}'; COMP_POINT={len(line)}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}
    _zhat; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert offered <= set(done.stdout.split()), done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(shell, capsys):
    assert main(["completion", shell]) == 0
    assert "stepping-stone" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["estimate", "compare", "average", "show", "cite", "demo"])
def test_help_has_examples_and_exit_codes(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert f"zhat {command}" in out.split("examples:")[1] and "130  interrupted" in out
