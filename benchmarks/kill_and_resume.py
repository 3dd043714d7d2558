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
}
# Fewer draws than by default, with which a run of a millisecond a likelihood would take minutes.
SIZED = {"importance": zhat.Importance(n_draws=5_000)}


def log_likelihood(p):
    """A millisecond, three parameters."""
    time.sleep(1e-3)
    return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)


def model_named(name):
    """A black box that takes a millisecond, or a model of the zoo."""
    if name != "box":
        return zoo.example(name).model
    return zhat.Model.black_box(log_likelihood, {"x": dist.Uniform(-5.0, 5.0).expand([3]).to_event(1)}, name="box")


def child(method, model, folder):
    """One run, its digits on stdout."""
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
