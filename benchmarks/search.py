"""Search among 2^30 subsets: a simulated logistic regression with 30 covariates and 500 rows, five of them active.

    python benchmarks/search.py

Two runs side by side, and the best model held against enumeration of the subsets of ten covariates: the five active ones, and the
five others that the search finds most probable.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import common

common.one_core()

N_ROWS, N_COVARIATES = 500, 30
SLOPES = (1.0, -1.0, 0.8, -0.8, 0.6)
N_RESTRICTED = 10


def family_of(x: Any, y: Any, names: list[str]) -> Any:
    """All subsets of these covariates; theta ~ N(0, 2^2), the intercept included."""
    import jax.numpy as jnp
    import numpy as np
    import numpyro.distributions as dist

    import zhat

    def log_likelihood(params: Any, data: Any) -> Any:
        mask = jnp.concatenate([jnp.ones(1), data["mask"]])
        eta = data["x"] @ (params["theta"] * mask)
        return jnp.sum(data["y"] * eta - jnp.logaddexp(0.0, eta))

    prior = {"theta": dist.Normal(0.0, 2.0).expand([len(names) + 1]).to_event(1)}
    data = {"x": np.column_stack([np.ones(len(y)), x]), "y": y, "mask": np.ones(len(names))}
    return zhat.Subsets(zhat.Model(log_likelihood, prior, data=data, name="logistic"), names)


def measure(seeds: tuple[int, int], n_moves: int | None) -> dict[str, Any]:
    """Two runs, and the enumeration of the restricted family."""
    import numpy as np

    rng = np.random.default_rng(1)
    x = rng.standard_normal((N_ROWS, N_COVARIATES))
    truth = np.zeros(N_COVARIATES)
    truth[: len(SLOPES)] = SLOPES
    y = (rng.random(N_ROWS) < 1.0 / (1.0 + np.exp(-x @ truth))).astype(np.float64)
    names = [f"x{j + 1}" for j in range(N_COVARIATES)]
    family = family_of(x, y, names)
    runs = []
    for seed in seeds:
        begin = time.process_time()
        found = family.search(seed=seed, n_moves=n_moves, progress=False)
        runs.append(
            {
                "seed": seed,
                "inclusion": found.inclusion,
                "inclusion_se": found.inclusion_se,
                "top": found.top(5),
                "n_evaluated": len(found.masks),
                "visited_share": found.visited_share,
                "r_hat": found.r_hat,
                "walks_at_best": found.walks_at_best,
                "status": str(found.status),
                "coefficients": found.averaged_coefficients.tolist(),
                "coefficients_se": found.averaged_coefficients_se.tolist(),
                "cpu_seconds": time.process_time() - begin,
            }
        )
    first = runs[0]["inclusion"]
    ranked = sorted(range(len(SLOPES), N_COVARIATES), key=lambda j: -first[names[j]])
    chosen = [*range(len(SLOPES)), *ranked[: N_RESTRICTED - len(SLOPES)]]
    restricted = family_of(x[:, chosen], y, [names[j] for j in chosen]).enumerate(seed=3, n_draws=2000, progress=False)
    best = [(sorted(name.split(" + ")), log_z, se) for name, _, log_z, se in restricted.top(5)]
    return {"runs": runs, "restricted": [names[j] for j in chosen], "restricted_top": best, "active": names[: len(SLOPES)]}


def report(result: dict[str, Any]) -> str:
    """Inclusion in both runs, and the best models."""
    one, two = result["runs"]
    lines, worst = [], 0.0
    for name in one["inclusion"]:
        values, errors = [run["inclusion"][name] for run in (one, two)], [run["inclusion_se"][name] for run in (one, two)]
        apart = values[0] - values[1]
        worst = max(worst, abs(apart))
        cells = [f"{v:.4f} ± {e:.4f}" for v, e in zip(values, errors, strict=True)]
        lines.append([f"{name}{' (active)' if name in result['active'] else ''}", *cells, f"{apart:+.4f}"])
    best = [sorted(run["top"][0][0].split(" + ")) for run in (one, two)]
    same = all(names == result["restricted_top"][0][0] for names in best)
    facts = [
        [
            str(run["seed"]),
            f"{run['n_evaluated']:,}",
            f"{run['visited_share']:.1%}",
            f"{run['r_hat']:.3f}",
            f"{run['cpu_seconds']:.0f}",
            run["status"],
        ]
        for run in (one, two)
    ]
    tops = [[name, f"{p:.4f}", f"{log_z:.3f} ± {se:.3f}"] for name, p, log_z, se in one["top"]]
    return "\n\n".join(
        [
            "## Search among 2^30 subsets",
            f"Logistic regression, {N_COVARIATES} covariates, {N_ROWS} rows, {len(SLOPES)} active.",
            common.table(["seed", "models evaluated", "share of mass", "R-hat", "CPU s", "status"], facts),
            common.table(["covariate", "inclusion, run 1", "run 2", "difference"], lines),
            f"Largest difference between the runs: {worst:.4f}.",
            common.table(["best models of run 1", "probability", "log evidence"], tops),
            f"Enumeration of the subsets of {', '.join(result['restricted'])} has the same best model as both runs: "
            f"{'yes' if same else 'no'} ({' + '.join(result['restricted_top'][0][0])}, log evidence "
            f"{result['restricted_top'][0][1]:.3f} ± {result['restricted_top'][0][2]:.3f}).",
        ]
    )


def main() -> int:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs=2, default=[1, 2])
    parser.add_argument("--moves", type=int)
    options = parser.parse_args()
    result = measure(tuple(options.seeds), options.moves)
    common.write("search", result, report(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
