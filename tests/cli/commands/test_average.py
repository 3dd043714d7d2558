"""`zhat average`: a quantity averaged over models by their posterior probabilities."""

from __future__ import annotations

import json
import math

import pytest

from zhat.cli import main
from zhat.cli.exits import Exit

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
