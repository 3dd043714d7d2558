"""Evidence calibration of the whole chain: simulate model, parameters and data; estimate; are the model probabilities right?

Two pairs of models with closed-form evidences (for the resolution and the largest error only), M = 1000 data sets each, the
default method, and the tests of `zhat.numerics.calibration.model_probabilities`. Simulators are written in NumPy, apart from the
models, so that a prior or likelihood that is not what it claims to be is seen. The last results are kept in `sbc.csv` beside
this file.

    python calibration/sbc.py                    # both pairs, M = 1000, ten minutes
    python calibration/sbc.py --data-sets 100 --pair counts

The pairs, and the numbers of observations, were chosen before any run, so that mean p (1 - p) exceeds 0.12: *line*, normal
observations (sd 1) at 12 points with an intercept ~ N(0, 1), against the same with a slope ~ N(0, 1); *counts*, 10 Poisson counts
whose rate is Ga(2, 1), against 10 geometric counts (failures before a success) whose chance is Be(2, 3).
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import gammaln as jax_gammaln
from scipy.special import betaln, gammaln

import zhat
from zhat.numerics.calibration.model_probabilities import model_calibration
from zhat.seeding import Key

RESULTS = Path(__file__).parent / "sbc.csv"
SEED = 50_000
X = np.linspace(-1.0, 1.0, 12)
N_COUNTS = 10
AT_ONCE = 50  # data sets whose records are in memory together
LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Pair:
    """Two models for data of one shape, each with its simulator and its exact log evidence."""

    models: tuple[zhat.Model, zhat.Model]
    simulate: tuple[Callable[[np.random.Generator], np.ndarray], Callable[[np.random.Generator], np.ndarray]]
    exact: tuple[Callable[[np.ndarray], float], Callable[[np.ndarray], float]]


def line() -> Pair:
    def model(width: int) -> zhat.Model:
        def log_likelihood(params: Any, data: Any) -> Any:
            x, y = data
            mean = params["intercept"] + (params["slope"] * x if width == 2 else 0.0)
            return jnp.sum(-0.5 * (y - mean) ** 2 - 0.5 * LOG_TWO_PI)

        prior = {name: dist.Normal(0.0, 1.0) for name in ("intercept", "slope")[:width]}
        return zhat.Model(log_likelihood, prior, data=(X, np.zeros(len(X))), name=("flat", "line")[width - 1])

    def exact(width: int) -> Callable[[np.ndarray], float]:
        design = np.stack([np.ones_like(X), X], axis=1)[:, :width]
        covariance = np.eye(len(X)) + design @ design.T
        constant = -0.5 * (len(X) * LOG_TWO_PI + np.linalg.slogdet(covariance)[1])
        return lambda y: float(constant - 0.5 * y @ np.linalg.solve(covariance, y))

    def flat(rng: np.random.Generator) -> np.ndarray:
        return rng.normal() + rng.normal(size=len(X))

    def sloped(rng: np.random.Generator) -> np.ndarray:
        return rng.normal() + rng.normal() * X + rng.normal(size=len(X))

    return Pair((model(1), model(2)), (flat, sloped), (exact(1), exact(2)))


def counts() -> Pair:
    def poisson(params: Any, data: Any) -> Any:
        return jnp.sum(data * jnp.log(params["rate"]) - params["rate"] - jax_gammaln(data + 1.0))

    def geometric(params: Any, data: Any) -> Any:
        return jnp.sum(jnp.log(params["chance"]) + data * jnp.log1p(-params["chance"]))

    def exact_poisson(y: np.ndarray) -> float:
        total = y.sum()
        return float(gammaln(2.0 + total) - gammaln(2.0) - (2.0 + total) * np.log(1.0 + len(y)) - gammaln(y + 1.0).sum())

    def exact_geometric(y: np.ndarray) -> float:
        return float(betaln(2.0 + len(y), 3.0 + y.sum()) - betaln(2.0, 3.0))

    start = np.ones(N_COUNTS)
    models = (
        zhat.Model(poisson, {"rate": dist.Gamma(2.0, 1.0)}, data=start, name="poisson"),
        zhat.Model(geometric, {"chance": dist.Beta(2.0, 3.0)}, data=start, name="geometric"),
    )
    simulate = (
        lambda rng: rng.poisson(rng.gamma(2.0, 1.0), N_COUNTS).astype(float),
        lambda rng: rng.geometric(rng.beta(2.0, 3.0), N_COUNTS).astype(float) - 1.0,
    )
    return Pair(models, simulate, (exact_poisson, exact_geometric))


PAIRS = {"line": line, "counts": counts}


def run(name: str, m: int, workers: int | None) -> dict[str, object]:
    """Simulate, estimate, judge."""
    pair = PAIRS[name]()
    begun = time.perf_counter()
    drawn, exact, log_z = np.empty(m), np.empty(m), np.empty((m, 2))
    methods, flagged = set(), 0
    with zhat.LocalPool(workers) if workers else nullcontext() as pool:
        for begin in range(0, m, AT_ONCE):
            models = {}
            for i in range(begin, min(begin + AT_ONCE, m)):
                rng = Key(SEED).child(name, i).generator()
                drawn[i] = rng.integers(2)
                y = pair.simulate[int(drawn[i])](rng)
                exact[i] = pair.exact[1](y) - pair.exact[0](y)
                for k, model in enumerate(pair.models):
                    models[f"{i} {k}"] = model.with_data((X, y) if name == "line" else y)
            for label, result in zhat.evidences(models, seed=SEED, progress=False, executor=pool).items():
                i, k = map(int, label.split())
                log_z[i, k] = result.log_evidence
                methods.add(result.method)
                flagged += not result.status.is_ok
    odds = log_z[:, 1] - log_z[:, 0]
    report = model_calibration(odds, drawn, exact)
    compiled = [max(model.core.traces.values(), default=0) for model in pair.models]
    print(f"{name}: {report.sentence()} Largest error of a log Bayes factor {np.abs(odds - exact).max():.4f}.", flush=True)
    if workers is None:
        print(f"  most traces of any function: {max(compiled)}", flush=True)
    return {
        "pair": name,
        "data_sets": m,
        "method": " or ".join(sorted(methods)),
        "flagged": flagged,
        "information": f"{report.information:.3f}",
        "b1_marginal": f"{report.marginal:+.2f}",
        "b2_intercept": f"{report.intercept:+.2f}",
        "b3_slope": f"{report.slope:+.2f}",
        "b4_good_0": f"{report.good[0]:.2f}",
        "b4_good_1": f"{report.good[1]:.2f}",
        "b5_resolution": f"{report.resolution:.4f}",
        "largest_error": f"{np.abs(odds - exact).max():.4f}",
        "seconds": f"{time.perf_counter() - begun:.0f}",
        "passed": report.ok,
    }


def write(rows: list[dict[str, object]]) -> None:
    """Put these pairs into the table, in the place of their last results."""
    kept: dict[object, dict[str, object]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = {row["pair"]: dict(row) for row in csv.DictReader(file)}
    kept |= {row["pair"]: row for row in rows}
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[name] for name in PAIRS if name in kept)


def main() -> int:
    """Run the pairs and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--pair", choices=sorted(PAIRS))
    parser.add_argument("--workers", type=int, help="local processes; the digits are the same")
    options = parser.parse_args()
    chosen = [options.pair] if options.pair else list(PAIRS)
    rows = [run(name, options.data_sets, options.workers) for name in chosen]
    write(rows)
    return 0 if all(row["passed"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
