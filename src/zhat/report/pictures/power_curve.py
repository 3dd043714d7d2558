"""The power-posterior curve: mean log likelihood along the tempering path; its integral is log Z."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.errors import BadType
from zhat.results.estimate import Evidence
from zhat.results.records import PathRun


def power_curve(result: Evidence, ax: Any) -> Any:
    """Mean log likelihood against beta, with the lower and upper sums that bound its integral.

    The horizontal axis is beta^(1/3): the curve is steepest next to the prior, where a linear axis has no room.
    """
    run = result.record
    if not isinstance(run, PathRun):
        raise BadType(f"power_curve draws a tempered run; the record of {result.method} is a {type(run).__name__}.")
    betas = run.betas[: len(run.log_likelihood)]
    rungs = [rung[np.isfinite(rung)] for rung in run.log_likelihood]
    means = np.array([rung.mean() for rung in rungs])
    spread = np.array([rung.std() for rung in rungs])
    x = np.cbrt(betas)
    ax.fill_between(x, means - spread, means + spread, color="#9ecae1", alpha=0.5, lw=0, label="± 1 sd")
    ax.step(x, means, where="post", color="#888888", lw=0.8, label="lower and upper sum")
    ax.step(x, means, where="pre", color="#888888", lw=0.8)
    ax.plot(x, means, "o-", color="#08519c", ms=3, lw=1.2, label="mean log likelihood")
    ax.axhline(result.log_evidence, color="#a50f15", lw=0.8, ls=":", label="log Z, the average of the curve")
    # The first rungs may lie thousands of nats below the others; the axis leaves them out.
    top, depth = float((means + spread)[-1]), float(means[-1] - result.log_evidence)
    ax.set_ylim(max(float((means - spread).min()), top - 10.0 * max(depth, 1.0)), top + max(depth, 1.0))
    ticks = np.array([0.0, 1e-3, 0.01, 0.05, 0.2, 0.5, 1.0])
    ax.set_xticks(np.cbrt(ticks), [f"{t:g}" for t in ticks])
    ax.set_xlabel("inverse temperature beta (cube-root scale)")
    ax.set_ylabel("log likelihood")
    ax.set_title(f"log Z = {result.log_evidence:.3f}, {len(run.betas) - 1} steps", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return ax
