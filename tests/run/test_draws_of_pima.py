"""The evidence of Pima model 1 from NumPyro's draws: one number in every container, nothing sampled, and other draws told apart."""

from __future__ import annotations

from functools import cache

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import zhat
from zhat.results.estimate import Level
from zhat.zoo.pima import MODEL_1, MODEL_2, pima

pytestmark = pytest.mark.xdist_group("pima-draws")

TRUTH = -257.2323
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]


def program(x, y):
    """Friel & Wyse's (2012) logistic regression with prior precision 0.01."""
    theta = numpyro.sample("theta", dist.Normal(0.0, 10.0).expand([x.shape[1]]).to_event(1))
    numpyro.sample("y", dist.Bernoulli(logits=x @ theta), obs=y)


@cache
def sampler(seed, covariates=MODEL_1):
    """4 x 1000 draws by NUTS with NumPyro's defaults."""
    x, y = pima(covariates).model.data
    with jax.enable_x64(True):
        mcmc = numpyro.infer.MCMC(
            numpyro.infer.NUTS(program),
            num_warmup=1000,
            num_samples=1000,
            num_chains=4,
            chain_method="vectorized",
            progress_bar=False,
        )
        mcmc.run(jax.random.key(seed), x, y, extra_fields=("potential_energy", "diverging"))
    return mcmc


def arrays(seed, covariates=MODEL_1):
    return {"theta": np.asarray(sampler(seed, covariates).get_samples(group_by_chain=True)["theta"])}


def lp(seed):
    return -np.asarray(sampler(seed).get_extra_fields(group_by_chain=True)["potential_energy"])


def tree(seed, **groups):
    arviz_base = pytest.importorskip("arviz_base")
    return arviz_base.from_dict({"posterior": arrays(seed), "sample_stats": {"lp": lp(seed)}, **groups})


def estimate(draws, model=None):
    return zhat.evidence(model or pima().model, draws=draws, seed=1, progress=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_arrays_give_the_evidence_and_nothing_is_sampled(seed):
    result = estimate(arrays(seed))
    print(result, result.log_evidence - TRUTH)
    assert result.status.is_ok and result.method == "bridge"
    assert abs(result.log_evidence - TRUTH) < 0.02 and result.log_evidence_se <= 0.01


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_every_container_gives_the_same_number(seed, tmp_path):
    first = estimate(arrays(seed)).log_evidence
    assert estimate(tree(seed)).log_evidence == first  # DataTree
    inference_data = pytest.importorskip("arviz").from_dict(posterior=arrays(seed), sample_stats={"lp": lp(seed)})
    assert estimate(inference_data).log_evidence == first
    pytest.importorskip("h5netcdf")
    tree(seed).to_netcdf(tmp_path / "fit.nc")
    assert estimate(tmp_path / "fit.nc").log_evidence == first
    assert abs(zhat.evidence(sampler(seed), seed=1, progress=False).log_evidence - first) < 1e-6  # model, data and draws in one
    assert abs(estimate(sampler(seed)).log_evidence - first) < 1e-6


def test_no_point_is_sampled_to_make_the_estimate():
    result = zhat.evidence(pima().model, zhat.Bridge(mode_check=False), draws=arrays(0), seed=1, progress=False)
    # Prior draws of the first checks, each draw and its reflection once, as many proposals and theirs.
    assert result.cost.n_likelihood <= 1100 + 4 * 4000 and "not checked" in result.explain()


# -- draws of something else -------------------------------------------------------------------------------------------


def without_the_constant():
    """The log density as a program would store it that drops the normal's constant from the prior."""
    constant = 5 * np.log(10.0 * np.sqrt(2.0 * np.pi))
    theta = arrays(0)["theta"]
    x, y = pima().model.data
    prior = dist.Normal(0.0, 10.0)
    log_prior = np.asarray(prior.log_prob(theta)).sum(axis=-1) + constant
    eta = theta @ np.asarray(x).T
    return log_prior, eta @ np.asarray(y) - np.logaddexp(0.0, eta).sum(axis=-1)


def test_exchanged_columns_are_refused():
    theta = arrays(0)["theta"][..., [0, 2, 1, 3, 4]]
    reason = estimate({"theta": theta}).status.reasons[0]
    assert reason.code == "foreign-draws" and "Exchanging theta[1] and theta[2] mends it" in reason.sentence


def test_a_dropped_constant_of_the_prior_is_flagged():
    log_prior, log_likelihood = without_the_constant()
    result = estimate(tree(0, sample_stats={"lp": log_prior + log_likelihood}))
    assert not result.status.is_ok and result.status.reasons[0].code == "constant-differs"
    assert "plus +16.1" in result.status.reasons[0].sentence


def test_a_model_without_the_constant_is_flagged_by_stored_densities():
    x, y = pima().model.data
    model = zhat.Model.from_log_density(
        lambda p, data: (
            dist.Bernoulli(logits=data[0] @ p["theta"]).log_prob(data[1]).sum() - 0.5 * 0.01 * (p["theta"] ** 2).sum()
        ),
        {"theta": (5,)},
        data=(x, y),
    )
    result = estimate(tree(0), model)
    assert not result.status.is_ok and result.status.reasons[0].code == "constant-differs"


def test_draws_of_model_2_are_refused():
    with pytest.raises(zhat.errors.ShapeError, match="theta"):
        estimate(arrays(0, MODEL_2))
    result = estimate({"theta": arrays(0, MODEL_2)["theta"][..., :5]})  # its last coefficient left out
    assert result.status.level is Level.FAILED and result.status.reasons[0].code == "foreign-draws"


def test_draws_from_other_data_are_refused():
    model = pima().model
    x, y = model.data
    other = model.with_data((x, np.concatenate([y[40:], y[:40]])))
    result = estimate(arrays(0), other)
    assert result.status.level is Level.FAILED and result.status.reasons[0].code == "foreign-draws"
    assert estimate(tree(0), other).status.reasons[0].code == "foreign-draws"


def test_draws_with_another_prior_are_refused():
    assert estimate(arrays(0), pima(MODEL_1, tau=1.0).model).status.reasons[0].code == "foreign-draws"
