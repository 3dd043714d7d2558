"""Gibbs sweeps at the speed of their noise: 500,000 tempered sweeps of the pine model, against drawing their noise.

    ratio = (annealed walk of 5,000 lineages over 100 rungs, one sweep each) / (its random numbers alone, in bulk)

and the same for chains that climb a ladder (power posteriors, stepping stones: 5,000 chains, ten rungs of ten sweeps); all in
this process, one core, medians of several, in turns. The numbers are two normals and a gamma a sweep. The whole
method, with its prior draws, its check from half the rungs and its look from the mode, is timed as well.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import common

common.one_core()

import jax  # noqa: E402
import numpy as np  # noqa: E402

import evidentia as ev  # noqa: E402
from evidentia import zoo  # noqa: E402
from evidentia.methods.annealed import AIS  # noqa: E402
from evidentia.sampling.annealing import walk  # noqa: E402
from evidentia.sampling.annealing_plan import untuned_plan  # noqa: E402
from evidentia.sampling.evaluate import prior_draws  # noqa: E402
from evidentia.sampling.kernels.gibbs import Gibbs  # noqa: E402
from evidentia.sampling.ladder import Climb, climb_ladder  # noqa: E402
from evidentia.sampling.loop import Loop  # noqa: E402
from evidentia.sampling.path import PowerLadder  # noqa: E402
from evidentia.sampling.population import Moves  # noqa: E402
from evidentia.seeding import Key  # noqa: E402

BAR = 2.0
N_LINEAGES = 5000
CLIMB = Climb(n_chains=5000, n_kept=5, burn_in=Moves(0.3, 5, 5), n_islands=20)
LADDER = PowerLadder(101, 5.0)  # a hundred rungs between prior and posterior


def seconds(run: Callable[[], Any]) -> float:
    """CPU seconds of a call."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def measure(repeats: int) -> dict[str, float]:
    """Medians of the walk, its noise alone, and the whole method."""
    model = zoo.pine().model
    kernel = Gibbs(model.conditionals)
    betas = np.concatenate([[0.0], (np.arange(1, LADDER.n_rungs + 1) / LADDER.n_rungs) ** LADDER.power])
    plan = untuned_plan(betas, kernel, 1)
    loop = Loop(progress=False)
    method = AIS(n_particles=N_LINEAGES, schedule=LADDER)
    bare = AIS(n_particles=N_LINEAGES, schedule=LADDER, doubling_check=False, look_from_mode=False)

    def noise() -> None:
        rng = Key(1).generator()
        for beta in betas[1:-1]:
            kernel.noise(rng, 1, N_LINEAGES, model, float(beta))

    def bulk() -> None:
        rng = Key(1).generator()
        rng.standard_normal((100, N_LINEAGES))
        rng.standard_normal((100, N_LINEAGES))
        for beta in betas[1:-1]:
            rng.standard_gamma(3.0 + 1.0 + 21.0 * beta, N_LINEAGES)

    with jax.enable_x64(True):
        start = prior_draws(model, N_LINEAGES, Key(2), loop)
        parts: dict[str, Callable[[], Any]] = {
            "noise": bulk,
            "noise, rung by rung": noise,
            "climb": lambda: climb_ladder(model, CLIMB, PowerLadder(10, 5.0), (kernel,), Key(4), loop),
            "walk": lambda: walk(model, plan, start, N_LINEAGES // 2, Key(3), loop),
            "AIS without its checks": lambda: ev.evidence(model, bare, seed=1, progress=False),
            "AIS": lambda: ev.evidence(model, method, seed=1, progress=False),
        }
        for run in parts.values():
            run()
        taken: dict[str, list[float]] = {name: [] for name in parts}
        for _ in range(repeats):
            for name, run in parts.items():
                taken[name].append(seconds(run))
    medians = {name: statistics.median(values) for name, values in taken.items()}
    for name in ("climb", "walk", "AIS without its checks", "AIS"):
        medians[f"ratio: {name}"] = statistics.median(
            one / other for one, other in zip(taken[name], taken["noise"], strict=True)
        )
    return medians


def report(result: dict[str, float]) -> str:
    """The result as a table."""
    rows = [[name, f"{1e3 * value:.1f}"] for name, value in result.items() if not name.startswith("ratio")]
    ratios = [[name.removeprefix("ratio: "), f"{value:.2f}"] for name, value in result.items() if name.startswith("ratio")]
    return "\n\n".join(
        [
            "## Gibbs sweeps at the speed of their noise",
            "500,000 tempered Gibbs sweeps of the pine model by annealed importance sampling (*walk*: 5,000 lineages, 100 rungs) "
            "and by chains on a ladder (*climb*: 5,000 chains, ten rungs of ten sweeps), one core, warm.",
            common.table(["what", "CPU ms"], rows),
            common.table(["what", "times the noise alone"], ratios),
            f"Bar: at most {BAR:g} times, for the sweeps. The checks of the whole method make further sweeps and evaluations.",
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    result = measure(options.repeats)
    common.write("gibbs_sweeps", result, report(result))


if __name__ == "__main__":
    main()
