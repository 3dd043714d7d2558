"""CPU of the default, `zhat.evidence(model)`, in this tree and in an earlier one, on models where importance sampling alone is fine.

Two processes, one for each tree, stay open and take turns: one run of a seed each, on one core, after two runs that compile. CPU seconds
of the process, median over seeds; the ratio is the median of the ratios of a seed's two runs.

    git worktree add ../before 5b34269           # the last commit whose default is importance sampling, then SMC
    python benchmarks/cost_of_default.py --before ../before
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import common

BAR = 1.3
MODELS = ("E1", "E2", "E3a", "E4", "E6", "E8", "E9a", "E11", "E12", "E13", "E14a", "E15n", "E16a")
FIRST_SEED = 500


def answer() -> None:
    """Read pairs of a model and a seed, one a line; write CPU seconds, log evidence and the method."""
    common.one_core()
    import zhat

    models: dict[str, Any] = {}
    for line in sys.stdin:
        name, seed = line.split()
        if name not in models:
            models[name] = zhat.zoo.example(name).model
            for warm in (1, 2):
                zhat.evidence(models[name], seed=warm, progress=False)
        begin = time.process_time()
        found = zhat.evidence(models[name], seed=int(seed), progress=False)
        seconds = time.process_time() - begin
        row = {
            "cpu_seconds": seconds,
            "log_evidence": found.log_evidence,
            "method": found.method,
            "likelihoods": found.cost.n_likelihood,
        }
        print(json.dumps(row), flush=True)


class Tree:
    """A process that runs the default of one source tree."""

    def __init__(self, tree: Path, environment: dict[str, str]) -> None:
        script = Path(__file__).resolve()
        folder = Path(environment["ZHAT_COMPILE_CACHE"]) / tree.resolve().name
        folder.mkdir()
        cache = {"JAX_COMPILATION_CACHE_DIR": str(folder), "ZHAT_COMPILE_CACHE": str(folder)}
        self._process = subprocess.Popen(
            [sys.executable, str(script), "--answer"],
            env={**environment, **cache, "PYTHONPATH": str(tree.resolve() / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, model: str, seed: int) -> dict[str, Any]:
        """One run of a seed."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{model} {seed}\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measure(before: Path, names: tuple[str, ...], n_seeds: int) -> dict[str, Any]:
    """Both trees on every model, a seed at a time in turn."""
    rows: dict[str, Any] = {}
    with common.compile_cache() as environment:
        trees = {"before": Tree(before, environment), "now": Tree(common.HERE.parent, environment)}
        for name in names:
            runs: dict[str, list[dict[str, Any]]] = {which: [] for which in trees}
            for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
                for which, tree in trees.items():
                    runs[which].append(tree.run(name, seed))
            rows[name] = summary(runs)
            print(name, {key: rows[name][key] for key in ("before", "now", "ratio")}, file=sys.stderr, flush=True)
        for tree in trees.values():
            tree.close()
    return {"models": rows, "geometric_mean": mean_ratio(rows), "seeds": n_seeds}


def summary(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians of one model."""
    seconds = {which: [run["cpu_seconds"] for run in some] for which, some in runs.items()}
    pairs = zip(seconds["now"], seconds["before"], strict=True)
    return {
        **{which: statistics.median(some) for which, some in seconds.items()},
        "ratio": statistics.median(now / before for now, before in pairs),
        "by_importance": all(run["method"] == "importance" for run in runs["before"]),
        "likelihoods": {which: statistics.median(run["likelihoods"] for run in some) for which, some in runs.items()},
    }


def mean_ratio(rows: dict[str, Any]) -> float:
    """Geometric mean of the ratios, over the models where importance sampling alone was fine."""
    return math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows.values() if row["by_importance"]))


def report(result: dict[str, Any]) -> str:
    """The table."""
    rows = [
        [
            name,
            f"{1e3 * row['before']:.0f}",
            f"{1e3 * row['now']:.0f}",
            f"{row['ratio']:.2f}",
            f"{row['likelihoods']['before']:,.0f}",
            f"{row['likelihoods']['now']:,.0f}",
        ]
        for name, row in result["models"].items()
        if row["by_importance"]
    ]
    return "\n\n".join(
        [
            "## Cost of the default",
            "CPU milliseconds of `zhat.evidence(model)`, warm, one core, on models where importance sampling alone is fine: the last code "
            f"without a portfolio of families (before) and this one (now), taking turns; medians of {result['seeds']} seeds.",
            common.table(["model", "before, ms", "now, ms", "ratio", "likelihoods before", "likelihoods now"], rows),
            f"Geometric mean of the ratios: {result['geometric_mean']:.2f} (bar: at most {BAR:g}).",
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answer", action="store_true", help="be one of the two processes")
    parser.add_argument("--before", type=Path, help="work tree of the earlier code")
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--dry", action="store_true", help="print the table, write no file")
    options = parser.parse_args()
    if options.answer:
        return answer()
    if options.before is None:
        parser.error("--before is the work tree of the earlier code: git worktree add ../before 5b34269")
    result = measure(options.before, tuple(options.models), options.seeds)
    if options.dry:
        return print(report(result))
    return common.write("cost_of_default", result, report(result))


if __name__ == "__main__":
    main()
