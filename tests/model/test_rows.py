"""Sums over blocks of rows have the value and the derivatives of the sum over all rows at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.rows import FEW_ROWS, ROWS_AT_ONCE, rows_made, sum_over_rows

N = FEW_ROWS + ROWS_AT_ONCE + 17  # whole blocks and a rest


def test_blocks_of_rows_have_the_value_and_the_derivatives_of_the_whole():
    with jax.enable_x64(True):
        rng = np.random.default_rng(1)
        data = {"x": jnp.asarray(rng.normal(size=(N, 2))), "y": jnp.asarray(rng.normal(size=N))}

        def whole(beta, rows):
            return jnp.sum(jnp.sin(rows["x"] @ beta) * rows["y"])

        def in_blocks(beta):
            return sum_over_rows(lambda rows: whole(beta, rows), data)

        points = jnp.asarray(rng.normal(size=(3, 2)))
        for derivative in (lambda f: f, jax.grad, jax.hessian):
            expected = jax.vmap(derivative(lambda beta: whole(beta, data)))(points)
            np.testing.assert_allclose(jax.jit(jax.vmap(derivative(in_blocks)))(points), expected, rtol=1e-9)


def test_few_rows_are_taken_at_once():
    assert rows_made(FEW_ROWS) == FEW_ROWS
    assert rows_made(FEW_ROWS + 1) == ROWS_AT_ONCE
