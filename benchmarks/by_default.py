"""`zhat.evidence(model)`, without a method, on the problems of both comparisons with other packages.

    python benchmarks/by_default.py                # 20 seeds of each, about five minutes on one quiet core

Its rows stand beside those of the peers on docs/peers.md (`page.py`).
"""

from __future__ import annotations

import argparse

import common
from nested_problems import PROBLEMS as NESTED
from problems import PROBLEMS as SMC
from smc_against_peers import summary  # errors and cost of the runs of one tool


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--problem", choices=[*SMC, *NESTED], action="append")
    options = parser.parse_args()
    result, rows = {}, []
    for problem in options.problem or dict.fromkeys([*SMC, *NESTED]):
        script = "ours.py" if problem in SMC else "ours_nested.py"
        with common.compile_cache() as environment:
            arguments = ["--problem", problem, "--setting", "auto", "--seeds", str(options.seeds)]
            row = summary(common.run_child(script, arguments, environment))
        result[problem] = row
        rows.append([problem, f"{row['seconds']:.3f}", f"{row['bias']:+.4f}", f"{row['rmse']:.4f}", f"{row['product']:.2e}"])
        print(*rows[-1], flush=True)
    text = "## The default\n\n" + common.table(["problem", "CPU s", "bias", "error", "s x MSE"], rows)
    common.write("by_default", {"seeds": options.seeds, "problems": result}, text)


if __name__ == "__main__":
    main()
