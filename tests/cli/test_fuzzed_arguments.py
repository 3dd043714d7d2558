"""Arguments thrown together at random: an exit code and a sentence, no traceback, and no file outside the folder; and memory that runs out."""

from __future__ import annotations

import random

import pytest

from zhat.cli import main, program
from zhat.cli.exits import Exit

MODEL = """
import numpyro.distributions as dist
import zhat
model = zhat.Model.black_box(lambda p: -float(p["x"]) ** 2, {"x": dist.Normal(0.0, 1.0)})
broken = 3
"""
COMMANDS = [
    "estimate",
    "compare",
    "crosscheck",
    "average",
    "sensitivity",
    "show",
    "cite",
    "methods",
    "formula",
    "schema",
    "completion",
    "no",
]
# fmt: off
OPTIONS = [
    "--method", "--draws", "--seed", "--repeats", "--precision", "--budget", "--workers", "--executor", "--checkpoint", "--log", "--save",
    "--json", "--quiet", "--prior", "--until-decided", "--check", "--html", "--vary", "--values", "--range", "--explain", "--markdown",
    "--latex", "--help", "--nonsense", "-x", "--", "--seed=",
]
VALUES = [
    "", " ", "-1", "0", "nan", "inf", "-inf", "1e999", "0.5", "x", "é", "\n", "\0", "a=b", "=", "a=", "=b", "{}", "[]", "(", "'", "%s", "{0}",
    "../../x", "/", "folder", "folder/no/such.json", "none.json", "bad.json", "nofile.py", "m.py:nope", "m.py:broken", "m.py:", ":", "zoo:", "zoo:E99",
    "zoo:E1/../E2", "n_draws=-1", "n_draws=1e99", "n_draws=", "prior-mean", "smcc", "5m", "-5s", "5x", "tcp://x", "dask://", "y ~ x", "~",
    "x" * 3000, "9" * 400, "\x1b[31m",
]
# fmt: on
QUICK = ["m.py", "--method", "prior-mean", "n_draws=100", "--budget", "500", "--seed", "1"]


def thrown(rng):
    command = rng.choice(COMMANDS)
    arguments = [command, *(QUICK if command == "estimate" and rng.random() < 0.3 else [])]
    for _ in range(rng.randrange(6)):
        arguments += [rng.choice(OPTIONS)] * (rng.random() < 0.6) + [rng.choice(VALUES)] * (rng.random() < 0.8)
    return arguments


def tried(seed, folder, capsys):
    """No traceback; what is written is in this folder."""
    arguments = thrown(random.Random(seed))
    try:
        code = main(arguments)
    except SystemExit as end:  # of the parser
        code = end.code
    out, error = capsys.readouterr()
    assert code in {int(c) for c in Exit}, arguments
    assert "Traceback" not in out + error, (arguments, error)
    assert code == 0 or error.strip() or out.strip(), arguments
    assert "\x1b" not in error, arguments
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name], arguments


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = tmp_path / "in"
    (made / "folder").mkdir(parents=True)
    (made / "m.py").write_text(MODEL)
    (made / "bad.json").write_text('{"a"')
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("first", [0, pytest.param(60, marks=pytest.mark.slow)])
def test_arguments_thrown_together(first, folder, capsys):
    for seed in range(first, 60 if first == 0 else 1000):
        tried(seed, folder, capsys)


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes")], ids=["Python", "JAX"]
)
def test_memory_that_runs_out_gets_a_sentence(error, folder, capsys, monkeypatch):
    def out_of_memory(*args, **kwargs):
        raise error

    monkeypatch.setattr("zhat.cli.commands.estimate.evidence", out_of_memory)
    assert main(["estimate", *QUICK]) == Exit.FAILED
    said = capsys.readouterr().err
    assert program.OUT_OF_MEMORY in said and "Traceback" not in said
