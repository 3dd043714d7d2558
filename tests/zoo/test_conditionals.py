"""Tempered Gibbs blocks: each is the joint's conditional, normalised, and is what its draws follow.

False-alarm budget of the draws: about 200 two-sided z-tests at 4.75 standard errors, 2e-6 each, so 4e-4 for a fresh
seed; the seed is fixed.
"""

from __future__ import annotations

import math
from functools import cache

import jax
import numpy as np
import pytest
from scipy.special import logsumexp

from zhat import zoo

EXAMPLES = (
    "E1",
    "E2",
    "E4",
    "E8",
    "E8s-none",
    "E8s-slope",
    "running-example",
    "normal-gamma-1",
    "normal-gamma-0.0001",
    "pine-density-friel_wyse-review",
    "pine-adjusted_density-williams1959-green_ohagan",
)
POSITIVE = ("tau", "variance", "rate")
BETAS = (0.0, 0.3, 1.0)
N_DRAWS = 20_000
STATES = {
    "E1": ({"theta": 0.5}, {"theta": -1.0}),
    "E4": ({"rate": 1.3}, {"rate": 0.4}),
    "E2": ({"mu": 0.5, "tau": 1.1}, {"mu": -1.0, "tau": 0.2}),
    "E8": ({"variance": 0.4, "coefficients": [0.2, 1.1]}, {"variance": 2.0, "coefficients": [-1.0, 0.3]}),
    "E8s-none": ({"variance": 0.4}, {"variance": 2.0}),
    "E8s-slope": ({"variance": 0.4, "coefficients": [1.1]}, {"variance": 2.0, "coefficients": [0.3]}),
    "gaussian": ({"mu": 0.1, "tau": 0.9}, {"mu": -0.7, "tau": 1.6}),
    "pine": (
        {"intercept": 2990.0, "slope": 184.0, "tau": 1e-5},
        {"intercept": 3100.0, "slope": 150.0, "tau": 4e-6},
    ),
}


def states_of(id):
    key = id if id in STATES else "pine" if id.startswith("pine") else "gaussian"
    return [{name: np.asarray(value, np.float64) for name, value in state.items()} for state in STATES[key]]


BLOCKS = {
    "E1": 1,
    "E4": 1,
    "E8s-none": 1,
    "pine-density-friel_wyse-review": 3,
    "pine-adjusted_density-williams1959-green_ohagan": 3,
}
CASES = [(id, i) for id in EXAMPLES for i in range(BLOCKS.get(id, 2))]


@cache
def compiled(id, index):
    """Draws, and log densities on a batch of values: compiled once a block, with the state and beta traced."""
    model = zoo.example(id).model
    block = model.conditionals[index]
    (name,) = block.block

    def noise_of(seed, beta):
        noise = block.noise(np.random.default_rng(seed), (N_DRAWS,), beta, model.data, model.hyper)
        assert all(leaf.shape[0] == N_DRAWS for leaf in jax.tree.leaves(noise))
        return noise

    def draw_from(noise, state, beta):
        drawn = jax.vmap(lambda one: block.draw(one, state, beta, model.data, model.hyper))(noise)
        assert set(drawn) == set(block.block)
        return drawn[name]

    def log_density(values, state, beta):
        def at(value):
            params = {**state, name: value.reshape(state[name].shape)}
            return block.log_density(params, beta, model.data, model.hyper)

        return jax.vmap(at)(values)

    compiled_draw = jax.jit(draw_from)

    def draw(seed, state, beta):
        return compiled_draw(noise_of(seed, beta), state, beta)

    return name, draw, jax.jit(log_density)


def grid_moments(id, index, state, beta, draws):
    """Total mass, mean and variance of exp(log_density) on a grid; log scale for positive blocks.

    The draws only say where to look for the mass of a normal block; the gamma's range is wide enough for all.
    """
    name, _, log_density = compiled(id, index)
    if name in POSITIVE:
        u = np.linspace(-130.0, 60.0, 19_001)[:, None]
        values, log_jacobian = np.exp(u), u[:, 0]
    else:
        flat = draws.reshape(len(draws), -1)
        n = 2001 if flat.shape[1] == 1 else 201
        centre, spread = flat.mean(axis=0), flat.std(axis=0)
        axes = [np.linspace(c - 12 * s, c + 12 * s, n) for c, s in zip(centre, spread, strict=True)]
        u = values = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        log_jacobian = np.zeros(len(u))
    with jax.enable_x64(True):
        logs = np.asarray(log_density(values, state, beta)) + log_jacobian
    steps = [np.unique(u[:, j])[1] - np.unique(u[:, j])[0] for j in range(u.shape[1])]
    log_mass = logsumexp(logs) + sum(math.log(s) for s in steps)
    weights = np.exp(logs - logsumexp(logs))
    mean = weights @ u
    return float(log_mass), mean, weights @ (u - mean) ** 2


@pytest.mark.parametrize(("id", "index"), CASES)
def test_block_is_the_conditional_of_the_tempered_joint(id, index):
    model = zoo.example(id).model
    name, _, log_density = compiled(id, index)
    first, other = states_of(id)
    moved = {**first, name: other[name]}
    (prior_1, likelihood_1), (prior_0, likelihood_0) = model.evaluate(**moved), model.evaluate(**first)
    values = np.stack([moved[name].ravel(), first[name].ravel()])
    for beta in BETAS:
        with jax.enable_x64(True):
            there, here = np.asarray(log_density(values, first, beta))
        expected = prior_1 - prior_0 + beta * (likelihood_1 - likelihood_0)
        assert there - here == pytest.approx(expected, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize(("id", "index"), CASES)
def test_block_is_normalised_and_its_draws_follow_it(id, index):
    name, draw, _ = compiled(id, index)
    for seed, (state, beta) in enumerate((s, b) for s in states_of(id) for b in BETAS):
        with jax.enable_x64(True):
            draws = np.asarray(draw(seed, state, beta))
        assert draws.dtype == np.float64
        assert draws.shape == (N_DRAWS, *state[name].shape)
        log_mass, mean, variance = grid_moments(id, index, state, beta, draws)
        assert log_mass == pytest.approx(0.0, abs=1e-8)
        x = draws.reshape(N_DRAWS, -1)
        x = np.log(x) if name in POSITIVE else x
        z_mean = (x.mean(axis=0) - mean) / np.sqrt(variance / N_DRAWS)
        squares = (x - mean) ** 2
        z_variance = (squares.mean(axis=0) - variance) / (squares.std(axis=0) / math.sqrt(N_DRAWS))
        print(id, name, beta, "z of mean", z_mean, "z of variance", z_variance)
        assert np.all(np.abs(z_mean) < 4.75)
        assert np.all(np.abs(z_variance) < 4.75)


@pytest.mark.parametrize("id", ["E9a", "E9b"])
def test_a_vector_block_is_the_tempered_posterior_and_is_what_its_draws_follow(id):
    """One normal block: prior x likelihood / density is the evidence everywhere; moments against the textbook's."""
    example = zoo.example(id)
    model, block = example.model, example.model.conditionals[0]
    design, y = (np.asarray(a) for a in model.data)
    d = design.shape[1]
    rng = np.random.default_rng(3)
    with jax.enable_x64(True):
        for value in rng.normal(size=(3, d)):
            log_prior, log_likelihood = model.evaluate(coefficients=value)
            log_density = float(block.log_density({"coefficients": value}, 1.0, model.data, model.hyper))
            assert log_prior + log_likelihood - log_density == pytest.approx(example.log_evidence, abs=1e-8)
        state = {"coefficients": np.zeros(d)}
        for beta in BETAS:
            noise = block.noise(rng, (N_DRAWS,), beta, model.data, model.hyper)
            draws = jax.vmap(lambda one, beta=beta: block.draw(one, state, beta, model.data, model.hyper))(noise)
            x = np.asarray(draws["coefficients"])
            covariance = np.linalg.inv(4.0 * beta * design.T @ design + np.eye(d))
            mean = covariance @ (4.0 * beta * design.T @ y)
            white = np.linalg.solve(np.linalg.cholesky(covariance), (x - mean).T)
            assert np.abs(white.mean(axis=1)).max() * math.sqrt(N_DRAWS) < 4.75
            products = white @ white.T / N_DRAWS - np.eye(d)
            assert np.abs(products).max() * math.sqrt(N_DRAWS / 2.0) < 4.75


def test_models_with_conditionals_offer_them():
    tagged = [id for id in zoo.catalogue() if "conditionals" in zoo.example(id).tags]
    having = [id for id in zoo.catalogue() if zoo.example(id).model.conditionals]
    assert tagged == having
    assert set(EXAMPLES) <= set(having)
    for id in EXAMPLES:
        assert len(zoo.example(id).model.conditionals) == BLOCKS.get(id, 2)
