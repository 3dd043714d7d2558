"""The evidence of hierarchical models from NumPyro's draws: how many of 20 sets of 4 x 1000 are right within three standard errors.

Eight schools, centred (E15) and non-centred (E15n), a Poisson regression of 30 groups with random intercepts and slopes (64 parameters)
and a Gaussian of 100 dimensions whose correlations are 0.9: with a dense mass matrix, and with NumPyro's diagonal one, by which 4 x 1000
draws have an effective sample size of 90 to 460 and chains disagree (R-hat up to 1.05). Each set goes through `zhat.evidence(model, draws=...)` with everything that it does by default. The
Poisson regression has no exact answer: its reference is the mean of long runs of SMC, kept with its row. Results in `from_nuts.csv`.

    python calibration/from_nuts.py --model E15n
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from from_draws import numpyro_chains

RESULTS = Path(__file__).parent / "from_nuts.csv"
MODELS = ("E15", "E15n", "poisson-30", "gaussian-100", "gaussian-100 diagonal")
COLUMNS = (
    "model",
    "truth",
    "truth_se",
    "sets",
    "ok",
    "within_3",
    "ok_and_wrong",
    "rms_z",
    "median_se",
    "by",
    "reasons",
    "seconds_per_set",
)


def poisson_groups():
    """Counts of 30 groups, 8 each, with a random intercept and a random slope a group."""
    rng = np.random.default_rng(30)
    group = np.repeat(np.arange(30), 8)
    x = np.tile(np.linspace(-1.0, 1.0, 8), 30)
    y = rng.poisson(np.exp(1.0 + 0.5 * rng.standard_normal(30)[group] + (0.3 + 0.3 * rng.standard_normal(30))[group] * x))

    def program(x, y):
        a, b = numpyro.sample("a", dist.Normal(0.0, 2.0)), numpyro.sample("b", dist.Normal(0.0, 2.0))
        sa, sb = numpyro.sample("sa", dist.HalfNormal(1.0)), numpyro.sample("sb", dist.HalfNormal(1.0))
        za = numpyro.sample("za", dist.Normal(0.0, 1.0).expand([30]).to_event(1))
        zb = numpyro.sample("zb", dist.Normal(0.0, 1.0).expand([30]).to_event(1))
        numpyro.sample("y", dist.Poisson(jnp.exp(a + sa * za[group] + (b + sb * zb[group]) * x)), obs=y)

    import zhat

    return zhat.Model.from_numpyro(program, x, y.astype(np.float64), name="poisson-30")


def reference(model):
    """The mean of eight runs of SMC with 4,000 particles, with its standard error from their scatter."""
    import zhat

    values = [zhat.evidence(model, zhat.SMC(n_particles=4000), seed=s, progress=False).log_evidence for s in range(8)]
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def stored_reference():
    """The reference of the last run, if there is one: it takes minutes."""
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            for r in csv.DictReader(file):
                if r["model"] == "poisson-30":
                    return float(r["truth"]), float(r["truth_se"])
    return None


def row(id, sets):
    import zhat

    if id == "poisson-30":
        model = poisson_groups()
        truth, truth_se = stored_reference() or reference(model)
    else:
        example = zhat.zoo.example(id.split()[0])
        model, truth, truth_se = example.model, example.log_evidence, 0.0
    found, reasons, seconds = [], set(), 0.0
    for i, arrays in enumerate(numpyro_chains(model, sets, dense_mass=id == "gaussian-100")):
        begun = time.process_time()
        result = zhat.evidence(model, draws=arrays, seed=i, progress=False)
        seconds += time.process_time() - begun
        found.append(result)
        reasons |= {reason.code for reason in result.status.reasons}
        print(id, i, result, f"{result.log_evidence - truth:+.4f}", flush=True)
    ok = [r for r in found if r.status.is_ok]
    z = np.array([(r.log_evidence - truth) / np.hypot(r.log_evidence_se, truth_se) for r in ok])
    return {
        "model": id, "truth": f"{truth:.4f}", "truth_se": f"{truth_se:.4f}", "sets": sets, "ok": len(ok),
        "within_3": int((np.abs(z) <= 3.0).sum()), "ok_and_wrong": int((np.abs(z) > 4.0).sum()),
        "rms_z": f"{np.sqrt(np.mean(z**2)):.3f}" if len(z) else "", "by": " ".join(sorted({r.method for r in ok})),
        "median_se": f"{np.median([r.log_evidence_se for r in ok]):.4f}" if ok else "", "reasons": " ".join(sorted(reasons)),
        "seconds_per_set": f"{seconds / sets:.2f}",
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--sets", type=int, default=20)
    options = parser.parse_args()
    for id in options.model or MODELS:
        new = row(id, options.sets)
        kept = {}
        if RESULTS.exists():
            with RESULTS.open(newline="") as file:
                kept = {r["model"]: r for r in csv.DictReader(file)}
        kept[id] = new
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept[m] for m in MODELS if m in kept)
        print(new, flush=True)
        jax.clear_caches()
    return 0


if __name__ == "__main__":
    sys.exit(main())
