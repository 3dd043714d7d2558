"""Proposals: the densities that importance sampling draws from.

    proposal = zhat.proposals.from_draws(model, {"mu": mu, "sigma": sigma})
    zhat.evidence(model, zhat.Importance(proposal=proposal), seed=1)

What belongs here: every class that `Importance(proposal=...)` takes, `Proposal`, their protocol, and the ways to build one.
"""

from zhat.run.from_draws import proposal_from_draws as from_draws
from zhat.sampling.importance.proposals import Gaussian, Mixture, Proposal, StudentT

__all__ = ["Gaussian", "Mixture", "Proposal", "StudentT", "from_draws"]
