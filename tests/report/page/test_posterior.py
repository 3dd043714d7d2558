"""The section on parameters: labels and units in its table, and pages of models that kept no draws."""

from __future__ import annotations

import jax.numpy as jnp
import numpyro.distributions as dist
import pytest

import zhat
from zhat.report.page.page import report_page
from zhat.report.page.posterior import parameter_rows, plain_label


def model(**options):
    prior = {"speed": dist.Normal(0.0, 1.0), "beta": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}
    return zhat.Model(lambda p: -0.5 * (p["speed"] - 1.0) ** 2 - 0.5 * jnp.sum(p["beta"] ** 2), prior, **options)


@pytest.fixture(scope="module")
def result():
    labelled = model(labels={"speed": "wind speed", "beta[1]": r"$\beta_1$"}, units={"speed": "km/s", "beta": "1/s"})
    return zhat.evidence(labelled, zhat.PriorMean(n_draws=5000), seed=1, progress=False)


def test_rows_have_labels_units_and_the_posterior(result):
    rows = parameter_rows(result)
    assert [row[0] for row in rows] == ["beta[0] [1/s]", "beta[1] [1/s]", "wind speed [km/s]"]  # TeX is not shown
    assert float(rows[2][1]) == pytest.approx(0.5, abs=0.05) and float(rows[2][2]) == pytest.approx(0.5**0.5, abs=0.05)
    assert plain_label(result, "speed") == "wind speed [km/s]"


def test_the_page_shows_them_and_does_without(result):
    other = zhat.evidence(model(name="other"), zhat.PriorMean(n_draws=5000), seed=2, progress=False)
    page = report_page(zhat.compare({"labelled": result, "plain": other}))
    assert "Parameters under labelled" in page and "wind speed [km/s]" in page
    exact = zhat.zoo.example("E1").model
    assert parameter_rows(zhat.evidence(exact, zhat.Laplace(), seed=1, progress=False)) == []
