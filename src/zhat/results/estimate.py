"""What comes out: Estimate (of a method), Evidence (of the front door), and the parts they are made of.

A method returns the small `Estimate`; the front door adds what every method would otherwise repeat: which method ran, on which model,
from which seed, at what cost, how often. Both are frozen. One class serves whether a run was repeated or not.

*The promise.* A status that is not ok and a standard error cannot be in one object: `Estimate`, `Repeat` and `Evidence` remove the
standard error when they are constructed, and put the first reason of the status in its place. `dataclasses.replace` constructs, so it
keeps the promise as well.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zhat.formatting import decimals, one_line, shown_error, with_error
from zhat.numerics.combining.uncertainty import interval as symmetric_interval
from zhat.results.codes import NOTE, known
from zhat.results.records import Cost

if TYPE_CHECKING:
    from zhat.results.records import Draws, NestedRun, OrdinateRun, PathRun

Diagnostic = float | int | str | bool | list[float] | list[str]


class Level(enum.Enum):
    """How far a number may be trusted, by the run's own account."""

    OK = "ok"
    SUSPECT = "suspect"
    FAILED = "failed"


@dataclass(frozen=True)
class Reason:
    """Why a result is not simply `ok`: a code for programs, a sentence for people that ends in what to try."""

    code: str
    sentence: str


@dataclass(frozen=True)
class Status:
    """The verdict of a run on itself: its level, the reasons of a level that is not ok, and notes, which change no level."""

    level: Level = Level.OK
    reasons: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()

    @staticmethod
    def ok() -> Status:
        """Nothing to report."""
        return Status()

    @staticmethod
    def suspect(code: str, sentence: str) -> Status:
        """A number that may well be wrong; the code is one of `zhat.results.codes`."""
        return Status(Level.SUSPECT, (Reason(known(code, Level.SUSPECT.value), sentence),))

    @staticmethod
    def failed(code: str, sentence: str) -> Status:
        """No usable number; the code is one of `zhat.results.codes`."""
        return Status(Level.FAILED, (Reason(known(code, Level.FAILED.value), sentence),))

    @staticmethod
    def note(code: str, sentence: str) -> Status:
        """A remark that a reader should see and that casts no doubt; the code is one of `zhat.results.codes`."""
        return Status(notes=(Reason(known(code, NOTE), sentence),))

    def and_(self, other: Status) -> Status:
        """Both verdicts: the worse level, all reasons and notes (each code once)."""
        order = [Level.OK, Level.SUSPECT, Level.FAILED]
        level = max(self.level, other.level, key=order.index)
        return Status(level, _once(self.reasons + other.reasons), _once(self.notes + other.notes))

    @property
    def is_ok(self) -> bool:
        """Whether all of the run's own checks passed."""
        return self.level is Level.OK

    def __str__(self) -> str:
        """Name the level and the codes: ``suspect (pareto-k)``, ``ok (note: nan-far)``."""
        words = [", ".join(r.code for r in self.reasons)] if self.reasons else []
        words += [f"note: {', '.join(note.code for note in self.notes)}"] if self.notes else []
        return f"{self.level.value} ({'; '.join(words)})" if words else self.level.value


def _once(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    seen: dict[str, Reason] = {}
    for reason in reasons:
        seen.setdefault(reason.code, reason)
    return tuple(seen.values())


def promised_se(se: float | None, status: Status) -> float | None:
    """The standard error, unless the status is in doubt: then there is none."""
    return se if status.is_ok else None


def _keep_promise(result: Estimate | Evidence) -> None:
    """Remove the standard error of a result in doubt; say why there is none exactly where there is none."""
    se, because = promised_se(result.log_evidence_se, result.status), result.no_se_because
    if se is not None:
        because = None
    elif because is None and not result.status.is_ok:
        because = next((reason.sentence for reason in result.status.reasons), f"the result is {result.status.level.value}.")
    object.__setattr__(result, "log_evidence_se", se)
    object.__setattr__(result, "no_se_because", because)


# Why an unbiased estimate of Z is a lower bound; a method whose bound is of another sort says so in its diagnostic `bound`.
UNBIASED = (
    "Z is unbiased, so its logarithm falls short on average, by half the squared error; it exceeds log Z by b nats with probability "
    "at most exp(-b)"
)


class Kind(enum.Enum):
    """What sort of number an estimate is; the words are the ones that a printed result uses."""

    SAMPLING = "sampling estimate"
    APPROXIMATION = "deterministic approximation"
    EXACT = "closed form or quadrature"
    LOWER_BOUND = "lower bound"
    UPPER_BOUND = "upper bound"


@dataclass(frozen=True)
class Estimate:
    """What a method returns: the number, its standard error, and whether to believe both.

    A method passes the standard error that it computed and the status that it reached; with a status that is not ok the standard
    error is removed here.

    Attributes
    ----------
    log_evidence : float
        Estimate of log Z in nats; NaN when the run failed before it had one, -inf is a legal answer.
    log_evidence_se : float or None
        Standard error of `log_evidence`; None when there is no honest one.
    no_se_because : str or None
        Why there is no standard error; the first reason of the status unless a method says otherwise.
    degrees_of_freedom : float
        Of the t distribution behind the standard error; infinite for a normal one.
    approximation_error : float or None
        For a deterministic approximation: how far it seems to be from the truth (its importance correction). For a closed form or a
        quadrature: its numerical error, beside a standard error of zero.
    """

    log_evidence: float
    log_evidence_se: float | None
    status: Status = field(default_factory=Status)
    kind: Kind = Kind.SAMPLING
    no_se_because: str | None = None
    degrees_of_freedom: float = math.inf
    approximation_error: float | None = None
    diagnostics: Mapping[str, Diagnostic] = field(default_factory=dict)
    record: Draws | NestedRun | OrdinateRun | PathRun | None = None

    def __post_init__(self) -> None:
        """Keep the promise: no standard error beside a status that is not ok."""
        _keep_promise(self)

    def doubted(self, status: Status, diagnostics: Mapping[str, Diagnostic] | None = None) -> Estimate:
        """The estimate with a further verdict and further diagnostics."""
        return replace(self, status=self.status.and_(status), diagnostics={**self.diagnostics, **(diagnostics or {})})


@dataclass(frozen=True)
class Repeat:
    """One run among several: its own result."""

    log_evidence: float
    log_evidence_se: float | None
    status: Status

    def __post_init__(self) -> None:
        """Keep the promise: no standard error beside a status that is not ok."""
        object.__setattr__(self, "log_evidence_se", promised_se(self.log_evidence_se, self.status))


@dataclass(frozen=True)
class Evidence:
    """The answer to *how strongly do these data support this model*, with all that is needed to defend it.

    Attributes
    ----------
    log_evidence, log_evidence_se, degrees_of_freedom, status, kind
        As in `Estimate`; over all repeats when there are several.
    method, settings, cites
        Name and settings of the method that gave the number, and the keys of what to cite.
    model, data_id, n_dimensions
        The model's name, the fingerprint of its data (None without data), the number of free coordinates.
    why_this_method : str
        Empty when the caller named the method, else how it was chosen.
    repeats : tuple of Repeat
        Each run by itself; one entry when the run was not repeated.
    labels, units : mapping of str to str
        Those of the model's parameters, where it has them.
    """

    log_evidence: float
    log_evidence_se: float | None
    status: Status
    kind: Kind
    degrees_of_freedom: float
    no_se_because: str | None
    approximation_error: float | None
    diagnostics: Mapping[str, Diagnostic]
    record: Draws | NestedRun | OrdinateRun | PathRun | None
    method: str
    settings: Mapping[str, Any]
    cites: tuple[str, ...]
    model: str
    data_id: str | None
    n_dimensions: int
    cost: Cost
    seed: int
    versions: Mapping[str, str]
    repeats: tuple[Repeat, ...]
    why_this_method: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the promise: no standard error beside a status that is not ok."""
        _keep_promise(self)

    def doubted(self, status: Status) -> Evidence:
        """The evidence with a further verdict."""
        return replace(self, status=self.status.and_(status))

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Central interval for log Z at this level from its standard error, or None without one."""
        if self.log_evidence_se is None:
            return None
        return symmetric_interval(self.log_evidence, self.log_evidence_se, self.degrees_of_freedom, level)

    @property
    def error(self) -> float | None:
        """The error to quote: the standard error, or for an approximation how far it seems to be off; of an exact value, the numerical one."""
        if self.kind is Kind.EXACT and self.status.is_ok:
            return self.approximation_error
        return self.log_evidence_se if self.log_evidence_se is not None else self.approximation_error

    def __str__(self) -> str:
        """One line: ``log Z = -257.232 ± 0.004  SMC  1.2 s  84,000 likelihoods  ok``."""
        parts = [
            f"log Z {_number_with_error(self)}",
            self.method,
            _seconds(self.cost.seconds),
            f"{self.cost.n_likelihood:,} likelihoods",
        ]
        if self.cost.n_gradient:
            parts.append(f"{self.cost.n_gradient:,} gradients")
        if len(self.repeats) > 1:
            parts.append(f"{len(self.repeats)} runs")
        parts.append(str(self.status))
        return "  ".join(parts)

    __repr__ = __str__

    def explain(self) -> str:
        """The line of `__str__`, then every reason and note as a sentence of its own."""
        lines = [str(self)]
        if self.why_this_method:
            lines.append(f"  method: {self.why_this_method}")
        if self.no_se_because and self.no_se_because not in [reason.sentence for reason in self.status.reasons]:
            lines.append(f"  no standard error: {self.no_se_because}")
        for word in ("model", "prior", "data"):
            if told := self.diagnostics.get(f"{word}_in_words"):
                lines.append(f"  {word}: {told}")
        if self.kind is Kind.LOWER_BOUND:
            lines.append(f"  lower bound: {self.diagnostics.get('bound', UNBIASED)}.")
        if self.diagnostics.get("mode_check") == "not made":
            lines.append("  not checked: nothing looked for parts of the posterior that the draws missed (mode_check=False).")
        lines += [f"  {self.status.level.value}: {reason.sentence}" for reason in self.status.reasons]
        lines += [f"  note: {note.sentence}" for note in self.status.notes]
        if self.status.is_ok and self.resolution is not None:
            lines.append(f"  resolution: {self.resolution_in_words}")
        if one_mode := self.diagnostics.get("one_mode"):
            lines.append(f"  one mode: {one_mode}, so nothing looked for others.")
        return "\n".join(line[:2] + one_line(line[2:]) for line in lines)

    @property
    def resolution(self) -> float | None:
        """The smallest share of the prior that a mode's basin may hold and still be met with probability 95 %; None if unknown."""
        share = self.diagnostics.get("basin_resolution")
        return float(share) if isinstance(share, int | float) else None

    @property
    def resolution_in_words(self) -> str:
        """What the searches of this run could have seen, as a sentence."""
        share = self.resolution
        if share is None:
            return "no search for modes was made, so a part of the posterior that the run did not visit is unknown."
        if share >= 1.0:
            return "no search ended in a mode, so a narrow mode that the run did not visit would not have been seen."
        per_dimension = share ** (1.0 / max(self.n_dimensions, 1))
        return (
            f"a mode whose basin holds at least {share:.1g} of the prior is met with probability 95 % (a box with {100 * per_dimension:.2g} % of "
            f"the prior's range in each of {self.n_dimensions} coordinates); a narrower one may be missing from this number."
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        from zhat.report.notebook import of_evidence

        return of_evidence(self)

    def to_arviz(
        self, n_draws: int | None = None, coords: Mapping[str, Any] | None = None, dims: Mapping[str, Any] | None = None
    ) -> Any:
        """Posterior draws for ArviZ, weighted ones resampled; the evidence is among the attributes.

        `coords` and `dims` are as ArviZ takes them; of a PyMC model ``model.coords`` and ``model.named_vars_to_dims``.
        """
        from zhat.adapters.arviz import to_arviz

        return to_arviz(self, n_draws, coords, dims)

    def to_anesthetic(self, labels: Mapping[str, str] | None = None) -> Any:
        """Posterior draws as `anesthetic.MCMCSamples`, with their weights; TeX `labels` by column: ``mu``, ``beta[0]``."""
        from zhat.adapters.weighted import to_anesthetic

        return to_anesthetic(self, labels)

    def to_getdist(self, labels: Mapping[str, str] | None = None) -> Any:
        """Posterior draws as `getdist.MCSamples`, with their weights; TeX `labels` by column: ``mu``, ``beta[0]``."""
        from zhat.adapters.weighted import to_getdist

        return to_getdist(self, labels)

    def label(self, column: str) -> str:
        """The label of a parameter or of one entry of an array, ``beta[0]``, with its unit in brackets; its name without a label."""
        name, bracket, index = column.partition("[")
        text = self.labels.get(column) or (f"{self.labels[name]}{bracket}{index}" if name in self.labels else column)
        unit = self.units.get(column) or self.units.get(name)
        return f"{text} [{unit}]" if unit else text

    def thinned(self, n_draws: int) -> Evidence:
        """The same with `n_draws` posterior draws of equal weight instead of the whole record, which may be large."""
        from zhat.results.thinning import thinned

        return thinned(self, n_draws)

    def save(self, path: str | Path) -> Path:
        """Write `path` (JSON) and, when there is a record, an .npz of arrays beside it; returns the path."""
        from zhat.results.storage import save_evidence

        return save_evidence(self, path)

    @staticmethod
    def load(path: str | Path) -> Evidence:
        """Read what `save` wrote; damaged or foreign files raise `CorruptFile`, nothing is ever executed."""
        from zhat.results.storage import load_evidence

        return load_evidence(path)


def _number_with_error(evidence: Evidence) -> str:
    value, off = evidence.log_evidence, evidence.approximation_error
    if math.isnan(value):
        return "= nan"
    if evidence.kind is Kind.EXACT and evidence.status.is_ok and off is not None:
        return f"= {value:.{decimals(off)}f} (exact; numerical error {off:.0e})"
    if evidence.log_evidence_se is None and off is not None:
        return f"≈ {value:.{decimals(off)}f} (off by about {shown_error(off)})"
    return f"= {with_error(value, evidence.log_evidence_se)}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
