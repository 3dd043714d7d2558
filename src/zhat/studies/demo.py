"""The demonstration: two questions of Friel & Wyse (2012) whose answers are known.

Radiata pine (section 4.1): which density predicts the strength of timber? Both evidences are exact. Pima (section 4.2): does age
help to predict diabetes? The evidences are known to 0.0003. The page shows how far the estimate is from the truth, and
whether its standard error is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zhat import zoo
from zhat.comparing.comparison import Comparison
from zhat.methods.smc import SMC
from zhat.results.estimate import Evidence
from zhat.run.estimate import evidence
from zhat.zoo.pima import MODEL_1, MODEL_2


@dataclass(frozen=True)
class Demonstration:
    """The question, the evidences of both models, a second opinion on each where one was asked for, and the printed page."""

    question: str
    comparison: Comparison
    text: str
    opinions: dict[str, Evidence] = field(default_factory=dict)

    @property
    def evidences(self) -> tuple[Evidence, ...]:
        """Of the models, in order."""
        return tuple(self.comparison.evidences.values())

    def report(self, path: Path) -> Path:
        """Write the page."""
        return self.comparison.report(path, question=self.question, second_opinions=self.opinions)


def compare_pine(seed: int = 1, second_opinion: bool = False) -> Demonstration:
    """Is the strength of timber predicted by its density, or by its density adjusted for resin?"""
    question = "Radiata pine: is the strength of timber predicted by its density, or by its density adjusted for resin?"
    examples = [zoo.pine("density"), zoo.pine("adjusted_density")]
    return _demonstrate(question, ("density", "adjusted density"), examples, (2, 1), "exact", seed, second_opinion)


def compare_pima(seed: int = 1, second_opinion: bool = False) -> Demonstration:
    """Does age help to predict diabetes, beside four other measurements?"""
    question = (
        "Pima: does age help to predict diabetes, beside pregnancies, glucose, body mass and pedigree (prior precision 0.01)?"
    )
    examples = [zoo.pima(MODEL_1), zoo.pima(MODEL_2)]
    return _demonstrate(question, ("without age", "with age"), examples, (1, 2), "known", seed, second_opinion)


def _demonstrate(
    question: str,
    names: tuple[str, str],
    examples: Sequence[zoo.Example],
    of: tuple[int, int],
    truth: str,
    seed: int,
    second_opinion: bool,
) -> Demonstration:
    """Estimate both evidences and the Bayes factor of one against the other, and print them beside the known values."""
    # A seed each: on one seed the two estimates would be correlated.
    found = [evidence(example.model, seed=seed + i) for i, example in enumerate(examples)]
    opinions = {}
    if second_opinion:
        opinions = {n: evidence(e.model, SMC(), seed=seed + 2 + i) for i, (n, e) in enumerate(zip(names, examples, strict=True))}
    known = [math.nan if example.log_evidence is None else example.log_evidence for example in examples]
    lines = [question, "", _line("model", "log evidence", "s.e.", truth, "method", "verdict")]
    lines += [_row(f"{i + 1}  {names[i]}", found[i], known[i]) for i in range(2)]
    a, b = of[0] - 1, of[1] - 1
    start = f"Bayes factor of {of[0]} against {of[1]}:"
    lines += [
        "",
        f"{start}  {_bayes_factor(found[b], found[a])}",
        f"{truth + ':':>{len(start)}}  {math.exp(known[a] - known[b]):.2f}",
    ]
    reasons = dict.fromkeys(reason.sentence for result in found for reason in result.status.reasons)
    comparison = Comparison.of(dict(zip(names, found, strict=True)))
    return Demonstration(question, comparison, "\n".join([*lines, *reasons]), opinions)


def _line(model: str, value: str, error: str, exact: str, method: str, verdict: str) -> str:
    return f"{model:<20}  {value:>12}  {error:>8}  {exact:>11}  {method:<10}  {verdict}"


def _row(model: str, result: Evidence, exact: float) -> str:
    error = "?" if result.error is None else f"{result.error:.5f}"
    return _line(model, f"{result.log_evidence:.5f}", error, f"{exact:.5f}", result.method, str(result.status))


def _bayes_factor(first: Evidence, second: Evidence) -> str:
    """The ratio of evidences, second over first; its standard error is that of the logarithm, times the ratio."""
    factor = math.exp(second.log_evidence - first.log_evidence)
    if first.error is None or second.error is None:
        return f"{factor:.2f} ± ?"
    return f"{factor:.2f} ± {factor * math.hypot(first.error, second.error):.2f}"
