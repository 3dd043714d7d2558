"""Words for Bayes factors: published scales, kept apart from the numbers.

A scale is a list of limits on the log Bayes factor in favour of the better model, with words between them.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Limits in nats, rising, and one word more than limits."""

    name: str
    cites: str
    limits: tuple[float, ...]
    words: tuple[str, ...]

    def word(self, log_bayes_factor: float) -> str:
        """The word of the scale for this log Bayes factor, of either sign."""
        return self.words[bisect.bisect_right(self.limits, abs(log_bayes_factor))]

    def words_between(self, low: float, high: float) -> str:
        """The words for an interval of log Bayes factors in favour of one model: one word, or from ... to ..."""
        first, last = self.word(max(low, 0.0)), self.word(max(high, 0.0))
        return first if first == last else f"{first} to {last}"


_TEN = math.log(10.0)

JEFFREYS = Scale(
    "Jeffreys",
    "jeffreys1961",
    (0.5 * _TEN, _TEN, 1.5 * _TEN, 2.0 * _TEN),
    ("barely worth mentioning", "substantial", "strong", "very strong", "decisive"),
)
KASS_RAFTERY = Scale(
    "Kass & Raftery",
    "kass1995",
    (1.0, 3.0, 5.0),
    ("not worth more than a bare mention", "positive", "strong", "very strong"),
)
