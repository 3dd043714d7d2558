"""Families of responses: what the linear predictor means for each, and which responses they can have.

Gaussian()              y ~ N(eta, sigma^2)
Bernoulli()             y ~ 0 or 1 with probability 1 / (1 + e^-eta)
Binomial(trials="n")    y successes out of n, a column or a number
Poisson()               y ~ Poisson(e^eta)
NegativeBinomial()      y ~ negative binomial with mean e^eta and variance e^eta + e^(2 eta) / size
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.errors import BadInput, BadType
from zhat.model.fields import observations
from zhat.numerics._checks import FloatArray


@dataclass(frozen=True)
class Family(ABC):
    """A family of responses given the linear predictor.

    Attributes
    ----------
    name : str
        The field's word, which the door accepts too.
    measure : str
        What its likelihood is of the response: only likelihoods of one kind can be compared.
    link : str
    log_concave : bool
        Whether the log likelihood is concave in the predictor, which is linear in the coefficients, and has no other parameters.
    """

    name: ClassVar[str]
    measure: ClassVar[str] = "a probability of the response"
    link: ClassVar[str]
    log_concave: ClassVar[bool] = False

    @abstractmethod
    def check(self, response: str, y: FloatArray, trials: FloatArray | None) -> None:
        """Refuse a response that this family cannot have."""

    @abstractmethod
    def log_likelihood(self, eta: Any, params: Any, data: Any) -> Any:
        """Sum of the log densities, with all constants."""

    def own_priors(self) -> dict[str, dist.Distribution]:
        """Default priors of the family's own parameters."""
        return {}


@dataclass(frozen=True)
class Gaussian(Family):
    """Normal responses with one variance; the default priors make the evidence exact."""

    name: ClassVar[str] = "gaussian"
    measure: ClassVar[str] = "a density of the response"
    link: ClassVar[str] = "identity"

    def check(self, response: str, y: FloatArray, trials: FloatArray | None) -> None:
        """Any finite numbers."""

    def log_likelihood(self, eta: Any, params: Any, data: Any) -> Any:
        """See `Family`."""
        return jnp.sum(observations.Gaussian(1.0).log_density(eta, {"noise_sd": params["sigma"]}, data))


@dataclass(frozen=True)
class Bernoulli(Family):
    """Zeros and ones; the predictor is the log odds."""

    name: ClassVar[str] = "bernoulli"
    link: ClassVar[str] = "logit"
    log_concave: ClassVar[bool] = True  # y eta - log(1 + e^eta)

    def check(self, response: str, y: FloatArray, trials: FloatArray | None) -> None:
        """Zeros and ones, both of them."""
        other = sorted(set(np.unique(y)) - {0.0, 1.0})
        if other:
            hint = (
                'for successes out of n give family=zhat.families.Binomial(trials="n")'
                if all(v == round(v) and v >= 0 for v in other)
                else 'for measurements give family="gaussian"'
            )
            raise BadInput(f'family="bernoulli": the response {response!r} has the value {other[0]:g}, not only 0 and 1; {hint}.')
        if np.ptp(y) == 0.0:
            raise BadInput(
                f'family="bernoulli": the response {response!r} is {y[0]:g} in all {len(y)} rows; there is nothing to explain.'
            )

    def log_likelihood(self, eta: Any, params: Any, data: Any) -> Any:
        """See `Family`."""
        y = data["y"]
        return jnp.sum(y * eta - observations.softplus(eta))


@dataclass(frozen=True)
class Binomial(Family):
    """Successes out of `trials`, the name of a column or a number; the predictor is the log odds."""

    trials: str | int

    name: ClassVar[str] = "binomial"
    link: ClassVar[str] = "logit"
    log_concave: ClassVar[bool] = True  # y eta - n log(1 + e^eta)

    def __post_init__(self) -> None:
        """Check the trials."""
        if isinstance(self.trials, bool) or not isinstance(self.trials, str | int):
            raise BadType(f"Binomial(trials={self.trials!r}): give the name of a column, or a whole number.")

    def check(self, response: str, y: FloatArray, trials: FloatArray | None) -> None:
        """Whole numbers from 0 to the number of trials."""
        observations.Binomial(trials).data(y)

    def log_likelihood(self, eta: Any, params: Any, data: Any) -> Any:
        """See `Family`."""
        return jnp.sum(observations.Binomial(1).log_density(eta, params, data))


@dataclass(frozen=True)
class Poisson(Family):
    """Counts; the predictor is the log of the mean."""

    name: ClassVar[str] = "poisson"
    link: ClassVar[str] = "log"
    log_concave: ClassVar[bool] = True  # y eta - e^eta

    def check(self, response: str, y: FloatArray, trials: FloatArray | None) -> None:
        """Whole numbers from 0."""
        _check_counts(self.name, response, y)

    def log_likelihood(self, eta: Any, params: Any, data: Any) -> Any:
        """See `Family`."""
        return jnp.sum(observations.Poisson().log_density(eta, params, {"y": data["y"], "exposure": 1.0}))


@dataclass(frozen=True)
class NegativeBinomial(Family):
    """Counts that scatter more than Poisson's: variance mean + mean^2 / size."""

    name: ClassVar[str] = "negative binomial"
    link: ClassVar[str] = "log"

    def check(self, response: str, y: FloatArray, trials: FloatArray | None) -> None:
        """Whole numbers from 0."""
        _check_counts(self.name, response, y)

    def own_priors(self) -> dict[str, dist.Distribution]:
        """Size: exponential with mean 1, the default of rstanarm for its reciprocal dispersion."""
        return {"size": dist.Exponential(1.0)}

    def log_likelihood(self, eta: Any, params: Any, data: Any) -> Any:
        """See `Family`."""
        return jnp.sum(observations.NegativeBinomial(1.0).log_density(eta, params, data))


# Names by which the field calls them.
BY_NAME: dict[str, type[Family]] = {
    "gaussian": Gaussian,
    "normal": Gaussian,
    "bernoulli": Bernoulli,
    "logistic": Bernoulli,
    "binomial": Binomial,
    "poisson": Poisson,
    "negative binomial": NegativeBinomial,
    "negativebinomial": NegativeBinomial,
    "negbinomial": NegativeBinomial,
}


def family_of(family: Family | str) -> Family:
    """The family itself, or the one that the field calls so."""
    if isinstance(family, Family):
        return family
    if isinstance(family, type) and issubclass(family, Family):
        raise BadType(f"family={family.__name__} is a class: give an object, zhat.families.{family.__name__}().")
    if not isinstance(family, str):
        raise BadType(f'family is a {type(family).__name__}: give zhat.families.Poisson(), or a name such as "poisson".')
    word = family.strip().lower().replace("_", " ").replace("-", " ")
    if word not in BY_NAME:
        near = difflib.get_close_matches(word, BY_NAME, n=1, cutoff=0.4)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        known = "gaussian, bernoulli, binomial, poisson, negative binomial"
        raise BadInput(f"family={family!r} is not known.{guess} There are {known}.")
    if BY_NAME[word] is Binomial:
        raise BadInput(
            'family="binomial": out of how many trials? Give family=zhat.families.Binomial(trials="n") with the name of a column or a '
            'number; for zeros and ones, family="bernoulli".'
        )
    return BY_NAME[word]()


def _check_counts(family: str, response: str, y: FloatArray) -> None:
    wrong = (y < 0) | (y != np.round(y))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise BadInput(
            f"family={family!r}: the response {response!r} has the value {y[first]:g} in row {first + 1}, and counts are whole numbers "
            'from 0; for measurements give family="gaussian".'
        )
