"""Digits of every method on small models, from fixed seeds: a net under changes of structure.

    python tests/golden/record.py            # compare with digits.json; exit 1 and a table where something moved
    python tests/golden/record.py --write    # write digits.json anew (say in the changelog which digits moved, and why)
    python tests/golden/record.py --only smc # methods (or other parts) whose name contains this

What is kept: log evidence, standard error, codes of the status, evaluation counts. Counts and codes must be equal; numbers may
differ by a billionth, which is what another order of floating-point sums does.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import zhat
from zhat import zoo

FILE = Path(__file__).with_name("digits.json")
RELATIVE = 1e-9
SEED = 7
MODELS = ("E1", "E2", "E3a", "E8", "E12", "E15n", "E16a", "S2")
# A hundred thousand prior draws or a long ladder add nothing to a net; smaller settings, the same code.
SMALL = {
    "ais": {"n_particles": 400},
    "nested": {"n_live": 200},
    "smc": {"n_particles": 500},
}


def black_box(shift: float = 0.0):
    y = np.array([1.2, 0.8, 1.9, 1.4, 0.9, 1.6])

    def log_likelihood(params):
        mu, sigma = params["mu"][:, None], params["sigma"][:, None]
        return np.sum(-0.5 * ((y - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi), axis=1) + shift

    prior = {"mu": dist.Normal(0.0, 10.0), "sigma": dist.HalfNormal(5.0)}
    return zhat.Model.black_box(log_likelihood, prior, batched=True, name="black-box")


def model_named(id: str):
    return black_box() if id == "black-box" else zoo.example(id).model


def of_evidence(result) -> dict:
    return {
        "log_evidence": result.log_evidence,
        "se": result.log_evidence_se,
        "error": result.error,
        "codes": [reason.code for reason in result.status.reasons],
        "level": result.status.level.value,
        "n_likelihood": result.cost.n_likelihood,
        "n_gradient": result.cost.n_gradient,
        "n_hessian": result.cost.n_hessian,
    }


def method_cells():
    from zhat.methods._base import method_named

    for name, cls in zhat.methods.registry().items():
        for id in (*MODELS, "black-box"):
            model = model_named(id)
            if cls.needs <= model.offers:
                settings = SMALL.get(name, {})
                yield (
                    f"{name}/{id}",
                    lambda name=name, model=model, settings=settings: of_evidence(
                        zhat.evidence(model, method_named(name, settings), seed=SEED, progress=False)
                    ),
                )
    for id in (*MODELS, "black-box"):
        yield f"default/{id}", lambda id=id: of_evidence(zhat.evidence(model_named(id), seed=SEED, progress=False))
    yield "default-repeats/E3a", lambda: of_evidence(zhat.evidence(model_named("E3a"), seed=SEED, repeats=3, progress=False))


def variants():
    """Settings that a default does not reach: other kernels, replacements, schedules, proposals."""
    from zhat.sampling.kernels.hmc import HMC
    from zhat.sampling.kernels.random_walk import RandomWalk
    from zhat.sampling.kernels.slice import Slice
    from zhat.sampling.mixing import Moves
    from zhat.sampling.nested.replacement import FromPrior, MarkovReplacement

    for kernel in (HMC(), RandomWalk(), Slice()):
        name = type(kernel).__name__
        for id in ("E2", "E12"):
            yield f"smc-{name}/{id}", zhat.SMC(n_particles=400, kernels=(kernel,)), id
    ways = {
        "FromPrior": FromPrior(),
        "ConstrainedSlice": MarkovReplacement(Slice(max_out=1), Moves(0.1, 8, 160)),
        "ConstrainedWalk": MarkovReplacement(RandomWalk(acceptance=0.25), Moves(0.1, 16, 400)),
        "ConstrainedCrankNicolson": MarkovReplacement(),
    }
    for name, way in ways.items():
        for id in ("E2", "S2"):
            yield f"nested-{name}/{id}", zhat.NestedSampling(n_live=100, replacement=way), id


def variant_cells():
    for name, method, id in (*variants(), *tempering_variants()):
        yield name, lambda method=method, id=id: of_evidence(zhat.evidence(model_named(id), method, seed=SEED, progress=False))


def tempering_variants():
    """Paths through the tempering room that defaults do not take, and many dimensions."""
    from zhat.sampling.kernels.gibbs import Gibbs
    from zhat.sampling.tempering.ladder_settings import LadderChains
    from zhat.sampling.tempering.schedules import FixedLadder, PowerLadder

    gibbs = (Gibbs(model_named("E2").conditionals),)
    chains = LadderChains(n_chains=100, n_kept=5)
    yield (
        "power-posterior-gibbs-ladder/E2",
        zhat.PowerPosterior(chains=chains, schedule=PowerLadder(12, 5.0), kernels=gibbs),
        "E2",
    )
    yield "stepping-stone-fixed/E12", zhat.SteppingStone(chains=chains, schedule=FixedLadder((0.0, 0.01, 0.1, 0.4, 1.0))), "E12"
    yield "ais-gibbs/E2", zhat.AIS(n_particles=200, schedule=PowerLadder(40, 4.0), kernels=gibbs), "E2"
    yield "smc-waste-free/E12", zhat.SMC(n_particles=400, waste_free=True), "E12"
    yield "smc/unequal-modes-20", zhat.SMC(n_particles=1000), "unequal-modes-20"
    yield "nested/gaussian-20", zhat.NestedSampling(n_live=100), "gaussian-20"
    yield "nested/unequal-modes-30", zhat.NestedSampling(n_live=100), "unequal-modes-30"
    yield "importance/small-mode-10", zhat.Importance(n_draws=5000), "small-mode-10"
    yield "default/S1-d5", None, "S1-d5"


def linear_family():
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(40), rng.standard_normal((40, 3))])
    y = x @ np.array([0.0, 0.7, -0.5, 0.0]) + rng.standard_normal(40)

    def log_likelihood(params, data):
        mask = jnp.concatenate([jnp.ones(1), data["mask"]])
        return dist.Normal(data["x"] @ (params["theta"] * mask), 1.0).log_prob(data["y"]).sum()

    prior = {"theta": dist.Normal(0.0, 1.0).expand([4]).to_event(1)}
    return zhat.Subsets(
        zhat.Model(log_likelihood, prior, data={"x": x, "y": y, "mask": np.ones(3)}, name="linear"), ("a", "b", "c")
    )


def sandwich():
    found = zhat.sandwich(model_named("E2"), seed=SEED, progress=False)
    return {"lower": found.lower, "upper": found.upper, "level": found.status.level.value, "n_likelihood": found.n_likelihood}


def enumeration():
    found = linear_family().enumerate(n_draws=2000, seed=SEED)
    return {**{f"log_evidence_{i}": float(v) for i, v in enumerate(found.log_evidence)}, "level": found.status.level.value}


def search():
    found = linear_family().search(seed=SEED)
    return {**{f"inclusion_{name}": float(v) for name, v in found.inclusion.items()}, "level": found.status.level.value}


def jump():
    found = zhat.jump({"E3a": model_named("E3a"), "E3b": model_named("E3b")}, seed=SEED, progress=False)
    return {
        **{f"probability_{name}": float(v) for name, v in zip(found.names, found.probabilities, strict=True)},
        "level": found.status.level.value,
    }


def sensitivity():
    found = zhat.sensitivity(zoo.running_example().model, "b0", [0.5, 1.0, 2.0], "importance", seed=SEED, progress=False)
    return {f"log_evidence_{i}": float(v) for i, v in enumerate(found.log_evidence)}


def comparison():
    # One model under two labels, which `compare` itself would refuse: runs by the seeds that a comparison gives to these labels.
    runs = zhat.evidences({label: model_named("E3a") for label in ("E3a", "other")}, seed=SEED, progress=False)
    found = zhat.compare(runs)
    pair = found.log_bayes_factor("E3a", "other")
    return {"log_bayes_factor": pair.value, "se": pair.se}


def threshold_walk():
    from zhat.numerics.nested import log_evidence, log_volumes
    from zhat.sampling.backend.loop import Loop
    from zhat.sampling.nested.run import LivePoints, run_nested
    from zhat.sampling.nested.stopping import SmallContribution
    from zhat.seeding import Key
    from zhat.studies.friel_wyse.samplers.component_walk import ComponentWalk
    from zhat.studies.friel_wyse.samplers.threshold_moves import FixedSweeps

    loop = Loop(None, False)
    live = LivePoints(60, 1, FixedSweeps(ComponentWalk(2.0), 5), SmallContribution(1e-4))
    run = run_nested(model_named("E12"), live, Key(SEED), loop)
    value = log_evidence(run.log_likelihood, log_volumes(run.n_alive))
    return {"log_evidence": float(value), "n_likelihood": loop.n_likelihood}


OTHERS = {
    "sandwich/E2": sandwich,
    "subsets-enumerate": enumeration,
    "subsets-search": search,
    "jump": jump,
    "sensitivity": sensitivity,
    "compare": comparison,
    "friel-wyse-threshold-walk/E12": threshold_walk,
}


def cells():
    yield from method_cells()
    yield from variant_cells()
    yield from OTHERS.items()


def same(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=RELATIVE, abs_tol=1e-12)
    return a == b


def moved(name: str, known: dict, now: dict) -> list[str]:
    """What differs between the recorded digits of a cell and those of a run, a line each."""
    return [
        f"{name} {key}: {known.get(key)} -> {now.get(key)}" for key in {**known, **now} if not same(known.get(key), now.get(key))
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    changes = []
    for name, run in cells():
        if chosen.only not in name:
            continue
        now = run()
        print(name, now, flush=True)
        if name in known and not chosen.write:
            changes += moved(name, known[name], now)
        elif not chosen.write:
            changes.append(f"{name}: not in {FILE.name}")
        known[name] = now
    if chosen.write:
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    print(f"{len(changes)} digits moved", *changes, sep="\n")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
