"""`zhat estimate`: files and examples in, sentences or JSON out, and an exit code that tells which."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from zhat import zoo
from zhat.cli import main
from zhat.cli.commands import estimate as command
from zhat.results.estimate import Evidence, Status
from zhat.run.estimate import evidence

MODELS = """
    import jax.numpy as jnp
    import numpyro.distributions as dist
    from zhat import Model

    print("hello from the model file")

    def log_likelihood(params):
        return -0.5 * params["x"] ** 2

    model = Model(log_likelihood, {"x": dist.Normal(0.0, 1.0)}, name="one")
    other = Model(log_likelihood, {"x": dist.Normal(0.0, 2.0)}, name="two")

    def built():
        return other

    def broken():
        return 1 / 0

    number = 3
"""
LOG_Z = {"model": -0.5 * math.log(2.0), "other": -0.5 * math.log(5.0)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "models.py"
    path.write_text(textwrap.dedent(MODELS))
    return path


def estimate(*arguments: object) -> int:
    return main(["estimate", *map(str, arguments)])


# -- what comes out ----------------------------------------------------------------------------------------------


def test_a_zoo_example_is_explained_on_stdout(capsys):
    assert estimate("zoo:E1", "--seed", 1) == 0
    out, err = capsys.readouterr()
    assert out.startswith("log Z = -7.96")
    assert "method: importance" in out
    assert "exact value: log Z = -7.963382" in err


def test_the_same_seed_gives_the_same_digits_and_a_drawn_seed_is_told(capsys):
    assert estimate("zoo:E1", "--method", "prior-mean", "--json") == 0
    out, err = capsys.readouterr()
    first = json.loads(out)["evidence"]
    assert f"--seed {first['seed']} repeats this run" in err
    assert estimate("zoo:E1", "--method", "prior-mean", "--json", "--seed", first["seed"]) == 0
    assert json.loads(capsys.readouterr().out)["evidence"]["log_evidence"] == first["log_evidence"]


def test_json_is_one_object_on_stdout_that_can_be_loaded(file, tmp_path, capsys):
    assert estimate(file, "--seed", 3, "--json") == 0
    out, err = capsys.readouterr()
    assert "hello from the model file" in err
    assert json.loads(out)["schema"] == 2
    (tmp_path / "piped.json").write_text(out)
    result = Evidence.load(tmp_path / "piped.json")
    assert (result.model, result.seed, result.record) == ("one", 3, None)
    assert abs(result.log_evidence - LOG_Z["model"]) < 4 * result.log_evidence_se


def test_quiet_leaves_the_result_only(capsys):
    assert estimate("zoo:E1", "--seed", 1, "--quiet", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert err == ""


@pytest.mark.parametrize(("name", "which"), [("", "model"), (":other", "other"), (":built", "other")])
def test_a_model_of_a_file_by_name(file, name, which, capsys):
    assert estimate(f"{file}{name}", "--method", "importance", "n_draws=4000", "--seed", 1, "--json") == 0
    result = json.loads(capsys.readouterr().out)["evidence"]
    assert result["settings"]["n_draws"] == 4000
    assert abs(result["log_evidence"] - LOG_Z[which]) < 4 * result["log_evidence_se"]


def test_repeats_are_all_there(capsys):
    assert estimate("zoo:E1", "--method", "prior-mean", "--repeats", 3, "--seed", 1, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["evidence"]["repeats"]) == 3


def test_save_keeps_the_record(tmp_path, capsys):
    path = tmp_path / "run.json"
    assert estimate("zoo:E1", "--method", "prior-mean", "--seed", 1, "--save", path) == 0
    assert "saved to" in capsys.readouterr().err
    assert Evidence.load(path).record is not None


def test_control_characters_of_a_model_do_not_reach_the_terminal(tmp_path, capsys):
    file = tmp_path / "odd.py"
    file.write_text(textwrap.dedent(MODELS).replace('name="one"', 'name="\\x1b]0;pwned\\x07\\x9b31m"'))
    assert estimate(file, "--method", "chib", "--seed", 1) == 2
    assert estimate(file, "--method", "importance", "--seed", 1) == 0
    out, err = capsys.readouterr()
    assert not any(c in out + err for c in "\x1b\x07\x9b")


# -- exit codes --------------------------------------------------------------------------------------------------


@pytest.fixture
def answer(monkeypatch):
    """Make the front door answer, or raise, what a test says."""
    import zhat.cli.commands.estimate as command

    real = command.evidence(zoo.example("E1").model, "prior-mean", seed=1)

    def set_answer(value):
        def door(*args, **kwargs):
            if isinstance(value, BaseException):
                raise value
            return dataclasses.replace(real, status=value)

        monkeypatch.setattr(command, "evidence", door)

    return set_answer


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.ok(), 0),
        (Status.suspect("pareto-k", "Use SMC."), 1),
        (Status.failed("budget", "Spent."), 3),
        (Status.failed("interrupted", "Stopped."), 130),
        (KeyboardInterrupt(), 130),
        (RuntimeError("in the model"), 3),
    ],
)
def test_the_exit_code_tells_the_verdict(answer, status, code, capsys):
    answer(status)
    assert estimate("zoo:E1", "--seed", 1) == code
    out, err = capsys.readouterr()
    if isinstance(status, Status):
        assert all(reason.sentence in out for reason in status.reasons)
    else:
        assert out == "" and err


def test_a_budget_stops_the_run_and_the_result_says_so(capsys):
    assert estimate("zoo:E1", "--method", "smc", "--budget", "2000", "--seed", 1) == 3
    assert "give a larger one" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["ZeroDivisionError", "FileNotFoundError"])
def test_an_error_of_the_model_comes_with_its_traceback(kind, tmp_path, capsys):
    file = tmp_path / "raises.py"
    file.write_text(
        textwrap.dedent(
            """
            import numpyro.distributions as dist
            from zhat import Model

            def log_likelihood(params):
                raise KIND("in the simulator")

            model = Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0)})
            """
        ).replace("KIND", kind)
    )
    assert estimate(file, "--seed", 1) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{kind}: in the simulator" in err
    assert "raises.py" in err


# -- bad input ---------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_used_get_a_sentence(file, tmp_path, capsys):
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\ny = undefined\n")
    syntax = tmp_path / "syntax.py"
    syntax.write_text("x = (\n")
    empty = tmp_path / "empty.py"
    empty.write_text("")
    text = tmp_path / "model.txt"
    text.write_text("")
    leaves = tmp_path / "leaves.py"
    leaves.write_text("raise SystemExit(0)\n")
    for target, sentence in {
        tmp_path / "absent.py": "there is no file",
        tmp_path: "there is no file",
        text: "give a Python file",
        broken: "line 2, raised NameError",
        syntax: "line 1, raised SyntaxError",
        leaves: "line 1, raised SystemExit",
        empty: "it defines no Model at all",
        f"{file}:absent": "it has model, other: write",
        f"{file}:number": "'number' is a int, not a Model nor a function returning one",
        f"{file}:broken": "raised ZeroDivisionError",
        "zoo:E99": "no example 'E99' in the zoo; did you mean",
    }.items():
        assert estimate(target) == 2, target
        out, err = capsys.readouterr()
        assert out == ""
        assert sentence in err, (target, err)
        assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--method", "smc"], "which model"),
        (["--method", "smc", "zoo:E1"], "FILE before --method"),
        (["zoo:E1", "--method", "smcc"], "did you mean 'smc'"),
        (["zoo:E1", "--method", "n_draws=3"], "name first"),
        (["zoo:E1", "--method", "importance", "n_drawz=3"], "did you mean 'n_draws'"),
        (["zoo:E1", "--method", "importance", "n_draws"], "is not a setting; write key=value"),
        (["zoo:E1", "--method", "importance", "n_draws=1", "n_draws=2"], "given twice"),
        (["zoo:E1", "--method", "importance", "n_draws=__import__('os')"], "is not a Python literal"),
        (["zoo:E1", "--method", "importance", "n_draws=-1"], "n_draws=-1"),
        (["zoo:E1", "--seed", "-1"], "seed=-1"),
        (["zoo:E1", "--repeats", "0"], "repeats=0"),
        (["zoo:E1", "--budget", "0s"], "--budget 0s: a budget must be above zero"),
        (["zoo:E1", "--budget", "nan"], "a budget must be above zero"),
        (["zoo:E1", "--budget", "soon"], "write a number of evaluations"),
        (["zoo:E1", "--budget", "1m", "--budget", "2h"], "a time is given twice"),
        (["zoo:E1", "--save", "absent/run.json"], "there is no directory"),
        (["zoo:E1", "--save", "run.pkl"], "pickles run code"),
    ],
)
def test_arguments_that_cannot_be_used_get_a_sentence(arguments, sentence, capsys):
    assert estimate(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert "Traceback" not in err


def test_argparse_refuses_with_the_same_code(capsys):
    with pytest.raises(SystemExit) as left:
        estimate("zoo:E1", "--seed", "many")
    assert left.value.code == 2
    assert "invalid int value: 'many'" in capsys.readouterr().err


# -- the command itself ------------------------------------------------------------------------------------------


def test_help_documents_the_exit_codes(capsys):
    for arguments in (["--help"], ["estimate", "--help"]):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
        assert "130  interrupted" in capsys.readouterr().out


def test_the_module_runs_as_a_program(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "zhat.cli", "estimate", "zoo:E99"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("zhat: no example 'E99'")


def test_a_precision_is_reached_and_no_more_is_done(capsys):
    assert main(["estimate", "zoo:E1", "--method", "prior-mean", "--precision", "0.1", "--seed", "1", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)["evidence"]
    assert found["log_evidence_se"] <= 0.1
    assert found["settings"]["n_draws"] < 50_000
    assert found["cost"]["seconds_per_likelihood"] > 0.0
    assert main(["estimate", "zoo:E1", "--method", "laplace", "--precision", "0.1"]) == 2
    assert "an approximation without a standard error" in capsys.readouterr().err


def test_a_full_disk_does_not_lose_the_result(tmp_path, monkeypatch):
    result = evidence(zoo.example("E1").model, "laplace", seed=1, progress=False)
    asked, real = tmp_path / "full" / "run.json", command.save_evidence

    def full(result, path):
        if Path(path) == asked:
            raise OSError(28, "No space left on device")
        return real(result, path)

    monkeypatch.setattr(command, "save_evidence", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = command.kept(result, str(asked))
    assert f"{asked} could not be written (No space left on device); saved to {tmp_path}" in told
    assert len(list(tmp_path.glob("zhat-*/run.json"))) == 1
