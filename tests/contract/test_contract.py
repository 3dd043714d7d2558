"""The battery that every registered method passes on every exact model it can take.

A method that is added to `methods/` is found here by the registry. Seeds are fixed, so that these are change detectors as
well; the calibration run (`make calibrate`) is where errors are judged. With |z| <= 4.5 for about 250 cells the chance of
one false alarm, were the seeds drawn anew, is 0.2 %. Methods also doubt themselves without need, once in some hundreds of runs
(checks at three errors; the calibration counts them as silence): a run that does is made again with another seed, and must not
do so twice.
"""

from __future__ import annotations

import math
from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.model.model import Offer
from zhat.results.estimate import Kind, Level
from zhat.zoo.parts.gibbs import gamma_block, normal_block, normal_vector_block

# Exact evaluates nothing, and the models here carry no formula: tests/methods/test_exact.py has it.
METHODS = [name for name, method in zhat.methods.registry().items() if method.evaluates]
# What every model of these tests offers; only for a method that needs more must a model be built to know whether it does.
ALL_OFFER = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD, Offer.GRADIENT})
Z_LIMIT = 4.5

# Cells where a method may refuse the model, and why: a decision, not an accident.
MAY_REFUSE = {
    # Likelihoods much narrower than the prior: the prior mean says that its variance may not exist.
    **{("prior-mean", id): "narrow likelihood" for id in ("E8", "E8s-intercept", "E8s-slope", "E9a", "E9b", "E13", "E14a")},
    # Chains go badly into the funnel of the centred eight schools, and R-hat says so.
    ("chib-jeliazkov", "E15"): "R-hat",
    ("bridge", "E15"): "R-hat",
    ("reciprocal", "E15"): "R-hat",
    # Skewed posteriors: one ellipsoid reaches where the posterior is thin, and Pareto k says so.
    **{("reciprocal", id): "not Gaussian" for id in ("E15n", "E16a", "E16b")},
    **{(method, "E15"): "chains lag behind" for method in ("power-posterior", "stepping-stone")},
    # The centred eight schools have no mode: the density is unbounded where the groups agree and their spread is zero.
    ("laplace", "E15"): "no mode",
    ("importance", "E15"): "no mode",
    # Far from Gaussian in these coordinates: the importance correction is large, and says so.
    **{("laplace", id): "not Gaussian" for id in ("E15n", "E16a", "E16b")},
    **{("laplace-metropolis", id): "not Gaussian" for id in ("E15n", "E16a", "E16b")},
    ("laplace-metropolis", "E15"): "no peak at the best draw",
    **{("laplace-metropolis", id): "the best draw is far below the mode" for id in ("E9a", "E9b", "E14a")},
    # Every E model has a prior wider than its likelihood; calibration/weak_data.py has those where its variance is finite.
    **{("harmonic-mean", id): "infinite variance" for id in zoo.E_IDS},
}

# Methods that are not `ok` on the ordinary models of the metamorphic tests either, and are exempt where these ask for an error.
NEVER_OK_HERE = {"harmonic-mean": "infinite variance"}

# Known errors of Laplace's method in the unconstrained coordinates (Laplace - exact).
LAPLACE_ERRORS = {"E1": 0.0, "E3a": -0.0300, "E4": -0.0069, "E9a": 0.0, "E9b": 0.0, "E11": -0.0251, "E13": 0.0, "E14a": 0.0}


@cache
def run(method: str, id: str, seed: int) -> zhat.Evidence:
    return zhat.evidence(zoo.example(id).model, method, seed=seed, progress=False)


def can_take(method, id):
    needs = zhat.methods.registry()[method].needs
    return needs <= ALL_OFFER or needs <= zoo.example(id).model.offers


# What is run with every change: the work horses everywhere, every method on models of all sorts. `make contract` runs all cells.
EVERYWHERE = ("importance", "laplace", "prior-mean", "smc")
ALL_SORTS = ("E1", "E2", "E3a", "E8", "E12", "E15n", "E16a")
EXPENSIVE = {("smc", "E9b"), ("importance", "E9b")}  # fifty dimensions: half a minute and more


def marks(method, id):
    slow = (method not in EVERYWHERE and id not in ALL_SORTS) or (method, id) in EXPENSIVE
    return [pytest.mark.xdist_group(id), *([pytest.mark.slow] if slow else [])]


def cells():
    return [
        pytest.param(method, id, marks=marks(method, id), id=f"{id}-{method}")
        for id in zoo.E_IDS
        for method in METHODS
        if can_take(method, id)
    ]


def correlated_id(method):
    """A small model with correlated parameters that the method can take: E12 has no conditionals, E8 has."""
    return "E12" if can_take(method, "E12") else "E8"


@pytest.mark.parametrize(("method", "id"), cells())
def test_the_exact_evidence_lies_within_the_reported_error(method, id):
    lies_within_its_error(method, id, seed=1)


@pytest.mark.parametrize(("method", "id"), [cell for cell in cells() if cell.values[0] in EVERYWHERE and cell.values[0] != "smc"])
def test_the_exact_evidence_lies_within_the_reported_error_of_another_seed(method, id):
    lies_within_its_error(method, id, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("id", [pytest.param(id, marks=pytest.mark.xdist_group(id)) for id in zoo.E_IDS])
def test_smc_with_another_seed(id):
    lies_within_its_error("smc", id, seed=2)


def lies_within_its_error(method, id, seed):
    truth, result = zoo.example(id).log_evidence, run(method, id, seed)
    if not result.status.is_ok:
        assert result.log_evidence_se is None
        if (method, id) in MAY_REFUSE:
            return
        print(f"{method} on {id}, seed {seed}: {result.explain()}")
        result = run(method, id, seed + 100)
        assert result.status.is_ok, f"refused twice (if that is meant, MAY_REFUSE takes the pair and why): {result.explain()}"
    assert result.error is not None
    print(f"{method} on {id}: {result.log_evidence:.5f}, truth {truth:.5f}, error {result.error:.5f}")
    if result.error == 0.0:  # an error of zero is a claim to be exact
        assert result.log_evidence == pytest.approx(truth, abs=1e-9)
        return
    assert abs(result.log_evidence - truth) < Z_LIMIT * result.error
    assert result.error < 0.3


@pytest.mark.parametrize("id", [pytest.param(id, marks=pytest.mark.xdist_group(id)) for id in LAPLACE_ERRORS])
def test_laplace_makes_its_known_error(id):
    result = run("laplace", id, 1)
    assert result.kind is Kind.APPROXIMATION
    assert result.log_evidence_se is None
    assert result.log_evidence - zoo.example(id).log_evidence == pytest.approx(LAPLACE_ERRORS[id], abs=1e-4)


# -- metamorphic: no truth needed ------------------------------------------------------------------------------------------


def shifted_likelihood(params, data):
    y, shift = data
    return jnp.sum(dist.Normal(params["mu"], 1.0).log_prob(y)) + shift


def mu_moments(params, beta, data, hyper):
    y = data[0]
    precision = beta * y.shape[0] + 0.25
    return beta * jnp.sum(y) / precision, precision


MU_BLOCK = normal_block("mu", mu_moments)


@cache
def shiftable():
    y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])
    prior = {"mu": dist.Normal(0.0, 2.0)}
    return zhat.Model(
        shifted_likelihood, prior, data=(y, np.float64(0.0)), name="shiftable", conditionals=[MU_BLOCK], latent=("mu",)
    )


together = pytest.mark.xdist_group("metamorphic")


@cache
def unshifted(method):
    return zhat.evidence(shiftable(), method, seed=5, progress=False)


@together
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [3.7, -1e6, 1e6])
def test_shifting_the_log_likelihood_shifts_the_evidence(method, shift):
    model, plain = shiftable(), unshifted(method)
    moved = zhat.evidence(model.with_data((model.data[0], np.float64(shift))), method, seed=5, progress=False)
    assert moved.log_evidence - plain.log_evidence == pytest.approx(shift, abs=1e-9 * max(1.0, abs(shift)))
    assert moved.error == (None if plain.error is None else pytest.approx(plain.error, rel=1e-6))
    assert moved.status.level is plain.status.level


@together
@pytest.mark.parametrize("method", METHODS)
def test_a_likelihood_of_one_gives_an_evidence_of_one(method):
    block = normal_vector_block("x", 2, lambda params, beta, data, hyper: (jnp.zeros(2), jnp.eye(2)))
    prior = {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}
    model = zhat.Model(lambda p: 0.0 * p["x"][0], prior, name="flat", conditionals=[block], latent=("x",))
    result = zhat.evidence(model, method, seed=1, progress=False)
    assert result.status.is_ok
    assert abs(result.log_evidence) <= Z_LIMIT * result.error + 1e-9


@together
@pytest.mark.parametrize("method", METHODS)
def test_no_data_gives_an_evidence_of_one(method):
    model = shiftable().with_data((np.empty(0), np.float64(0.0)))
    result = zhat.evidence(model, method, seed=1, progress=False)
    assert result.status.is_ok
    assert abs(result.log_evidence) <= Z_LIMIT * result.error + 1e-9


@together
@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_digits_and_another_seed_others(method):
    model = zoo.example(correlated_id(method)).model
    first, again, other = (zhat.evidence(model, method, seed=s, progress=False) for s in (7, 7, 8))
    assert first.log_evidence == again.log_evidence
    assert first.log_evidence_se == again.log_evidence_se
    assert first.diagnostics == again.diagnostics
    assert first.diagnostics != other.diagnostics


@together
@pytest.mark.parametrize("method", METHODS)
def test_an_unused_parameter_changes_nothing(method):
    y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])
    prior = {"mu": dist.Normal(0.0, 2.0), "unused": dist.Gamma(2.0, 1.0)}
    unused = gamma_block("unused", lambda beta, data, hyper: 2.0, lambda params, beta, data, hyper: 1.0)
    model = zhat.Model(
        lambda p, data: jnp.sum(dist.Normal(p["mu"], 1.0).log_prob(data[0])),
        prior,
        data=(y,),
        name="unused parameter",
        conditionals=[MU_BLOCK, unused],
        latent=("mu",),
    )
    result = zhat.evidence(model, method, seed=3, progress=False)
    if method in NEVER_OK_HERE:
        assert not result.status.is_ok
        return
    assert result.status.is_ok
    assert abs(result.log_evidence - zoo.example("E1").log_evidence) <= Z_LIMIT * result.error + 1e-9


@together
@pytest.mark.parametrize("method", METHODS)
def test_permuting_data_and_parameters_changes_nothing_beyond_the_error(method):
    example = zoo.example(correlated_id(method))
    x, y = (np.asarray(a)[::-1] for a in example.model.data)
    permuted = zhat.evidence(example.model.with_data((x, y)), method, seed=4, progress=False)
    if method in NEVER_OK_HERE:
        assert not permuted.status.is_ok
        return
    assert abs(permuted.log_evidence - example.log_evidence) <= Z_LIMIT * permuted.error


@together
@pytest.mark.parametrize("method", METHODS)
def test_a_result_carries_what_is_needed_to_defend_it(method):
    id = "E1" if can_take(method, "E1") else correlated_id(method)
    result = run(method, id, 1)
    assert result.method == method
    assert result.seed == 1
    assert result.cost.n_likelihood > 0
    assert 0.0 <= result.cost.compile_seconds <= result.cost.seconds
    assert result.cites and set(result.versions) >= {"zhat", "jax", "numpy"}
    assert result.data_id == zoo.example(id).model.data_id
    assert result.status.level is not Level.FAILED
    assert math.isfinite(result.log_evidence)
