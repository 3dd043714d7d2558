"""The inner integrals corrected by importance sampling: draws of the latents inside the nodes of the quadrature.

A draw chooses node k with probability p_k, its share by Laplace's method, then x from a Student t with the inner curvature. Its centre
is the inner mode moved toward the inner mean: by H^-1 times the mean gradient over a few pairs of points mode +- e, e drawn with the inner
curvature (the first step of a Gaussian variational fit). That takes the linear part out of the log weights, more than half of their
variance, which grows with the length: without it weights of 4,000 latents are too uneven. The centre is unbiased noise to the weights,
because it is drawn apart from them. The weight is cell x p(y, x, theta_k) / (p_k q_k(x)); the mean weight is the quadrature with the exact inner integrals,
without bias. Numbers of draws are stratified over the nodes, so the standard error of independent draws is slightly too large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from zhat.numerics.logspace import log_sum_exp
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.latent.field import Field
from zhat.sampling.latent.inner import Node
from zhat.sampling.latent.outer import Outer
from zhat.seeding import Key

# Degrees of freedom of the t: at least 10, and n / 5 in n dimensions, where the tails of a t of few degrees waste most draws.
FEWEST_DEGREES = 10.0
DIMENSIONS_A_DEGREE = 5.0
# Pairs of points whose mean gradient moves the centre of a node; nodes of a smaller share keep their mode. With 4, 8 and 16 pairs the variance
# of the log weights of 4,000 counts falls to 0.29, 0.25 and 0.23 of that at the modes.
PAIRS = 8
SMALL_SHARE = 1e-4
# Draws that are evaluated together, and numbers that the record keeps at most (every second, third... draw of a long field).
ROWS_AT_ONCE = 2048
NUMBERS_KEPT = 4_000_000


@dataclass(frozen=True)
class Corrected:
    """Log weights whose mean is the evidence, and the draws.

    Attributes
    ----------
    log_weight : (n,) array
    not_quadratic : float
        How far the log density is from the inner Gaussian's at the draws, on average: zero to rounding where the inner
        integrals are exact.
    draws : Draws
        With their log weights; of long fields some.
    """

    log_weight: Array
    not_quadratic: float
    draws: Draws


def corrected(field: Field, outer: Outer, n_draws: int, key: Key, loop: Loop) -> Corrected:
    """Weighted draws of the latents inside the nodes."""
    log_share = np.array([node.log_laplace for node in outer.nodes])
    log_share = log_share - log_sum_exp(log_share)
    rng = key.generator()
    edges = np.concatenate([[0.0], np.cumsum(np.exp(log_share))])
    counts = np.diff(np.floor(n_draws * edges / edges[-1] + rng.random()).astype(int))
    every = -(-n_draws * field.model.n_dimensions // NUMBERS_KEPT)
    waiting: list[tuple[Array, Array, Array]] = []
    parts: list[tuple[Array, Array]] = []
    kept: list[tuple[Array, Array, Array, Array]] = []
    n_waiting = 0
    large = log_share > np.log(SMALL_SHARE)
    nodes = [_recentred(field, node, rng, loop) if large[k] and counts[k] else node for k, node in enumerate(outer.nodes)]
    for k, (node, count) in enumerate(zip(nodes, counts, strict=True)):
        if count:
            x, squared, log_density = _draw(node, int(count), rng)
            known = np.full(count, node.log_joint) - 0.5 * squared
            waiting.append((field.position(x, node.theta), outer.log_cell - log_density - log_share[k], known))
            n_waiting += int(count)
        if waiting and (n_waiting >= ROWS_AT_ONCE or k == len(counts) - 1):
            position, offset, known = (np.concatenate([w[i] for w in waiting]) for i in range(3))
            waiting, n_waiting = [], 0
            loop.tick(f"{sum(len(p[0]) for p in parts):,} of {n_draws:,} draws inside the nodes")
            log_prior, log_likelihood = log_densities(field.model, position, loop)
            log_weight = np.where(log_likelihood == -np.inf, -np.inf, log_prior + log_likelihood + offset)
            parts.append((log_weight, np.abs(log_prior + log_likelihood - known)))
            kept.append(tuple(a[::every] for a in (position, log_prior, log_likelihood, log_weight)))  # type: ignore[arg-type]
    log_weight, off = (np.concatenate([p[i] for p in parts]) for i in (0, 1))
    position, log_prior, log_likelihood, weight = (np.concatenate([p[i] for p in kept]) for i in range(4))
    draws = Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, log_weight=weight, n_drawn=len(position))
    return Corrected(log_weight, float(off.mean()), draws)


def _recentred(field: Field, node: Node, rng: np.random.Generator, loop: Loop) -> Node:
    """The node with its mode moved toward the mean of the latents; unchanged where they are Gaussian, or the move is not finite."""
    if field.quadratic:
        return node
    apart = node.factor.backward(rng.standard_normal((PAIRS, len(node.mode))).T).T
    points = np.concatenate([node.mode + apart, node.mode - apart])
    _, gradient, _ = field.derivatives(points, np.broadcast_to(node.theta, (len(points), len(node.theta))), loop)
    shift = node.factor.solve(gradient.mean(axis=0))
    return replace(node, mode=node.mode + shift) if np.isfinite(shift).all() else node


def _draw(node: Node, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Draws from the t at a node, their squared distances in the inner Gaussian, and their log densities."""
    n = len(node.mode)
    nu = max(FEWEST_DEGREES, n / DIMENSIONS_A_DEGREE)
    noise = rng.standard_normal((count, n)) * np.sqrt(0.5 * nu / rng.standard_gamma(0.5 * nu, (count, 1)))
    squared = np.einsum("ij,ij->i", noise, noise)
    constant = gammaln(0.5 * (nu + n)) - gammaln(0.5 * nu) - 0.5 * n * np.log(nu * np.pi) + 0.5 * node.factor.log_determinant
    return node.mode + node.factor.backward(noise.T).T, squared, constant - 0.5 * (nu + n) * np.log1p(squared / nu)
