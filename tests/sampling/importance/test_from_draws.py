"""Draws that a user already has: checked at the door, turned into a proposal, and the evidence from it is right."""

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType, ShapeError
from zhat.sampling.importance.from_draws import positions_of


@pytest.fixture(scope="module")
def gibbs_output():
    """Correlated draws of the running example, as a Gibbs sampler of the user's own would leave them."""
    example = zoo.running_example()
    y, hyper = np.asarray(example.model.data), example.model.hyper
    rng, tau = np.random.default_rng(1), 1.0
    draws = {"mu": [], "tau": []}
    for _ in range(4000):
        precision = len(y) * tau + hyper["nu"]
        mu = rng.normal((tau * y.sum() + hyper["nu"] * hyper["xi"]) / precision, precision**-0.5)
        tau = rng.gamma(0.5 * (len(y) + hyper["a0"])) / (0.5 * (((y - mu) ** 2).sum() + hyper["b0"]))
        draws["mu"].append(mu)
        draws["tau"].append(tau)
    return example, {name: np.array(values) for name, values in draws.items()}


def test_importance_sampling_from_them_is_right_within_its_error(gibbs_output):
    example, draws = gibbs_output
    z = []
    for seed in range(12):
        proposal = zhat.proposal_from_draws(example.model, draws, seed=seed)
        found = zhat.evidence(example.model, zhat.Importance(proposal=proposal, n_draws=4000), seed=seed, progress=False)
        assert found.status.is_ok
        z.append((found.log_evidence - example.log_evidence) / found.error)
    print(np.round(z, 2))
    assert np.abs(z).max() < 4.5  # 8e-5 for twelve
    assert np.mean(np.square(z)) < 2.9  # 7e-4


def test_chains_may_be_an_axis_of_their_own(gibbs_output):
    example, draws = gibbs_output
    in_chains = {name: values.reshape(4, -1) for name, values in draws.items()}
    np.testing.assert_array_equal(positions_of(example.model, draws, "d"), positions_of(example.model, in_chains, "d"))


def vector_model():
    prior = {"b": dist.Normal().expand([3]).to_event(1), "s": dist.HalfNormal(1.0)}
    return zhat.Model(lambda p: -0.5 * (p["b"] ** 2).sum() / p["s"], prior, name="vector")


GOOD = {"b": np.zeros((500, 3)) + np.arange(500)[:, None] / 500, "s": np.linspace(0.5, 2.0, 500)}


@pytest.mark.parametrize(
    ("draws", "error", "words"),
    [
        ([1.0], BadType, "draws is a list: give a dict of arrays"),
        ({"b": GOOD["b"]}, BadInput, "draws lack the parameter 's' of 'vector'"),
        ({**GOOD, "b": np.zeros((500, 2))}, ShapeError, r"'b' has shape \(500, 2\): a draw of it has shape \(3,\)"),
        ({**GOOD, "s": np.ones(400)}, ShapeError, "every parameter needs the same number of chains and draws"),
        ({**GOOD, "s": np.full(500, np.nan)}, BadInput, r"'s' has values that are not finite"),
        ({**GOOD, "s": np.full(500, -1.0)}, BadInput, r"draw 0 \(b = .*, s = -1.*\) lies outside of the support"),
        ({name: values[:20] for name, values in GOOD.items()}, BadInput, "20 are too few for n_components=1 in 4 dimensions"),
    ],
)
def test_what_cannot_be_posterior_draws_is_refused_with_a_sentence(draws, error, words):
    with pytest.raises(error, match=words):
        zhat.proposal_from_draws(vector_model(), draws)
