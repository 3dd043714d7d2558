"""The learnt harmonic mean: reciprocal importance sampling with a normalising flow that is trained on draws (McEwen et al. 2021).

    1 / Z = E_posterior[ phi / p~ ],       phi(theta) = N(z; 0, T I) |dz/dtheta|,    z = f(theta),

where f is trained so that the z of the draws are standard normal: an affine map to mean zero and covariance one, then a masked
autoregressive flow (Papamakarios et al. 2017). A posterior that is curved or skewed, for which no ellipsoid fits, is followed by the
flow. The temperature T below one draws phi into the posterior, and the base normal is cut off where it holds 90 %, as in
`TruncatedNormal`: a flow is least accurate in the tails, and a single draw where it is too high there rules the mean. Where the flow is
exact the relative variance of a normal's weights would be (T (2 - T))^(-d/2) - 1. By default T is the largest of 0.9, 0.7 and 0.5 whose
weights at the draws of the training have a light tail. The answer must not depend on T, so it is compared with the others.

phi is trained on one half of the chains and averaged over the other, as every density of `Reciprocal`. A flow is normalised by
construction; that the trained one is, in the arithmetic of this machine, is tested by importance sampling from a wide Student t.

Needs flowjax (``pip install 'zhat[flow]'``), which is imported when a flow is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import jax
import numpy as np
from scipy.special import chdtri

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.numerics.weights import Weights, pareto_k
from zhat.results.records import Array
from zhat.sampling.chains.regions import LIGHT_TAIL, Region
from zhat.sampling.chains.transitions import moments
from zhat.sampling.importance.proposals import StudentT

# The temperatures, largest first, and the share of the base normal that is kept.
TEMPERATURES, KEPT = (0.9, 0.7, 0.5), 0.9
# Relative variance of the weights of a normal above which a smaller temperature says nothing: in many dimensions its density holds a
# vanishing share of the draws.
TOO_SMALL = 20.0
# The integral of the density, by so many draws of a t of three degrees of freedom and twice the variance, may be off by so much, beyond
# four standard errors.
N_CHECK, WIDER, OFF = 4000, 2.0, 0.01
# Layers, width of their networks, and the training: at most so many passes over the draws, ended after `PATIENCE` without gain on a
# tenth of them that is held out.
N_LAYERS, WIDTH, EPOCHS, PATIENCE, BATCH, RATE = 4, 32, 60, 6, 128, 2e-3


@dataclass(frozen=True)
@checked_kinds
class Flow:
    """A normalising flow trained on the draws, its base normal of variance `temperature` below one and cut off; needs flowjax.

    Without `temperature` the largest of 0.9, 0.7 and 0.5 whose weights have a light tail at the draws of the training.
    """

    temperature: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the temperature, and that flowjax is there."""
        if self.temperature is not None and not 0.0 < self.temperature < 1.0:
            raise BadInput(
                f"Flow(temperature={self.temperature}): the density must be narrower than the posterior; give a number between 0 and 1, "
                "for example 0.9."
            )
        if find_spec("flowjax") is None:
            raise BadInput("Flow() needs flowjax: pip install 'zhat[flow]'; or give zhat.settings.TruncatedNormal().")

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others have the other temperatures, where these hold a share of the draws."""
        mean, covariance = moments(position)
        factor = np.asarray(np.linalg.cholesky(covariance), np.float64)
        d = len(mean)
        with jax.enable_x64(True):
            flow = _trained(np.asarray(np.linalg.solve(factor, (position - mean).T).T, np.float64), self.seed)
        told = [t for t in TEMPERATURES if (t * (2.0 - t)) ** (-0.5 * d) - 1.0 < TOO_SMALL]
        regions = {t: _Flowed(flow, mean, factor, t) for t in (*told, self.temperature or TEMPERATURES[0])}
        chosen = self.temperature or next((t for t in told if _is_light(regions[t], position, log_posterior)), max(regions))
        own = regions.pop(chosen)
        _check_integral(own, covariance, self.seed)
        return own, *regions.values()


@dataclass(frozen=True)
class _Flowed:
    """A trained flow of whitened coordinates, with a base normal of this variance."""

    flow: Any
    mean: Array
    factor: Array
    temperature: float

    def log_density(self, position: Array) -> Array:
        """See `Region`."""
        from paramax import unwrap

        d, t = len(self.mean), self.temperature
        white = np.linalg.solve(self.factor, (position - self.mean).T).T
        with jax.enable_x64(True):
            z, log_slope = jax.vmap(unwrap(self.flow.bijection).inverse_and_log_det)(white)
        squared = np.asarray((np.asarray(z) ** 2).sum(axis=1))
        log_slope = np.asarray(log_slope) - float(np.log(np.diag(self.factor)).sum())
        log_density = -0.5 * (squared / t + d * np.log(2.0 * np.pi * t)) + log_slope - np.log(KEPT)
        inside = np.isfinite(log_density) & (squared <= t * float(chdtri(d, 1.0 - KEPT)))
        return np.where(inside, log_density, -np.inf)

    def refitted(self, position: Array) -> None:
        """See `Region`: training is expensive."""


def _is_light(region: Region, position: Array, log_posterior: Array) -> bool:
    return pareto_k(region.log_density(position) - log_posterior) < LIGHT_TAIL


def _trained(white: Array, seed: int) -> Any:
    """A flow from whitened draws (n, d) to a standard normal."""
    from flowjax.distributions import Normal
    from flowjax.flows import masked_autoregressive_flow
    from flowjax.train import fit_to_data

    first, second = jax.random.split(jax.random.key(seed))
    flow = masked_autoregressive_flow(first, base_dist=Normal(np.zeros(white.shape[1])), flow_layers=N_LAYERS, nn_width=WIDTH)
    trained, _ = fit_to_data(
        second, flow, white, learning_rate=RATE, max_epochs=EPOCHS, max_patience=PATIENCE, batch_size=BATCH, show_progress=False
    )
    return trained


def _check_integral(region: Region, covariance: Array, seed: int) -> None:
    """Refuse a density whose integral, by importance sampling, is not one; nothing is said where that cannot be judged."""
    assert isinstance(region, _Flowed)
    wide = StudentT(region.mean, WIDER * covariance, 3.0)
    points = wide.draw(np.random.default_rng(seed), N_CHECK)
    weights = Weights.of(region.log_density(points) - wide.log_density(points))
    judged = weights.pareto_k < 0.5 and weights.log_mean_se < 0.1
    if judged and abs(weights.log_mean) > 4.0 * weights.log_mean_se + OFF:
        raise BadInput(
            f"Flow(): the trained density integrates to {np.exp(weights.log_mean):.3f}, not to one: it cannot be used; take "
            "zhat.settings.TruncatedNormal()."
        )
