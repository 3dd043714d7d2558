"""Priors written as distributions of scipy.stats: each is translated to the NumPyro distribution of equal density.

A frozen distribution has shape parameters, a location and a scale. A family on the whole line takes the last two in NumPyro as well.
A family that begins at an edge (gamma, half normal, Pareto) begins at zero in NumPyro; another location is an affine transformation.
A family without a counterpart is refused: a prior that is nearly right gives a wrong evidence without any sign of it. Its quantile
function serves in a model made from a prior transform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
import numpyro.distributions as dist
from numpyro.distributions import constraints
from numpyro.distributions.transforms import AffineTransform

from zhat.errors import BadInput, BadType

Family = Callable[..., dist.Distribution]

# By SciPy's name, as functions of the shapes, the location and the scale.
ON_THE_LINE: dict[str, Family] = {
    "norm": lambda loc, scale: dist.Normal(loc, scale),
    "cauchy": lambda loc, scale: dist.Cauchy(loc, scale),
    "laplace": lambda loc, scale: dist.Laplace(loc, scale),
    "logistic": lambda loc, scale: dist.Logistic(loc, scale),
    "gumbel_r": lambda loc, scale: dist.Gumbel(loc, scale),
    "t": lambda df, loc, scale: dist.StudentT(df, loc, scale),
    "uniform": lambda loc, scale: dist.Uniform(loc, loc + scale),
    "truncnorm": lambda a, b, loc, scale: _truncated_normal(a, b, loc, scale),
}
# Those that begin at an edge, as functions of the shapes and the scale, for a location of zero.
FROM_ZERO: dict[str, Family] = {
    "gamma": lambda a, scale: dist.Gamma(a, 1.0 / scale),
    "erlang": lambda a, scale: dist.Gamma(a, 1.0 / scale),
    "chi2": lambda df, scale: dist.Gamma(0.5 * df, 0.5 / scale),
    "invgamma": lambda a, scale: dist.InverseGamma(a, scale),
    "expon": lambda scale: dist.Exponential(1.0 / scale),
    "halfnorm": lambda scale: dist.HalfNormal(scale),
    "halfcauchy": lambda scale: dist.HalfCauchy(scale),
    "lognorm": lambda s, scale: dist.LogNormal(np.log(scale), s),
    "weibull_min": lambda c, scale: dist.Weibull(scale, c),
    "pareto": lambda b, scale: dist.Pareto(scale, b),
    "loguniform": lambda a, b, scale: dist.LogUniform(a * scale, b * scale),
    "reciprocal": lambda a, b, scale: dist.LogUniform(a * scale, b * scale),
}
# On the unit interval, as functions of the shapes alone.
ON_THE_UNIT_INTERVAL: dict[str, Family] = {"beta": lambda a, b: dist.Beta(a, b)}
# The classes of scipy.stats that are made with names of their parameters.
CLASSES: dict[str, Family] = {
    "Normal": lambda d: dist.Normal(d.mu, d.sigma),
    "StandardNormal": lambda d: dist.Normal(0.0, 1.0),
    "Uniform": lambda d: dist.Uniform(d.a, d.b),
    "Logistic": lambda d: dist.Logistic(0.0, 1.0),
}
SEVERAL: dict[str, Family] = {
    "multivariate_normal_frozen": lambda f: dist.MultivariateNormal(np.asarray(f.mean), covariance_matrix=np.asarray(f.cov)),
    "dirichlet_frozen": lambda f: dist.Dirichlet(np.asarray(f.alpha)),
}


def translated(prior: Mapping[Any, Any]) -> dict[Any, Any]:
    """The dictionary with SciPy's distributions as NumPyro's; all else stays as it is."""
    return {name: as_numpyro(name, value) if _is_scipy(value) else value for name, value in prior.items()}


def as_numpyro(name: str, value: Any) -> dist.Distribution:
    """The NumPyro distribution that has the density of this one; refused with a sentence where there is none."""
    kind = type(value).__name__
    with jax.enable_x64(True):  # arguments that are arrays would be rounded to single precision
        if kind in SEVERAL:
            return SEVERAL[kind](value)
        if kind in CLASSES:
            _check_arguments(name, kind, value.icdf(0.5))
            return CLASSES[kind](value)
        if not hasattr(value, "dist"):
            raise _refused(name, value, kind)
        family = value.dist.name
        if not hasattr(value, "pdf"):
            raise BadInput(f"parameter {name!r} is discrete (scipy.stats.{family}): sum it out of the likelihood first.")
        _check_arguments(name, family, value.median())
        shapes, loc, scale = value.dist._parse_args(*value.args, **value.kwds)
        if family in ON_THE_LINE:
            return ON_THE_LINE[family](*shapes, loc, scale)
        if family in FROM_ZERO:
            return _moved(FROM_ZERO[family](*shapes, scale), loc, 1.0)
        if family in ON_THE_UNIT_INTERVAL:
            return _moved(ON_THE_UNIT_INTERVAL[family](*shapes), loc, scale)
    raise _refused(name, value, family)


def _is_scipy(value: Any) -> bool:
    """Whether this is an object of scipy.stats, which need not be imported to tell."""
    return not isinstance(value, type) and type(value).__module__.startswith("scipy.stats.")


def _moved(base: dist.Distribution, loc: Any, scale: Any) -> dist.Distribution:
    if np.all(np.asarray(loc) == 0.0) and np.all(np.asarray(scale) == 1.0):
        return base
    domain = base.support if isinstance(base, dist.Beta | dist.Pareto | dist.LogUniform) else constraints.positive
    return dist.TransformedDistribution(base, AffineTransform(loc, scale, domain=domain))


def _truncated_normal(a: Any, b: Any, loc: Any, scale: Any) -> dist.Distribution:
    """Cut at `a` and `b` standard deviations from the location, on one side or on both."""
    low = None if np.all(np.isneginf(a)) else loc + np.asarray(a) * scale
    high = None if np.all(np.isposinf(b)) else loc + np.asarray(b) * scale
    return dist.TruncatedNormal(loc, scale, low=low, high=high)


def _check_arguments(name: str, family: str, median: Any) -> None:
    if not np.all(np.isfinite(median)):
        raise BadInput(
            f"prior[{name!r}] is scipy.stats.{family} with arguments that make no distribution (its median is {median}): "
            "check its shapes, and that the scale is positive."
        )


def _refused(name: str, value: Any, family: str) -> BadInput | BadType:
    if hasattr(value, "_parse_args"):  # a family, not a distribution
        return BadType(
            f"prior[{name!r}] is the family scipy.stats.{value.name}, not one distribution of it: give its arguments, such as "
            f"scipy.stats.{value.name}(loc=..., scale=...)."
        )
    known = sorted({*ON_THE_LINE, *FROM_ZERO, *ON_THE_UNIT_INTERVAL} - {"reciprocal"})
    way_out = (
        " Its quantile function serves: zhat.Model.from_prior_transform(log_likelihood, prior_transform, n_dim=...), where "
        "prior_transform(u) returns its ppf(u[i])."
        if hasattr(value, "ppf") or hasattr(value, "icdf")
        else ""
    )
    return BadInput(
        f"prior[{name!r}] is scipy.stats.{family}, which has no counterpart in NumPyro here; these have: {', '.join(known)}, "
        f"multivariate_normal, dirichlet.{way_out}"
    )
