"""Gaussian priors of latent fields, as NumPyro distributions whose density and draws cost O(length).

A path of order p on a line is a recursion driven by independent noise,

    x_1..p = F e_1..p,        x_t = c_1 x_{t-1} + ... + c_p x_{t-p} + s e_t   for t > p,       e_t ~ N(0, 1),

with a proper start F. Random walks, autoregressions, seasonal effects and independent effects (p = 0) are all of this form. The
density is that of the noise divided by the scales: the map from noise to path is triangular. Its precision matrix has half-width p.

A field on a graph (Leroux, Lei & Breslow 2000) has the precision (lambda R + (1 - lambda) I) / s^2 with R the graph's Laplacian:
independent effects at lambda = 0, the intrinsic field of Besag, York & Mollie (1991) as lambda goes to 1, and proper below.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from jax.scipy.linalg import solve_triangular
from numpyro.distributions import constraints

LOG_TWO_PI = 1.8378770664093453
# Elements of a start that are solved row by row.
MOST_BY_ROWS = 3


class Path(dist.Distribution):
    """A Gaussian path of `length` steps: coefficients (p,), scale of the noise, factor (p, p) of the start."""

    support = constraints.real_vector

    def __init__(self, length: int, coefficients: Any, scale: Any, start: Any) -> None:
        self.coefficients, self.scale, self.start = jnp.asarray(coefficients), jnp.asarray(scale), jnp.asarray(start)
        super().__init__(batch_shape=(), event_shape=(length,))

    def log_prob(self, value: Any) -> Any:
        """See numpyro.distributions.Distribution."""
        n, p = self.event_shape[0], self.coefficients.shape[0]
        noise = value[p:] - sum(self.coefficients[j] * value[p - 1 - j : n - 1 - j] for j in range(p))
        total = -0.5 * jnp.sum((noise / self.scale) ** 2) - (n - p) * jnp.log(self.scale) - 0.5 * n * LOG_TWO_PI
        if p == 0:
            return total
        first = _solved(self.start, value[:p])
        return total - 0.5 * jnp.sum(first**2) - jnp.sum(jnp.log(jnp.diagonal(self.start)))

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """See numpyro.distributions.Distribution."""
        path: Any = self.from_noise
        for _ in sample_shape:
            path = jax.vmap(path)
        return path(jax.random.normal(key, (*sample_shape, self.event_shape[0])))

    def from_noise(self, noise: Any) -> Any:
        """The path that standard noise makes."""
        p = self.coefficients.shape[0]
        if p == 0:
            return self.scale * noise

        def step(last: Any, shock: Any) -> tuple[Any, Any]:  # `last` has the newest first
            new = jnp.dot(self.coefficients, last) + self.scale * shock
            return jnp.concatenate([new[None], last[:-1]]), new

        first = self.start @ noise[:p]
        return jnp.concatenate([first, jax.lax.scan(step, first[::-1], noise[p:])[1]])


def _solved(lower: Any, right: Any) -> Any:
    """L^-1 of a vector. Of few elements row by row: the general routine takes seconds to compile and longer to run."""
    p = right.shape[0]
    if p > MOST_BY_ROWS:
        return solve_triangular(lower, right, lower=True)
    out: list[Any] = []
    for i in range(p):
        out.append((right[i] - sum((lower[i, j] * out[j] for j in range(i)), jnp.zeros(()))) / lower[i, i])
    return jnp.stack(out)


class GraphField(dist.Distribution):
    """A Gaussian field on a graph; `edges` (m, 2), eigenvalues and eigenvectors of its Laplacian."""

    support = constraints.real_vector

    def __init__(self, edges: Any, values: Any, vectors: Any, scale: Any, mixing: Any) -> None:
        self.edges, self.values, self.vectors = edges, jnp.asarray(values), jnp.asarray(vectors)
        self.scale, self.mixing = jnp.asarray(scale), jnp.asarray(mixing)
        super().__init__(batch_shape=(), event_shape=(len(values),))

    def log_prob(self, value: Any) -> Any:
        """See numpyro.distributions.Distribution."""
        n = self.event_shape[0]
        steps = value[self.edges[:, 0]] - value[self.edges[:, 1]]
        squares = self.mixing * jnp.sum(steps**2) + (1.0 - self.mixing) * jnp.sum(value**2)
        log_determinant = jnp.sum(jnp.log(self.mixing * self.values + 1.0 - self.mixing))
        return 0.5 * log_determinant - n * jnp.log(self.scale) - 0.5 * n * LOG_TWO_PI - 0.5 * squares / self.scale**2

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """See numpyro.distributions.Distribution."""
        return self.from_noise(jax.random.normal(key, (*sample_shape, self.event_shape[0])))

    def from_noise(self, noise: Any) -> Any:
        """The field that standard noise makes."""
        widths = self.scale / jnp.sqrt(self.mixing * self.values + 1.0 - self.mixing)
        return (noise * widths) @ self.vectors.T
