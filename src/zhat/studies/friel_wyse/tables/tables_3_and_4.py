"""Tables 3 and 4: two logistic regressions of the Pima data, under a wide prior (tau = 0.01) and a tighter one (tau = 1).

    model 1: 1 + NP + PGC + BMI + DP,   model 2: the same + AGE,   theta ~ N(0, I/tau)

Every sampler of Friel & Wyse (2012) updates one coefficient at a time (`component_walk`). The truth is importance sampling with
two million draws (standard error 0.0003). "Ours" are the same methods as this library runs them when nothing is said, one run
each with its own error, and two that the paper does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from zhat import zoo
from zhat.methods._base import Method
from zhat.methods.annealed import AIS
from zhat.methods.chib_jeliazkov import ChibJeliazkov
from zhat.methods.harmonic import HarmonicMean
from zhat.methods.importance import Importance
from zhat.methods.laplace import Laplace
from zhat.methods.laplace_metropolis import LaplaceMetropolis, laplace_at
from zhat.methods.nested import NestedSampling
from zhat.methods.power_posterior import PowerPosterior
from zhat.methods.smc import SMC
from zhat.model.model import Model
from zhat.numerics.nested import information, log_evidence, log_volumes
from zhat.results.records import Array
from zhat.run.estimate import evidence
from zhat.sampling.backend.evaluation import state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import peaks_at
from zhat.sampling.nested.run import LivePoints, run_nested
from zhat.sampling.nested.stopping import SmallContribution
from zhat.sampling.state import State
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.sampling.tempering.path_survey import untuned_plan
from zhat.seeding import Key
from zhat.studies.friel_wyse.parts import Part, seed_of
from zhat.studies.friel_wyse.samplers.component_ordinates import ordinates_by_component
from zhat.studies.friel_wyse.samplers.component_walk import ComponentWalk, exponent_for
from zhat.studies.friel_wyse.samplers.long_chains import (
    Length,
    PowerLength,
    annealed_runs,
    posterior_chains,
    power_chains,
)
from zhat.studies.friel_wyse.samplers.threshold_moves import FixedSweeps
from zhat.studies.friel_wyse.settings import PimaSettings, Settings
from zhat.studies.friel_wyse.tables.table_2 import run_library
from zhat.zoo.pima import MODEL_1, MODEL_2

TAUS = {"3": 0.01, "4": 1.0}

Work = Callable[[Model, float, PimaSettings, Key, Loop], dict[str, Any]]


def models(tau: float) -> tuple[Model, Model]:
    """Both models at this prior precision."""
    first, second = _compiled()
    return first.with_hyper({"tau": tau}), second.with_hyper({"tau": tau})


@cache
def _compiled() -> tuple[Model, Model]:
    """What both priors share."""
    return zoo.pima(MODEL_1).model, zoo.pima(MODEL_2).model


def truth(tau: float) -> tuple[float, float]:
    """Both log evidences, by importance sampling with two million draws; standard error 0.0003."""
    first, second = (zoo.pima(covariates, tau).log_evidence for covariates in (MODEL_1, MODEL_2))
    assert first is not None and second is not None
    return first, second


# -- the paper's runs ---------------------------------------------------------------------------------------------------


def _laplace(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
    # One search; sixteen to be sure of it.
    result = evidence(model, Laplace(n_starts=16, coverage_check=False), seed=seed_of(key), progress=False)
    loop.count(result.cost.n_likelihood, result.cost.n_gradient, result.cost.n_hessian)
    return {"laplace": [result.log_evidence]}


def _chain(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
    n_burn = round(settings.burn_share * settings.n_samples)
    kernel, start, length = ComponentWalk(settings.precision), _starts(model, settings, loop), Length(n_burn, settings.n_samples)
    found = posterior_chains(model, kernel, start, length, key.generator(), loop)
    covariances = np.stack([peak.covariance for peak in peaks_at(model, found.best, found.widths, loop)])
    return {
        "harmonic": found.harmonic.tolist(),
        "laplace_map": laplace_at(found.density, covariances).tolist(),
        "log_likelihoods": [found.lowest, found.highest],
        "acceptance": found.acceptance,
    }


def _chib_jeliazkov(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
    share = settings.n_samples // model.n_dimensions
    n_burn = round(settings.burn_share * share)
    start = _starts(model, settings, loop)
    values = ordinates_by_component(model, settings.precision, start, Length(n_burn, share), key, loop)
    return {"chib_jeliazkov": values.tolist()}


def _power(n_rungs: int) -> Work:
    def run(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
        n_moves = next(moves for rungs, moves in settings.ladders if rungs == n_rungs)
        betas = _ladder(n_rungs, settings.power)
        kernel = ComponentWalk(settings.precision, exponent_for(tau, betas[1], settings.precision))
        length = PowerLength(betas, settings.n_runs, n_moves, settings.burn_share)
        found = power_chains(model, lambda beta: kernel, length, key, loop)
        return {"power": found.plain.tolist(), "power_corrected": found.corrected.tolist()}

    return run


def _ais(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
    betas = _ladder(settings.ais_rungs, settings.power)
    kernel = ComponentWalk(settings.precision, exponent_for(tau, betas[1], settings.precision))
    found = annealed_runs(model, untuned_plan(betas, kernel, 1), settings.n_best_of, settings.ais_samples, key, loop)
    own = float(np.sqrt(np.mean(found.se**2)))
    return {"ais": found.log_evidence.tolist(), "own_error": own, "sd_log_weight": found.sd_log_weight}


def _nested(which: int) -> Work:
    def run(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
        n, moves = settings.nested_points, FixedSweeps(ComponentWalk(settings.precision), settings.nested_sweeps[which])
        live = LivePoints(n, n // 20, moves, SmallContribution(settings.nested_stop))
        values, nats = [], []
        for i in range(settings.nested_runs):
            run = run_nested(model, live, key.child("run", i), loop)
            log_x = log_volumes(run.n_alive)
            values.append(log_evidence(run.log_likelihood, log_x))
            nats.append(information(run.log_likelihood, log_x))
        return {"nested": values, "information": float(np.mean(nats))}

    return run


def _starts(model: Model, settings: PimaSettings, loop: Loop) -> State:
    """At zero: the burn-in takes them from there."""
    return state_at(model, np.zeros((settings.n_runs, model.n_dimensions)), loop)


def _ladder(n_rungs: int, power: float) -> Array:
    return np.asarray((np.arange(n_rungs + 1) / n_rungs) ** power)


# -- what this library does -----------------------------------------------------------------------------------------------


def library_methods(settings: PimaSettings) -> dict[str, Method]:
    """By the paper's row, and two more; with default settings, unless a quick look is wanted."""
    if settings.small_library:
        chains = LadderChains(n_chains=80, n_kept=10)
        small = {"power": PowerPosterior(chains=chains), "ais": AIS(n_particles=200, n_pilot=200), "nested": NestedSampling(400)}
        return {**library_methods(PimaSettings()), **small, "smc": SMC(n_particles=400)}
    return {
        "laplace": Laplace(),
        "chib_jeliazkov": ChibJeliazkov(),
        "laplace_map": LaplaceMetropolis(),
        "harmonic": HarmonicMean(),
        "power": PowerPosterior(),
        "ais": AIS(),
        "nested": NestedSampling(),
        "importance": Importance(),
        "smc": SMC(),
    }


def library_work(row: str) -> Work:
    """The work of one of ours."""

    def run(model: Model, tau: float, settings: PimaSettings, key: Key, loop: Loop) -> dict[str, Any]:
        n_runs = settings.our_power_runs if row == "power" else 1
        return run_library(model, library_methods(settings)[row], n_runs, key, loop)

    return run


# -- parts ---------------------------------------------------------------------------------------------------------------


def _both(work: Work, tau: float) -> Callable[[Settings, Key, Loop], dict[str, Any]]:
    def run(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
        found = {}
        for i, model in enumerate(models(tau), start=1):
            found[f"model {i}"] = work(model, tau, settings.pima, key.child(i), loop)
        return found

    return run


PAPER: dict[str, Work] = {
    "laplace": _laplace,
    "chib-jeliazkov": _chib_jeliazkov,
    "chain": _chain,
    "power-10": _power(10),
    "power-20": _power(20),
    "ais": _ais,
    "nested-few": _nested(0),
    "nested-many": _nested(1),
}
# What a part is called, and about how many seconds it takes.
TITLES = {
    "laplace": ("Laplace", 2.0),
    "chib-jeliazkov": ("Chib & Jeliazkov", 60.0),
    "chain": ("harmonic mean and Laplace at the MAP", 55.0),
    "power-10": ("power posteriors, 10 steps", 55.0),
    "power-20": ("power posteriors, 20 steps", 55.0),
    "ais": ("annealed importance sampling", 35.0),
    "nested-few": ("nested sampling, few moves", 12.0),
    "nested-many": ("nested sampling, more moves", 100.0),
}


def parts() -> list[Part]:
    """Everything that Tables 3 and 4 need but the jumps."""
    found = []
    for table, tau in TAUS.items():
        for name, work in PAPER.items():
            title, weight = TITLES[name]
            found.append(Part(f"table-{table}/{name}", table, f"Table {table}, {title}", _both(work, tau), weight))
        for row in library_methods(PimaSettings()):
            title = f"Table {table}, ours: {row}"
            found.append(Part(f"table-{table}/ours-{row}", table, title, _both(library_work(row), tau), 6.0))
    return found
