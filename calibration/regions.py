"""Are the answers of draws from regions right? Bias, scale and insertion ranks over independent runs, of both assignments of masses.

Each model with a known evidence is run with `RegionReplacement` and its default settings. Written are the mean error of log Z in its own
standard errors (a standard normal if there is no bias), the root mean square of z, the same for the evidence by the shrinkages of the
live points, and the mean insertion rank as a standard normal score.

    python calibration/regions.py                       # all, 100 runs
    python calibration/regions.py --runs 30 --model S2
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
from pathlib import Path

RESULTS = Path(__file__).parent / "regions.csv"
MODELS = ("E1", "E2", "E3a", "E8", "E12", "E16a", "S2", "S3", "S9", "rosenbrock-2", "gaussian-6", "gaussian-10")
COLUMNS = (
    "model", "runs", "calls", "bias", "bias_z", "rms_z", "median_se", "shrinkage_bias_z", "shrinkage_rms_z", "shrinkage_se", "rank_z",
    "rank_spread", "by_moves", "flagged",
)  # fmt: skip


def box_model(name: str):  # type: ignore[no-untyped-def]
    """A Gaussian of width 0.5 and correlations 0.6, or Rosenbrock's function, in [-5, 5]^d; and the log evidence."""
    import jax.numpy as jnp
    import numpy as np
    import numpyro.distributions as dist
    from scipy.integrate import quad

    import zhat

    kind, d = name.split("-")[0], int(name.split("-")[1])
    prior = lambda: {"x": dist.Uniform(-5.0, 5.0).expand([d]).to_event(1)}  # noqa: E731
    if kind == "gaussian":
        covariance = 0.25 * (np.full((d, d), 0.6) + 0.4 * np.eye(d))
        precision = jnp.asarray(np.linalg.inv(covariance))
        constant = -0.5 * (d * math.log(2.0 * math.pi) + float(np.linalg.slogdet(covariance)[1]))
        return zhat.Model(lambda p: constant - 0.5 * p["x"] @ precision @ p["x"], prior, name=name), -d * math.log(10.0)

    def inner(x: float) -> float:
        at = x * x
        sd = math.sqrt(0.5) / 10.0
        upper, lower = math.erf((5.0 - at) / sd / math.sqrt(2.0)), math.erf((-5.0 - at) / sd / math.sqrt(2.0))
        return math.exp(-((1.0 - x) ** 2)) * 0.5 * (upper - lower) * math.sqrt(math.pi) / 10.0

    exact = quad(inner, -5.0, 5.0, points=[-math.sqrt(5.0), 0.0, math.sqrt(5.0)], limit=400, epsabs=0.0)[0]
    likelihood = lambda p: -100.0 * (p["x"][1] - p["x"][0] ** 2) ** 2 - (1.0 - p["x"][0]) ** 2  # noqa: E731
    return zhat.Model(likelihood, prior, name=name), math.log(exact / 100.0)


def cell(name: str, runs: int) -> dict[str, object]:
    """All runs on one model."""
    import zhat

    if "-" in name:
        model, truth = box_model(name)
    else:
        example = zhat.zoo.example(name)
        model, truth = example.model, example.log_evidence
    method = zhat.NestedSampling(replacement=zhat.settings.RegionReplacement(), mode_check=False)
    found = [zhat.evidence(model, method, seed=70_000 + i, progress=False) for i in range(runs)]
    errors = [r.log_evidence - truth for r in found]
    usual = [r for r in found if r.log_evidence_se is not None]
    z = [(r.log_evidence - truth) / r.log_evidence_se for r in usual]
    shrinkage = [r.diagnostics["shrinkage_se"] for r in found]
    by_shrinkage = [
        (r.diagnostics.get("log_evidence_by_shrinkage", r.log_evidence) - truth) / se
        for r, se in zip(found, shrinkage, strict=True)
    ]
    ranks = [r.diagnostics["insertion_rank_z"] for r in found]
    root = math.sqrt(runs)
    return {
        "model": name,
        "runs": runs,
        "calls": round(statistics.fmean(r.cost.n_likelihood for r in found)),
        "bias": f"{statistics.fmean(errors):+.5f}",
        "bias_z": f"{statistics.fmean(z) * root:+.2f}",
        "rms_z": f"{math.sqrt(statistics.fmean(x * x for x in z)):.2f}",
        "median_se": f"{statistics.median(r.log_evidence_se for r in usual):.4f}",
        "shrinkage_bias_z": f"{statistics.fmean(by_shrinkage) * root:+.2f}",
        "shrinkage_rms_z": f"{math.sqrt(statistics.fmean(x * x for x in by_shrinkage)):.2f}",
        "shrinkage_se": f"{statistics.median(shrinkage):.3f}",
        "rank_z": f"{statistics.fmean(ranks) * root:+.2f}",
        "rank_spread": f"{statistics.pstdev(ranks):.2f}",
        "by_moves": sum(r.record.measured is None for r in found),
        "flagged": sum(not r.status.is_ok for r in found),
    }


def main() -> None:
    """Run the cells and write each as it comes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--model", choices=MODELS, action="append")
    options = parser.parse_args()
    rows: dict[str, dict[str, object]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            rows = {row["model"]: dict(row) for row in csv.DictReader(file)}
    for name in options.model or MODELS:
        rows[name] = cell(name, options.runs)
        print(rows[name], flush=True)
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[name] for name in MODELS if name in rows)


if __name__ == "__main__":
    main()
