"""All 128 Pima models together against one of them alone, both warm; and how far each is from 100,000 draws.

    python benchmarks/subsets.py
    python benchmarks/subsets.py --no-check        # the ratio alone

CPU seconds on one core. One model alone is `evidence(model)` on model 1, as a user would run it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import common

common.one_core()

TAUS = (0.01, 1.0)
N_CHECK = 100_000


def fastest(run: Callable[[int], Any], repeats: int) -> float:
    """CPU seconds of the quickest of some warm runs: others' work on the machine only ever adds."""
    run(0)
    seconds = []
    for seed in range(1, repeats + 1):
        begin = time.process_time()
        run(seed)
        seconds.append(time.process_time() - begin)
    return min(seconds)


def measure(repeats: int, check: bool) -> dict[str, Any]:
    """The ratio, and at each prior precision the largest difference from many draws."""
    import numpy as np

    import zhat
    from zhat import zoo
    from zhat.zoo.pima import COVARIATES, MODEL_1

    families = {tau: zhat.Subsets(zoo.pima_with_mask(tau), COVARIATES) for tau in TAUS}
    model = zoo.pima(MODEL_1, TAUS[0]).model
    alone = fastest(lambda seed: zhat.evidence(model, seed=seed, progress=False), repeats)
    together = fastest(lambda seed: families[TAUS[0]].enumerate(seed=seed, progress=False), repeats)
    rows = []
    for tau, family in families.items() if check else ():
        many = family.enumerate(seed=10**6, n_draws=N_CHECK, progress=False)
        few = family.enumerate(seed=1, progress=False)
        difference = np.abs(few.log_evidence - many.log_evidence)
        inclusion = max(abs(few.inclusion[name] - many.inclusion[name]) for name in COVARIATES)
        z = (few.log_evidence - many.log_evidence) / np.hypot(few.se, many.se)
        rows.append(
            {
                "tau": tau,
                "largest_difference": float(difference.max()),
                "z_root_mean_square": float(np.sqrt(np.mean(z**2))),
                "largest_inclusion_difference": float(inclusion),
                "best": few.top(1)[0][0],
                "same_best": few.top(1)[0][0] == many.top(1)[0][0],
                "status": str(few.status),
            }
        )
    return {"alone_cpu_seconds": alone, "together_cpu_seconds": together, "ratio": together / alone, "against_many_draws": rows}


def report(result: dict[str, Any]) -> str:
    """Two tables."""
    speed = common.table(
        ["run", "CPU s"],
        [
            ["model 1 alone", f"{result['alone_cpu_seconds']:.3f}"],
            ["all 128 together", f"{result['together_cpu_seconds']:.3f}"],
        ],
    )
    parts = ["## All 128 Pima models", speed, f"Ratio {result['ratio']:.1f} (bar: at most 20)."]
    if result["against_many_draws"]:
        header = ["tau", "largest difference of log Z", "rms z", "of inclusion", "best model", "same best", "status"]
        lines = [
            [
                f"{row['tau']:g}",
                f"{row['largest_difference']:.4f}",
                f"{row['z_root_mean_square']:.2f}",
                f"{row['largest_inclusion_difference']:.4f}",
                row["best"],
                "yes" if row["same_best"] else "no",
                row["status"],
            ]
            for row in result["against_many_draws"]
        ]
        parts += [f"Against {N_CHECK:,} draws for every model:", common.table(header, lines)]
        parts.append("Bars: log evidences within 0.01, inclusion within 0.005.")
    return "\n\n".join(parts)


def main() -> int:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-check", action="store_true")
    options = parser.parse_args()
    result = measure(options.repeats, not options.no_check)
    common.write("subsets", result, report(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
