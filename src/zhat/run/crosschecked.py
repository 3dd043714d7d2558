"""What a crosscheck found: the runs of every family, one verdict, a rung of the ladder of trust, and what to do next."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhat.formatting import with_error
from zhat.results.estimate import Evidence, Status
from zhat.run.judging import AGREE, Member
from zhat.run.sandwich import Sandwich

# A simulated sandwich closes when its gap is within this many standard errors of zero, or below so many nats.
CLOSED_ERRORS, CLOSED_NATS = 2.0, 0.1


class Verdict(enum.Enum):
    """What a crosscheck found."""

    CONFIRMED = "confirmed"
    ONE_SIDED = "one-sided"
    UNCONFIRMED = "unconfirmed"
    CONTRADICTED = "contradicted"
    NO_ANSWER = "no answer"

    @property
    def is_answer(self) -> bool:
        """Whether the number has a standard error."""
        return self in (Verdict.CONFIRMED, Verdict.ONE_SIDED)


TRUST = {Verdict.CONFIRMED: 3, Verdict.ONE_SIDED: 2, Verdict.UNCONFIRMED: 1, Verdict.CONTRADICTED: 0, Verdict.NO_ANSWER: 0}
NEXT = {
    Verdict.CONFIRMED: "nothing: quote the number with its standard error.",
    Verdict.ONE_SIDED: "give posterior draws, zhat.crosscheck(model, draws=...), or simulate=..., for a view from another end.",
    Verdict.UNCONFIRMED: "reparametrise the model so that a second family can run, or give posterior draws, zhat.crosscheck(model, draws=...).",
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
    def span(self) -> tuple[float, float] | None:
        """The lowest and the highest number: of the accepted runs, or of all where none is accepted; None without two numbers."""
        accepted = [member.evidence.log_evidence for member in self.members if member.is_accepted]
        every = [member.evidence.log_evidence for member in self.members]
        numbers = [value for value in accepted or every if math.isfinite(value)]
        return (min(numbers), max(numbers)) if len(numbers) > 1 else None

    @property
    def next_step(self) -> str:
        """What to do now, as a sentence."""
        return NEXT[self.verdict]

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """The table of the runs: its header and rows."""
        rows = []
        for member in self.members:
            e = member.evidence
            se = "" if e.log_evidence_se is None else f"{e.log_evidence_se:.2g}"
            family = member.family
            rows.append([family.label, family.end.value, f"{e.log_evidence:.4f}", se, f"{e.cost.seconds:.1f}", str(e.status)])
        return ["family", "starts", "log Z", "s.e.", "seconds", "status"], rows

    def __str__(self) -> str:
        """A table of the runs, and the verdict."""
        number = with_error(self.log_evidence, self.log_evidence_se)
        lines = [f"crosscheck of {self.evidence.model}: {self.verdict.value} (trust {self.trust} of 5)  log Z = {number}", ""]
        header, body = self.rows()
        rows = [header, *body]
        widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
        right = {2, 3, 4}
        for row in rows:
            cells = [cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
            lines.append(("  " + "  ".join(cells)).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def meaning(self) -> list[str]:
        """What the table means and what could not have been seen, a sentence each."""
        lines = [f"{self.evidence.why_this_method}."]
        if self.resolution is not None:
            share = -math.expm1(-self.resolution)
            lines.append(
                f"A difference of {self.resolution:.2g} nats between two families would have been noticed: a part of the posterior below "
                f"{share:.1%} may be missing from one of them."
            )
        if not self.verdict.is_answer and self.span is not None:
            lines.append(f"The families span {self.span[0]:.2f} to {self.span[1]:.2f}.")
        if self.evidence.resolution is not None:
            lines.append(f"Resolution: {self.evidence.resolution_in_words}")
        if self.sandwich is not None:
            lines.append(f"Sandwich on simulated data: {self.sandwich}")
        return lines + [reason.sentence for reason in self.status.reasons]

    def explain(self) -> str:
        """The table, what it means, what could not have been seen, and what to do next."""
        return "\n".join([str(self), "", *(f"  {line}" for line in self.meaning()), f"  Next: {self.next_step}"])

    def report(self, path: str | Path) -> Path:
        """Write all of it as one self-contained HTML page, and return where it is."""
        from zhat.report.page.crosscheck import crosscheck_page
        from zhat.report.page.whole import check_path, write_page

        return write_page(crosscheck_page(self), check_path(path))

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
            "span": None if self.span is None else list(self.span),
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


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
