"""Does cost grow with the data no faster than linearly, and does memory stay small in many dimensions?

Logistic regressions with 500 to 500,000 rows by SMC and Importance: CPU seconds per likelihood evaluation, one core,
each size in a process of its own, and beside it the bare compiled likelihood there, whose arrays leave one cache after the
other as they grow: ours can grow no slower than that. Then 10,000 particles in 100 dimensions: peak memory, and the error.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from typing import Any

import common

ROWS = (500, 5_000, 50_000, 500_000)
GIB = 2**30
# Below this a run is repeated, so that the figure is free of compilation; above it, compilation does not show.
QUICK = 20.0


def logistic(n: int) -> Any:
    """A simulated logistic regression with an intercept and four covariates, theta ~ N(0, 5^2)."""
    import jax.numpy as jnp
    import numpy as np
    import numpyro.distributions as dist

    import zhat

    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(n), rng.standard_normal((n, 4))])
    truth = np.array([-0.5, 1.0, -1.0, 0.5, 0.0])
    sign = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-x @ truth)), -1.0, 1.0)

    def log_likelihood(params: Any, data: Any) -> Any:
        x, sign = data
        eta = sign * (x @ params["theta"])
        return -jnp.sum(jnp.log1p(jnp.exp(-jnp.abs(eta))) + jnp.maximum(eta, 0.0))

    prior = {"theta": dist.Normal(0.0, 5.0).expand([5]).to_event(1)}
    return zhat.Model(log_likelihood, prior, data=(x, sign), name=f"logistic-{n}")


def child_rows(n: int, name: str, n_particles: int) -> dict[str, Any]:
    """Cost of one method on n rows."""
    import zhat

    method = zhat.SMC(n_particles=n_particles) if name == "smc" else zhat.Importance(n_draws=10 * n_particles, n_pilot=500)
    model = logistic(n)
    for _ in range(2):
        begin = time.process_time()
        result = zhat.evidence(model, method, seed=1, progress=False)
        seconds = time.process_time() - begin
        if seconds > QUICK:
            break
    cost = result.cost
    return {
        "bare_seconds_each": bare_seconds(model),
        "rows": n,
        "method": name,
        "cpu_seconds": seconds,
        "n_likelihood": cost.n_likelihood,
        "n_gradient": cost.n_gradient,
        "n_hessian": cost.n_hessian,
        "seconds_each": seconds / (cost.n_likelihood + cost.n_gradient),
        "log_evidence": result.log_evidence,
        "log_evidence_se": result.log_evidence_se,
    }


def bare_seconds(model: Any) -> float:
    """CPU seconds of one likelihood, compiled alone, points in blocks as the library makes them; the best of five."""
    import jax
    import numpy as np

    from zhat.sampling.backend.compiled import block_size, over_points

    points = 0.3 * np.random.default_rng(1).standard_normal((40 if model.data_size > 100_000 else 2000, 5))
    block = block_size(model.data_size)
    with jax.enable_x64(True):
        data = jax.device_put(model.data)
        likelihood = model.core.log_likelihood
        bare = jax.jit(lambda points, data: over_points(lambda u: likelihood({"theta": u}, data, None), points, block))
        bare(points, data).block_until_ready()
        taken = []
        for _ in range(5):
            begin = time.process_time()
            bare(points, data).block_until_ready()
            taken.append(time.process_time() - begin)
    return min(taken) / len(points)


def child_memory(d: int, n_particles: int) -> dict[str, Any]:
    """Peak memory and answer of SMC on the d-dimensional Gaussian."""
    import zhat
    from zhat import zoo

    example = zoo.gaussian(d)
    begin = time.process_time()
    result = zhat.evidence(example.model, zhat.SMC(n_particles=n_particles), seed=1, progress=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "dimensions": d,
        "particles": n_particles,
        "peak_bytes": peak,
        "cpu_seconds": time.process_time() - begin,
        "log_evidence": result.log_evidence,
        "log_evidence_se": result.log_evidence_se,
        "truth": example.log_evidence,
        "ok": result.status.is_ok,
    }


def measure(rows: list[int], n_particles: int, d: int, memory_particles: int) -> dict[str, Any]:
    """Every size and method in a process of its own."""
    with common.compile_cache() as environment:
        sizes = [
            common.run_child("scaling.py", ["--child", name, str(n), str(n_particles)], environment)
            for name in ("smc", "importance")
            for n in rows
        ]
        memory = [
            common.run_child("scaling.py", ["--child", "memory", str(d), str(n)], environment)
            for n in sorted({memory_particles, min(8000, memory_particles)})
        ]
    return {"data": sizes, "memory": memory}


def report(result: dict[str, Any]) -> str:
    """Two tables; growth is against the row above: 1 is linear, below is better."""
    lines, worst, against_bare = [], 0.0, 0.0
    for i, row in enumerate(result["data"]):
        before = result["data"][i - 1] if i else None
        growth = bare_growth = ""
        if before and before["method"] == row["method"]:
            larger = row["rows"] / before["rows"]
            ratio = row["seconds_each"] / before["seconds_each"] / larger
            bare = row["bare_seconds_each"] / before["bare_seconds_each"] / larger
            growth, bare_growth = f"{ratio:.2f}", f"{bare:.2f}"
            worst, against_bare = max(worst, ratio), max(against_bare, ratio / max(bare, 1.0))
        evaluations = row["n_likelihood"] + row["n_gradient"]
        lines.append(
            [
                f"{row['method']}, {row['rows']:,} rows",
                f"{row['cpu_seconds']:.2f}",
                f"{evaluations:,}",
                f"{1e6 * row['seconds_each']:.2f}",
                f"{1e9 * row['seconds_each'] / row['rows']:.2f}",
                growth,
                f"{1e9 * row['bare_seconds_each'] / row['rows']:.2f}",
                bare_growth,
            ]
        )
    memory = [memory_line(row) for row in result["memory"]]
    header = ["method and data", "CPU s", "evaluations", "µs each", "ns a row", "growth / linear"]
    header += ["bare, ns a row", "bare growth / linear"]
    return "\n\n".join(
        [
            "## Growth with the data, and memory",
            common.table(header, lines),
            f"Largest growth of the cost of an evaluation relative to the data's growth: {worst:.2f} (1 is linear); "
            f"relative to that of the bare likelihood, where that is more than linear: {against_bare:.2f}.",
            common.table(["Gaussian", "peak GiB", "CPU s", "log Z", "± error", "off by, in errors", "status"], memory),
            "Bars: below 2 GiB at 10,000 particles in 100 dimensions; within 3 errors.",
        ]
    )


def memory_line(row: dict[str, Any]) -> list[str]:
    """One row of the memory table."""
    se = row["log_evidence_se"]
    off = abs(row["log_evidence"] - row["truth"])
    return [
        f"{row['dimensions']} dimensions, {row['particles']:,} particles",
        f"{row['peak_bytes'] / GIB:.2f}",
        f"{row['cpu_seconds']:.1f}",
        f"{row['log_evidence']:.3f}",
        "none" if se is None else f"{se:.3f}",
        f"{off:.3f} nats" if se is None else f"{off / se:.2f}",
        "ok" if row["ok"] else "not ok",
    ]


def child(kind: str, size: int, n_particles: int) -> None:
    """One measurement, printed as JSON."""
    common.one_core()
    result = child_memory(size, n_particles) if kind == "memory" else child_rows(size, kind, n_particles)
    print(json.dumps(result))


def main() -> None:
    """Measure and write, or be a child."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--child", nargs=3, metavar=("KIND", "SIZE", "PARTICLES"), help="one measurement")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--particles", type=int, default=400)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--memory-particles", type=int, default=10_000)
    options = parser.parse_args()
    if options.child:
        kind, size, n_particles = options.child
        child(kind, int(size), int(n_particles))
        return
    result = measure(options.rows, options.particles, options.dimensions, options.memory_particles)
    common.write("scaling", result, report(result))


if __name__ == "__main__":
    main()
