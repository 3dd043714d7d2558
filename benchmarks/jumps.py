"""Reversible jump on the Pima data: between two models, over all 128, and with the likelihood switched off.

    python benchmarks/jumps.py

Held against importance sampling with two million draws (two models) and against enumeration (all 128).
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import common

common.one_core()

TAU = 0.01
LOG_BF = 2.6260  # of model 1 against model 2


def measure(seeds: list[int]) -> dict[str, Any]:
    """Every seed by both ways; CPU seconds include what is compiled."""
    import zhat
    from zhat import zoo
    from zhat.zoo.pima import COVARIATES, MODEL_1, MODEL_2

    pair = {"1": zoo.pima(MODEL_1, TAU).model, "2": zoo.pima(MODEL_2, TAU).model}
    family = zhat.Subsets(zoo.pima_with_mask(TAU), COVARIATES)
    exact = family.enumerate(seed=10**6, progress=False).inclusion
    two, all_, off = [], [], []
    for seed in seeds:
        begin = time.process_time()
        run = zhat.jump(pair, seed=seed, progress=False)
        factor = run.log_bayes_factor("1", "2")
        two.append(
            {
                "seed": seed,
                "log_bf": factor.value,
                "se": factor.se,
                "se_by_switches": run.switching_se("1", "2"),
                "switches": run.switches,
                "round_trips": run.round_trips,
                "accepted": run.jump_acceptance,
                "status": str(run.status),
                "cpu_seconds": time.process_time() - begin,
            }
        )
        begin = time.process_time()
        run = zhat.jump(family, seed=seed, progress=False)
        all_.append(
            {
                "seed": seed,
                "inclusion": run.inclusion,
                "largest_difference": max(abs(run.inclusion[name] - exact[name]) for name in COVARIATES),
                "largest_z": max(abs(run.inclusion[n] - exact[n]) / run.inclusion_se[n] for n in COVARIATES if exact[n] < 0.9999),
                "switches": run.switches,
                "status": str(run.status),
                "cpu_seconds": time.process_time() - begin,
            }
        )
        for name, models in (("two models", pair), ("all 128", family)):
            f, df1, df2, chance = zhat.jump(models, seed=seed, likelihood=False, progress=False).null_test()
            off.append({"seed": seed, "models": name, "f": f, "df": [df1, df2], "p": chance})
    return {"two": two, "all": all_, "likelihood_off": off}


def report(result: dict[str, Any]) -> str:
    """Three tables."""
    two = [
        [
            str(row["seed"]),
            f"{row['log_bf']:.4f} ± {row['se']:.4f}",
            f"{(row['log_bf'] - LOG_BF) / row['se']:+.2f}",
            f"{row['se_by_switches']:.4f}",
            f"{row['switches']:,}",
            f"{row['round_trips']:,}",
            f"{row['accepted']:.0%}",
            f"{row['cpu_seconds']:.1f}",
            row["status"],
        ]
        for row in result["two"]
    ]
    all_ = [
        [
            str(row["seed"]),
            f"{row['largest_difference']:.4f}",
            f"{row['largest_z']:.2f}",
            f"{row['switches']:,}",
            f"{row['cpu_seconds']:.1f}",
            row["status"],
        ]
        for row in result["all"]
    ]
    off = [
        [f"{row['models']}, seed {row['seed']}", f"F({row['df'][0]}, {row['df'][1]}) = {row['f']:.2f}", f"{row['p']:.3f}"]
        for row in result["likelihood_off"]
    ]
    header = ["seed", "log BF12", "off by, in errors", "by switches", "switches", "round trips", "accepted", "CPU s", "status"]
    return "\n\n".join(
        [
            "## Reversible jump on the Pima data",
            f"Models 1 and 2 at tau = {TAU}; the log Bayes factor is {LOG_BF:.3f}.",
            common.table(header, two),
            "Bars: at least 10,000 switches, error at most 0.03, within 3 errors.",
            "All 128 models, against enumeration:",
            common.table(["seed", "largest difference of inclusion", "in errors", "switches", "CPU s", "status"], all_),
            "Bar: 0.02.",
            "Likelihood off: do visits match the prior?",
            common.table(["models", "statistic", "p"], off),
        ]
    )


def main() -> int:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    result = measure(options.seeds)
    common.write("jumps", result, report(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
