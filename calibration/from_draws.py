"""Are standard errors from given posterior draws honest? Each proposal of Bridge and each density of Reciprocal, on the same chains.

For every model R sets of 4 chains x 1000 draws, made by this library's own chains (half from tempered particles, half from modes),
and on four models by NumPyro's NUTS. Every set goes through `zhat.evidence(model, METHOD, draws=...)` as a user's draws would,
with the checks that the draws are the model's; the check for missed mass is left out here, since it depends on the model and not on
the estimator. The gate is that of run.py, and the results are in `from_draws.csv`.

    python calibration/from_draws.py --runs 100
    python calibration/from_draws.py --model E8 --chains numpyro
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import jax
import numpy as np

RESULTS = Path(__file__).parent / "from_draws.csv"
MODELS = ("E1", "E2", "E3a", "E4", "E6", "E8", "E9a", "E11", "E12", "E13", "E14a", "E15n", "E16a")
BY_NUMPYRO = ("E2", "E8", "E12", "E15n")
FIRST_SEED = 60_000
COLUMNS = (
    "method", "chains", "model", "runs", "bias", "bias_allowance", "rms_z", "hits95", "hits50", "silent", "median_se", "flagged",
    "reasons", "seconds_per_run", "passed",
)  # fmt: skip


def variants():
    import zhat

    return {
        "bridge WarpIII": zhat.Bridge(mode_check=False),
        "bridge FittedNormal": zhat.Bridge(proposal=zhat.settings.FittedNormal(), mode_check=False),
        "bridge FittedT": zhat.Bridge(proposal=zhat.settings.FittedT(), mode_check=False),
        "bridge FittedMixture": zhat.Bridge(proposal=zhat.settings.FittedMixture(), mode_check=False),
        "reciprocal TruncatedNormal": zhat.Reciprocal(mode_check=False),
        "reciprocal Ellipsoid": zhat.Reciprocal(density=zhat.settings.Ellipsoid(), mode_check=False),
    }


def own_chains(model, runs):
    """Sets of chains by this library, as arrays by name (4, 1000, ...)."""
    from zhat.missed_mass.effort import SHARP
    from zhat.sampling.backend.backend import constrain_batch
    from zhat.sampling.backend.loop import Loop
    from zhat.sampling.chains.posterior import ChainSettings
    from zhat.sampling.workbench import Workbench
    from zhat.seeding import Key

    for i in range(runs):
        key, loop = Key(FIRST_SEED + i).child("chains"), Loop(None, False, model.name)
        with jax.enable_x64(True):
            bench = Workbench(model, key, loop)
            chains = bench.chains_from_both_sides(key, ChainSettings(4, 200, 1000, short_every=4), SHARP.survey(model))
            yield named(constrain_batch(model, chains.draws.position)[0], 4)


def numpyro_chains(model, runs, dense_mass=False):
    """Sets of chains by NumPyro's NUTS on the same density; all sets in one vectorised run, each chain with its own adaptation."""
    from numpyro.infer import MCMC, NUTS

    from zhat.sampling.backend.backend import constrain_batch
    from zhat.sampling.backend.evaluation import prior_positions
    from zhat.seeding import Key

    def potential(u):
        log_prior, log_likelihood = model.core.log_densities(u, model.data, model.hyper)
        return -(log_prior + log_likelihood)

    with jax.enable_x64(True):
        start = prior_positions(model, 4 * runs, Key(FIRST_SEED))
        mcmc = MCMC(
            NUTS(potential_fn=potential, target_accept_prob=0.9, dense_mass=dense_mass),
            num_warmup=1000, num_samples=1000, num_chains=4 * runs, chain_method="vectorized", progress_bar=False,
        )  # fmt: skip
        mcmc.run(jax.random.key(FIRST_SEED), init_params=start)
        draws = np.asarray(mcmc.get_samples(group_by_chain=True))
        for i in range(runs):
            some = draws[4 * i : 4 * i + 4]
            yield named(constrain_batch(model, some.reshape(-1, some.shape[-1]))[0], 4)


def named(params, n_chains):
    return {name: np.asarray(x).reshape(n_chains, -1, *np.shape(x)[1:]) for name, x in params.items()}


def cells(id, chains, runs):
    """All variants on the same sets of chains of one model, judged."""
    import zhat
    from zhat.numerics.calibration.standard_errors import Run, gate

    example = zhat.zoo.example(id)
    sets = numpyro_chains(example.model, runs) if chains == "numpyro" else own_chains(example.model, runs)
    results, seconds = {name: [] for name in variants()}, dict.fromkeys(variants(), 0.0)
    reasons = {name: set() for name in variants()}
    for i, arrays in enumerate(sets):
        for name, method in variants().items():
            begun = time.process_time()
            result = zhat.evidence(example.model, method, draws=arrays, seed=FIRST_SEED + i, progress=False)
            seconds[name] += time.process_time() - begun
            results[name].append(result)
            reasons[name] |= {reason.code for reason in result.status.reasons}
    for name, found in results.items():
        judged = [Run(r.log_evidence, r.log_evidence_se, r.degrees_of_freedom, r.status.is_ok) for r in found]
        report = gate(judged, example.log_evidence)
        print(f"{name:28s} {chains:8s} {id:6s} {report.sentence()} {' '.join(sorted(reasons[name]))}", flush=True)
        yield {
            "method": name, "chains": chains, "model": id, "runs": runs, "bias": f"{report.bias:+.5f}",
            "bias_allowance": f"{report.bias_allowance:.5f}", "rms_z": f"{report.rms_z:.3f}", "hits95": report.hits95,
            "hits50": report.hits50, "silent": report.n_silent, "median_se": f"{report.median_se:.5f}",
            "flagged": f"{report.flagged_share:.3f}", "reasons": " ".join(sorted(reasons[name])),
            "seconds_per_run": f"{seconds[name] / runs:.3f}", "passed": report.ok,
        }  # fmt: skip


def write(rows):
    """Put these rows into the table, in the place of their last results."""
    kept = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = {(row["method"], row["chains"], row["model"]): row for row in csv.DictReader(file)}
    kept |= {(row["method"], row["chains"], row["model"]): row for row in rows}
    order = [(m, c, id) for c in ("own", "numpyro") for id in MODELS for m in variants() if (m, c, id) in kept]
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[key] for key in order)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--model", action="append")
    parser.add_argument("--chains", choices=("own", "numpyro"))
    options = parser.parse_args()
    tasks = [(id, "own") for id in MODELS] + [(id, "numpyro") for id in BY_NUMPYRO]
    rows = []
    for id, chains in tasks:
        if (not options.model or id in options.model) and options.chains in (None, chains):
            rows += cells(id, chains, options.runs)
            write(rows)
            jax.clear_caches()
    failed = [row for row in rows if not row["passed"]]
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
