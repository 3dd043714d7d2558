"""Regressions whose priors are all proper: generalised linear models, and linear models with priors of intercept and sigma.

    eta = Intercept + (X - mean X) beta + offset

Coefficients are scalar parameters with the names of their columns. A linear model depends on its data through sums, so that a point
costs the same for any number of rows; with normal priors its evidence is a formula or one quadrature.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.model.closed_form import ClosedForm
from zhat.model.core import Core, Sizes
from zhat.model.data import fingerprint, host_arrays
from zhat.model.model import Model
from zhat.model.program import space_of
from zhat.model.regression.design import Design
from zhat.model.regression.families import Family, Gaussian
from zhat.model.regression.priors import NormalGamma, ScaledNormal
from zhat.model.rows import rows_made, sum_over_rows
from zhat.numerics.exact.integrals import Integral
from zhat.numerics.exact.normal_linear import LOG_TWO_PI, RawSums, conjugate, independent

# Parameters of the normal noise that a prior may be given for; sigma is the one that models have.
NOISE = ("sigma", "variance", "precision")


def glm(design: Design, family: Family, prior: ScaledNormal, priors: Mapping[str, dist.Distribution], name: str) -> Model:
    """A generalised linear model, or a linear one under independent proper priors."""
    every = default_priors(design, family, prior)
    for key in priors:
        if key in NOISE:
            every.pop("sigma", None)
        every[key] = priors[key]
    every = {key: every[key] for key in _order(every, design)}
    if isinstance(family, Gaussian):
        return _linear(design, every, name)
    data = host_arrays(data_of(design), "data")
    log_likelihood = _LogLikelihood(family, design)
    core = Core(
        log_likelihood,
        space_of(_Priors(every), data, None),
        black_box=False,
        batched=False,
        made_from=(family, design.names, design.has_intercept, every),
    )
    core.sizes = Sizes(made_share=rows_made(design.n) / (design.n * max(design.p, 1)))
    return Model(
        log_likelihood,
        every,
        data=data,
        name=name,
        data_id=data_id(design, family),
        one_mode=why_one_mode(family, every),
        core=core,
    )


def why_one_mode(family: Family, priors: Mapping[str, dist.Distribution]) -> str:
    """Why the posterior has one mode: a sum of concave functions of the coefficients, one of them strictly; empty where it may have more."""
    if not family.log_concave or not all(type(prior) is dist.Normal for prior in priors.values()):
        return ""
    return f"a {family.name} likelihood with {family.link} link and normal priors are log-concave in the coefficients"


def data_id(design: Design, family: Family) -> str:
    """The fingerprint of the response, and whether the likelihood is a density or a probability of it."""
    response = design.target if isinstance(family, Gaussian) else design.y
    what = response if design.trials is None else (response, design.trials)
    return f"{fingerprint(what)}, {family.measure}"


def data_of(design: Design) -> dict[str, Any]:
    """Response, columns, and what else the likelihood needs."""
    data = {"y": design.y, "x": design.centred}
    if design.offset is not None:
        data["offset"] = design.offset
    if design.trials is not None:
        data["trials"] = design.trials
    return data


def default_priors(design: Design, family: Family, prior: ScaledNormal) -> dict[str, dist.Distribution]:
    """Scaled normals for all coefficients, and the family's own."""
    linear = isinstance(family, Gaussian)
    centre, size = (float(design.target.mean()), float(np.std(design.target, ddof=1))) if linear else (0.0, 1.0)
    every: dict[str, dist.Distribution] = dict(family.own_priors())
    if linear:
        every["sigma"] = dist.Exponential(1.0 / size)
    if design.has_intercept:
        every["Intercept"] = dist.Normal(centre, prior.intercept * size)
    for column, spread in zip(design.names, design.spread, strict=True):
        every[column] = dist.Normal(0.0, prior.slopes * size / float(spread or 1.0))
    return every


def _order(every: Mapping[str, Any], design: Design) -> list[str]:
    """The family's own parameters, the intercept, then the columns in their order."""
    columns = [name for name in design.names if name in every]
    own = [name for name in every if name not in columns and name != "Intercept"]
    return [*own, *(["Intercept"] if "Intercept" in every else []), *columns]


class _Priors:
    """Independent priors by name."""

    def __init__(self, priors: Mapping[str, dist.Distribution]) -> None:
        self.priors = dict(priors)

    def __call__(self, data: Any, hyper: Any) -> None:
        for name, prior in self.priors.items():
            numpyro.sample(name, prior)


class _LogLikelihood:
    """The family's log likelihood at the linear predictor; where the data have a mask, excluded columns have no effect."""

    def __init__(self, family: Family, design: Design) -> None:
        self.family, self.names, self.has_intercept = family, design.names, design.has_intercept
        self.term = np.zeros(design.p, dtype=np.int64)
        for i, term in enumerate(design.terms):
            self.term[list(term.columns)] = i

    def __call__(self, params: Any, data: Any, hyper: Any = None) -> Any:
        beta = jnp.stack([params[name] for name in self.names]) if self.names else None
        if beta is not None and "mask" in data:
            beta = beta * data["mask"][self.term]

        def of(rows: Any) -> Any:
            eta = jnp.zeros(rows["y"].shape) if beta is None else rows["x"] @ beta
            if self.has_intercept:
                eta = eta + params["Intercept"]
            if "offset" in rows:
                eta = eta + rows["offset"]
            return self.family.log_likelihood(eta, params, rows)

        return sum_over_rows(of, {key: value for key, value in data.items() if key != "mask"})


# -- linear models --------------------------------------------------------------------------------------------------------


def _linear(design: Design, every: dict[str, dist.Distribution], name: str) -> Model:
    design.check_linear()
    data = host_arrays(_sums(design), "data")
    noise = next(key for key in NOISE if key in every)
    coefficients = tuple(key for key in every if key != noise)
    log_likelihood = _LinearLogLikelihood(coefficients, noise)
    normal = all(type(every[key]) is dist.Normal for key in coefficients)
    exact = None
    if normal:
        mean = np.array([float(every[key].loc) for key in coefficients])
        scale = np.array([float(every[key].scale) for key in coefficients])
        exact = ClosedForm(_ByQuadrature(mean, scale, noise, every[noise]), "coefficients by a formula, quadrature over sigma")
    core = Core(
        log_likelihood,
        space_of(_Priors(every), data, None),
        black_box=False,
        batched=False,
        made_from=("linear", design.names, design.has_intercept, every),
    )
    return Model(log_likelihood, every, data=data, name=name, data_id=data_id(design, Gaussian()), closed_form=exact, core=core)


def conjugate_model(design: Design, prior: NormalGamma, name: str) -> Model:
    """A linear model under the conjugate prior; its evidence is a formula."""
    design.check_linear()
    names = (*(("Intercept",) if design.has_intercept else ()), *design.names)
    data = host_arrays(_sums(design), "data")
    hyper = {
        "mean": np.array(prior.of("mean", names)),
        "precision": np.array(prior.of("precision", names)),
        "shape": float(prior.shape),
        "rate": float(prior.rate),
    }
    hyper = host_arrays(hyper, "hyper")
    program, log_likelihood = _Conjugate(names), _LinearLogLikelihood(names, "precision")
    core = Core(log_likelihood, space_of(program, data, hyper), black_box=False, batched=False, made_from=("conjugate", names))
    exact = ClosedForm(_ConjugateFormula(), "a formula")
    return Model(
        log_likelihood,
        program,
        data=data,
        hyper=hyper,
        name=name,
        data_id=data_id(design, Gaussian()),
        closed_form=exact,
        core=core,
    )


def _sums(design: Design) -> dict[str, Any]:
    sums = design.raw_sums()
    return {"n": float(sums.n), "xx": sums.xx, "best": sums.best, "least": sums.least}


def _raw(data: Any) -> RawSums:
    return RawSums(int(data["n"]), np.asarray(data["xx"]), np.asarray(data["best"]), float(data["least"]))


class _Conjugate:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __call__(self, data: Any, hyper: Any) -> None:
        tau = numpyro.sample("precision", dist.Gamma(hyper["shape"], hyper["rate"]))
        for j, name in enumerate(self.names):
            numpyro.sample(name, dist.Normal(hyper["mean"][j], 1.0 / jnp.sqrt(hyper["precision"][j] * tau)))


class _LinearLogLikelihood:
    """From sums over the rows, split at the least squares fit."""

    def __init__(self, names: tuple[str, ...], noise: str) -> None:
        self.names, self.noise = names, noise

    def __call__(self, params: Any, data: Any, hyper: Any = None) -> Any:
        sigma = _sigma(self.noise, params[self.noise], jnp)
        squares = data["least"]
        if self.names:
            off = jnp.stack([params[name] for name in self.names]) - data["best"]
            squares = squares + off @ (data["xx"] @ off)
        return -data["n"] * (0.5 * LOG_TWO_PI + jnp.log(sigma)) - 0.5 * squares / sigma**2


def _sigma(noise: str, value: Any, xp: Any) -> Any:
    """The standard deviation from the parameter that has the prior."""
    return value if noise == "sigma" else xp.sqrt(value) if noise == "variance" else 1.0 / xp.sqrt(value)


class _ByQuadrature:
    """Independent normals for the coefficients, any prior of the noise."""

    def __init__(self, mean: np.ndarray, scale: np.ndarray, noise: str, prior: dist.Distribution) -> None:
        self.mean, self.scale, self.noise, self.prior = mean, scale, noise, prior

    def __call__(self, data: Any, hyper: Any) -> Integral:
        sums = _raw(data)
        typical = np.sqrt(max(sums.least, 1e-300) / max(sums.n - len(self.mean), 1))
        return independent(sums, self.mean, self.scale, self._log_prior, float(typical))

    def _log_prior(self, sigma: np.ndarray) -> np.ndarray:
        """The density of sigma, from that of sigma, the variance or the precision."""
        power = {"sigma": 1.0, "variance": 2.0, "precision": -2.0}[self.noise]
        log_jacobian = np.log(abs(power)) + (power - 1.0) * np.log(sigma)
        with np.errstate(all="ignore"):
            values = np.asarray(self.prior.log_prob(sigma**power), np.float64)
        return np.where(np.isnan(values), -np.inf, values) + log_jacobian


class _ConjugateFormula:
    def __call__(self, data: Any, hyper: Any) -> Integral:
        mean, precision = np.asarray(hyper["mean"]), np.asarray(hyper["precision"])
        return conjugate(_raw(data), mean, precision, float(hyper["shape"]), float(hyper["rate"]))
