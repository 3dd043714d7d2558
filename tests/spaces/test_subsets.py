"""All subsets of covariates together: each evidence as it is alone, probabilities, inclusion, what is refused."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.zoo.pima import COVARIATES, MODEL_1, MODEL_2

pytestmark = pytest.mark.xdist_group("subsets")  # enumerated once


@pytest.fixture(scope="module")
def pima():
    return zhat.Subsets(zoo.pima_with_mask(0.01), COVARIATES).enumerate(seed=1, progress=False)


def test_all_128_pima_models(pima):
    assert len(pima.log_evidence) == 128
    for names, truth in ((MODEL_1, -257.2323), (MODEL_2, -259.8583)):
        i = pima.row(names)
        assert pima.name(i) == " + ".join(["1", *(c for c in COVARIATES if c in names)])
        assert abs(pima.log_evidence[i] - truth) < 4.5 * pima.se[i] + 0.001
    assert np.nanmax(pima.se) < 0.03
    assert not pima.suspect


@pytest.mark.parametrize("names", [(), ("PGC",), ("BP", "TST"), COVARIATES])
def test_a_model_is_what_it_is_alone(pima, names):
    alone = zhat.evidence(zoo.pima(names, tau=0.01).model, "importance", seed=3, progress=False)
    i = pima.row(names)
    assert abs(pima.log_evidence[i] - alone.log_evidence) < 4.5 * np.hypot(pima.se[i], alone.log_evidence_se)


def test_probabilities_and_inclusion(pima):
    assert pima.probabilities.sum() == pytest.approx(1.0)
    assert pima.top(1)[0][0] == "1 + " + " + ".join(c for c in COVARIATES if c in MODEL_1)
    assert pima.inclusion["PGC"] > 0.99 > 0.5 > pima.inclusion["TST"]
    assert all(se < 0.01 for se in pima.inclusion_se.values())
    assert pima.averaged_coefficients.shape == (8,)
    assert pima.averaged_coefficients[2] > 0.5  # plasma glucose
    assert "inclusion probabilities" in str(pima)


def test_a_prior_over_models_moves_the_inclusion():
    family = zhat.Subsets(zoo.pima_with_mask(1.0), COVARIATES)
    flat = family.enumerate(seed=2, n_draws=2000, progress=False)
    sparse = family.enumerate(seed=2, n_draws=2000, prior=lambda mask: 0.1 ** mask.sum(), progress=False)
    assert sum(sparse.inclusion.values()) < sum(flat.inclusion.values())
    again = family.enumerate(seed=2, n_draws=2000, progress=False)
    assert np.array_equal(flat.log_evidence, again.log_evidence)


def test_bad_families_get_a_sentence():
    with pytest.raises(BadType, match=r"give a zhat\.Model"):
        zhat.Subsets(3, ("a",))
    with pytest.raises(BadInput, match="a dictionary with an entry 'mask'"):
        zhat.Subsets(zoo.example("E1").model, ("a",))
    with pytest.raises(BadInput, match="one entry each"):
        zhat.Subsets(zoo.pima_with_mask(), ("a", "b"))
    family = zhat.Subsets(zoo.pima_with_mask(), COVARIATES)
    with pytest.raises(BadInput, match="no covariate 'IQ'"):
        family.at(["IQ"])
    with pytest.raises(BadInput, match="0 or above"):
        family.enumerate(prior=lambda mask: -1.0, seed=1)


def test_models_that_are_run_one_by_one_may_be_run_elsewhere(monkeypatch):
    """With a limit that every model's weights exceed, all of them are; threads stand for any executor."""
    from concurrent.futures import ThreadPoolExecutor

    import zhat.spaces.subsets as room

    monkeypatch.setattr(room, "MAX_PARETO_K", -9.0)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((20, 2))
    data = {"x": x, "y": x[:, 0] + rng.standard_normal(20), "mask": np.ones(2)}
    model = zhat.Model(
        lambda p, d: -0.5 * jnp.sum((d["y"] - d["x"] @ (p["beta"] * d["mask"])) ** 2),
        {"beta": dist.Normal(0.0, 1.0).expand([2]).to_event(1)},
        data=data,
    )
    family = zhat.Subsets(model, ("a", "b"))
    here = family.enumerate(seed=1, n_draws=500, progress=False)
    with ThreadPoolExecutor(2) as threads:
        there = family.enumerate(seed=1, n_draws=500, progress=False, executor=threads)
    assert here.refined == there.refined == (0, 1, 2, 3)
    assert np.array_equal(here.log_evidence, there.log_evidence) and np.array_equal(here.coefficients, there.coefficients)
