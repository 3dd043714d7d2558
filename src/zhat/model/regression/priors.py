"""Default priors of regressions, each with its name in the literature, as objects that a reader of a report can look up.

For linear models, with the reference prior 1/sigma^2 of intercept and variance that all of them share (`relative`):

JZS(slopes, factors)      slopes Cauchy together, every factor with a scale of its own (Rouder & Morey 2012; Rouder et al. 2012)
ZellnerSiow(scale)        all coefficients Cauchy together (Zellner & Siow 1980; Liang et al. 2008)
UnitInformation()         all coefficients normal, with the information of one observation (Kass & Wasserman 1995)

Proper in every parameter:

NormalGamma(...)          conjugate, for linear models
ScaledNormal(...)         independent normals on the scale of each column, for all families (Gelman et al. 2008)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from zhat.errors import BadInput, BadType


@dataclass(frozen=True)
class Prior:
    """A default prior of all coefficients."""

    cites: ClassVar[tuple[str, ...]]

    @property
    def words(self) -> str:
        """The prior in a sentence."""
        raise NotImplementedError


@dataclass(frozen=True)
class Reference(Prior):
    """Priors of standardised effects: intercept and variance have the reference prior 1/sigma^2, shared by all linear models.

    The shared prior is improper, so that log Z is given relative to the model with the intercept alone.
    """


_SHARED = "the intercept and sigma have the reference prior 1/sigma^2, which all models of this response share"


@dataclass(frozen=True)
class JZS(Reference):
    """Jeffreys-Zellner-Siow as in R's BayesFactor and in JASP: slopes share one g, and every factor or interaction of factors has its own.

    `slopes` and `factors` are the scales of the Cauchy priors of standardised effects: the defaults sqrt(2)/4 and 1/2 are the "medium"
    ones of BayesFactor.
    """

    slopes: float = math.sqrt(2.0) / 4.0
    factors: float = 0.5

    cites: ClassVar[tuple[str, ...]] = ("rouder2012", "rouderMorey2012", "liang2008")

    def __post_init__(self) -> None:
        """Check the scales."""
        check_scale("JZS", "slopes", self.slopes)
        check_scale("JZS", "factors", self.factors)

    @property
    def words(self) -> str:
        """See `Prior`."""
        return (
            f"JZS: standardised slopes are Cauchy with scale {self.slopes:.4g} (Rouder & Morey 2012), effects of each factor Cauchy with "
            f"scale {self.factors:.4g} (Rouder et al. 2012); {_SHARED}"
        )


@dataclass(frozen=True)
class ZellnerSiow(Reference):
    """All coefficients are Cauchy together: N(0, g n sigma^2 (X'X)^-1) with g ~ inverse gamma(1/2, scale^2/2)."""

    scale: float = 1.0

    cites: ClassVar[tuple[str, ...]] = ("zellner1980", "liang2008")

    def __post_init__(self) -> None:
        """Check the scale."""
        check_scale("ZellnerSiow", "scale", self.scale)

    @property
    def words(self) -> str:
        """See `Prior`."""
        return f"Zellner-Siow with scale {self.scale:.4g}: all standardised coefficients are Cauchy together (Liang et al. 2008); {_SHARED}"


@dataclass(frozen=True)
class UnitInformation(Reference):
    """All coefficients are N(0, n sigma^2 (X'X)^-1): the prior has the information of one observation. A closed form, close to BIC."""

    cites: ClassVar[tuple[str, ...]] = ("kassWasserman1995", "liang2008")

    @property
    def words(self) -> str:
        """See `Prior`."""
        return f"unit information: N(0, n sigma^2 (X'X)^-1) for all coefficients (Kass & Wasserman 1995); {_SHARED}"


@dataclass(frozen=True)
class NormalGamma(Prior):
    """Conjugate: coefficient j is N(mean_j, 1/(precision_j tau)), tau = 1/sigma^2 ~ gamma(shape, rate). A closed form.

    `mean` and `precision` are numbers for all coefficients, or dictionaries by the name of the column ("Intercept" is one); the intercept
    is the predictor at the means of the columns.
    """

    shape: float
    rate: float
    precision: float | Mapping[str, float]
    mean: float | Mapping[str, float] = 0.0

    cites: ClassVar[tuple[str, ...]] = ("friel2012",)

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("shape", "rate"):
            check_scale("NormalGamma", name, getattr(self, name))
        for value in self.precision.values() if isinstance(self.precision, Mapping) else (self.precision,):
            check_scale("NormalGamma", "precision", value)

    def of(self, what: str, names: tuple[str, ...]) -> list[float]:
        """`mean` or `precision` of these columns."""
        values = getattr(self, what)
        if not isinstance(values, Mapping):
            return [float(values)] * len(names)
        missing = [name for name in names if name not in values]
        if missing:
            raise BadInput(f"NormalGamma({what}=...) has no entry for {missing[0]!r}: give one for each of {', '.join(names)}.")
        return [float(values[name]) for name in names]

    @property
    def words(self) -> str:
        """See `Prior`."""
        return (
            f"normal-gamma: 1/sigma^2 ~ gamma({self.shape:g}, rate {self.rate:g}), coefficients normal with means {_shown(self.mean)} and "
            f"precisions {_shown(self.precision)} in units of 1/sigma^2"
        )


@dataclass(frozen=True)
class ScaledNormal(Prior):
    """Independent normals: a slope is N(0, (slopes s / sd(x))^2), the intercept N(m, (intercept s)^2).

    For generalised linear models m = 0 and s = 1. For linear models m and s are mean and standard deviation of the response, and sigma is
    exponential with mean s. The defaults 2.5 are weakly informative (Gelman et al. 2008 in rstanarm's normal form).
    """

    slopes: float = 2.5
    intercept: float = 2.5

    cites: ClassVar[tuple[str, ...]] = ("gelman2008", "goodrich2024")

    def __post_init__(self) -> None:
        """Check the scales."""
        check_scale("ScaledNormal", "slopes", self.slopes)
        check_scale("ScaledNormal", "intercept", self.intercept)

    @property
    def words(self) -> str:
        """See `Prior`."""
        return (
            f"scaled normals (Gelman et al. 2008): scale {self.slopes:g} for the effect of one standard deviation of a column, "
            f"{self.intercept:g} for the intercept at the columns' means"
        )


def check_scale(owner: str, name: str, value: float) -> None:
    """Refuse what is no number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadType(f"{owner}({name}={value!r}): give a number above zero.")
    if not (math.isfinite(value) and value > 0.0):
        raise BadInput(f"{owner}({name}={value}): give a number above zero.")


def _shown(values: float | Mapping[str, float]) -> str:
    return (
        f"{values:g}" if not isinstance(values, Mapping) else ", ".join(f"{value:g} ({name})" for name, value in values.items())
    )
