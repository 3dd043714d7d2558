"""A second view of the outer integral: its mean over prior draws of theta.

    integral of p(theta) Z~(theta) dtheta  =  E_prior[ Z~(theta) ],

where Z~ is Laplace's inner integral. The search of `sampling.latent.outer` has evaluated p(theta) Z~(theta) at prior draws; the density of the
prior itself is the same inner integral without the likelihood, which is exact. The mean is rough (a few effective draws), but it
knows nothing of modes, axes and lattices: mass of theta that the lattice does not reach shows in it.
"""

from __future__ import annotations

import numpy as np

from zhat.numerics.weights import Weights
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.latent.field import Field
from zhat.sampling.latent.inner import inner_modes
from zhat.sampling.latent.outer import Marginal, Outer

# Below this many effective draws the mean says nothing.
FEWEST_EFFECTIVE = 5.0
# Draws are doubled until it does, up to this many times those of the search: long series make the posterior of theta narrow.
MOST_TIMES = 8


def prior_view(field: Field, outer: Outer, draws: Array, loop: Loop) -> Weights | None:
    """Weights whose mean is the nested Laplace approximation; None where prior draws are too rarely near the posterior.

    `draws` are prior draws, unconstrained, those of the search first.
    """
    first = len(outer.searched)
    if not first:
        return None
    best = max(outer.nodes, key=lambda node: node.log_laplace)
    marginal = Marginal(field, loop, draws[:, field.latent], best)
    theta, value = draws[: MOST_TIMES * first, field.rest], outer.searched_value
    log_prior = _log_prior(field, theta[:first], loop)
    while np.isfinite(log_prior).all():
        weights = Weights.of(value - log_prior)
        if weights.ess >= FEWEST_EFFECTIVE:
            return weights
        more = theta[len(value) : 2 * len(value)]
        if not len(more):
            return None
        value = np.concatenate([value, marginal.values(more)])
        log_prior = np.concatenate([log_prior, _log_prior(field, more, loop)])
    return None


def _log_prior(field: Field, theta: Array, loop: Loop) -> Array:
    """The log prior density of theta; NaN where the prior of the latents has no mode."""
    priors = inner_modes(field.prior, theta, np.zeros(field.shape.size), loop)
    return np.array([np.nan if node is None else node.log_laplace for node in priors])
