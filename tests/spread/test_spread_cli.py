"""``--workers`` and ``--executor`` on the command line: the digits of the serial run, for models of a file too."""

from __future__ import annotations

import json
import textwrap

import pytest

from evidentia.cli import main
from evidentia.cli.exits import Exit

MODELS = """
    import jax.numpy as jnp
    import numpy as np
    import numpyro.distributions as dist
    from evidentia import Model

    Y = np.array([0.3, -0.2, 1.1])

    def normal(params, data):
        return jnp.sum(-0.5 * (data - helper(params)) ** 2)

    def helper(params):
        return params["x"]

    narrow = Model(normal, {"x": dist.Normal(0.0, 1.0)}, data=Y, name="narrow")
    wide = Model(normal, {"x": dist.Normal(0.0, 9.0)}, data=Y, name="wide")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "models.py"
    path.write_text(textwrap.dedent(MODELS))
    return path


def test_estimate_and_compare_over_workers(file, capsys):
    common = ["--seed", "1", "--repeats", "2", "--quiet", "--json", "--method", "importance"]
    estimate = ["estimate", f"{file}:narrow", *common]
    compare = ["compare", f"{file}:narrow", f"{file}:wide", *common]
    found = []
    for words in (estimate, compare):
        for more in ([], ["--workers", "2"]):
            assert main([*words, *more]) == Exit.OK
            found.append(json.loads(capsys.readouterr().out))
    assert found[0]["evidence"]["repeats"] == found[1]["evidence"]["repeats"]
    assert [m["log_evidence"] for m in found[2]["models"]] == [m["log_evidence"] for m in found[3]["models"]]


@pytest.mark.parametrize(("words", "message"), [
    (("--workers", "0"), "workers=0"),
    (("--executor", "ray://here"), "dask://host:port"),
    (("--executor", "dask://"), "dask://host:port"),
    (("--workers", "2", "--executor", "dask://here:1"), "not both"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(words, message, capsys):
    assert main(["estimate", "zoo:E1", *words]) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err
