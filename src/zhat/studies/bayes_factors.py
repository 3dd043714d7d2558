"""The Bayes factors of Friel & Wyse (2012) by several methods, beside known values: pine in three forms, Pima in two.

A Bayes factor to one per cent needs a log evidence to a few thousandths, which is more than defaults give: the settings below
were chosen by the errors that runs report, not by how near they came. Every evidence has a seed of its own, so errors add up as
independent ones do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from zhat import zoo
from zhat.comparing.compare import compare
from zhat.comparing.comparison import LogBayesFactor
from zhat.methods._base import Method
from zhat.methods.chib import Chib
from zhat.methods.chib_jeliazkov import ChibJeliazkov
from zhat.methods.importance import Importance
from zhat.methods.smc import SMC
from zhat.methods.stepping_stone import SteppingStone
from zhat.model.model import Model
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.zoo.pima import MODEL_1, MODEL_2

HEADER = ("data", "method", "Bayes factor", "s.e.", "known", "off by", "in s.e.", "seconds", "verdict")


@dataclass(frozen=True)
class Case:
    """Two models (the first in the numerator), what is known of their log Bayes factor, and the methods to try."""

    models: tuple[Model, Model]
    known: float
    known_error: float
    methods: tuple[tuple[Method, int], ...]  # each with its number of repeats


@dataclass(frozen=True)
class Row:
    """One method's answer."""

    case: str
    method: str
    factor: LogBayesFactor
    known: float
    known_error: float
    seconds: float
    suspects: tuple[str, ...]

    @property
    def off(self) -> float:
        """Error of the log Bayes factor: as a share of the Bayes factor, nearly."""
        return self.factor.value - self.known

    @property
    def z(self) -> float:
        """The same in standard errors."""
        return math.nan if self.factor.se is None else self.off / math.hypot(self.factor.se, self.known_error)

    def cells(self) -> tuple[str, ...]:
        """For a table."""
        value, error = math.exp(self.factor.value), self.factor.se
        digits = 1 if value > 100 else 3
        return (
            self.case,
            self.method,
            f"{value:.{digits}f}",
            "?" if error is None else f"{error:.2%}",
            f"{math.exp(self.known):.{digits}f}",
            f"{math.expm1(self.off):+.2%}",
            f"{self.z:+.1f}",
            f"{self.seconds:.0f}",
            "suspect" if self.suspects else "ok",
        )


def cases() -> dict[str, Case]:
    """The three pine pairs of the literature, and Pima at both priors."""
    precise: tuple[tuple[Method, int], ...] = (
        (Chib(), 1),
        (ChibJeliazkov(), 1),
        (Importance(n_draws=200_000), 1),
        (SteppingStone(chains=LadderChains(n_chains=2000, n_kept=100)), 4),
    )
    found: dict[str, Case] = {}
    for data, prior in (("friel_wyse", "review"), ("williams1959", "review"), ("williams1959", "green_ohagan")):
        second, first = zoo.pine("density", data, prior), zoo.pine("adjusted_density", data, prior)
        assert first.log_evidence is not None and second.log_evidence is not None
        known = first.log_evidence - second.log_evidence
        found[f"pine, {data}, {prior} prior"] = Case((first.model, second.model), known, 0.0, precise)
    for tau in (0.01, 1.0):
        first, second = zoo.pima(MODEL_1, tau), zoo.pima(MODEL_2, tau)
        assert first.log_evidence is not None and second.log_evidence is not None
        known = first.log_evidence - second.log_evidence
        methods: tuple[tuple[Method, int], ...] = ((Importance(), 1), (ChibJeliazkov(), 1), (SMC(n_particles=20_000), 3))
        found[f"pima, tau = {tau:g}"] = Case((first.model, second.model), known, math.sqrt(2) * 0.0003, methods)
    return found


def run_case(name: str, case: Case, seed: int = 1, say: Callable[[str], None] = lambda text: None) -> list[Row]:
    """All methods on one pair."""
    rows = []
    for method, repeats in case.methods:
        say(f"{name}: {method.name} ...")
        first, second = case.models
        # Seeds come from the names, which say data and prior too: no two cases share their noise.
        comparison = compare({first.name: first, second.name: second}, method, seed=seed, repeats=repeats, progress=False)
        seconds = sum(evidence.cost.seconds for evidence in comparison.evidences.values())
        factor = comparison.log_bayes_factor(first.name, second.name)
        rows.append(Row(name, method.name, factor, case.known, case.known_error, seconds, comparison.suspects))
    return rows


def run_all(seed: int = 1, say: Callable[[str], None] = lambda text: None) -> list[Row]:
    """Every case; about ten minutes."""
    return [row for name, case in cases().items() for row in run_case(name, case, seed, say)]
