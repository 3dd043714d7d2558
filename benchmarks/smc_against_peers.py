"""Cost x squared error of our SMC against BlackJAX's and that of `particles`, on one core.

Every tool runs every problem in a process of its own, over the same seeds. Cost is CPU seconds, error the mean
squared error of log Z against the truth; their product hardly depends on the number of particles, so tools can be
compared at any size.

* warm: the median run, after one that compiles;
* second process: the first run in a process that finds its compile cache filled by another.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

import common
import tools
from problems import PROBLEMS

OURS = [("zhat", "ours.py", "default"), ("zhat, 2,000 particles", "ours.py", "2000")]
PEERS = [
    ("BlackJAX random walk", "peer_blackjax.py", "rw"),
    ("BlackJAX random walk, ESS 0.9", "peer_blackjax.py", "rw-ess0.9"),
    ("BlackJAX HMC", "peer_blackjax.py", "hmc"),
    ("BlackJAX HMC, ESS 0.9", "peer_blackjax.py", "hmc-ess0.9"),
    ("BlackJAX HMC, ESS 0.9, 5 moves", "peer_blackjax.py", "hmc-ess0.9-5"),
    ("BlackJAX HMC, diagonal mass", "peer_blackjax.py", "hmc-diagonal"),
    ("particles waste-free", "peer_particles.py", "waste-free"),
    ("particles standard", "peer_particles.py", "standard"),
]


def measure(script: str, setting: str, problem: str, n_seeds: int, python: str) -> dict[str, Any]:
    """Two processes with one compile cache: the first fills it, the second is measured."""
    arguments = ["--problem", problem, "--setting", setting, "--seeds"]
    with common.compile_cache() as environment:
        try:
            common.run_child(script, [*arguments, "0"], environment, python)
            return summary(common.run_child(script, [*arguments, str(n_seeds)], environment, python))
        except RuntimeError as error:
            return {"failed": str(error)}


def summary(run: dict[str, Any]) -> dict[str, Any]:
    """Errors and costs of one tool on one problem, warm and in a second process."""
    found = tools.accuracy(run)
    if "failed" in found:
        return found
    return {**found, "warm": found["product"], "second_process": run["first_run_cpu_seconds"] * found["mse"]}


def compare(n_seeds: int, problems: list[str], particles_python: str) -> dict[str, dict[str, Any]]:
    """All tools on all problems."""

    def measured(script: str, setting: str, problem: str) -> dict[str, Any]:
        python = particles_python if script == "peer_particles.py" else sys.executable
        return measure(script, setting, problem, n_seeds, python)

    return tools.on_all([*OURS, *PEERS], problems, measured)


def report(result: dict[str, dict[str, Any]], n_seeds: int) -> str:
    """A table a problem; ratios above one mean that ours is cheaper for the same error."""
    parts = [
        "## SMC against its peers",
        f"CPU seconds on one core x mean squared error of log Z over {n_seeds} seeds (a mean square of {n_seeds} is "
        f"known to about ±{100 * math.sqrt(2 / max(n_seeds, 1)):.0f} %). Ratios are peer / ours at its default "
        "settings: above 1, ours is cheaper for the same error.",
    ]
    for problem, rows in result.items():
        ours = rows[OURS[0][0]]
        lines = [cells(label, row, ours) for label, row in rows.items()]
        header = ["tool", "CPU s", "bias", "error", "s x MSE", "ratio", "first s", "s x MSE (2nd process)", "ratio"]
        parts += [f"### {problem}", common.table(header, lines)]
        parts += [f"{label}: {row['failed']}" for label, row in rows.items() if "failed" in row]
    return "\n\n".join([*parts, verdict(result)])


def cells(label: str, row: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """One row of the table."""
    if "failed" in row:
        return [label, "failed", *[""] * 7]
    name = label + (f" ({row['n_failed']} failed)" if row["n_failed"] else "")
    warm, second = (f"{row[k] / ours[k]:.2f}" if ours.get(k) else "" for k in ("warm", "second_process"))
    return [
        name,
        f"{row['seconds']:.3f}",
        f"{row['bias']:+.4f}",
        f"{row['rmse']:.4f}",
        f"{row['warm']:.2e}",
        warm,
        f"{row['first_run_cpu_seconds']:.2f}",
        f"{row['second_process']:.2e}",
        second,
    ]


def verdict(result: dict[str, dict[str, Any]]) -> str:
    """Where, if anywhere, a peer is below us."""
    lost = []
    for problem, rows in result.items():
        ours = rows[OURS[0][0]]
        for label, _, _ in PEERS:
            for key, words in (("warm", "warm"), ("second_process", "in a second process")):
                if rows.get(label, {}).get(key, math.inf) < ours.get(key, math.inf):
                    lost.append(f"{label} on {problem}, {words} ({rows[label][key] / ours[key]:.2f})")
    return "Ours is below every peer." if not lost else "**A peer is below ours:** " + "; ".join(lost) + "."


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--problem", choices=PROBLEMS, action="append")
    parser.add_argument("--particles-python", default=sys.executable, help="a Python that has the package `particles`")
    parser.add_argument("--raw", action="store_true", help="print the numbers as JSON instead of writing results")
    options = parser.parse_args()
    result = compare(options.seeds, options.problem or list(PROBLEMS), options.particles_python)
    if options.raw:
        print(json.dumps(result))
    else:
        common.write("smc_against_peers", {"seeds": options.seeds, "problems": result}, report(result, options.seeds))


if __name__ == "__main__":
    main()
