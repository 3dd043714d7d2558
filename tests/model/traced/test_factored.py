"""Matrices that are factored anew at each point are known, and bound how many points are evaluated together."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.model.core import Sizes
from zhat.model.data import largest_factored
from zhat.sampling.backend.batches import densities_at
from zhat.sampling.backend.compiled import BLOCK_FACTORED, points_at_once

EYE = np.eye(40)


def factored(function, *given):
    program = jax.make_jaxpr(function)(jnp.ones(()), jnp.asarray(EYE))
    return largest_factored(program, given)


@pytest.mark.parametrize("solve", [jnp.linalg.cholesky, jnp.linalg.slogdet, jnp.linalg.eigvalsh, jax.jit(jnp.linalg.inv)])
def test_what_depends_on_the_point_counts_and_what_depends_on_the_data_does_not(solve):
    assert factored(lambda u, data: solve(u * data), True, False) == 1600
    assert factored(lambda u, data: jax.tree.map(lambda part: u * part, solve(data)), True, False) == 0
    assert factored(jax.jit(lambda u, data: jax.tree.map(lambda part: u * part, solve(data))), True, False) == 0


def test_loops_and_branches_are_looked_into():
    def in_a_loop(u, data):
        return jax.lax.fori_loop(0, 3, lambda _, x: jnp.linalg.cholesky(x @ x.T), u * data)

    assert factored(in_a_loop, True, False) == 1600
    assert factored(lambda u, data: jax.lax.cond(u > 0, jnp.linalg.cholesky, lambda x: x, u * data), True, False) == 1600


def gaussian_process(n):
    x = np.linspace(0.0, 5.0, n)
    squared = np.subtract.outer(x, x) ** 2

    def log_likelihood(params, data):
        y, squared = data
        covariance = params["height"] ** 2 * jnp.exp(-squared) + (0.1 + params["height"]) * jnp.eye(n)
        return dist.MultivariateNormal(jnp.zeros(n), covariance).log_prob(y)

    return zhat.Model(log_likelihood, {"height": dist.HalfNormal(2.0)}, data=(np.sin(x), squared))


def test_large_matrices_are_factored_in_small_blocks():
    assert points_at_once(gaussian_process(40)) == BLOCK_FACTORED // 1600
    assert points_at_once(gaussian_process(10)) > 1000  # fit into the cache in any case
    alone = gaussian_process(40)
    position = np.linspace(-1.0, 1.0, 300)[:, None]
    together = densities_at(alone, position)[1]
    other = zhat.Model(alone.log_likelihood, {"height": dist.HalfNormal(2.0)}, data=alone.data)
    other.core.sizes = Sizes(largest=1600)
    np.testing.assert_allclose(together, densities_at(other, position)[1], rtol=1e-12)
