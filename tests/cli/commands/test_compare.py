"""``zhat compare``: models of the zoo and kept results, as text, JSON, Markdown and LaTeX; exit codes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import zhat
from zhat.cli import main
from zhat.cli.exits import Exit

TWO = ("zoo:E8s-none", "zoo:E8s-slope")


def compare(*words: str) -> int:
    return main(["compare", *words, "--seed", "1", "--quiet"])


def test_a_table_and_a_sentence(capsys):
    assert compare(*TWO, "--method", "importance") == Exit.OK
    out = capsys.readouterr().out
    assert "log BF to best" in out
    assert "the data favour E8s-slope over E8s-none" in out


@pytest.mark.parametrize(("form", "begins"), [("--markdown", "| model |"), ("--latex", r"\begin{tabular}")])
def test_tables_for_papers(form, begins, capsys):
    assert compare(*TWO, form, "--method", "laplace") == Exit.OK
    assert capsys.readouterr().out.startswith(begins)


def test_json_alone_on_stdout_and_names_of_ones_own(capsys, tmp_path):
    kept = zhat.evidence(zhat.zoo.example("E8s-none").model, "importance", seed=3, progress=False).save(tmp_path / "kept.json")
    assert compare(f"simple={kept}", "line=zoo:E8s-slope", "--json", "--prior", "0.9", "0.1") == Exit.OK
    answer = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in answer["models"]} == {"simple", "line"}
    assert sum(row["prior"] for row in answer["models"]) == pytest.approx(1.0)
    assert answer["decided"] is True


@pytest.mark.parametrize(("words", "message"), [
    (("zoo:E1",), "two or more"),
    (("zoo:E1", "zoo:E1"), "another model has the label 'E1'"),
    (("zoo:E1", "zoo:E4"), "different data"),
    ((*TWO, "--prior", "0.5", "0.6"), "not to one"),
    (("zoo:E1", "nothing.py"), "there is no file"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(words, message, capsys):
    assert compare(*words) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err


def test_a_page_with_a_second_opinion(tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ["--seed", "1", "--check", "smc", "--html", str(page), "--question", "Is there a slope?"]
    assert main(["compare", *TWO, *words]) == Exit.OK
    text = page.read_text(encoding="utf-8")
    assert "Is there a slope?" in text and "they agree" in text
    err = capsys.readouterr().err
    assert f"report: {page}" in err and err.count("they agree (within 2).") == 2


def test_methods_that_disagree_are_suspect(monkeypatch, capsys):
    import zhat.cli.commands.compare as command

    def quarrel(*words, **settings):
        found = compare_models(*words, **settings)
        return replace(found, checks={name: replace(e, log_evidence=e.log_evidence + 5) for name, e in found.checks.items()})

    compare_models = command.compare
    monkeypatch.setattr(command, "compare", quarrel)
    assert main(["compare", *TWO, "--seed", "1", "--check", "importance"]) == Exit.SUSPECT
    assert "they disagree (beyond 3)" in capsys.readouterr().err


def test_curves_on_the_page_and_beside_it(tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ["zoo:pima", "zoo:pima-age", "--vary", "tau", "--values", "0.01", "0.02", "--html", str(page)]
    assert main(["compare", *words, "--seed", "1"]) == Exit.OK
    assert "Log evidence of pima-age over tau" in page.read_text(encoding="utf-8")
    assert "pima-age: for tau from 0.01 to 0.02 the log evidence moves by" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("words", "message"), [
    (("--vary", "tau"), "over which values"),
    (("--vary", "nothing", "--range", "1", "2", "3"), "model 'pima' has no hyperparameter 'nothing'"),
    (("--check", "nothing"), "there is no method 'nothing'"),
])  # fmt: skip
def test_curves_and_checks_that_cannot_be_made_are_refused_before_any_run(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("zhat.comparing.compare.run_models", lambda *_: pytest.fail("a model was run"))
    assert compare("zoo:pima", "zoo:pima-age", *words) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err


def test_models_of_one_file_take_their_names_there(tmp_path, capsys):
    file = tmp_path / "models.py"
    file.write_text(
        "import numpy as np, numpyro, numpyro.distributions as dist, zhat\n"
        "def f(y, effects):\n"
        "    mu = numpyro.sample('mu', dist.Normal(0.0, 1.0))\n"
        "    numpyro.sample('y', dist.Normal(mu if effects else 0.0, 1.0), obs=y)\n"
        "y = np.array([0.3, 0.1, 0.9])\n"
        "free = zhat.Model.from_numpyro(f, y, effects=True)\n"
        "zero = zhat.Model.from_numpyro(f, y, effects=False)\n"
    )
    assert compare(f"{file}:free", f"{file}:zero", "--method", "laplace", "--json") in (Exit.OK, Exit.UNDECIDED, Exit.SUSPECT)
    assert {row["model"] for row in json.loads(capsys.readouterr().out)["models"]} == {"f", "zero"}


def test_undecided_has_a_code_of_its_own(tmp_path):
    runs = [
        zhat.evidence(zhat.zoo.example(f"E8s-{name}").model, "importance", seed=1, progress=False) for name in ("none", "slope")
    ]
    same = [replace(run, log_evidence=-5.0).save(tmp_path / f"{i}.json") for i, run in enumerate(runs)]
    assert compare(*map(str, same)) == Exit.UNDECIDED


def test_draws_by_the_name_of_the_model(capsys, tmp_path):
    run = zhat.evidence(zhat.zoo.example("E8s-slope").model, zhat.Bridge(n_draws=250), seed=3, progress=False)
    np.savez(tmp_path / "line.npz", **{name: x.reshape(4, 250, *x.shape[1:]) for name, x in run.record.parameters.items()})
    fit = str(tmp_path / "line.npz")
    two = ("simple=zoo:E8s-none", "line=zoo:E8s-slope", "--method", "bridge", "n_draws=250")
    assert compare(*two, "--draws", f"line={fit}", "--json") == Exit.OK
    answer = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in answer["models"]} == {"simple", "line"}
    for words, sentence in (
        (("--draws", fit), "give NAME=PATH, where NAME is one of simple, line"),
        (("--draws", f"curve={fit}"), "give NAME=PATH, where NAME is one of simple, line"),
        (("--draws", f"line={fit}", "--draws", f"line={fit}"), "has draws already"),
    ):
        assert compare(*two, *words) == Exit.BAD_INPUT
        assert sentence in capsys.readouterr().err
