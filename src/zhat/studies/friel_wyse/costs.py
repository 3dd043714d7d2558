"""What an evaluation costs: CPU time per likelihood of every method, against the likelihood alone.

The long runs of Friel & Wyse (2012) are timed as they are: compiling takes no time beside them. Ours are so short that each runs twice on the
first model of its table, with the settings of a quick look; the first run compiles, the second is timed. The likelihood alone is
one compiled call on some thousand points. Where methods also take gradients, an evaluation is either.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from zhat.model.model import Model
from zhat.sampling.backend.evaluation import log_densities, prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key
from zhat.studies.friel_wyse.parts import Part
from zhat.studies.friel_wyse.settings import Settings, quick_settings
from zhat.studies.friel_wyse.tables import table_2
from zhat.studies.friel_wyse.tables import tables_3_and_4 as pima

N_POINTS = 8192
TIMES = 10


def bare(model: Model, key: Key, loop: Loop) -> float:
    """CPU microseconds of one likelihood in a large batch: the best of some calls."""
    points = prior_draws(model, N_POINTS, key, loop).position
    taken = []
    for _ in range(TIMES):
        before = time.process_time()
        log_densities(model, points, loop)
        taken.append(time.process_time() - before)
    return 1e6 * min(taken) / N_POINTS


def _timed(work: Callable[[Loop], Any]) -> float:
    """CPU microseconds an evaluation, compiled beforehand."""
    work(Loop(None, False))
    loop = Loop(None, False)
    before = time.process_time()
    work(loop)
    return 1e6 * (time.process_time() - before) / max(loop.n_likelihood + loop.n_gradient, 1)


def _pine(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
    model, quick = table_2.models()[0], quick_settings().pine
    works = {"laplace": table_2.PAPER["laplace"], **{f"ours-{row}": table_2.library_work(row) for row in table_2.OURS}}
    found = {name: _timed(partial(work, model, quick, key.child("time"))) for name, work in works.items()}
    return {"bare": bare(model, key.child("bare"), loop), **found}


def _pima(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
    tau, quick = pima.TAUS["3"], quick_settings().pima
    model = pima.models(tau)[0]
    works = {"laplace": pima.PAPER["laplace"], **{f"ours-{row}": pima.library_work(row) for row in pima.library_methods(quick)}}
    found = {name: _timed(partial(work, model, tau, quick, key.child("time"))) for name, work in works.items()}
    return {"bare": bare(model, key.child("bare"), loop), **found}


def parts() -> list[Part]:
    """One for the pine models, one for Pima."""
    return [
        Part("costs/pine", "2", "CPU time per likelihood, pine", _pine, 15.0),
        Part("costs/pima", "3", "CPU time per likelihood, Pima", _pima, 40.0),
    ]
