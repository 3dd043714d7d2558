"""INLA beside SMC on latent Gaussian models: processor seconds at each one's standard error; and INLA over the length of a series.

    python benchmarks/latent_gaussian.py              # the examples of the zoo, INLA and SMC
    python benchmarks/latent_gaussian.py --keep-smc   # INLA alone, beside the rows of SMC that are there
    python benchmarks/latent_gaussian.py --lengths    # a random-walk smoother of counts, 250 to 4,000 values

SMC runs on the same models with their effects as functions of noise, where its moves mix better (on the models as they are it
flags itself as stuck). A run is made twice in one process, and the second is timed: both methods are compiled then. `plain` is the ratio of
processor seconds, SMC's to INLA's, and `same_error` that of processor seconds times squared error: what INLA would save at SMC's error if all
of its time were draws.
Results are kept in `latent_gaussian.csv` and `latent_lengths.csv` beside this file.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = ("seeds-main", "noisy-ar", "stochastic-volatility", "coal-smooth", "tokyo")
COLUMNS = ("example", "latents", "method", "log_evidence", "error", "off_by", "status", "cpu_seconds", "plain", "same_error")
LENGTHS = (250, 500, 1000, 2000, 4000)


def timed(model: Any, method: Any) -> tuple[Any, float]:
    """The result of a second run, and its processor seconds."""
    import zhat

    zhat.evidence(model, method, seed=1, progress=False)
    begun = time.process_time()
    result = zhat.evidence(model, method, seed=2, progress=False)
    return result, time.process_time() - begun


def examples(names: list[str], keep_smc: bool) -> None:
    """Every example by both methods."""
    import zhat
    from zhat.zoo.fields.latent_gaussian import from_noise

    kept: dict[tuple[str, str], dict[str, Any]] = {}
    path = HERE / "latent_gaussian.csv"
    if path.exists():
        with path.open(newline="") as file:
            kept = {(row["example"], row["method"]): dict(row) for row in csv.DictReader(file)}
    for name in names:
        example = zhat.zoo.example(name)
        inla, fast = timed(example.model, zhat.INLA())
        kept[name, "inla"] = row(name, inla, "inla", inla, example.log_evidence, fast)
        if not keep_smc:
            smc, slow = timed(from_noise(name), zhat.SMC())
            kept[name, "smc"] = row(name, inla, "smc", smc, example.log_evidence, slow)
        if other := kept.get((name, "smc")):
            slow, error = float(other["cpu_seconds"]), float(other["error"] or "nan")
            other["plain"] = f"{slow / fast:.0f}"
            other["same_error"] = f"{slow / max(fast * min(1.0, (inla.error / error) ** 2), 1e-9):.0f}"
        print(kept[name, "inla"], kept.get((name, "smc")), flush=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept.values())


def row(name: str, inla: Any, method: str, result: Any, truth: float, seconds: float) -> dict[str, Any]:
    """One line of the table."""
    return {
        "example": name,
        "latents": inla.diagnostics["n_latents"],
        "method": method,
        "log_evidence": f"{result.log_evidence:.5f}",
        "error": "" if result.error is None else f"{result.error:.5f}",
        "off_by": f"{result.log_evidence - truth:+.5f}",
        "status": str(result.status),
        "cpu_seconds": f"{seconds:.2f}",
        "plain": "",
        "same_error": "",
    }


def lengths() -> None:
    """A smoother of counts with a yearly cycle, for growing lengths."""
    import numpy as np
    import numpyro.distributions as dist

    import zhat
    from zhat import latent

    with (HERE / "latent_lengths.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("length", "log_evidence", "error", "status", "cpu_seconds"))
        for n in LENGTHS:
            t = np.arange(n)
            y = np.random.default_rng(0).poisson(np.exp(1.5 + np.sin(2 * np.pi * t / 365) + 0.3 * np.sin(t / 17)))
            terms = [latent.RW1(name="x", sd=dist.Exponential(4.6), start=2.0)]
            result, seconds = timed(latent.model(y, terms, latent.Poisson(), name=f"smoother-{n}"), zhat.INLA())
            row = (n, f"{result.log_evidence:.4f}", f"{result.error:.4f}", str(result.status), f"{seconds:.2f}")
            writer.writerow(row)
            print(row, flush=True)


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", action="store_true")
    parser.add_argument("--keep-smc", action="store_true", help="do not run SMC; its rows are kept")
    parser.add_argument("--example", action="append", help="only these; the others' rows are kept")
    options = parser.parse_args()
    if options.lengths:
        lengths()
    else:
        examples(options.example or list(EXAMPLES), options.keep_smc)
    return 0


if __name__ == "__main__":
    sys.exit(main())
