"""Kill a run again and again at random moments and start it anew with its checkpoint: the digits of an undisturbed run.

    python benchmarks/kill_and_resume.py --method smc --kills 10 --out rows.jsonl
    python benchmarks/kill_and_resume.py --report              # the table of benchmarks/results/kill_and_resume.jsonl

A child process runs the method; this one kills it (SIGKILL) after a random time and starts it again, until all kills are spent; the last
one runs to its end. Prints one JSON line per method; exit code 1 if any digit differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
import numpy as np
import numpyro.distributions as dist

import zhat
from zhat import zoo

METHODS = {
    "importance": "box",
    "smc": "E8",
    "nested": "box",
    "power-posterior": "E8",
    "stepping-stone": "E8",
    "ais": "E2",
    "chib": "E2",
    "chib-jeliazkov": "E8",
    "bridge": "E8",
    "harmonic-mean": "E2",
    "laplace-metropolis": "E8",
    "variational": "E8",
    "reciprocal": "E8",
    "prior-mean": "E1",
    "default": "box",
    "compare": "E8",
    "search": "subsets",
    "jump": "E8",
}
# Fewer draws than by default, with which a run of a millisecond a likelihood would take minutes.
SIZED = {"importance": zhat.Importance(n_draws=5_000)}


def log_likelihood(p):
    """A third of a millisecond, three parameters."""
    time.sleep(3e-4)
    return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)


def model_named(name):
    """A black box that sleeps, or a model of the zoo."""
    if name != "box":
        return zoo.example(name).model
    return zhat.Model.black_box(log_likelihood, {"x": dist.Uniform(-5.0, 5.0).expand([3]).to_event(1)}, name="box")


def subsets():
    """Ten covariates, of which two are in the truth."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 10))
    y = x @ np.array([0.7, -0.5, *[0.0] * 8]) + rng.standard_normal(40)

    def log_likelihood(params, data):
        return dist.Normal(data["x"] @ (params["theta"] * data["mask"]), 1.0).log_prob(data["y"]).sum()

    prior = {"theta": dist.Normal(0.0, 1.0).expand([10]).to_event(1)}
    model = zhat.Model(log_likelihood, prior, data={"x": x, "y": y, "mask": np.ones(10)}, name="linear")
    return zhat.Subsets(model, tuple(f"x{j}" for j in range(10)))


def several(method, folder):
    """A comparison, a search over subsets or reversible jump: everything that it found, as text."""
    if method == "search":
        found = subsets().search(seed=1, n_moves=600, n_chains=16, progress=False, checkpoint=folder)
        return [repr(found.inclusion), [repr(float(value)) for value in found.log_evidence]]
    models = {name: zoo.example(name).model for name in ("E8s-none", "E8s-intercept", "E8s-slope", "E8")}
    if method == "compare":
        found = zhat.compare(models, "smc", seed=1, repeats=2, progress=False, checkpoint=folder)
        return [[repr(e.log_evidence), repr(e.log_evidence_se)] for e in found.evidences.values()]
    found = zhat.jump(models, n_chains=128, n_moves=6000, seed=1, progress=False, checkpoint=folder)
    return [[repr(float(p)) for p in found.probabilities], found.switches, found.round_trips]


def child(method, model, folder):
    """One run, its digits on stdout."""
    if method in ("compare", "search", "jump"):
        print(json.dumps(several(method, folder)))
        return
    found = zhat.evidence(
        model_named(model),
        None if method == "default" else SIZED.get(method, method),
        seed=1,
        progress=False,
        checkpoint=folder,
        repeats=2,
    )
    print(json.dumps([repr(found.log_evidence), repr(found.log_evidence_se), found.cost.n_likelihood, found.cost.n_gradient]))


def start(method, model, folder):
    """The child process."""
    command = [sys.executable, __file__, "--child", method, model, folder]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tried(method, model, kills, rng):
    """Digits undisturbed, and of runs that were killed so many times in all; a run that ends before its kill is compared, and begun anew."""
    folder = tempfile.mkdtemp()
    two = os.path.join(folder, "two")
    try:
        begun = time.perf_counter()
        undisturbed, errors = start(method, model, os.path.join(folder, "one")).communicate()
        seconds = time.perf_counter() - begun
        assert undisturbed, errors
        n_killed, n_finished, other = 0, 0, []
        while True:
            process = start(method, model, two)
            try:
                disturbed, errors = process.communicate(timeout=None if n_killed == kills else rng.uniform(0.3, 1.0) * seconds)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
                n_killed += 1
                continue
            n_finished += 1
            other += [] if disturbed == undisturbed else [(disturbed or errors)[-500:]]
            if n_killed == kills:
                break
            shutil.rmtree(two)
        size = sum(path.stat().st_size for path in Path(two).iterdir())
    finally:
        shutil.rmtree(folder)
    row = {"method": method, "model": model, "killed": n_killed, "finished": n_finished, "same": not other}
    row |= {"seconds": round(seconds, 1), "kB": size // 1000}
    return row | ({"undisturbed": undisturbed, "disturbed": other} if other else {})


def report():
    """The table."""
    found = [json.loads(line) for line in (common.RESULTS / "kill_and_resume.jsonl").read_text().splitlines()]
    rows = [
        [*(str(row[k]) for k in ("method", "model", "killed", "finished")), "yes" if row["same"] else "NO", str(row["kB"])]
        for row in found
    ]
    header = ["method", "model", "killed", "compared", "same digits", "checkpoint, kB"]
    return "\n\n".join(["## Killed and resumed", common.table(header, rows)])


def main():
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--child", nargs=3)
    parser.add_argument("--method", action="append", choices=list(METHODS))
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="append the rows to this file")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        print(report())
        return 0
    if options.child:
        child(*options.child)
        return 0
    rows = []
    for method in options.method or METHODS:
        rows.append(tried(method, METHODS[method], options.kills, random.Random(options.seed)))
        print(json.dumps(rows[-1]), flush=True)
        if options.out:
            with open(options.out, "a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return int(not all(row["same"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
