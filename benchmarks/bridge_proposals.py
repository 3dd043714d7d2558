"""Which density should bridge sampling compare the posterior with? Exact draws of posteriors that are not normal, 4 x 1000 a seed.

Two normals of equal mass in five dimensions, one half as wide as the other and some ten standard deviations away, and a curved ridge
in two, whose evidence is one. The nearly normal posteriors are in `bridge_against_r.py`. No check for missed mass; CPU seconds of a warm call.

    python benchmarks/bridge_proposals.py
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

RESULTS = Path(__file__).parent / "results" / "bridge_proposals"
SEEDS, N_CHAINS, N_DRAWS = 20, 4, 1000


def two_normals(theta):
    wide = -0.5 * jnp.sum((theta - 2.5) ** 2)
    narrow = -0.5 * jnp.sum(((theta + 2.5) / 0.5) ** 2) + 5 * jnp.log(2.0)
    return jnp.logaddexp(wide, narrow) + jnp.log(0.5) - 2.5 * jnp.log(2.0 * jnp.pi)


def draws_of_two_normals(rng, n):
    wide = rng.random((n, 1)) < 0.5
    noise = rng.standard_normal((n, 5))
    return np.where(wide, 2.5 + noise, -2.5 + 0.5 * noise)


def ridge(theta):
    return -0.125 * theta[0] ** 2 - jnp.log(2.0) - 0.5 * (theta[1] - theta[0] ** 2 / 2.0) ** 2 - jnp.log(2.0 * jnp.pi)


def draws_of_ridge(rng, n):
    along = 2.0 * rng.standard_normal(n)
    return np.stack([along, along**2 / 2.0 + rng.standard_normal(n)], axis=1)


PROBLEMS = {"two normals": (two_normals, draws_of_two_normals, 5), "curved ridge": (ridge, draws_of_ridge, 2)}


def main():
    import zhat

    proposals = {
        "WarpIII": zhat.settings.WarpIII(),
        "FittedNormal": zhat.settings.FittedNormal(),
        "FittedMixture": zhat.settings.FittedMixture(),
    }
    table = {}
    for name, (log_density, drawn, d) in PROBLEMS.items():
        model = zhat.Model.from_log_density(log_density, d, name=name)
        for word, proposal in proposals.items():
            errors, stated, cpu, ok = [], [], [], 0
            for seed in range(SEEDS):
                draws = {"theta": drawn(np.random.default_rng(seed), N_CHAINS * N_DRAWS).reshape(N_CHAINS, N_DRAWS, d)}
                begun = time.process_time()
                method = zhat.Bridge(proposal=proposal, mode_check=False)
                result = zhat.evidence(model, method, draws=draws, seed=seed, progress=False)
                cpu.append(time.process_time() - begun)
                errors.append(result.log_evidence)
                stated.append(result.log_evidence_se or np.nan)
                ok += result.status.is_ok
            table[f"{name}, {word}"] = {
                "rmse": round(float(np.sqrt(np.mean(np.square(errors)))), 5), "stated": round(float(np.nanmedian(stated)), 5),
                "ok": ok, "cpu": round(float(np.median(cpu)), 4),
            }  # fmt: skip
            print(name, word, table[f"{name}, {word}"], flush=True)
    RESULTS.with_suffix(".json").write_text(json.dumps({"seeds": SEEDS, "rows": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
