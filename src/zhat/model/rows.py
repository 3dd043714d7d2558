"""A log likelihood that is a sum over the rows of its data, a block of rows at a time: memory does not grow with their number.

All points of a batch pass over a block of rows before the next one, so that the block stays in the cache. The gradient computes every
block again instead of keeping what it made. Measured on a logistic regression of 100,000 rows and 20 columns, milliseconds a point, at
once and in blocks: log likelihood 0.88 and 0.78, gradient 1.1 and 1.0, Hessian 13 and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

# Rows of a block: with 1,024 to 4,096 a point takes the least time.
ROWS_AT_ONCE = 4096
# Rows up to which all are taken at once.
FEW_ROWS = 16_384


def sum_over_rows(function: Callable[[Any], Any], data: Any) -> Any:
    """The sum of `function(rows)` over blocks of rows of all arrays in `data`, whose leading axes have one length."""
    n = jax.tree.leaves(data)[0].shape[0]
    if n <= FEW_ROWS:
        return function(data)
    whole, rest = divmod(n, ROWS_AT_ONCE)

    @jax.checkpoint
    def add(total: Any, i: Any) -> tuple[Any, None]:
        rows = jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, i * ROWS_AT_ONCE, ROWS_AT_ONCE), data)
        return total + function(rows), None

    total, _ = jax.lax.scan(add, jnp.zeros((), jnp.float64), jnp.arange(whole))
    return total + function(jax.tree.map(lambda a: a[n - rest :], data)) if rest else total


def rows_made(n: int) -> int:
    """Of how many rows something is made for each point at the same time."""
    return n if n <= FEW_ROWS else ROWS_AT_ONCE
