"""Tempering from a normal at the mode instead of from the prior.

With q the normal of Laplace's method, N(mode, H^-1), the path

    q(x)^(1 - beta) (prior(x) likelihood(x))^beta,      0 <= beta <= 1,

leads from q, whose integral is 1, to the posterior, whose integral is Z. It is the tempered path of another model, whose prior is q and
whose likelihood is prior x likelihood / q; so every sampler of tempered paths runs on it as it is. In hundreds of dimensions a posterior
with one mode is much nearer to q than to the prior: a path of ten rungs instead of hundreds. The new model has the coordinates

    z = F^-1 (x - mode),      F F' = H^-1,

in which q is a standard normal, so that moves need no covariance, which fewer particles than dimensions could not give.

*When it lies.* What is far from the mode is not reached: other modes, and the mass of a posterior that has little of it near its mode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import log_densities, slopes
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.curvature import curvature, definite
from zhat.sampling.importance.modes import Mode, hessians_at_once
from zhat.seeding import Key

# Steps toward the nearest normal at most, and gradients and Hessians of each; nats of the bound below which they end, and the share of a
# step that is tried last.
FITTING_STEPS, N_GRADIENTS, N_HESSIANS = 8, 128, 8
WORTH_A_STEP, SHORTEST = 0.1, 0.1
HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class PathFromPrior:
    """Tempering from the prior: finds separated modes in their proportions."""


@dataclass(frozen=True)
class PathFromMode:
    """Tempering from a normal at the mode: a short path, for posteriors with one mode in hundreds of dimensions."""


@dataclass(frozen=True)
class Reference:
    """A model seen from its mode.

    Attributes
    ----------
    model : Model
        Its prior is a standard normal; its evidence is that of the model it was made from.
    centre, factor : Array
        The mode, and F.
    """

    model: Model
    centre: Array
    factor: Array

    def draws(self, model: Model, found: Draws, loop: Loop) -> Draws:
        """Draws of the reference's model as draws of the model it was made from."""
        position = self.centre + found.position @ self.factor.T
        log_prior, log_likelihood = log_densities(model, position, loop)
        return replace(found, position=position, log_prior=log_prior, log_likelihood=log_likelihood)


def fitted_normal(model: Model, mode: Mode, key: Key, loop: Loop) -> tuple[Array, Array]:
    """Mean and precision of a normal near the posterior, from the one at its mode (Opper & Archambeau 2009).

    At the normal N(m, P^-1) nearest in Kullback-Leibler divergence the mean gradient of the log posterior is zero, and P is the mean of
    its negative Hessian. A few steps toward that, with means over few draws: any normal is a valid reference, a near one a short path.
    A step that does not raise the variational bound (over the same draws) is halved, and left out if that does not help.
    """
    d, rng = len(mode.position), key.generator()
    noise = rng.standard_normal((N_GRADIENTS // 2, d))
    noise = np.concatenate([noise, -noise])
    few = np.r_[: N_HESSIANS // 2, N_GRADIENTS // 2 : N_GRADIENTS // 2 + N_HESSIANS // 2]
    mean, precision = mode.position, mode.precision
    points, bound = _bound(model, mean, precision, noise, loop)
    for _ in range(FITTING_STEPS):
        loop.tick("normal near the posterior")
        some = points[few]
        curved = curvature(model, some, np.ones_like(some), hessians_at_once(d, model.data_size), loop, must_be_number=False)[2]
        curved = curved[np.isfinite(curved).all(axis=(1, 2))]
        if not len(curved) or not definite((target := curved.mean(axis=0))[None])[0]:
            break
        step = np.linalg.solve(target, slopes(model, points, loop).mean(axis=0))
        share, before = 1.0, bound
        while share >= SHORTEST:
            new = mean + share * step, (1.0 - share) * precision + share * target
            new_points, new_bound = _bound(model, *new, noise, loop)
            if new_bound > bound:
                (mean, precision), points, bound = new, new_points, new_bound
                break
            share *= 0.5
        if not bound > before + WORTH_A_STEP:
            break
    return mean, precision


def _bound(model: Model, mean: Array, precision: Array, noise: Array, loop: Loop) -> tuple[Array, float]:
    """Draws of a normal, and the variational bound over them up to a constant: mean log density plus half the log determinant."""
    upper = np.linalg.cholesky(precision).T
    points = mean + np.linalg.solve(upper, noise.T).T
    log_prior, log_likelihood = log_densities(model, points, loop)
    return points, float((log_prior + log_likelihood).mean() - np.log(np.diag(upper)).sum())


def reference_at(model: Model, centre: Array, precision: Array) -> Reference:
    """The model whose prior is this normal, in coordinates in which it is a standard normal."""
    d, core = model.n_dimensions, model.core
    # P = R' R with R upper triangular, so F = R^-1.
    upper = np.linalg.cholesky(precision).T
    factor = np.linalg.inv(upper)
    log_volume = -float(np.log(np.diag(upper)).sum()) + d * HALF_LOG_TWO_PI

    def log_likelihood(params: Any, data: Any) -> Any:
        inner, hyper, centre, factor, log_volume = data
        z = params["z"]
        log_prior, log_likelihood = core.log_densities(centre + factor @ z, inner, hyper)
        return log_prior + log_likelihood + 0.5 * jnp.sum(z * z) + log_volume

    seen = Model(
        log_likelihood,
        {"z": dist.Normal(0.0, 1.0).expand([d]).to_event(1)},
        data=(model.data, model.hyper, centre, factor, log_volume),
        name=model.name,
    )
    return Reference(seen, centre, factor)
