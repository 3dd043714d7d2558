"""The demonstration: which density predicts the strength of radiata pine, and by how much?

The two models of the review's section 4.1, whose evidences are known exactly, so that a newcomer sees at once how far
the estimate is from the truth, and whether the error it reports is an honest one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evidentia import zoo
from evidentia.estimate import evidence
from evidentia.result import Evidence


@dataclass(frozen=True)
class Demonstration:
    """The evidences of both models, and the printed page."""

    evidences: tuple[Evidence, Evidence]
    text: str


def compare_pine(seed: int = 1) -> Demonstration:
    """Estimate both evidences and their ratio, and lay them beside the exact values."""
    examples = (zoo.pine("density"), zoo.pine("adjusted_density"))
    # A seed each: on one seed the two errors would move together, and not add up as independent ones do.
    first, second = (evidence(example.model, seed=seed + i) for i, example in enumerate(examples))
    exact = [example.log_evidence or math.nan for example in examples]
    lines = [
        "Radiata pine: is the strength of timber predicted by its density, or by its density adjusted for resin?",
        "",
        _line("model", "log evidence", "error", "exact", "method", "verdict"),
        _row("1  density", first, exact[0]),
        _row("2  adjusted density", second, exact[1]),
        "",
        f"Bayes factor of 2 against 1:  {_bayes_factor(first, second)}",
        f"{'exact:':>28}  {math.exp(exact[1] - exact[0]):.2f}",
    ]
    reasons = dict.fromkeys(reason.sentence for result in (first, second) for reason in result.status.reasons)
    return Demonstration((first, second), "\n".join([*lines, *reasons]))


def _line(model: str, value: str, error: str, exact: str, method: str, verdict: str) -> str:
    return f"{model:<20}  {value:>12}  {error:>8}  {exact:>11}  {method:<10}  {verdict}"


def _row(model: str, result: Evidence, exact: float) -> str:
    error = "?" if result.error is None else f"{result.error:.5f}"
    return _line(model, f"{result.log_evidence:.5f}", error, f"{exact:.5f}", result.method, str(result.status))


def _bayes_factor(first: Evidence, second: Evidence) -> str:
    """The ratio of evidences; its error is relative, as an error of a logarithm is."""
    factor = math.exp(second.log_evidence - first.log_evidence)
    if first.error is None or second.error is None:
        return f"{factor:.2f} ± ?"
    return f"{factor:.2f} ± {factor * math.hypot(first.error, second.error):.2f}"
