"""The benchmark of Friel & Wyse (2012): reversible jump between two Pima models, and a long run over all 128 subsets.

"A reduced reversible jump run restricting to jumps only between these two models. The prior probabilities of the models were
adjusted to allow for very frequent jumps (about 29%)." Here `jump` evens out the models by pilot runs, which does the same, and
jumps to fresh draws of the other model's proposal. The long run is compared with the enumeration of all models by importance
sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key
from zhat.spaces.jump import jump
from zhat.spaces.subsets import Subsets
from zhat.studies.friel_wyse.parts import Part, Work, seed_of
from zhat.studies.friel_wyse.settings import Settings
from zhat.studies.friel_wyse.tables import tables_3_and_4 as pima
from zhat.zoo.pima import COVARIATES, pima_with_mask

N_CHAINS = 64
N_TOP = 8


def _pair(tau: float) -> Work:
    def run(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
        models = dict(zip(("model 1", "model 2"), pima.models(tau), strict=True))
        found = jump(models, n_chains=N_CHAINS, n_moves=settings.pima.jump_pair // N_CHAINS, seed=seed_of(key), progress=False)
        loop.count(found.cost.n_likelihood, found.cost.n_gradient)
        factor = found.log_bayes_factor("model 1", "model 2")
        return {
            "log_bayes_factor": factor.value,
            "error": factor.se,
            "switches": found.switches / found.index.size,
            "status": str(found.status.level.value),
        }

    return run


def _all(tau: float) -> Work:
    def run(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
        family = Subsets(pima_with_mask(tau), COVARIATES)
        n_moves = settings.pima.jump_all // N_CHAINS
        found = jump(family, n_chains=N_CHAINS, n_moves=n_moves, seed=seed_of(key.child("jump")), progress=False)
        loop.count(found.cost.n_likelihood, found.cost.n_gradient)
        listed = family.enumerate(seed=seed_of(key.child("list")), progress=False)
        p, se = found.probabilities, found.probabilities_se
        order = sorted(range(len(p)), key=lambda k: -p[k])[:N_TOP]
        return {
            "jump": [[found.names[k], float(p[k]), float(se[k])] for k in order],
            "enumerated": [list(row) for row in listed.top(N_TOP)],
            "status": str(found.status.level.value),
            "switches": found.switches / found.index.size,
        }

    return run


def parts() -> list[Part]:
    """Two for each prior."""
    kinds: list[tuple[str, str, Callable[[float], Work]]] = [
        ("jump-pair", "reversible jump between the two models", _pair),
        ("jump-all", "reversible jump over all models", _all),
    ]
    found = []
    for table, tau in pima.TAUS.items():
        found += [Part(f"table-{table}/{name}", table, f"Table {table}, {title}", work(tau), 15.0) for name, title, work in kinds]
    return found
