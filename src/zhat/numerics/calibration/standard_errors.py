"""The calibration gate: are the standard errors of a method right?

Run a method R times, with different seeds, on a problem whose log evidence ℓ* is known. If run r
reports the law F_r (normal, or t with its degrees of freedom), then u_r = F_r(ℓ*) is uniform for a
calibrated method and z_r = Φ⁻¹(u_r) standard normal. The gate tests the R runs for:

- bias: |mean(ℓ - ℓ*)| is at most half the mean squared error bar, which is what the logarithm of an
  unbiased mean costs, plus noise;
- scale: the root mean square of z is near one, so the error bars are neither too small nor too large;
- coverage: the 95 % intervals contain the truth often enough, the 50 % ones neither too often nor too
  rarely;
- silence: no `ok` run is more than six of its standard errors off;
- usefulness: the median error bar is below a cap, since an infinite one is always right;
- flags: few runs are flagged or have no standard error.

The limits of the first four are exact quantiles (t, χ², binomial), each with a false-alarm rate of
10^-5, so a full table of methods and problems can be run without false alarms. Flagged runs are
counted as flags and left out of the rest.

When it lies: the scale test takes z as normal, so a method with a skewed error should report a skewed
interval. With fewer than about a hundred runs the windows are so wide that passing says little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, chdtri, ndtri

from zhat.numerics.combining.uncertainty import normal_quantile, t_cdf, t_quantile

_FALSE_ALARM = 1e-5
_SILENT_BEYOND = 6.0
# An estimate this close to the truth is right for any purpose: what is left is rounding.
_EXACT_WITHIN = 1e-9


@dataclass(frozen=True)
class Run:
    """What one run reported.

    Parameters
    ----------
    log_evidence : float
        Finite if the run is ok.
    se : float or None
        Its standard error, None where the run withheld it.
    df : float
        Degrees of freedom of the standard error.
    ok : bool
        Whether the run's own diagnostics passed.
    """

    log_evidence: float
    se: float | None
    df: float = math.inf
    ok: bool = True

    def __post_init__(self) -> None:
        """An `ok` run has a number."""
        if self.ok and not math.isfinite(self.log_evidence):
            raise ValueError(
                f"log_evidence={self.log_evidence} with ok=True: a run without a finite estimate has failed; mark it ok=False."
            )
        if self.se is not None and not self.se >= 0.0:
            raise ValueError(f"se={self.se}: a standard error is a number that is not negative; use None where it is withheld.")

    @property
    def counted(self) -> bool:
        """Whether the run reports a standard error, so that bias, scale and coverage apply to it."""
        return self.ok and self.se is not None


@dataclass(frozen=True)
class GateReport:
    """What the gate found; `ok` is the verdict and `passed` its parts."""

    n_runs: int
    n_counted: int
    bias: float
    bias_allowance: float
    rms_z: float
    rms_z_window: tuple[float, float]
    hits95: int
    hits95_minimum: int
    hits50: int
    hits50_window: tuple[int, int]
    n_silent: int
    median_se: float
    cap: float
    flagged_share: float
    flag_limit: float
    passed: Mapping[str, bool]

    @property
    def ok(self) -> bool:
        """Whether every part passed."""
        return all(self.passed.values())

    def rows(self) -> list[tuple[str, str, str, bool]]:
        """Name, value, requirement and verdict of each part, for printing as a table."""
        low, high = self.rms_z_window
        return [
            (name, value, requirement, self.passed[name])
            for name, value, requirement in [
                ("bias", f"{self.bias:+.4f}", f"within ±{self.bias_allowance:.4f}"),
                ("scale", f"{self.rms_z:.3f}", f"{low:.3f} to {high:.3f}"),
                ("coverage95", f"{self.hits95}/{self.n_counted}", f"at least {self.hits95_minimum}"),
                (
                    "coverage50",
                    f"{self.hits50}/{self.n_counted}",
                    f"{self.hits50_window[0]} to {self.hits50_window[1]}",
                ),
                ("silence", f"{self.n_silent}", "none beyond 6 errors"),
                ("usefulness", f"{self.median_se:.4f}", f"median error at most {self.cap:g}"),
                ("flags", f"{self.flagged_share:.3f}", f"at most {self.flag_limit:g}"),
            ]
        ]

    def sentence(self) -> str:
        """The verdict in one sentence; of a failure, each part that failed with what was required."""
        if self.ok:
            return (
                f"Calibrated: {self.n_counted} of {self.n_runs} runs counted, rms z {self.rms_z:.2f}, 95 % "
                f"intervals right {self.hits95} times, bias {self.bias:+.4f}."
            )
        failures = [f"{name} {value} ({required})" for name, value, required, good in self.rows() if not good]
        return f"Not calibrated over {self.n_counted} of {self.n_runs} runs: " + "; ".join(failures) + "."


def gate(runs: Sequence[Run], truth: float, cap: float = 0.3, flag_limit: float = 0.05) -> GateReport:
    """Hold R independent runs of one method on one problem against the known answer.

    Parameters
    ----------
    runs : sequence of Run
        Hundred or more, each from its own seed.
    truth : float
        The exact log evidence.
    cap : float
        Largest useful median error bar, in nats.
    flag_limit : float
        Largest share of runs that may be flagged or without an error bar.

    Notes
    -----
    An error bar of exactly zero on the exact answer counts as z = 0. If all runs are like that, the
    method is exact, and the lower edge of the scale window and the upper edge of the 50 % window,
    meant for error bars that are too wide, do not apply. With fewer than two runs that count, the
    bias, scale and coverage parts fail for want of evidence, and their numbers are NaN or zero.
    """
    if len(runs) == 0:
        raise ValueError("runs is empty: a method is calibrated by running it; 100 runs is a start, 400 better.")
    if not math.isfinite(truth):
        raise ValueError(f"truth={truth}: the gate needs a problem whose log evidence is known and finite.")
    counted = [run for run in runs if run.counted]
    n = len(counted)
    errors = np.array([run.log_evidence - truth for run in counted])
    ses = np.array([run.se for run in counted], dtype=np.float64)
    z = np.array([standard_score(run, truth) for run in counted])
    exact = n > 0 and bool(np.all(ses == 0.0) and np.all(z == 0.0))
    enough = n >= 2

    bias = float(errors.mean()) if n else math.nan
    noise = bias_multiplier(n) * float(np.std(errors, ddof=1)) / math.sqrt(n) if enough else math.nan
    allowance = 0.5 * float(np.mean(ses**2)) + noise + _EXACT_WITHIN if enough else math.nan
    rms_z = float(np.sqrt(np.mean(z**2))) if n else math.nan
    low, high = rms_z_window(n) if n else (math.nan, math.nan)
    hits95 = int(np.count_nonzero(np.abs(z) <= normal_quantile(0.975)))
    hits50 = int(np.count_nonzero(np.abs(z) <= normal_quantile(0.75)))
    fewest, most = hits50_window(n)
    n_silent = int(np.count_nonzero(np.abs(z) > _SILENT_BEYOND))
    median_se = float(np.median(ses)) if n else math.nan
    flagged = (len(runs) - n) / len(runs)  # not 1 - n / R, which rounds 5 of 100 to above 0.05
    passed = {
        "bias": enough and abs(bias) <= allowance,
        "scale": enough and (exact or low <= rms_z <= high),
        "coverage95": enough and hits95 >= hits95_minimum(n),
        "coverage50": enough and (exact or fewest <= hits50 <= most),
        "silence": n_silent == 0,
        "usefulness": n > 0 and median_se <= cap,
        "flags": flagged <= flag_limit,
    }
    return GateReport(
        n_runs=len(runs),
        n_counted=n,
        bias=bias,
        bias_allowance=allowance,
        rms_z=rms_z,
        rms_z_window=(low, high),
        hits95=hits95,
        hits95_minimum=hits95_minimum(n),
        hits50=hits50,
        hits50_window=(fewest, most),
        n_silent=n_silent,
        median_se=median_se,
        cap=cap,
        flagged_share=flagged,
        flag_limit=flag_limit,
        passed=passed,
    )


def standard_score(run: Run, truth: float) -> float:
    """z = Φ⁻¹(F(truth)) for the law F that the run reported; positive when the estimate is too low.

    Taken from whichever tail is the smaller, so that a score of 30 does not round to infinity.
    """
    if run.se is None:
        raise ValueError("se=None: a run without an error bar has no standard score; leave it out.")
    miss = truth - run.log_evidence
    if run.se == 0.0:
        return 0.0 if abs(miss) <= _EXACT_WITHIN else math.copysign(math.inf, miss)
    ratio = miss / run.se
    if math.isinf(run.df) or ratio == 0.0:
        return ratio
    tail = t_cdf(-abs(ratio), run.df)
    # Below what doubles hold the t law is past z = 38 whatever its degrees of freedom.
    return math.copysign(-float(ndtri(tail)) if tail > 0.0 else math.inf, ratio)


def bias_multiplier(n: int) -> float:
    """Standard errors allowed for the mean of n runs: the two-sided t quantile."""
    return t_quantile(1.0 - 0.5 * _FALSE_ALARM, n - 1.0)


def rms_z_window(n: int) -> tuple[float, float]:
    """Window for the root mean square of n standard normal scores, from the χ² quantiles."""
    half = 0.5 * _FALSE_ALARM
    return math.sqrt(float(chdtri(n, 1.0 - half)) / n), math.sqrt(float(chdtri(n, half)) / n)


def hits95_minimum(n: int) -> int:
    """Fewest hits of n calibrated 95 % intervals: fewer have a probability below the false-alarm rate."""
    return _binomial_quantile(n, 0.95, _FALSE_ALARM)


def hits50_window(n: int) -> tuple[int, int]:
    """Fewest and most hits of n calibrated 50 % intervals."""
    fewest = _binomial_quantile(n, 0.5, 0.5 * _FALSE_ALARM)
    return fewest, n - fewest


def _binomial_quantile(n: int, chance: float, probability: float) -> int:
    """Smallest k with P(hits <= k) >= probability."""
    if n == 0:
        return 0
    return int(np.argmax(bdtr(np.arange(n + 1.0), n, chance) >= probability))
