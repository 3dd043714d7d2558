"""Bridge sampling from the same draws: zhat, R's bridgesampling, and the script that most of the field writes by hand.

Pima model 1, pine model 1 and Gaussians of 20 and 100 dimensions, 4 chains x 1000 draws a seed: chains of this library, and for the
Gaussians exact draws. R evaluates the same log posterior in vectorised R code, on the unconstrained coordinates (pine: log tau). CPU seconds
are one process's user + system time; zhat's are of warm calls, with the first call (compilation) apart. The check for missed mass is off,
because R has none. The script by hand: one normal fitted to half of the draws, the other half bridged to it by iteration, compiled densities.

    python benchmarks/bridge_against_r.py --problem pima --seeds 20     # needs Rscript and the package bridgesampling
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import jax
import numpy as np

RESULTS = Path(__file__).parent / "results" / "bridge_against_r"
N_CHAINS, N_DRAWS = 4, 1000

R_CODE = r"""
suppressMessages(library(bridgesampling))
args <- commandArgs(trailingOnly = TRUE); dir <- args[1]; problem <- args[2]; seeds <- as.integer(args[3]); method <- args[4]
x <- as.matrix(read.csv(file.path(dir, "x.csv"), header = FALSE)); y <- scan(file.path(dir, "y.csv"), quiet = TRUE)
if (problem == "pima") {
  lp <- function(b, data) { eta <- drop(x %*% b); sum(y * eta - log1p(exp(eta))) + sum(dnorm(b, 0, 10, log = TRUE)) }
} else if (problem == "pine") {
  lp <- function(u, data) {
    tau <- exp(u[1]); s <- 1 / sqrt(tau)
    sum(dnorm(y, u[2] + u[3] * x[, 1], s, log = TRUE)) + dgamma(tau, 3, 2 * 300^2, log = TRUE) + u[1] +
      dnorm(u[2], 3000, s / sqrt(0.06), log = TRUE) + dnorm(u[3], 185, s / sqrt(6), log = TRUE)
  }
} else {
  d <- length(y); constant <- -0.5 * (d * log(2 * pi) - as.numeric(determinant(x)$modulus))
  lp <- function(u, data) { r <- y - u; constant - 0.5 * sum(r * (x %*% r)) + sum(dnorm(u, 0, 3, log = TRUE)) }
}
out <- c()
for (i in 0:(seeds - 1)) {
  con <- file(file.path(dir, paste0("draws_", i, ".bin")), "rb"); d <- readBin(con, "integer", 1)
  all <- matrix(readBin(con, "double", 4000 * d), ncol = d, byrow = TRUE); close(con)
  colnames(all) <- paste0("u", 1:d)
  chains <- coda::mcmc.list(lapply(0:3, function(k) coda::mcmc(all[1000 * k + 1:1000, , drop = FALSE])))
  low <- setNames(rep(-Inf, d), colnames(all)); high <- setNames(rep(Inf, d), colnames(all))
  set.seed(i)
  used <- system.time(b <- bridgesampling::bridge_sampler(chains, log_posterior = lp, data = NULL, lb = low, ub = high, method = method, silent = TRUE))
  out <- rbind(out, c(b$logml, tryCatch(error_measures(b)$cv, error = function(e) NA), used[["user.self"]] + used[["sys.self"]]))
}
write.table(out, file.path(dir, "out.csv"), sep = ",", row.names = FALSE, col.names = FALSE)
"""


def problem_of(name):
    """The example, and what R needs of its data."""
    import zhat

    if name == "pima":
        from zhat.zoo.pima import pima

        example = pima()
        return example, *example.model.data
    if name == "pine":
        from zhat.zoo.pine import pine

        example = pine()
        return example, example.model.data[0][:, None], example.model.data[1]
    example = zhat.zoo.example(name)
    return example, example.model.data["precision"], example.model.data["observed"]


def draws_of(name, example, seed):
    """4000 unconstrained posterior draws, chain by chain."""
    from zhat.sampling.backend.loop import Loop
    from zhat.sampling.chains.posterior import ChainSettings, run_chains
    from zhat.seeding import Key

    if name.startswith("gaussian"):
        data = example.model.data
        precision = np.asarray(data["precision"]) + np.eye(len(data["observed"])) / 9.0
        covariance = np.linalg.inv(precision)
        mean = covariance @ (np.asarray(data["precision"]) @ np.asarray(data["observed"]))
        return np.random.default_rng(seed).multivariate_normal(mean, covariance, N_CHAINS * N_DRAWS, method="cholesky")
    with jax.enable_x64(True):
        chains = run_chains(example.model, Key(seed), Loop(None, False, name), ChainSettings(N_CHAINS, 200, N_DRAWS))
    return chains.draws.position


def by_hand(log_target, position, rng):
    """The field's habit: a normal fitted to one half, the other half bridged to it."""
    n = len(position) // 2
    fit, use = position[:n], position[n:]
    mean, factor = fit.mean(axis=0), np.linalg.cholesky(np.atleast_2d(np.cov(fit.T)))

    def log_q(points):
        z = np.linalg.solve(factor, (points - mean).T)
        return -0.5 * (z * z).sum(axis=0) - np.log(np.diag(factor)).sum() - 0.5 * len(mean) * np.log(2 * np.pi)

    proposed = mean + rng.standard_normal((n, len(mean))) @ factor.T
    l1, l2 = log_target(use) - log_q(use), log_target(proposed) - log_q(proposed)
    c = np.median(l1)
    for _ in range(1000):
        up = np.mean(np.exp(l2 - c) / (0.5 * np.exp(l2 - c) + 0.5))
        down = np.mean(1.0 / (0.5 * np.exp(l1 - c) + 0.5))
        c, last = c + np.log(up / down), c
        if abs(c - last) < 1e-10:
            break
    return c


def ours(model, method, sets):
    """log Z, standard errors, status and CPU seconds of every set; the first call once more, so that all are warm."""
    import zhat

    begun = time.process_time()
    zhat.evidence(model, method, draws=sets[0], seed=0, progress=False)
    first = time.process_time() - begun
    rows = []
    for i, arrays in enumerate(sets):
        begun = time.process_time()
        result = zhat.evidence(model, method, draws=arrays, seed=i, progress=False)
        rows.append((result.log_evidence, result.log_evidence_se or np.nan, time.process_time() - begun, result.status.is_ok))
    return np.array(rows, float), first


def run(name, seeds):
    import zhat
    from zhat.sampling.backend.backend import constrain_batch
    from zhat.sampling.backend.evaluation import log_densities
    from zhat.sampling.backend.loop import Loop

    example, x, y = problem_of(name)
    model, truth = example.model, example.log_evidence
    positions = [draws_of(name, example, seed) for seed in range(seeds)]
    with jax.enable_x64(True):
        sets = [
            {k: np.asarray(v).reshape(N_CHAINS, N_DRAWS, *np.shape(v)[1:]) for k, v in constrain_batch(model, p)[0].items()}
            for p in positions
        ]
    table = {}

    def keep(tool, logs, stated, cpu, first=float("nan"), ok=float("nan")):
        error = np.asarray(logs) - truth
        row = {
            "bias": float(error.mean()), "rmse": float(np.sqrt(np.mean(error**2))), "stated": float(np.nanmedian(stated)) if np.isfinite(stated).any() else float("nan"),
            "cpu": float(np.median(cpu)), "first_call": first, "ok": ok,
        }  # fmt: skip
        table[tool] = {k: v if np.isfinite(v) else None for k, v in row.items()} | {"logs": [float(v) for v in logs]}

    proposals = {
        "WarpIII": zhat.settings.WarpIII(),
        "normal": zhat.settings.FittedNormal(),
        "mixture": zhat.settings.FittedMixture(),
    }
    for word, proposal in proposals.items():
        rows, first = ours(model, zhat.Bridge(proposal=proposal, mode_check=False), sets)
        keep(f"zhat {word}", rows[:, 0], rows[:, 1], rows[:, 2], first, int(rows[:, 3].sum()))
    loop, hand, cpu = Loop(None, False, name), [], []
    with jax.enable_x64(True):
        for i, position in enumerate(positions):
            begun = time.process_time()
            hand.append(
                by_hand(lambda p: np.add(*log_densities(model, p, loop)), position, np.random.default_rng([i, 1]))
            )  # not the stream of the draws
            cpu.append(time.process_time() - begun)
    keep("by hand, normal", hand, np.nan * np.ones(len(hand)), cpu)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "bridge.R").write_text(R_CODE)
        np.savetxt(here / "x.csv", np.atleast_2d(x), delimiter=",")
        np.savetxt(here / "y.csv", y)
        for i, position in enumerate(positions):
            with (here / f"draws_{i}.bin").open("wb") as file:
                file.write(np.int32(position.shape[1]).tobytes() + np.ascontiguousarray(position, np.float64).tobytes())
        for method in ("normal", "warp3"):
            command = ["Rscript", str(here / "bridge.R"), folder, name, str(seeds), method]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"R failed: {done.stderr[-500:]}", flush=True)
                continue
            out = np.atleast_2d(np.genfromtxt(here / "out.csv", delimiter=","))
            keep(f"R bridgesampling {method}", out[:, 0], out[:, 1], out[:, 2])
    return {"truth": truth, "seeds": seeds, "tools": table}


def write(found):
    path = RESULTS.with_suffix(".json")
    kept = json.loads(path.read_text()) if path.exists() else {}
    kept |= found
    path.write_text(json.dumps(kept, indent=1) + "\n")
    lines = ["## Bridge sampling from the same draws: zhat, R's bridgesampling, a script by hand", ""]
    lines += [
        "4 chains x 1000 draws; CPU seconds of one call, median; *first*: the first call of a process, with compilation.",
        "",
    ]
    for name, one in kept.items():
        lines += [f"### {name}, {one['seeds']} seeds, log Z = {one['truth']:.4f}", ""]
        lines += [
            "| tool | bias | root mean square error | stated | CPU s | first | ok |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for tool, row in one["tools"].items():
            cells = ["" if row[k] is None else f"{row[k]:.4g}" for k in ("bias", "rmse", "stated", "cpu", "first_call", "ok")]
            lines.append("| " + " | ".join([tool, *cells]) + " |")
        lines.append("")
    RESULTS.with_suffix(".md").write_text("\n".join(lines).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", action="append", choices=("pima", "pine", "gaussian-20", "gaussian-100"))
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    for name in options.problem or ("pima", "pine", "gaussian-20", "gaussian-100"):
        found = run(name, options.seeds)
        write({name: found})
        for tool, row in found["tools"].items():
            print(name, tool, {k: v for k, v in row.items() if k != "logs"}, flush=True)


if __name__ == "__main__":
    main()
