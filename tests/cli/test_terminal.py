"""What a person sees: help and tables that fit the terminal, sentences folded at words, refusals that say what was meant."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from zhat.cli import main
from zhat.cli.exits import Exit
from zhat.cli.program import COMMANDS
from zhat.cli.terminal import _folded, painted, table

NAMES = [command.__name__.rsplit(".", 1)[1] for command in COMMANDS]


@pytest.mark.parametrize("name", ["", *NAMES])
def test_help_fits_eighty_columns(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        main([*([name] if name else []), "--help"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines()), out


def test_no_command_gets_the_help(capsys):
    assert main([]) == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == "" and all(f"    {name} " in err for name in NAMES)
    assert "sensitivity  log evidence" in err  # beside its name, though that is a long one


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["estimate", "zoo:E1", "--sed", "3"], "zhat estimate: unknown arguments: --sed 3. Did you mean --seed?"),
        (["cite", "smc", "--frobnicate"], "zhat cite: unknown arguments: --frobnicate.\n"),
        (["compare"], "the following arguments are required"),
        (["comparison"], "invalid choice: 'comparison'"),
    ],
)
def test_a_refusal_names_the_command_and_what_was_meant(words, sentence, capsys):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and err.startswith("usage: zhat")


@pytest.mark.parametrize(("target", "words"), [("zoo:pimma", "did you mean pima"), ("zoo:", "zoo: has pima, pima-age, ")])
def test_the_zoo_says_what_it_has(target, words, capsys):
    assert main(["estimate", target]) == Exit.BAD_INPUT
    assert words in capsys.readouterr().err


HEADER, ROW = ("model", "prior", "error", "verdict"), ("a long name of a model", "0.5", "0.001", "suspect (pareto-k, low-ess)")


@pytest.mark.parametrize("width", [None, 120, 60, 50, 42])
def test_a_table_gives_up_columns_then_letters(width):
    lines = table(HEADER, [ROW], width, spare=("prior", "error")).splitlines()
    assert width is None or all(len(line) <= width for line in lines)
    assert ("prior" in lines[0]) == (width is None or width > 60)
    assert ("(no room for prior" in "".join(lines[-2:])) == (width is not None and width <= 60)
    assert ("…" in lines[1]) == (width == 42)


def test_a_folded_verdict_keeps_its_colour():
    shown = painted(table(HEADER, [ROW], 60, spare=("prior", "error")))
    assert shown.splitlines()[1].endswith("\x1b[33msuspect\x1b[0m (pareto-k, low-ess)")
    folded = painted(table(("m", "verdict"), [("a", "suspect (pareto-k, infinite-variance)")], 30))
    assert "\x1b[33msuspect\x1b[0m (pareto-k,\n" in folded


def test_lines_are_folded_between_their_parts():
    line = "log Z = -257.229 ± 0.015  smc  14.4 s  2,911,024 likelihoods  42 gradients  3 runs  ok"
    assert _folded(line, 80).split("\n") == [line.removesuffix("  3 runs  ok"), "  3 runs  ok"]
    assert _folded(line, 120) == _folded(line, None) == line
    assert _folded("  one two three ± four", 16) == "  one two\n    three ± four"


SLOW = """
import time
import numpyro.distributions as dist
from zhat import Model

def likelihood(params):
    with open("calls", "a") as file:
        file.write("one more\\n")
    time.sleep(0.3)
    return -0.5 * params["x"] ** 2

model = Model.black_box(likelihood, {"x": dist.Normal(0.0, 1.0)}, batched=True, name="slow")
"""


@pytest.mark.parametrize("interrupts", [1, 2])
def test_ctrl_c_once_keeps_what_there_is_and_twice_leaves(interrupts, tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.replace("0.3", "0.3" if interrupts == 1 else "3.0"))
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "zhat.cli", "estimate", "slow.py", "--method", "smc", "--seed", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80", "NO_COLOR": "1"}
    process = subprocess.Popen(words, stdout=theirs, stderr=theirs, stdin=theirs, env=environment, cwd=tmp_path)
    os.close(theirs)
    seen, sent = b"", 0
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if sent < interrupts and (b"evaluations" if sent == 0 else b"stops at once") in seen:
            while sent == 0 and (tmp_path / "calls").read_text().count("more") < 2:  # between two calls it would stop at once
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            sent += 1
    assert process.wait(60) == Exit.INTERRUPTED
    os.close(ours)
    text = seen.decode()
    assert "Traceback" not in text and "Ctrl-C again stops at once" in text
    assert ("failed (interrupted)" in text) == (interrupts == 1)
    assert ("zhat: interrupted." in text) == (interrupts == 2)


def test_ctrl_c_while_the_package_is_imported_ends_with_a_sentence():
    script = "import sys, zhat_command\nprint('now', flush=True)\nsys.exit(zhat_command.main())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script, "methods"], stdout=-1, stderr=-1, env=environment, text=True)
    assert process.stdout is not None and process.stdout.readline() == "now\n"
    time.sleep(0.2)  # into the imports, which take a second at the least
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert said == "zhat: interrupted while starting; nothing was begun.\n"
