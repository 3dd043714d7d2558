"""`zhat formula`: from a CSV file to a Bayes factor, a page, and sentences for what is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zhat.cli import main
from zhat.zoo import datasets

pytest.importorskip("formulaic")


@pytest.fixture
def pine(tmp_path):
    table = datasets.load("radiata_pine_friel_wyse")
    path = tmp_path / "pine.csv"
    rows = zip(*table.values(), strict=True)
    path.write_text(",".join(table) + "\n" + "\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
    return path


def test_two_formulas_and_a_page(pine, tmp_path, capsys):
    page = tmp_path / "answer.html"
    code = main(["formula", str(pine), "strength ~ density", "strength ~ adjusted_density", "--html", str(page)])
    out = capsys.readouterr()
    assert code == 0
    assert "the data favour strength ~ adjusted_density over strength ~ density by a factor of 1,78" in out.out
    assert "JZS" in out.err
    assert "Rouder &amp; Morey 2012" in page.read_text(encoding="utf-8")


def test_one_formula_is_compared_with_the_intercept(pine, capsys):
    assert main(["formula", str(pine), "strength ~ density", "--json", "--quiet", "--prior", "unit-information"]) == 0
    found = json.loads(capsys.readouterr().out)
    values = {row["model"]: row["log_evidence"] for row in found["models"]}
    table = datasets.load("radiata_pine_friel_wyse")
    r2 = np.corrcoef(table["strength"], table["density"])[0, 1] ** 2
    expected = 0.5 * 40 * np.log(43.0) - 0.5 * 41 * np.log1p(42 * (1 - r2))
    assert values["strength ~ 1"] == 0.0
    assert values["strength ~ density"] == pytest.approx(expected, abs=1e-9)


def test_semicolons_and_scales(tmp_path, capsys):
    rng = np.random.default_rng(1)
    path = tmp_path / "t.csv"
    path.write_text("k; n; dose\n" + "\n".join(f"{rng.binomial(9, 0.4)}; 9; {x}" for x in range(8)), encoding="utf-8")
    arguments = ["formula", str(path), "k ~ dose", "--family", "binomial", "--trials", "n", "--method", "laplace", "--seed", "1"]
    assert main([*arguments, "--prior", "scaled-normal", "slopes=1.0"]) in (0, 1, 2, 3)
    assert "dose ~ Normal(0, 0.4082)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["strength ~ desnity"], "Did you mean 'density'"),
        (["strength ~ 1"], "needs a second formula"),
        (["strength ~ density", "--prior", "jsz"], "did you mean 'jzs'"),
        (["strength ~ density", "--prior", "jzs", "scale=2"], "no such setting"),
        (["strength ~ density", "--family", "binomial"], "--trials COLUMN"),
        (["strength ~ density", "--trials", "n"], "only the binomial family"),
        (["strength ~ density", "--family", "bernoulli"], "not only 0 and 1"),
        (["strength ~ density", "log(strength) ~ density"], "different data"),
    ],
)
def test_a_sentence(pine, capsys, arguments, words):
    assert main(["formula", str(pine), *arguments]) != 0
    assert words in " ".join(capsys.readouterr().err.split())


def test_no_such_file(tmp_path, capsys):
    assert main(["formula", str(tmp_path / "pien.csv"), "y ~ x"]) != 0
    assert "there is no file" in capsys.readouterr().err
