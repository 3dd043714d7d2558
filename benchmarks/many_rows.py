"""Many rows: a logistic regression of 10^5 to 10^7 rows and five columns by `zhat.formula` and the default, beside NumPyro's own density.

    python benchmarks/many_rows.py --rows 100000 1000000 10000000

Each size is a process of its own, and so is NumPyro's density: CPU seconds to build the model, of the evidence, and peak
memory. NumPyro's log density, compiled by JAX for one point, is the bare limit of a likelihood evaluation. The table itself
takes 48 bytes a row.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import common

ROWS = (100_000, 1_000_000, 10_000_000)
COLUMNS = ("a", "b", "c", "d", "e")
BETA = (0.5, -0.3, 0.2, 0.0, 0.1)
INTERCEPT = -0.5
GIB = 2**30


def table(n: int) -> dict[str, Any]:
    """Columns and response, made a column at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal(n) for name in COLUMNS}
    eta = np.full(n, INTERCEPT)
    for name, beta in zip(COLUMNS, BETA, strict=True):
        eta += beta * columns[name]
    return {**columns, "y": (rng.random(n) < 1.0 / (1.0 + np.exp(-eta))).astype(float)}


def child_zhat(n: int) -> dict[str, Any]:
    """The default on a formula of n rows."""
    import pandas as pd

    import zhat

    data = pd.DataFrame(table(n), copy=False)
    begun, held = time.process_time(), peak()
    model = zhat.formula(f"y ~ {' + '.join(COLUMNS)}", data=data, family="bernoulli")
    built = time.process_time()
    result = zhat.evidence(model, seed=1, progress=False)
    seconds = time.process_time() - built
    cost = result.cost
    return {
        "build_seconds": built - begun,
        "seconds": seconds,
        "n_likelihood": cost.n_likelihood,
        "n_hessian": cost.n_hessian,
        "log_evidence": result.log_evidence,
        "se": result.log_evidence_se,
        "status": str(result.status),
        "table_gib": held,
        "peak_gib": peak(),
    }


def child_numpyro(n: int) -> dict[str, Any]:
    """CPU seconds of NumPyro's log density of the same model at one point, the best of three."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import log_density

    columns = table(n)
    y = columns.pop("y")

    def program(x: Any, y: Any) -> None:
        a = numpyro.sample("a", dist.Normal(0.0, 2.5))
        b = numpyro.sample("b", dist.Normal(0.0, 2.5).expand([len(COLUMNS)]).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=a + x @ b), obs=y)

    with jax.enable_x64(True):
        x, y = jnp.asarray(np.column_stack(list(columns.values()))), jnp.asarray(y)
        columns.clear()
        density = jax.jit(lambda a, b, x, y: log_density(program, (x, y), {}, {"a": a, "b": b})[0])
        point = jnp.asarray(INTERCEPT), jnp.asarray(BETA)
        density(*point, x, y).block_until_ready()
        times = []
        for _ in range(3):
            begun = time.process_time()
            density(*point, x, y).block_until_ready()
            times.append(time.process_time() - begun)
    return {"seconds": min(times), "peak_gib": peak()}


def peak() -> float:
    """Peak memory of this process so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB


def report(rows: dict[str, dict[str, Any]]) -> str:
    """One table."""
    lines = [
        "# Many rows: logistic regression with five columns",
        "",
        "Written by `benchmarks/many_rows.py`, one core, one seed, CPU seconds. *ms* is the whole evidence, with searches, Hessians and compilation, "
        "divided by its likelihoods, beside NumPyro's density of one point; *ratio* is that of the two.",
        "",
        "| rows | log Z | status | build s | evidence s | likelihoods | Hessians | ms | NumPyro's ms | ratio | table GiB | peak GiB "
        "| NumPyro's |",
        "| ---: | ---: | --- | " + " | ".join(["---:"] * 10) + " |",
    ]
    for n, row in rows.items():
        ours, bare = row["zhat"], row["numpyro"]
        each = ours["seconds"] / ours["n_likelihood"]
        lines.append(
            f"| {int(n):,} | {ours['log_evidence']:.2f} ± {ours['se']:.2f} | {ours['status']} | {ours['build_seconds']:.1f} | {ours['seconds']:.1f} "
            f"| {ours['n_likelihood']:,} | {ours['n_hessian']} | {1e3 * each:.2f} | {1e3 * bare['seconds']:.2f} | {each / bare['seconds']:.2f} "
            f"| {ours['table_gib']:.2f} | {ours['peak_gib']:.2f} | {bare['peak_gib']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--child", nargs=2, metavar=("TOOL", "ROWS"))
    options = parser.parse_args()
    if options.child:
        common.one_core()
        tool, n = options.child
        print(json.dumps((child_zhat if tool == "zhat" else child_numpyro)(int(n))))
        return
    rows: dict[str, dict[str, Any]] = {}
    with common.compile_cache() as environment:
        for n in options.rows:
            rows[str(n)] = {
                tool: common.run_child("many_rows.py", ["--child", tool, str(n)], environment) for tool in ("zhat", "numpyro")
            }
            (common.RESULTS / "many_rows.json").write_text(json.dumps(rows, indent=1) + "\n")
            (common.RESULTS / "many_rows.md").write_text(report(rows))


if __name__ == "__main__":
    main()
