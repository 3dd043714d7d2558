"""Gibbs sweeps at the speed of their noise: 500,000 tempered sweeps of the pine model, against drawing their noise.

    ratio = (sweeps) / (the same random numbers alone, drawn in bulk)

for annealed importance sampling (5,000 lineages over 100 rungs, one sweep each, as in Friel & Wyse 2012) and for chains on a ladder
(power posteriors, stepping stones: 5,000 chains, ten rungs of ten sweeps, half of them kept), both from prior draws that are
there already; and for chains with ten times as many sweeps on the same rungs, which separates the cost of a sweep from that of a
rung. The numbers are two normals and a gamma a sweep, from NumPy in large arrays. Whole methods, with their
prior draws and without or with their checks, are timed as well.

Everything is warm and measured in turns, medians of several; once on one core (CPU time) and once on two (wall time, where noise
is drawn while compiled code runs). Where the time goes (noise, compiled code, the rest) is measured apart, on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import common

ON_ONE_CORE = "--child=1" in sys.argv
if ON_ONE_CORE:
    common.one_core()

import jax  # noqa: E402
import numpy as np  # noqa: E402

import zhat  # noqa: E402
from zhat import zoo  # noqa: E402
from zhat.methods.annealed import AIS  # noqa: E402
from zhat.methods.power_posterior import PowerPosterior  # noqa: E402
from zhat.model.model import Core, Model  # noqa: E402
from zhat.sampling.backend.evaluation import prior_draws  # noqa: E402
from zhat.sampling.backend.loop import Loop  # noqa: E402
from zhat.sampling.kernels.gibbs import Gibbs  # noqa: E402
from zhat.sampling.mixing import Moves  # noqa: E402
from zhat.sampling.tempering import gibbs_ladder  # noqa: E402
from zhat.sampling.tempering.ladder import run_ladder  # noqa: E402
from zhat.sampling.tempering.ladder_settings import Ladder, LadderChains  # noqa: E402
from zhat.sampling.tempering.lineages import anneal  # noqa: E402
from zhat.sampling.tempering.path_survey import untuned_plan  # noqa: E402
from zhat.sampling.tempering.schedules import PowerLadder  # noqa: E402
from zhat.seeding import Key  # noqa: E402

BAR = 2.0
N_LINEAGES = 5000
LADDER = PowerLadder(101, 5.0)  # a hundred rungs between prior and posterior
RUNGS = PowerLadder(10, 5.0)
CLIMB = LadderChains(n_chains=5000, n_kept=5, burn_in=Moves(0.3, 5, 5), n_islands=20)
LONG_CLIMB = LadderChains(n_chains=5000, n_kept=50, burn_in=Moves(0.3, 50, 50), n_islands=20)
# What is timed, and the noise that it is compared with.
AGAINST = {
    "walk": "noise of the walk",
    "climb": "noise of the climb",
    "chains, ten times the sweeps": "its noise",
    "AIS without its checks": "noise of the walk",
    "AIS": "noise of the walk",
    "power posteriors without their check": "noise of the climb",
}


def betas(ladder: PowerLadder) -> np.ndarray:
    """The rungs of a ladder, above zero."""
    return (np.arange(1, ladder.n_rungs + 1) / ladder.n_rungs) ** ladder.power


def noise(model: Model, rungs: np.ndarray, n_sweeps: int, n: int) -> Callable[[], None]:
    """Draw what so many sweeps of n points at each of these betas need, and nothing else."""
    shapes = [float(model.hyper["shape"] + 1.0 + 0.5 * beta * len(model.data[1])) for beta in rungs]

    def draw() -> None:
        rng = Key(1).generator()
        for _ in range(2):
            rng.standard_normal((len(rungs), n_sweeps, n))
        for shape in shapes:
            rng.standard_gamma(shape, (n_sweeps, n))

    return draw


def pieces(model: Model) -> dict[str, Callable[[], Any]]:
    """Everything that is timed, by name."""
    loop, kernel = Loop(progress=False), Gibbs(model.conditionals)
    plan = untuned_plan(np.concatenate([[0.0], betas(LADDER)]), kernel, 1)
    start = prior_draws(model, N_LINEAGES, Key(2), loop)
    first = {chains: prior_draws(model, chains.n_chains * chains.n_kept, Key(5), loop) for chains in (CLIMB, LONG_CLIMB)}
    bare = AIS(n_particles=N_LINEAGES, schedule=LADDER, doubling_check=False, mode_check=False)
    power = PowerPosterior(chains=CLIMB, schedule=RUNGS, kernels=(kernel,), mode_check=False)

    def climbing(chains: LadderChains) -> Callable[[], Any]:
        return lambda: run_ladder(model, Ladder(chains, RUNGS, (kernel,)), Key(4), loop, first=first[chains])

    return {
        "noise of the walk": noise(model, betas(LADDER)[:-1], 1, N_LINEAGES),
        "noise of the climb": noise(model, betas(RUNGS), 10, CLIMB.n_chains),
        "its noise": noise(model, betas(RUNGS), 100, CLIMB.n_chains),
        "walk": lambda: anneal(model, plan, start, N_LINEAGES // 2, Key(3), loop),
        "climb": climbing(CLIMB),
        "chains, ten times the sweeps": climbing(LONG_CLIMB),
        "AIS without its checks": lambda: zhat.evidence(model, bare, seed=1, progress=False),
        "AIS": lambda: zhat.evidence(model, AIS(n_particles=N_LINEAGES, schedule=LADDER), seed=1, progress=False),
        "power posteriors without their check": lambda: zhat.evidence(model, power, seed=1, progress=False),
    }


def measure(repeats: int) -> dict[str, Any]:
    """CPU and wall milliseconds of every piece, and times its noise: medians of runs that take turns."""
    with jax.enable_x64(True):
        runs = pieces(zoo.pine().model)
        for run in runs.values():
            run()
            run()
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        for _ in range(repeats):
            for name, run in runs.items():
                cpu, wall = time.process_time(), time.perf_counter()
                run()
                taken[name].append((1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)))
        found: dict[str, Any] = {}
        for i, clock in enumerate(("cpu", "wall")):
            found[clock] = {name: statistics.median(one[i] for one in values) for name, values in taken.items()}
            found[f"{clock} ratio"] = {
                name: statistics.median(a[i] / b[i] for a, b in zip(taken[name], taken[other], strict=True))
                for name, other in AGAINST.items()
            }
        if ON_ONE_CORE:
            found["parts"] = {name: parts(runs[name], repeats) for name in ("walk", "climb", "chains, ten times the sweeps")}
    return found


def parts(run: Callable[[], Any], repeats: int) -> dict[str, float]:
    """CPU milliseconds of drawing noise, of compiled code until its answer is there, and of everything else."""
    spent: dict[str, float] = {"noise": 0.0, "compiled": 0.0}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any) -> Any:
            begin = time.process_time()
            answer = jax.block_until_ready(function(*args))
            spent[name] += time.process_time() - begin
            return answer

        return wrapper

    known = Core.compiled, gibbs_ladder._noise, Gibbs.noise_along
    Core.compiled = lambda core, purpose, build: timed("compiled", known[0](core, purpose, build))  # type: ignore[method-assign]
    gibbs_ladder._noise, Gibbs.noise_along = (timed("noise", method) for method in known[1:])  # type: ignore[method-assign]
    try:
        begin = time.process_time()
        for _ in range(repeats):
            run()
        total = time.process_time() - begin
    finally:
        Core.compiled, gibbs_ladder._noise, Gibbs.noise_along = known  # type: ignore[method-assign]
    spent["the rest"] = total - sum(spent.values())
    return {name: 1e3 * value / repeats for name, value in spent.items()}


def report(result: dict[str, Any]) -> str:
    """The result as tables."""
    one, two = result["one core"], result["two cores"]
    times = [[name, f"{value:.1f}", f"{two['wall'][name]:.1f}"] for name, value in one["cpu"].items()]
    ratios = [[name, f"{value:.2f}", f"{two['wall ratio'][name]:.2f}"] for name, value in one["cpu ratio"].items()]
    rows = [[name, *(f"{value:.1f}" for value in found.values())] for name, found in one["parts"].items()]
    return "\n\n".join(
        [
            "## Gibbs sweeps at the speed of their noise",
            "500,000 tempered Gibbs sweeps of the pine model by annealed importance sampling (*walk*: 5,000 lineages, 100 rungs) "
            "and by chains on a ladder (*climb*: 5,000 chains, ten rungs of ten sweeps, half of them kept), from prior draws; "
            "and ten times as many sweeps on the same rungs. Warm.",
            common.table(["what", "CPU ms, one core", "wall ms, two cores"], times),
            common.table(["times the noise alone", "CPU, one core", "wall, two cores"], ratios),
            common.table(["parts, CPU ms", "noise", "compiled", "the rest"], rows),
            f"Bar: at most {BAR:g} times, for the sweeps: the first three lines. The walk goes through 25 rungs in a call, the "
            "climb through five, with its resampling, its look at what chains remember, and what it keeps. On two cores the "
            "noise of the next call is drawn while one is at work.",
            f"Load when it was measured: {result['load']}.",
        ]
    )


def main() -> None:
    """Measure in two processes, on one core and on two, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--child", help="the number of cores that this process may use")
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.repeats)))
        return
    arguments = [f"--repeats={options.repeats}"]
    with common.compile_cache() as environment:
        load = " to ".join(f"{value:.1f}" for value in os.getloadavg()[:2])
        result = {
            "load": f"{load} (one and five minutes)",
            "one core": common.run_child("gibbs_sweeps.py", [*arguments, "--child=1"], environment),
            "two cores": common.run_child("gibbs_sweeps.py", [*arguments, "--child=2"], environment),
        }
    common.write("gibbs_sweeps", result, report(result))


if __name__ == "__main__":
    main()
