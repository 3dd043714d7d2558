"""What a run will cost: likelihood evaluations and seconds, said before it is made.

    importance sampling, about 20,000 likelihoods, about 3 min

The number of evaluations follows from the sizes of the method and the number of dimensions (`Method.evaluations`, measured on the exact models
of the zoo: right within a factor of about three on smooth posteriors, too low on multimodal and curved ones), the seconds from what one
likelihood takes, which is measured on prior draws. Compilation is not included.

Where a likelihood takes a millisecond or more, a standard error of thousandths costs minutes to hours that hardly any question deserves:
`default_precision` then gives 0.1 as the target of a run for which none is asked.

*Memory.* A run holds its draws or particles with their parameters, and copies while it works: for each of them and each number
of the record (two for each dimension, and three) `COPIES` times eight bytes at its peak, or `POPULATION_COPIES` where a population moves.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from zhat.errors import BadInput
from zhat.methods._base import Method
from zhat.missed_mass.look import Origin
from zhat.model.model import Model, black_box_values
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import log_densities, prior_positions
from zhat.sampling.backend.loop import Loop
from zhat.sampling.backend.progress import duration
from zhat.sampling.importance.nearness import COMPARED
from zhat.sampling.importance.survey import LINE
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.seeding import Key

# Seconds a likelihood from which on a default run aims at `COARSE` instead of at what its own sizes give: a default run of 100,000 likelihoods
# takes two minutes there. A standard error of 0.1 changes a Bayes factor by a tenth, a fortieth of the width of a step of Jeffreys' scale.
SLOW, COARSE = 1e-3, 0.1
# Seconds from which on a plan is called hopeless unless someone means it.
HOPELESS = 3600.0
# Newton steps of a search on average, and moves of a particle of a check's population: on the exact models of one to ten dimensions.
SEARCH_STEPS, PER_PARTICLE, PER_DIMENSION = 8, 2.0, 3.0
# Likelihoods of a start of the survey: its own, and those of its line for starts that are compared.
PER_START = 1.0 + COMPARED * len(LINE)
# Plans shorter than this are not announced.
WORTH_SAYING = 10.0
# Measuring ends after this many seconds or calls.
MEASURED_SECONDS, MEASURED_CALLS = 0.2, 16
# Calls of a batched black box.
REPEATED = 3
# Measured on a normal model in ten dimensions with 200,000 to 1,000,000 draws: 2.1 (prior mean), 2.4 (importance), 9.5 (SMC), 9.6 (AIS).
COPIES, POPULATION_COPIES = 2.5, 10.0
# Methods that keep draws and move nothing.
OF_DRAWS = ("prior-mean", "importance")
# Settings whose names begin like those of counts of points.
OF_NO_POINTS = ("n_islands", "n_sweeps")
# Bytes from which on the plan says them.
MUCH_MEMORY = 2**30


@dataclass(frozen=True)
class Price:
    """What a method at its sizes is expected to cost on a model."""

    method: str
    n_evaluations: int
    seconds: float
    memory: str = ""  # in words, where it is large

    @property
    def is_hopeless(self) -> bool:
        """Whether it takes an hour or more."""
        return self.seconds >= HOPELESS

    def __str__(self) -> str:
        """In words, for the progress line."""
        return f"{self.method}, about {_rounded(self.n_evaluations):,} likelihoods, about {duration(self.seconds)}{self.memory}"

    def warning(self) -> str:
        """The sentence for a plan that takes hours: what could be done instead."""
        return (
            f"the plan is {self}. Fewer evaluations: precision=0.3, or a method with fewer draws or particles; a bound: "
            "budget=zhat.Budget(seconds=600); a faster likelihood: jax.numpy instead of a black box, or batched=True."
        )


def price_of(model: Model, method: Method, seconds_per_likelihood: float) -> Price:
    """The expected cost of one run of this method at its sizes."""
    n = _evaluations(method, model)
    return Price(method.name, n, n * seconds_per_likelihood, check_memory(model, method))


def _evaluations(method: Method, model: Model) -> int:
    """Those of the estimate, those of its check for missed mass, and of a black box those of the search for modes."""
    own = method.evaluations_in_all(model)
    if own is not None:
        return own
    fixed, each = method.evaluations_on(model)
    first = method.sizes[0].value(method) if method.sizes else 0
    size = first if isinstance(first, int) else first.n_chains
    effort, d = method.effort_on(model), model.n_dimensions
    population = effort.population_size(model) if method.look.origin is Origin.PRIOR else 0
    starts = effort.survey(model)
    check = effort.n_draws_at_modes + population * (PER_PARTICLE + PER_DIMENSION * d) + PER_START * starts.n_starts
    search = starts.n_first * SEARCH_STEPS * (1 + d * (d + 1)) if model.is_black_box else 0
    return int(size * (fixed + each * d) + check + search)


def price_of_plan(model: Model, methods: Sequence[Method], seconds_per_likelihood: float) -> Price:
    """The expected cost of these methods one after the other: the plan where all goes well."""
    prices = [price_of(model, method, seconds_per_likelihood) for method in methods]
    words = ", then ".join(price.method for price in prices)
    return Price(words, sum(price.n_evaluations for price in prices), sum(price.seconds for price in prices))


def default_precision(seconds_per_likelihood: float) -> float | None:
    """The target of a run for which none is asked: None, so that sizes are the method's own, where a likelihood is cheap."""
    return COARSE if seconds_per_likelihood >= SLOW else None


def precision_for_data(model: Model) -> float | None:
    """The same for a compiled likelihood, by the size of its data, so that the digits do not depend on a clock."""
    return COARSE if model.has_large_data else None


def affordable_factor(model: Model, method: Method, seconds_per_likelihood: float, seconds: float = 60.0) -> float:
    """The factor for `Method.sized` at which one run takes about this long: 1 at most, and no less than the first run of `precision=`."""
    whole, small = (_evaluations(m, model) * seconds_per_likelihood for m in (method, method.sized(method.first_share)))
    if whole <= seconds:
        return 1.0
    slope = (whole - small) / (1.0 - method.first_share)
    return (
        float(np.clip(method.first_share + (seconds - small) / slope, method.first_share, 1.0))
        if slope > 0
        else method.first_share
    )


def measured_seconds(model: Model, seed: int = 0) -> float:
    """Seconds of one likelihood at prior draws: many at a time where the model allows, one by one for a black box that is not batched."""
    position = prior_positions(model, MEASURED_CALLS, Key(seed).child("price"))
    position = position[np.isfinite(position).all(axis=1)]
    if not model.is_black_box:
        many = np.resize(position, (MEASURED_CALLS * 16, position.shape[1]))
        loop = Loop(progress=False)
        log_densities(model, many, loop)  # compiles
        begun = time.perf_counter()
        log_densities(model, many, loop)
        return (time.perf_counter() - begun) / len(many)
    params = constrain_batch(model, position)[0]
    n = len(position) if model.core.batched else 1
    parts = [{name: value[i : i + n] for name, value in params.items()} for i in range(0, len(position), n)]
    return _fastest([partial(black_box_values, model, part) for part in parts * (1 if len(parts) > 1 else REPEATED)]) / n


def _fastest(calls: Sequence[Callable[[], object]]) -> float:
    """Seconds of the fastest call: the others waited for imports or for other work of the machine."""
    begun, fastest = time.perf_counter(), math.inf
    for call in calls:
        before = time.perf_counter()
        call()
        now = time.perf_counter()
        fastest = min(fastest, now - before)
        if now - begun > MEASURED_SECONDS:
            break
    return fastest


def announce(price: Price, loop: Loop) -> None:
    """Say a plan of some length before it is carried out; a hopeless one also where no progress is shown."""
    if price.is_hopeless:
        warnings.warn(price.warning(), stacklevel=2)
    elif price.seconds >= WORTH_SAYING or price.memory:
        loop.say(str(price))


def _rounded(n: int) -> int:
    """To two figures."""
    scale = 10 ** max(len(str(n)) - 2, 0)
    return round(n / scale) * scale


def memory_of(model: Model, method: Method) -> int:
    """Bytes that a run of this method at its sizes will need, beside data and compiled programs; 0 where it has no size."""
    copies = COPIES if method.name in OF_DRAWS else POPULATION_COPIES
    return int(max(counts_of(method).values(), default=0) * copies * 8 * (2 * model.n_dimensions + 3))


def counts_of(method: Method) -> dict[str, int]:
    """How many points each setting of a method keeps at once, by its name; chains keep all their draws."""
    counts = {}
    for field in fields(method):
        value = getattr(method, field.name)
        if isinstance(value, LadderChains):
            counts[field.name] = value.n_chains * value.n_kept
        elif field.name.startswith("n_") and isinstance(value, int) and field.name not in OF_NO_POINTS:
            counts[field.name] = value
    if "n_chains" in counts:
        counts["n_chains"] *= counts.get("n_draws", 1)
    return counts


def machine_memory() -> int | None:
    """Bytes of this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(model: Model, method: Method) -> str:
    """The memory in words where it is large, else nothing; refused where the machine has less."""
    needed, there = memory_of(model, method), machine_memory()
    if there is not None and needed > there:
        counts = counts_of(method)
        size = max(counts, key=lambda name: counts[name])
        raise BadInput(
            f"{type(method).__name__}({size}=...) on {model.name!r} ({model.n_dimensions} dimensions) needs about {needed / 1e9:,.0f} GB of "
            f"memory and this machine has {there / 1e9:,.0f} GB: give a smaller {size} and repeats=..., of which only the first one's "
            "record is kept."
        )
    return f", about {needed / 1e9:.1f} GB of memory" if needed >= MUCH_MEMORY else ""
