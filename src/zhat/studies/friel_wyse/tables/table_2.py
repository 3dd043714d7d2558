"""Table 2 and Figure 1: the Bayes factor of the two pine models by every method of Friel & Wyse (2012), eighteen runs each.

    strength_i = intercept + slope (x_i - mean x) + N(0, 1/tau);   model 1: x the density, model 2: adjusted for resin

The exact factor is 4553.6455. Every part below gives eighteen log evidences for each model. "Ours" are the same methods as this
library runs them when nothing is said, and two that the paper does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from zhat import zoo
from zhat.methods._base import Method
from zhat.methods.annealed import AIS
from zhat.methods.chib import Chib
from zhat.methods.harmonic import HarmonicMean
from zhat.methods.importance import Importance
from zhat.methods.laplace import Laplace
from zhat.methods.laplace_metropolis import LaplaceMetropolis
from zhat.methods.nested import NestedSampling
from zhat.methods.power_posterior import PowerPosterior
from zhat.methods.smc import SMC
from zhat.model.model import Model
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.nested import information, log_evidence, log_volumes
from zhat.results.records import Array
from zhat.run.estimate import evidence
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import prior_draws, state_at, unconstrained
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.conditionals import draws_given, log_conditional, log_ordinates
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.nested.run import LivePoints, run_nested
from zhat.sampling.nested.stopping import SmallContribution
from zhat.sampling.state import State
from zhat.sampling.tempering.path_survey import untuned_plan
from zhat.seeding import Key
from zhat.studies.friel_wyse.parts import Part, seed_of
from zhat.studies.friel_wyse.samplers.long_chains import (
    Length,
    PowerLength,
    after,
    annealed_runs,
    posterior_chains,
    power_chains,
    sweeps,
    untuned,
)
from zhat.studies.friel_wyse.samplers.parameter_laplace import laplace_at_points, newton
from zhat.studies.friel_wyse.samplers.threshold_moves import FixedSweeps, PriorGibbs
from zhat.studies.friel_wyse.settings import PineSettings, Settings
from zhat.zoo.pine import COVARIATES, GAMMA_RATE, GAMMA_SHAPE, MEAN

Work = Callable[[Model, PineSettings, Key, Loop], dict[str, Any]]
# Draws that candidates for tau* are held against, and candidates.
N_HELD_AGAINST, N_CANDIDATES = 1000, 128


@cache
def models() -> tuple[Model, Model]:
    """Both models on one set of compiled functions."""
    first = zoo.pine(COVARIATES[0]).model
    second = zoo.pine(COVARIATES[1]).model
    return first, first.with_data(second.data, name=second.name, data_id=second.data_id)


def exact() -> tuple[float, float]:
    """Both log evidences, by the paper's formula with its misprints mended."""
    first, second = (zoo.pine(covariate).log_evidence for covariate in COVARIATES)
    assert first is not None and second is not None
    return first, second


# -- the paper's runs ---------------------------------------------------------------------------------------------------


def _laplace(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
    """Newton from the prior's means, "located by using a standard Newton scheme"."""
    start = {"intercept": MEAN[0], "slope": MEAN[1], "tau": GAMMA_SHAPE / GAMMA_RATE}
    for _ in range(3):  # one block after another first: from far away plain Newton steps leave the positive half line
        start = _conditional_means(model, start)
    mode = newton(model, start, loop)
    return {"laplace": laplace_at_points(model, mode, loop).tolist()}


def _gibbs(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
    n_burn = round(settings.burn_share * settings.n_gibbs)
    kernel = Gibbs(model.conditionals)
    place = model.space.names.index("tau")
    start, length = _starts(model, settings, key, loop), Length(n_burn, settings.n_gibbs - n_burn)
    found = posterior_chains(model, kernel, start, length, key.generator(), loop, lambda u: u[..., place])
    best, _ = constrain_batch(model, found.best)
    return {"harmonic": found.harmonic.tolist(), "laplace_map": laplace_at_points(model, best, loop).tolist()}


def _conditional_means(model: Model, point: dict[str, float]) -> dict[str, float]:
    """Every block at the mean of its full conditional, in turn."""
    for block in model.conditionals:
        draws = draws_given(model, block, point, 2000, Key(0).child("start").generator())
        point = {**point, **{name: float(np.mean(value)) for name, value in draws.items()}}
    return point


def _chib(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
    """tau* from a full run, the slope's ordinate from a reduced one with tau held, the intercept's in closed form.

    The paper ran a third chain, with tau and one line parameter held, to average what is the same number at every draw.
    """
    intercept = model.conditionals[0]
    rng, n = key.generator(), settings.chib_draws
    full = untuned(model, Gibbs(model.conditionals))
    first = _starts(model, settings, key, loop)
    start = after(first, sweeps(model, full, first, settings.chib_burn, rng, loop))
    draws = np.concatenate([part.states.position for part in sweeps(model, full, start, n, rng, loop)]).swapaxes(0, 1)
    stars = {"tau": np.array([_modal_tau(model, chain, rng, loop) for chain in draws])}
    up = _averaged(model, 2, stars["tau"], draws, loop)

    held, _ = constrain_batch(model, draws[:, -1])
    line = untuned(model, Gibbs(model.conditionals[:2]))
    begin = state_at(model, unconstrained(model, {**held, "tau": stars["tau"]}), loop)
    reduced = np.concatenate([part.states.position for part in sweeps(model, line, begin, n, rng, loop)]).swapaxes(0, 1)
    means = [constrain_batch(model, chain.mean(axis=0)[None])[0] for chain in reduced]
    stars |= {name: np.array([float(mean[name][0]) for mean in means]) for name in ("slope", "intercept")}
    up = up + _averaged(model, 1, stars["slope"], reduced, loop)
    up = up + log_conditional(model, intercept, stars)
    at = [model.evaluate(**{name: value[i] for name, value in stars.items()}) for i in range(len(up))]
    return {"chib": [float(sum(pair) - ordinate) for pair, ordinate in zip(at, up, strict=True)]}


def _modal_tau(model: Model, chain: Array, rng: np.random.Generator, loop: Loop) -> float:
    """The draw of tau at which its averaged density is highest, among some."""
    candidates = constrain_batch(model, chain[rng.choice(len(chain), N_CANDIDATES)])[0]["tau"]
    others = chain[rng.choice(len(chain), N_HELD_AGAINST)]
    logs = log_ordinates(model, model.conditionals[2], {"tau": candidates}, others, loop)
    return float(candidates[int(np.argmax(log_mean_exp(logs, axis=1)))])


def _averaged(model: Model, block: int, stars: Array, draws: Array, loop: Loop) -> Array:
    """Log of the mean conditional density of each chain's star over its own draws (chains, n, d)."""
    conditional = model.conditionals[block]
    (name,) = conditional.block
    rows = [log_ordinates(model, conditional, {name: stars[i : i + 1]}, chain, loop) for i, chain in enumerate(draws)]
    return np.array([float(log_mean_exp(row)) for row in rows])


def _ais(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
    plan = untuned_plan(_ladder(settings), Gibbs(model.conditionals), settings.ais_sweeps)
    found = annealed_runs(model, plan, settings.n_runs, settings.ais_samples, key, loop)
    return {"ais": found.log_evidence.tolist(), "own_error": float(np.sqrt(np.mean(found.se**2)))}


def _power(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
    kernel = Gibbs(model.conditionals)
    length = PowerLength(_ladder(settings), settings.n_runs, settings.rung_draws, settings.burn_share)
    found = power_chains(model, lambda beta: kernel, length, key, loop)
    return {"power": found.plain.tolist(), "power_corrected": found.corrected.tolist()}


def _nested(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
    n, moves = settings.nested_points, FixedSweeps(PriorGibbs(model.conditionals), settings.nested_sweeps)
    live = LivePoints(n, max(n // 20, 1), moves, SmallContribution(settings.nested_stop))
    values, nats = [], []
    for i in range(settings.n_runs):
        run = run_nested(model, live, key.child("run", i), loop)
        log_x = log_volumes(run.n_alive)
        values.append(log_evidence(run.log_likelihood, log_x))
        nats.append(information(run.log_likelihood, log_x))
    return {"nested": values, "information": float(np.mean(nats))}


def _starts(model: Model, settings: PineSettings, key: Key, loop: Loop) -> State:
    """Every chain begins at a draw from the prior."""
    return State.of_draws(prior_draws(model, settings.n_runs, key.child("start"), loop))


def _ladder(settings: PineSettings) -> Array:
    return np.asarray((np.arange(settings.n_rungs + 1) / settings.n_rungs) ** settings.power)


# -- what this library does -----------------------------------------------------------------------------------------------


def library_methods(model: Model, settings: PineSettings) -> dict[str, Method]:
    """By the paper's row, and two more."""
    return {
        "laplace": Laplace(),
        "laplace_map": LaplaceMetropolis(kernel=Gibbs(model.conditionals)),
        "harmonic": HarmonicMean(kernel=Gibbs(model.conditionals)),
        "chib": Chib(),
        "ais": AIS(),
        "nested": NestedSampling(n_live=settings.our_nested_points),
        "power": PowerPosterior(),
        "importance": Importance(),
        "smc": SMC(),
    }


def library_work(row: str) -> Work:
    """The work of one of ours."""

    def run(model: Model, settings: PineSettings, key: Key, loop: Loop) -> dict[str, Any]:
        method = library_methods(model, settings)[row]
        return run_library(model, method, settings.our_runs, key, loop)

    return run


def run_library(model: Model, method: Method, n_runs: int, key: Key, loop: Loop) -> dict[str, Any]:
    """Several runs through the front door, and what they say of themselves."""
    runs = []
    for i in range(n_runs):
        run = evidence(model, method, seed=seed_of(key.child("run", i)), progress=False)
        loop.count(run.cost.n_likelihood, run.cost.n_gradient, run.cost.n_hessian)
        runs.append(replace(run, record=None))  # only numbers are wanted; eighteen records are not small
    nats, rule = (runs[0].diagnostics.get(name) for name in ("information", "discretisation_error"))
    return {
        "values": [run.log_evidence for run in runs],
        "errors": [run.error for run in runs],
        "status": sorted({str(run.status.level.value) for run in runs}),
        "evaluations": [run.cost.n_likelihood + run.cost.n_gradient for run in runs],
        "seconds": [run.cost.seconds - run.cost.compile_seconds for run in runs],
        "information": nats,
        "discretisation": rule,
    }


# -- parts ---------------------------------------------------------------------------------------------------------------


def _both(work: Work) -> Callable[[Settings, Key, Loop], dict[str, Any]]:
    def run(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
        return {f"model {i}": work(m, settings.pine, key.child(i), loop) for i, m in enumerate(models(), start=1)}

    return run


PAPER: dict[str, Work] = {
    "laplace": _laplace,
    "gibbs": _gibbs,
    "chib": _chib,
    "ais": _ais,
    "power": _power,
    "nested": _nested,
}
TITLES = {
    "laplace": "Laplace",
    "gibbs": "harmonic mean and Laplace at the MAP",
    "chib": "Chib",
    "ais": "annealed importance sampling",
    "power": "power posteriors",
    "nested": "nested sampling",
}
OURS = ("laplace", "laplace_map", "harmonic", "chib", "ais", "nested", "power", "importance", "smc")


def parts() -> list[Part]:
    """Everything that Table 2 and Figure 1 need."""
    found = [Part(f"table-2/{name}", "2", f"Table 2, {TITLES[name]}", _both(work), 8.0) for name, work in PAPER.items()]
    found += [Part(f"table-2/ours-{row}", "2", f"Table 2, ours: {row}", _both(library_work(row)), 8.0) for row in OURS]
    return found
