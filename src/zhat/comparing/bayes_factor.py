"""The log Bayes factor of two models: a number, its error, and whether the runs decide which model is ahead.

A pair is *undecided* when its 95 % interval contains zero: the runs do not decide which model is ahead. That is a statement about
the computation; the strength of a decided Bayes factor is the subject of the scales.
"""

from __future__ import annotations

from dataclasses import dataclass

from zhat.comparing.scales import JEFFREYS, Scale
from zhat.formatting import one_line, with_error
from zhat.numerics.combining.uncertainty import interval as t_interval

LEVEL = 0.95


@dataclass(frozen=True)
class LogBayesFactor:
    """The log Bayes factor of one model against another, with its error and whether it is decided.

    `value` > 0 favours the first. `se` is None when one of the evidences has no error.
    """

    first: str
    second: str
    value: float
    se: float | None
    degrees_of_freedom: float

    def interval(self, level: float = LEVEL) -> tuple[float, float] | None:
        """Central interval for the log Bayes factor, or None without an error."""
        return None if self.se is None else t_interval(self.value, self.se, self.degrees_of_freedom, level)

    @property
    def decided(self) -> bool:
        """Whether the 95 % interval excludes zero."""
        bounds = self.interval()
        return bounds is not None and (bounds[0] > 0.0 or bounds[1] < 0.0)

    def words(self, scale: Scale = JEFFREYS) -> str:
        """The words of a scale for the 95 % interval; *undecided* when the interval contains zero."""
        bounds = self.interval()
        if bounds is None:
            return "no standard error, so no verdict"
        if not self.decided:
            return "undecided"
        low, high = sorted(abs(b) for b in bounds)
        return scale.words_between(low, high)

    def __str__(self) -> str:
        """``log BF(a, b) = 2.63 ± 0.02: strong (Jeffreys)``."""
        return f"log BF({one_line(self.first)}, {one_line(self.second)}) = {with_error(self.value, self.se)}: {self.words()} ({JEFFREYS.name})"
