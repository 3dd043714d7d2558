"""JZS t tests: one sample, two samples, paired; from the data or from t and n."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zhat.classical.result import Test, made, numbers, positive, side_of
from zhat.errors import BadInput
from zhat.numerics.exact.classical import t_test as log_bf

# The "medium" scale of BayesFactor, and the default of JASP.
MEDIUM = math.sqrt(2.0) / 2.0
WORDS = {0: "an effect", 1: "an effect above zero", -1: "an effect below zero"}


def t_test(
    x: Any, y: Any = None, *, mu: float = 0.0, paired: bool = False, scale: float = MEDIUM, alternative: str = "two-sided"
) -> Test:
    """The JZS Bayes factor of a t test (Rouder et al. 2009).

    Parameters
    ----------
    x, y : arrays
        One sample, or two; with ``paired=True`` the test is of their differences. Two samples have one variance.
    mu : float
        The mean, or the difference of means, under the null hypothesis.
    scale : float
        Of the Cauchy prior of the effect size under the alternative.
    alternative : "two-sided", "greater" or "less"
        Of the mean of x, or of mean x - mean y.
    """
    first = numbers("x", x, 2)
    if y is None:
        if paired:
            raise BadInput("t_test(paired=True) needs two samples: give y.")
        return _one(first - mu, "one-sample t test", scale, alternative)
    second = numbers("y", y, 2)
    if paired:
        if len(first) != len(second):
            raise BadInput(f"t_test(paired=True): x has {len(first)} values and y has {len(second)}; pairs need the same number.")
        return _one(first - second - mu, "paired t test", scale, alternative)
    n1, n2 = len(first), len(second)
    pooled = (np.sum((first - first.mean()) ** 2) + np.sum((second - second.mean()) ** 2)) / (n1 + n2 - 2)
    if pooled == 0.0:
        raise BadInput("t_test(): the values within both samples are all the same, so that t is infinite.")
    t = float((first.mean() - second.mean() - mu) / math.sqrt(pooled * (1.0 / n1 + 1.0 / n2)))
    return t_test_from_summary(t, n1, n2, scale=scale, alternative=alternative)


def _one(values: Any, title: str, scale: float, alternative: str) -> Test:
    spread = float(np.std(values, ddof=1))
    if spread == 0.0:
        raise BadInput(f"{title}: all {len(values)} values are {values[0]:g}, so that t is infinite; are they rounded?")
    t = float(np.mean(values)) / (spread / math.sqrt(len(values)))
    return t_test_from_summary(t, len(values), scale=scale, alternative=alternative, title=title)


def t_test_from_summary(
    t: float, n1: int, n2: int | None = None, *, scale: float = MEDIUM, alternative: str = "two-sided", title: str | None = None
) -> Test:
    """The same from a published t and the sample sizes; `n2` for two independent samples, n1 pairs for a paired test."""
    side, scale = side_of(alternative), positive("t_test", "scale", scale)
    if isinstance(t, bool) or not isinstance(t, int | float | np.number) or not math.isfinite(t):
        raise BadInput(f"t={t!r}: give the t statistic as a finite number.")
    for name, n in (("n1", n1), ("n2", n2)):
        if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < (2 if n2 is None else 1)):
            raise BadInput(f"{name}={n!r}: give the size of the sample, a whole number of at least {2 if n2 is None else 1}.")
    if n2 is not None and n1 + n2 < 3:
        raise BadInput(f"n1={n1}, n2={n2}: two samples need at least three values together.")
    df = n1 - 1 if n2 is None else n1 + n2 - 2
    size = float(n1) if n2 is None else n1 * n2 / (n1 + n2)
    title = title or ("one-sample t test" if n2 is None else "two-sample t test")
    return made(
        title,
        log_bf(float(t), size, float(df), scale, side),
        null="no effect",
        alternative=WORDS[side],
        prior=f"effect size ~ {'half-' if side else ''}Cauchy(0, {scale:.4g}), reference prior 1/sigma^2 of mean and variance (Rouder et al. 2009)",
        cites=("rouder2009",),
        statistic=f"t = {t:.4g}, n = {n1 if n2 is None else f'{n1} + {n2}'}",
    )
