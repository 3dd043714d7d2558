"""How much of SMC's time is the likelihood? 2,000 particles on Pima model 1, steady state, one core.

    share = (bare jitted, batched likelihood, as many evaluations as the run made) / (the run)

both in this process, medians of several, and both steady: before every measurement of either, it runs once unmeasured (what ran
before leaves the caches full of itself). Gradients, if the run took any, are compared with bare jitted gradients. The
rest of the time is then broken down by function (`timers.py`).
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
from timers import Timers  # noqa: E402

import zhat  # noqa: E402
from zhat import zoo  # noqa: E402
from zhat.methods.smc import SMC  # noqa: E402
from zhat.run import estimate as front  # noqa: E402

BAR = 0.70
N_PARTICLES = 2000


def cpu_seconds(run: Callable[[], Any], repeats: int) -> float:
    """Median CPU seconds of a call, after one to warm up."""
    run()
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds)


def bare_functions(model: Any) -> dict[str, Callable[[Any], Any]]:
    """The bare compiled functions, all points in one batch and in blocks."""
    core, data, hyper = model.core, model.data, model.hyper

    def likelihood(u: Any) -> Any:
        return core.log_likelihood(core.space.constrain(u, data, hyper)[0], data, hyper)

    def both(u: Any) -> Any:
        return core.log_densities(u, data, hyper)

    def in_blocks(f: Callable[[Any], Any], block: int) -> Callable[[Any], Any]:
        return lambda points: jax.lax.map(f, points, batch_size=block)

    batched = {
        "likelihood, one batch": jax.vmap(likelihood),
        "likelihood, blocks of 500": in_blocks(likelihood, 500),
        "likelihood, blocks of 250": in_blocks(likelihood, 250),
        "likelihood, blocks of 100": in_blocks(likelihood, 100),
        "likelihood and prior, one batch": jax.vmap(both),
        "likelihood and prior, blocks of 500": in_blocks(both, 500),
        "gradient, blocks of 500": in_blocks(jax.value_and_grad(likelihood), 500),
    }
    return {name: jax.jit(function) for name, function in batched.items()}


def bare_seconds(functions: dict[str, Callable[[Any], Any]], points: np.ndarray, repeats: int) -> dict[str, float]:
    """CPU seconds per evaluation of each."""
    with jax.enable_x64(True):
        return {
            name: cpu_seconds(lambda f=function: jax.block_until_ready(f(points)), repeats) / len(points)
            for name, function in functions.items()
        }


def measure(repeats: int, bare_repeats: int) -> dict[str, Any]:
    """Runs, bare evaluations and the breakdown."""
    model = zoo.pima().model
    method = SMC(n_particles=N_PARTICLES)
    result = zhat.evidence(model, method, seed=0, progress=False)
    points = result.record.final.position[:N_PARTICLES]
    functions = bare_functions(model)
    bare_seconds(functions, points, 1)  # compiled here, once: a run just after a compiler finds its caches full of that
    cpu, wall, n_likelihood, n_gradient, bare = [], [], [], [], []
    before = bare_seconds(functions, points, bare_repeats)
    for seed in range(1, repeats + 1):
        zhat.evidence(model, method, seed=seed, progress=False)
        begin, begin_wall = time.process_time(), time.perf_counter()
        result = zhat.evidence(model, method, seed=seed, progress=False)
        cpu.append(time.process_time() - begin)
        wall.append(time.perf_counter() - begin_wall)
        n_likelihood.append(result.cost.n_likelihood)
        n_gradient.append(result.cost.n_gradient)
        # On both sides of each run: the machine's clock wanders by a fifth within seconds.
        after = bare_seconds(functions, points, bare_repeats)
        bare.append({name: 0.5 * (before[name] + after[name]) for name in after})
        before = after
    medians = {name: statistics.median(b[name] for b in bare) for name in bare[0]}
    shares = {}
    for name in medians:
        if name.startswith("likelihood"):
            shares[name] = statistics.median(
                (n * b[name] + g * b["gradient, blocks of 500"]) / c
                for c, n, g, b in zip(cpu, n_likelihood, n_gradient, bare, strict=True)
            )
    run = {
        "cpu_seconds": statistics.median(cpu),
        "wall_seconds": statistics.median(wall),
        "n_likelihood": statistics.median(n_likelihood),
        "n_gradient": statistics.median(n_gradient),
        "n_rungs": result.diagnostics["n_rungs"],
    }
    return {"run": run, "bare_seconds_each": medians, "share": shares, "breakdown": breakdown(model, method, repeats)}


def breakdown(model: Any, method: Any, repeats: int) -> dict[str, dict[str, float]]:
    """Own CPU seconds and calls of each function in a run, the mean of several."""
    timers = Timers()
    timers.install()
    front.evidence(model, method, seed=0, progress=False)
    timers.reset()
    for seed in range(1, repeats + 1):
        front.evidence(model, method, seed=seed, progress=False)
    order = sorted(timers.own, key=lambda name: -timers.own[name])
    return {name: {"seconds": timers.own[name] / repeats, "calls": timers.calls[name] / repeats} for name in order}


def report(result: dict[str, Any]) -> str:
    """The result in words and tables."""
    run, own = result["run"], result["breakdown"]
    total = sum(row["seconds"] for row in own.values())
    rows = [
        [name, f"{1e6 * seconds:.2f}", f"{result['share'][name]:.1%}" if name in result["share"] else ""]
        for name, seconds in result["bare_seconds_each"].items()
    ]
    parts = [
        [name, f"{1e3 * row['seconds']:.2f}", f"{row['calls']:.0f}", f"{row['seconds'] / total:.1%}"]
        for name, row in own.items()
        if row["seconds"] > 0.002 * total
    ]
    best = max(result["share"].values())
    share = result["share"]["likelihood, one batch"]
    return "\n\n".join(
        [
            "## Share of SMC's time that is the likelihood",
            f"SMC({N_PARTICLES} particles) on Pima model 1, one core, warm: {run['cpu_seconds']:.3f} CPU s, "
            f"{run['n_likelihood']:,.0f} likelihoods and {run['n_gradient']:,.0f} gradients "
            f"over {run['n_rungs']} rungs.",
            common.table(["bare function", "µs each", "share of the run"], rows),
            f"Bar: at least {BAR:.0%}. Against one batch of {N_PARTICLES} points: {share:.1%}; largest of all: {best:.1%}.",
            "### Where the time goes (own CPU time of each function in one run)",
            common.table(["function", "ms", "calls", "share"], parts),
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--bare-repeats", type=int, default=10)
    options = parser.parse_args()
    result = measure(options.repeats, options.bare_repeats)
    common.write("overhead", result, report(result))


if __name__ == "__main__":
    main()
