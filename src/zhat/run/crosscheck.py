"""`crosscheck`: families of methods that start from different ends, one after the other, until the verdict is clear.

    print(crosscheck(model))          # who says what, one verdict, what to do next

The default (`run.auto`) accepts an answer as soon as two views agree, and takes a small population for one of them. A crosscheck runs
each family at its own size: importance sampling from the modes, SMC by tempering from the prior, nested sampling by likelihood
thresholds, second algorithms of each, and repeats with twice the effort where they differ. It ends at the first clear verdict: two
runs where all is well.

*The verdict and the ladder of trust.* Each rung is a fact about the runs:

| verdict | trust | what was seen |
|---|---|---|
| confirmed | 3 | two families that start from different ends agree (4: and a simulated sandwich closes) |
| one-sided | 2 | two algorithms that start from one end agree, and no other contradicts them |
| unconfirmed | 1 | one algorithm has an answer that its own checks accept |
| contradicted | 0 | accepted answers disagree |
| no answer | 0 | every family refused its own answer |

*Its standard error.* The accepted runs are independent, so their weighted mean has the inverse sum of their precisions; the difference
of the runs is independent of it, so stopping at agreement does not bias it. `resolution` is the difference that would have been
noticed: a part of the posterior below that share may be missing from one side.

*What it cannot see.* What every family misses is missing from the verdict: `Evidence.resolution` says how narrow that may be.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.formatting import with_error
from zhat.model.model import Model
from zhat.results.estimate import Evidence, Status
from zhat.run.auto import Run, is_ended
from zhat.run.distribution.executors import opened
from zhat.run.distribution.plans import Plan, carry_out
from zhat.run.estimate import Runner
from zhat.run.families import thorough
from zhat.run.judging import AGREE, AGREE_AT_LAST, Judgement, Member, combined, judge, unresolved
from zhat.run.model_check import check_model
from zhat.run.sandwich import Sandwich, sandwich
from zhat.run.whose_model import not_a_model
from zhat.sampling.backend.loop import Budget
from zhat.seeding import check_seed

# A simulated sandwich closes when its gap is within this many standard errors of zero, or below so many nats.
CLOSED_ERRORS, CLOSED_NATS = 2.0, 0.1


# Prior draws of the check of the model.
N_CHECK = 2000


class Verdict(enum.Enum):
    """What a crosscheck found."""

    CONFIRMED = "confirmed"
    ONE_SIDED = "one-sided"
    UNCONFIRMED = "unconfirmed"
    CONTRADICTED = "contradicted"
    NO_ANSWER = "no answer"


TRUST = {Verdict.CONFIRMED: 3, Verdict.ONE_SIDED: 2, Verdict.UNCONFIRMED: 1, Verdict.CONTRADICTED: 0, Verdict.NO_ANSWER: 0}
NEXT = {
    Verdict.CONFIRMED: "nothing: quote the number with its standard error.",
    Verdict.ONE_SIDED: "give posterior draws, zhat.evidence(model, draws=...), or simulate=..., for a view from another end.",
    Verdict.UNCONFIRMED: "reparametrise the model so that a second family can run, or give posterior draws.",
    Verdict.CONTRADICTED: "run the family with the highest number for longer: what a family misses is missing from its number.",
    Verdict.NO_ANSWER: "read the reasons below; reparametrise the model, narrow its priors, or give posterior draws.",
}


@dataclass(frozen=True)
class Crosscheck:
    """What several families of methods say about one evidence.

    Attributes
    ----------
    evidence : Evidence
        The answer, for `compare` and `average`: the weighted mean of the runs that agree, with its standard error; without one where
        the verdict is neither confirmed nor one-sided.
    verdict : Verdict
    members : tuple of Member
        Every run, with the family it belongs to.
    sandwich : Sandwich or None
        Bounds on simulated data, with `simulate=...`.
    """

    evidence: Evidence
    verdict: Verdict
    members: tuple[Member, ...]
    sandwich: Sandwich | None = None

    @property
    def log_evidence(self) -> float:
        """The log evidence of the answer."""
        return self.evidence.log_evidence

    @property
    def log_evidence_se(self) -> float | None:
        """Its standard error; None where the verdict allows none."""
        return self.evidence.log_evidence_se

    @property
    def status(self) -> Status:
        """The status of the answer."""
        return self.evidence.status

    @property
    def trust(self) -> int:
        """The rung of the ladder of trust, 0 to 4."""
        return TRUST[self.verdict] + (self.verdict is Verdict.CONFIRMED and self._is_closed)

    @property
    def _is_closed(self) -> bool:
        if self.sandwich is None or not self.sandwich.status.is_ok:
            return False
        se = self.sandwich.gap_se
        return abs(self.sandwich.gap) < CLOSED_NATS or (se is not None and abs(self.sandwich.gap) < CLOSED_ERRORS * se)

    @property
    def resolution(self) -> float | None:
        """The difference in nats between two runs that would have been noticed; None without two accepted runs."""
        errors = sorted(member.evidence.log_evidence_se or 0.0 for member in self.members if member.is_accepted)
        return AGREE * math.hypot(errors[0], errors[1]) if len(errors) > 1 else None

    @property
    def next_step(self) -> str:
        """What to do now, as a sentence."""
        return NEXT[self.verdict]

    def __str__(self) -> str:
        """A table of the runs, and the verdict."""
        number = with_error(self.log_evidence, self.log_evidence_se)
        lines = [f"crosscheck of {self.evidence.model}: {self.verdict.value} (trust {self.trust} of 5)  log Z = {number}", ""]
        rows = [("family", "starts", "log Z", "s.e.", "seconds", "status")]
        for member in self.members:
            e = member.evidence
            se = "" if e.log_evidence_se is None else f"{e.log_evidence_se:.2g}"
            rows.append(
                (
                    member.family.label,
                    member.family.end.value,
                    f"{e.log_evidence:.4f}",
                    se,
                    f"{e.cost.seconds:.1f}",
                    str(e.status),
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        right = {2, 3, 4}
        for row in rows:
            cells = [cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
            lines.append(("  " + "  ".join(cells)).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def explain(self) -> str:
        """The table, what it means, what could not have been seen, and what to do next."""
        lines = [str(self), "", f"  {self.evidence.why_this_method}."]
        if self.resolution is not None:
            share = -math.expm1(-self.resolution)
            lines.append(
                f"  A difference of {self.resolution:.2g} nats between two families would have been noticed: a part of the posterior below "
                f"{share:.1%} may be missing from one of them."
            )
        if self.evidence.resolution is not None:
            lines.append(f"  Resolution: {self.evidence.resolution_in_words}")
        if self.sandwich is not None:
            lines.append(f"  Sandwich on simulated data: {self.sandwich}")
        lines += [f"  {reason.sentence}" for reason in self.status.reasons]
        lines.append(f"  Next: {self.next_step}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.evidence.model,
            "verdict": self.verdict.value,
            "trust": self.trust,
            "log_evidence": _finite(self.log_evidence),
            "log_evidence_se": _finite(self.log_evidence_se),
            "status": str(self.status),
            "resolution": _finite(self.resolution),
            "next_step": self.next_step,
            "seed": self.evidence.seed,
            "members": [
                {
                    "family": member.family.label,
                    "starts": member.family.end.value,
                    "log_evidence": _finite(member.evidence.log_evidence),
                    "log_evidence_se": _finite(member.evidence.log_evidence_se),
                    "status": str(member.evidence.status),
                    "seconds": member.evidence.cost.seconds,
                    "n_likelihood": member.evidence.cost.n_likelihood,
                }
                for member in self.members
            ],
        }


def crosscheck(
    model: Model,
    *,
    simulate: Callable[[dict[str, Any], np.random.Generator], Any] | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
    executor: Executor | str | None = None,
    workers: int | None = None,
) -> Crosscheck:
    """Run families of methods that start from different ends until the verdict on the log evidence is clear.

    Parameters
    ----------
    model : Model
    simulate : callable ``(params, rng) -> data``, optional
        Draws data given parameters; a sandwich on such data is then made too, for the fourth rung of the ladder of trust.
    seed, progress, budget, executor, workers
        As in `evidence`; the budget is for all runs together.
    """
    if not isinstance(model, Model):
        raise BadType(not_a_model(model, "crosscheck"))
    seed = check_seed(seed)
    report = check_model(model, N_CHECK, seed)
    if not report.ok:
        raise BadInput(f"crosscheck: {model.name!r} does not pass its own check, so no number would mean anything:\n{report}")
    spread = executor is not None or workers is not None
    with opened(executor, workers) as where:
        judgement = carry_out([_plan(model, Runner(model, seed, 1, progress, spread), budget)], where, progress)[0]
    verdict = _verdict(judgement)
    answer = combined(judgement) if verdict in (Verdict.CONFIRMED, Verdict.ONE_SIDED) else unresolved(judgement)
    bounds = None if simulate is None else sandwich(model, simulate=simulate, seed=seed, progress=progress)
    return Crosscheck(answer, verdict, judgement.members, bounds)


def _plan(model: Model, run: Run, budget: Budget | None) -> Plan[Judgement]:
    """Family after family until two ends agree; agreement within one end ends it after every family has run once."""
    members: list[Member] = []
    left = budget
    for family in thorough(model):
        evidence = yield from run(family.method, family.number, left)
        members.append(Member(family, evidence))
        left = None if left is None else left.left_after(evidence.cost)
        judgement = judge(members, AGREE)
        if _verdict(judgement) is Verdict.CONFIRMED or is_ended(evidence):
            return judgement
    return judge(members, AGREE_AT_LAST)


def _verdict(judgement: Judgement) -> Verdict:
    if judgement.group is None:
        return Verdict.NO_ANSWER
    if judgement.is_agreed:
        ends = {member.family.end for member in judgement.agreeing}
        return Verdict.CONFIRMED if len(ends) > 1 else Verdict.ONE_SIDED
    if len({member.family.label for member in judgement.accepted}) > 1:
        return Verdict.CONTRADICTED
    return Verdict.UNCONFIRMED


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
