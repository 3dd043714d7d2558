"""Test: the Bayes factor of a classical test, with its prior in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zhat.comparing.scales import JEFFREYS
from zhat.errors import BadInput, BadType
from zhat.numerics._checks import FloatArray
from zhat.numerics.exact.integrals import Integral

SIDES = {"two-sided": 0, "greater": 1, "less": -1}


@dataclass(frozen=True)
class Test:
    """The result of a test: the log Bayes factor of the alternative against the null hypothesis.

    Attributes
    ----------
    title, null, alternative : str
        The test and its two hypotheses, in words.
    log_bayes_factor : float
        Of the alternative against the null; nothing is sampled.
    numerical_error : float
        Of `log_bayes_factor`: the difference of two quadrature rules, or rounding.
    prior : str
        The prior of the effect under the alternative, in words.
    cites : tuple of str
        Keys of what to cite; `zhat cite` prints them.
    statistic : str
        The statistic that the Bayes factor depends on, in words.
    """

    __test__: ClassVar[bool] = False  # not a class of tests, whatever pytest thinks of its name

    title: str
    null: str
    alternative: str
    log_bayes_factor: float
    numerical_error: float
    prior: str
    cites: tuple[str, ...]
    statistic: str = ""

    @property
    def bayes_factor(self) -> float:
        """Of the alternative against the null; infinite where its logarithm exceeds 709."""
        return math.exp(self.log_bayes_factor) if self.log_bayes_factor < 709.0 else math.inf

    @property
    def probability(self) -> float:
        """Posterior probability of the alternative when both hypotheses have prior probability 1/2."""
        return 1.0 / (1.0 + math.exp(-self.log_bayes_factor)) if self.log_bayes_factor > -700.0 else 0.0

    def __str__(self) -> str:
        """One sentence with the Bayes factor, one with the prior."""
        ahead, other = (self.alternative, self.null) if self.log_bayes_factor > 0 else (self.null, self.alternative)
        size = abs(self.log_bayes_factor)
        factor = f"{math.exp(size):,.4g}" if size < 23.0 else f"10^{size / math.log(10.0):.1f}"
        shown = f" ({self.statistic})" if self.statistic else ""
        return (
            f"{self.title}{shown}: the data favour {ahead} over {other} by a factor of {factor} (log BF10 = {self.log_bayes_factor:.4f}, "
            f"numerical error {self.numerical_error:.0e}): {JEFFREYS.word(size)} on the scale of {JEFFREYS.name}.\n  prior: {self.prior}"
        )

    __repr__ = __str__


def made(title: str, found: Integral, *, null: str, alternative: str, prior: str, cites: tuple[str, ...], statistic: str) -> Test:
    """The result from an integral; one whose quadrature failed is an error, because no number is known."""
    if math.isnan(found.log_value) or not found.agrees:
        raise BadInput(f"{title}: the quadrature does not converge for {statistic}; please report this.")
    return Test(title, null, alternative, float(found.log_value), float(found.error), prior, cites, statistic)


def side_of(alternative: str) -> int:
    """1, -1 or 0 from the words that SciPy has for alternatives."""
    if alternative not in SIDES:
        raise BadInput(f"alternative={alternative!r}: give {', '.join(map(repr, SIDES))}.")
    return SIDES[alternative]


def numbers(name: str, values: object, least: int) -> FloatArray:
    """A vector of at least so many finite numbers."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise BadType(f"{name} holds what is not a number: {error}.") from error
    if array.ndim != 1:
        raise BadInput(f"{name} has the shape {array.shape}: give one row of numbers.")
    missing = int(np.sum(~np.isfinite(array)))
    if missing:
        raise BadInput(
            f"{name} has {missing} missing or infinite values of {len(array)}; drop them first, in pairs if the test is paired."
        )
    if len(array) < least:
        raise BadInput(f"{name} has {len(array)} values; the test needs at least {least}.")
    return array


def positive(owner: str, name: str, value: float) -> float:
    """A number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise BadType(f"{owner}({name}={value!r}): give a number above zero.")
    if not (math.isfinite(value) and value > 0.0):
        raise BadInput(f"{owner}({name}={value}): give a number above zero.")
    return float(value)
