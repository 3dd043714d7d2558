"""Proposal densities for importance sampling, which can be drawn from and evaluated.

Frozen NumPy objects; randomness is an argument. All are densities of the unconstrained vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from zhat.errors import BadInput, ShapeError
from zhat.kinds import checked_kinds
from zhat.numerics.logspace import log_add_exp, log_sum_exp
from zhat.results.records import Array
from zhat.sampling.importance.modes import Mode


class Proposal(Protocol):
    """A distribution that can be drawn from and whose normalised density is known."""

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """n points, shape (n, d)."""
        ...

    def log_density(self, position: Array) -> Array:
        """Normalised log density at n points."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """A multivariate normal."""

    mean: Array
    covariance: Array

    def __post_init__(self) -> None:
        """Check the covariance once."""
        _ = self._factor

    @cached_property
    def _factor(self) -> Array:
        return _factor(self.mean, self.covariance)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Proposal`."""
        factor = self._factor
        return np.asarray(self.mean + rng.standard_normal((n, len(factor))) @ factor.T)

    def log_density(self, position: Array) -> Array:
        """See `Proposal`."""
        factor = self._factor
        squared, log_determinant = _distance(position, self.mean, factor)
        return np.asarray(-0.5 * squared - log_determinant - 0.5 * len(factor) * np.log(2 * np.pi))


@dataclass(frozen=True)
@checked_kinds
class StudentT:
    """A multivariate t: the shape of a Gaussian, with tails heavier than most posteriors' (Geweke 1989)."""

    mean: Array
    scale: Array
    degrees_of_freedom: float = 5.0

    def __post_init__(self) -> None:
        """Check the scale matrix once."""
        _ = self._factor
        if not self.degrees_of_freedom > 0:
            raise BadInput(f"StudentT(degrees_of_freedom={self.degrees_of_freedom}): must be above zero.")

    @cached_property
    def _factor(self) -> Array:
        return _factor(self.mean, self.scale)

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Proposal`."""
        factor = self._factor
        nu = self.degrees_of_freedom
        stretch = np.sqrt(0.5 * nu / rng.standard_gamma(0.5 * nu, (n, 1)))
        return np.asarray(self.mean + stretch * (rng.standard_normal((n, len(factor))) @ factor.T))

    def log_density(self, position: Array) -> Array:
        """See `Proposal`."""
        factor = self._factor
        d, nu = len(factor), self.degrees_of_freedom
        squared, log_determinant = _distance(position, self.mean, factor)
        constant = gammaln(0.5 * (nu + d)) - gammaln(0.5 * nu) - 0.5 * d * np.log(nu * np.pi)
        return np.asarray(constant - log_determinant - 0.5 * (nu + d) * np.log1p(squared / nu))


@dataclass(frozen=True)
class Mixture:
    """Several proposals in given shares; draws are stratified over them, which lowers the variance."""

    components: tuple[Proposal, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the shares."""
        if len(self.components) != len(self.shares) or not self.components:
            raise BadInput(f"Mixture has {len(self.components)} components and {len(self.shares)} shares.")
        if min(self.shares) <= 0 or abs(sum(self.shares) - 1.0) > 1e-9:
            raise BadInput(f"Mixture shares {self.shares} must be positive and sum to one.")

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Proposal`."""
        edges = np.concatenate([[0.0], np.cumsum(self.shares)])
        edges[-1] = 1.0
        counts = np.diff(np.floor(n * edges + rng.random()).astype(int))
        counts[-1] = n - counts[:-1].sum()
        parts = [c.draw(rng, int(k)) for c, k in zip(self.components, counts, strict=True)]
        return np.concatenate(parts)

    def log_density(self, position: Array) -> Array:
        """See `Proposal`."""
        terms = [np.log(s) + c.log_density(position) for c, s in zip(self.components, self.shares, strict=True)]
        return reduce(log_add_exp, terms)


NEGLIGIBLE = 14.0


def matter(log_masses: Array) -> NDArray[np.bool_]:
    """Which modes have more than a millionth of the largest mass."""
    return np.asarray(log_masses > log_masses.max(initial=-np.inf) - NEGLIGIBLE)


def at_modes(modes: tuple[Mode, ...], degrees_of_freedom: float = 5.0, widen: float = 1.0) -> Proposal:
    """A t at every mode, its covariance times `widen`, in shares of the masses that Laplace's method gives them, none below a tenth of the
    even share.

    Modes of a millionth of the largest mass are left out: a rough likelihood has hundreds of them.
    """
    masses = np.array([mode.log_mass for mode in modes])
    kept = matter(masses)
    modes, masses = tuple(mode for mode, is_kept in zip(modes, kept, strict=True) if is_kept), masses[kept]
    shares = np.exp(masses - masses.max())
    shares = np.maximum(shares / shares.sum(), 0.1 / len(modes))
    shares = shares / shares.sum()
    components = tuple(StudentT(mode.position, widen * mode.covariance, degrees_of_freedom) for mode in modes)
    return components[0] if len(modes) == 1 else Mixture(components, tuple(float(s) for s in shares))


WIDEN = 1.5


def fitted(position: Array, weights: Array, n_components: int, degrees_of_freedom: float, rng: np.random.Generator) -> Proposal:
    """A mixture of t's fitted to weighted draws by a few rounds of expectation and maximisation.

    Starts from draws picked by their weight; every component keeps some of the overall shape, so that none can collapse onto a
    few draws. Curved and skewed posteriors are covered by components along their length.
    """
    share = weights / weights.sum()
    _, d = position.shape
    overall = np.atleast_2d(np.cov(position.T, aweights=share, ddof=0)) + 1e-12 * np.eye(d)
    nu = degrees_of_freedom
    means = position[rng.choice(len(share), n_components, p=share)] if n_components > 1 else (share @ position)[None]
    covariances = np.repeat(overall[None] / n_components, n_components, axis=0)
    sizes = np.full(n_components, 1.0 / n_components)
    for _ in range(10 if n_components > 1 else 3):
        logs, stretch = [], []
        for mean, covariance, size in zip(means, covariances, sizes, strict=True):
            factor = _scaled_cholesky(covariance, np.sqrt(np.diag(covariance)))
            squared, log_determinant = _distance(position, mean, factor)
            logs.append(np.log(size) - log_determinant - 0.5 * (nu + d) * np.log1p(squared / nu))
            stretch.append((nu + d) / (nu + squared))
        log_parts = np.stack(logs)
        part = np.exp(log_parts - log_sum_exp(log_parts, axis=0)) * share
        sizes = np.maximum(part.sum(axis=1), 1e-3)
        sizes = sizes / sizes.sum()
        for k in range(n_components):
            pull = part[k] * stretch[k]
            means[k] = pull @ position / max(pull.sum(), 1e-300)
            centred = position - means[k]
            scatter = (centred * pull[:, None]).T @ centred / max(part[k].sum(), 1e-300)
            covariances[k] = 0.95 * 0.5 * (scatter + scatter.T) + 0.05 * overall / n_components
    # A proposal must be wider than its target, and a fit to draws is as narrow as the draws.
    parts = tuple(StudentT(m, WIDEN * c, nu) for m, c in zip(means, covariances, strict=True))
    return parts[0] if n_components == 1 else Mixture(parts, tuple(float(s) for s in sizes))


def _factor(mean: Array, covariance: Array) -> Array:
    mean, covariance = np.asarray(mean), np.asarray(covariance)
    if mean.ndim != 1 or not np.isfinite(mean).all():
        raise ShapeError(f"the proposal's mean is a vector of numbers, one for each dimension, not {mean.tolist()!r:.80}.")
    if covariance.shape != (len(mean), len(mean)):
        raise ShapeError(f"a mean of length {len(mean)} needs a square covariance of that size, not {covariance.shape}.")
    if not np.allclose(covariance, covariance.T, rtol=1e-8, atol=0.0):
        raise BadInput("the proposal's covariance is not symmetric.")
    width = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if not (width > 0).all():
        raise BadInput("the proposal's covariance has a variance that is not above zero.")
    return _scaled_cholesky(covariance, width)


def _scaled_cholesky(covariance: Array, width: Array) -> Array:
    """The factor of a symmetric matrix whose diagonal is the square of `width`."""
    correlation = covariance / np.outer(width, width)
    try:
        return np.asarray(width[:, None] * np.linalg.cholesky(correlation))
    except np.linalg.LinAlgError as error:
        raise BadInput(
            f"the proposal's covariance is singular (condition number {np.linalg.cond(correlation):.2g}): "
            "drop a redundant parameter or widen it."
        ) from error


def _distance(position: Array, mean: Array, factor: Array) -> tuple[Array, float]:
    z = (position - mean) @ np.linalg.inv(factor).T
    return np.einsum("ij,ij->i", z, z), float(np.log(np.diag(factor)).sum())
