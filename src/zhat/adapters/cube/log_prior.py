"""A log prior and a log likelihood as two Python functions of a vector, as in emcee's tutorials. `Model.from_log_prior` is the door.

Such a prior can be evaluated and perhaps be drawn from, but has no transform. A reference distribution r with the same support has one, and

    Z = integral of p L = mean over r of  (p / r) L:

the model has the reference as its prior, and p / r joins the likelihood. The reference is uniform between finite bounds; otherwise it is a
product of independent distributions, placed by the quartiles of draws from the prior: Cauchy for a parameter on the whole line, logistic for
the logarithm (between two bounds, the logit) of a parameter that has a bound. Their tails are as heavy as those of Cauchy and half-Cauchy
priors, so that p / r is bounded.

The same reference tests the normalisation: the mean of p / r over r is 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zhat.adapters.cube.prior_transform import How
from zhat.adapters.cube.prior_transform import model as from_transform
from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.model import About, Model
from zhat.model.values import batch_of_values, single_value
from zhat.numerics.weights import Weights
from zhat.results.records import Array

# Draws of the prior by which the reference is placed, and draws of the reference by which the normalisation is tested.
N_PLACED, N_TESTED = 2000, 16384
# The test decides where the effective sample size and the tail of its weights allow a standard error (as in `run.model_check`).
LEAST_ESS, LARGEST_K = 100.0, 0.5
# How far from 1 the integral may be beyond its standard errors: 0.5 %, far below the weight of a missing constant.
SLACK, N_SE = 5e-3, 4.0


@dataclass(frozen=True)
class Reference:
    """Uniform between bounds (no `scale`), or a product of Cauchy and logistic distributions of unbounded coordinates."""

    low: Array
    high: Array
    centre: Any = None
    scale: Any = None

    def of_cube(self, u: Any) -> Any:
        """Parameters at points of the cube, (..., d)."""
        if self.scale is None:
            return self.low + u * (self.high - self.low)
        with np.errstate(over="ignore", invalid="ignore"):
            u = np.asarray(u)
            return self._bounded(
                self.centre + self.scale * np.where(self._whole, np.tan(np.pi * (u - 0.5)), np.log(u) - np.log1p(-u))
            )

    def to_cube(self, theta: Any) -> Any:
        """The inverse."""
        if self.scale is None:
            return (theta - self.low) / (self.high - self.low)
        x = (self.unbounded(theta) - self.centre) / self.scale
        return np.where(self._whole, 0.5 + np.arctan(x) / np.pi, 0.5 * (1.0 + np.tanh(0.5 * x)))

    def log_density(self, theta: Any) -> Any:
        """Log density of the parameters, (...)."""
        if self.scale is None:
            return np.full(np.shape(theta)[:-1], -np.log(self.high - self.low).sum())
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            x = (self.unbounded(theta) - self.centre) / self.scale
            log_cauchy = -np.log(np.pi) - np.log1p(x * x)
            log_logistic = -np.abs(x) - 2.0 * np.log1p(np.exp(-np.abs(x)))
            return (np.where(self._whole, log_cauchy, log_logistic) - np.log(self.scale) + self._log_slope(theta)).sum(axis=-1)

    @property
    def _whole(self) -> Any:
        """Which parameters have no bound."""
        return np.isneginf(self.low) & np.isposinf(self.high)

    def inside(self, theta: Any) -> Any:
        """Whether points are finite and strictly between the bounds."""
        return (np.isfinite(theta) & (theta > self.low) & (theta < self.high)).all(axis=-1)

    def unbounded(self, theta: Any) -> Any:
        """Coordinates without bounds: the parameter, the log of its distance from one bound, or the log of the ratio of both."""
        both, one, other = self._kinds()
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = np.log(theta - self.low), np.log(self.high - theta)
            ratio = up - down
        return np.where(both, ratio, np.where(one, up, np.where(other, down, theta)))

    def _bounded(self, v: Any) -> Any:
        both, one, other = self._kinds()
        low, high = (np.where(np.isfinite(limit), limit, 0.0) for limit in (self.low, self.high))
        middle = low + (high - low) * 0.5 * (1.0 + np.tanh(0.5 * v))
        return np.where(both, middle, np.where(one, low + np.exp(v), np.where(other, high - np.exp(v), v)))

    def _log_slope(self, theta: Any) -> Any:
        """Log |dv / dtheta|."""
        both, one, other = self._kinds()
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down, width = np.log(theta - self.low), np.log(self.high - theta), np.log(self.high - self.low)
        return np.where(both, width - up - down, np.where(one, -up, np.where(other, -down, 0.0)))

    def _kinds(self) -> tuple[Any, Any, Any]:
        has_low, has_high = np.isfinite(self.low), np.isfinite(self.high)
        return has_low & has_high, has_low & ~has_high, ~has_low & has_high


def model(
    log_likelihood: Callable[..., Any],
    log_prior: Callable[[Any], Any],
    bounds: Sequence[tuple[float | None, float | None]],
    prior_sampler: Callable[..., Any] | None = None,
    names: Sequence[str] | None = None,
    how: How | None = None,
    about: About | None = None,
) -> Model:
    """See `Model.from_log_prior`."""
    how = how or How()
    batched = how.batched
    for what, fn in (("log_likelihood", log_likelihood), ("log_prior", log_prior)):
        if not callable(fn):
            raise BadType(
                f"{what} is a {type(fn).__name__}, not a function: from_log_prior(log_likelihood, log_prior, bounds, prior_sampler)."
            )
    low, high = _limits(bounds)
    reference = _reference(low, high, log_prior, prior_sampler, batched)
    _check_integral(reference, log_prior, batched)

    def rewritten(theta: Any, *given: Any) -> Any:
        """Log likelihood + log prior - log reference; the likelihood is not called where the prior is zero."""
        if batched:
            out = np.full(len(theta), -np.inf)
            prior = _log_prior(log_prior, reference, theta, True)
            some = np.isfinite(prior)
            if some.any():
                values = batch_of_values(log_likelihood(np.array(theta[some]), *given), int(some.sum()))
                out[some] = values + prior[some] - reference.log_density(theta[some])
            return out
        prior = _log_prior(log_prior, reference, theta[None], False)[0]
        if not np.isfinite(prior):
            return -np.inf
        value = single_value(log_likelihood(np.array(theta), *given))
        return value + prior - float(reference.log_density(theta))

    names = list(names) if names is not None and not isinstance(names, str) else names
    transform = (
        reference.of_cube if batched else (lambda u: reference.of_cube(np.asarray(u).T).T)
    )  # also of u[i] as arrays over points
    how = replace(how, inverse=reference.to_cube, traced=False)
    return from_transform(rewritten, transform, len(low), names, how, about)


def _limits(bounds: Any) -> tuple[Array, Array]:
    try:
        pairs = [(low, high) for low, high in bounds]
        low = np.array([-np.inf if a is None else float(a) for a, _ in pairs])
        high = np.array([np.inf if b is None else float(b) for _, b in pairs])
    except (TypeError, ValueError):
        raise BadType(
            f"bounds={bounds!r}: give one pair for each parameter, such as [(0.0, 1.0), (None, None), (0.0, None)]; None is no bound."
        ) from None
    if not len(low):
        raise BadInput("bounds is empty: a model needs at least one parameter.")
    if not (low < high).all():
        i = int(np.argmax(~(low < high)))
        raise BadInput(f"bounds[{i}] = ({low[i]}, {high[i]}): the first number must be below the second.")
    return low, high


def _reference(low: Array, high: Array, log_prior: Any, sampler: Any, batched: bool) -> Reference:
    if sampler is None:
        if not (np.isfinite(low) & np.isfinite(high)).all():
            i = int(np.argmax(~(np.isfinite(low) & np.isfinite(high))))
            raise BadInput(
                f"bounds[{i}] = ({low[i]}, {high[i]}) is not finite: give prior_sampler=lambda rng, n: ..., n draws from the prior, by which "
                "its place and width are known."
            )
        return Reference(low, high)
    if not callable(sampler):
        raise BadType(
            f"prior_sampler is a {type(sampler).__name__}: give a function (rng, n) that returns n draws from the prior."
        )
    try:
        draws = np.asarray(sampler(np.random.Generator(np.random.PCG64(3)), N_PLACED), np.float64)
    except TypeError as error:
        raise BadType(f"prior_sampler is called as prior_sampler(rng, {N_PLACED}): {error}.") from error
    if draws.shape != (N_PLACED, len(low)):
        raise ShapeError(
            f"prior_sampler(rng, {N_PLACED}) returned shape {draws.shape}: {N_PLACED} draws of {len(low)} parameters (as many as bounds) "
            f"have shape ({N_PLACED}, {len(low)})."
        )
    bare = Reference(low, high)
    outside = ~bare.inside(draws)
    if outside.any():
        raise BadInput(f"prior_sampler: draw {int(np.argmax(outside))}, {draws[np.argmax(outside)]}, lies outside of the bounds.")
    impossible = ~np.isfinite(_log_prior(log_prior, bare, draws, batched))
    if impossible.any():
        raise BadInput(
            f"log_prior is -inf or NaN at {int(impossible.sum())} of {N_PLACED} draws of prior_sampler, such as {draws[np.argmax(impossible)]}: "
            "the two are not of one distribution."
        )
    first, centre, third = np.quantile(bare.unbounded(draws), [0.25, 0.5, 0.75], axis=0)
    # Half the distance of the quartiles is the scale of a Cauchy. A logistic scale of 1 has the tails of a half-Cauchy and of a density
    # that is finite at the bound; log(3) is the distance of the quartiles of one exponential tail, which may hold all of the prior.
    whole = np.isneginf(low) & np.isposinf(high)
    scale = np.where(whole, np.maximum(0.5 * (third - first), 1e-12), np.maximum((third - first) / np.log(3.0), 1.0))
    return Reference(low, high, centre, scale)


def _log_prior(log_prior: Any, reference: Reference, theta: Array, batched: bool) -> Array:
    """Log prior at n points; -inf outside of the bounds, where the function is not called."""
    out = np.full(len(theta), -np.inf)
    inside = np.flatnonzero(reference.inside(theta))
    if batched and len(inside):
        out[inside] = batch_of_values(log_prior(np.array(theta[inside])), len(inside))
    elif len(inside):
        out[inside] = [single_value(log_prior(np.array(theta[i]))) for i in inside]
    if np.isposinf(out).any():
        raise BadInput(f"log_prior is +inf at {theta[np.argmax(np.isposinf(out))]}: a density is finite where it has draws.")
    return np.where(np.isnan(out), -np.inf, out)


def _check_integral(reference: Reference, log_prior: Any, batched: bool) -> None:
    """Refuse a prior whose integral is not 1, and say where that cannot be seen."""
    u = np.random.Generator(np.random.PCG64(4)).uniform(size=(N_TESTED, len(reference.low)))
    theta = reference.of_cube(u)
    with np.errstate(all="ignore"):  # a log prior far out may overflow
        log_p = _log_prior(log_prior, reference, theta, batched)
    log_weight = np.where(
        np.isfinite(log_p), log_p - reference.log_density(np.where(np.isfinite(log_p)[:, None], theta, 0.5)), -np.inf
    )
    if not np.isfinite(log_weight).any():
        raise BadInput(f"log_prior is -inf at {N_TESTED:,} points between the bounds: check the bounds and the function.")
    weights = Weights.of(log_weight)
    if weights.ess < LEAST_ESS or not weights.pareto_k < LARGEST_K:
        warnings.warn(
            f"the integral of log_prior could not be tested (effective sample size {weights.ess:.0f}, Pareto k {weights.pareto_k:.2f}); if it "
            "is not 1, log Z is off by its logarithm.",
            stacklevel=5,
        )
        return
    if abs(weights.log_mean) > N_SE * weights.log_mean_se + SLACK:
        integral, se = float(np.exp(weights.log_mean)), float(np.exp(weights.log_mean) * weights.log_mean_se)
        raise BadInput(
            f"exp(log_prior) integrates to {integral:.4g} (± {se:.2g}), not 1: a constant or a truncation is missing, and log Z would be off "
            f"by {weights.log_mean:.3f}. Subtract the logarithm of the exact integral from log_prior."
        )
