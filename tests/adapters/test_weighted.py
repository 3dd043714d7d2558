"""Tables for anesthetic and GetDist: columns, weights and log likelihoods as these libraries take them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.adapters.weighted import to_anesthetic, to_getdist
from zhat.errors import BadInput


@pytest.fixture(scope="module")
def result():
    return zhat.evidence(zoo.example("E6").model, zhat.Importance(n_draws=2000), seed=1, progress=False)


@pytest.mark.parametrize(
    ("library", "name", "export"), [("anesthetic", "MCMCSamples", to_anesthetic), ("getdist", "MCSamples", to_getdist)]
)
def test_the_call_has_a_column_for_every_number(result, library, name, export, monkeypatch):
    monkeypatch.setitem(sys.modules, library, SimpleNamespace(**{name: lambda **given: given}))
    given = export(result, labels={"p[0]": "p_0"})
    values = given["data"] if library == "anesthetic" else given["samples"]
    names = given["columns"] if library == "anesthetic" else given["names"]
    (parameter, array), *_ = result.record.parameters.items()
    assert names[0] == f"{parameter}[0]" and values.shape[1] == len(names) == array.shape[1]
    assert given["weights"].max() == 1.0 and len(given["weights"]) == len(values)
    mean = given["weights"] @ values / given["weights"].sum()
    assert mean.sum() == pytest.approx(1.0)
    log_likelihood = given["logL"] if library == "anesthetic" else -given["loglikes"]
    assert np.isfinite(log_likelihood).all()


def test_without_the_library_a_sentence_says_what_to_install(result, monkeypatch):
    for library, export in (("anesthetic", to_anesthetic), ("getdist", to_getdist)):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(BadInput, match=f"pip install {library}"):
            export(result)


def test_the_libraries_themselves_find_the_same_means(result):
    """Means under the weights as anesthetic and GetDist compute them; a column of log likelihoods is no parameter."""
    x, w = result.record.position, np.exp(result.record.log_weight - result.record.log_weight.max())
    (name, array), *_ = result.record.parameters.items()
    expected = w @ np.asarray(array) / w.sum()
    assert x.shape[0] == len(w)
    columns = [f"{name}[{i}]" for i in range(np.shape(array)[1])]
    frame = pytest.importorskip("anesthetic") and result.to_anesthetic(labels={columns[0]: r"$p_0$"})
    np.testing.assert_allclose(np.asarray(frame[columns].mean()), expected, rtol=1e-10)
    samples = pytest.importorskip("getdist") and result.to_getdist(labels={columns[0]: "p_0"})
    np.testing.assert_allclose(samples.getMeans(), expected, rtol=1e-10)
    assert next(p.label for p in samples.paramNames.names) == "p_0"
