"""Why a number may be trusted, in sentences: its repeats, its diagnostics, and its agreement with other methods.

Nothing here judges. The verdict is the status of the run; `diagnostics` has one sentence per outcome and follows that verdict.
"""

from __future__ import annotations

from zhat.comparing.agreement import Agreement
from zhat.report.page.diagnostics import Sentence, sentences
from zhat.results.estimate import Evidence, Kind


def why_trust(result: Evidence) -> list[str]:
    """Sentences on one result, the most telling first."""
    return [sentence.text for sentence in reasons(result)]


def reasons(result: Evidence) -> list[Sentence]:
    """The sentences of `why_trust`, each with whether it is flagged."""
    return [*_of_repeats(result), *sentences(result), *_of_kind(result)]


def agreement(first: Evidence, second: Evidence) -> str:
    """By how many joint standard errors two evidences of one model differ."""
    return str(Agreement(first, second))


def disagree(first: Evidence, second: Evidence) -> bool:
    """Whether two evidences of one model differ by more than three joint standard errors."""
    return Agreement(first, second).disagrees


def _of_repeats(result: Evidence) -> list[Sentence]:
    if len(result.repeats) < 2:
        return []
    values = [run.log_evidence for run in result.repeats]
    spread = result.diagnostics.get("between_run_sd")
    text = f"{len(values)} independent runs give {min(values):.4f} to {max(values):.4f}"
    if isinstance(spread, float):
        text += f", with a standard deviation of {spread:.2g}"
    if any(reason.code == "scatter" for reason in result.status.reasons):
        text += ", more than their standard errors allow"
        return [Sentence(f"{text}. The diagnostics below are those of the first run.", True)]
    return [Sentence(f"{text}. The diagnostics below are those of the first run.")]


def _of_kind(result: Evidence) -> list[Sentence]:
    if result.kind is Kind.APPROXIMATION:
        return [
            Sentence("This is an approximation. Its stated error is how far importance sampling moves it, not a standard error.")
        ]
    if result.kind is Kind.EXACT:
        how = result.diagnostics.get("closed_form", "a formula")
        return [Sentence(f"Nothing is sampled: {how}. The numerical error is {result.approximation_error or 0.0:.0e} nats.")]
    if result.kind is Kind.LOWER_BOUND:
        return [Sentence("The estimate of Z is unbiased, so its logarithm is a lower bound on average.")]
    return []
