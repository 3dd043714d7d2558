"""A second view of the outer integral: its mean over prior draws of theta.

    integral of p(theta) Z~(theta) dtheta  =  E_prior[ Z~(theta) ],

where Z~ is Laplace's inner integral. The search of `sampling.latent.outer` has evaluated p(theta) Z~(theta) at prior draws; the density of the
prior itself is the same inner integral without the likelihood, which is exact. The mean is rough (a few effective draws), but it
knows nothing of modes, axes and lattices: mass of theta that the lattice does not reach shows in it.
"""

from __future__ import annotations

import numpy as np

from zhat.numerics.weights import Weights
from zhat.sampling.backend.loop import Loop
from zhat.sampling.latent.field import Field
from zhat.sampling.latent.inner import inner_modes
from zhat.sampling.latent.outer import Outer

# Below this many effective draws the mean says nothing.
FEWEST_EFFECTIVE = 5.0


def prior_view(field: Field, outer: Outer, loop: Loop) -> Weights | None:
    """Weights whose mean is the nested Laplace approximation; None where prior draws are too rarely near the posterior."""
    if not len(outer.searched):
        return None
    priors = inner_modes(field.prior, outer.searched, np.zeros(field.shape.size), loop)
    log_prior = np.array([np.nan if node is None else node.log_laplace for node in priors])
    if not np.isfinite(log_prior).all():
        return None
    weights = Weights.of(outer.searched_value - log_prior)
    return weights if weights.ess >= FEWEST_EFFECTIVE else None
