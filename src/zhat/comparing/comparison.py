"""Models side by side: log Bayes factors, posterior probabilities, their errors, and whether the runs decide between them.

A `Comparison` is made of evidences, whatever method or machine they come from, and of prior probabilities. It computes,
prints and exports; it runs nothing (`compare.py` does). A suspect evidence is marked in every table, and a number that rests on
an evidence without an error has none either. Second opinions and prior curves, where they were made, belong to it.

The error of a log Bayes factor is sqrt(s1^2 + s2^2), which holds when the two runs are independent: never give two models the
same seed (`compare` does not).
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zhat.comparing.agreement import Agreement
from zhat.comparing.bayes_factor import LEVEL, LogBayesFactor
from zhat.comparing.comparable import check_evidences, check_prior
from zhat.comparing.scales import JEFFREYS, KASS_RAFTERY, Scale
from zhat.errors import BadInput
from zhat.formatting import decimals, one_line, shown_error, with_error
from zhat.numerics.combining.model_weights import difference_df, probabilities, simulated_probabilities
from zhat.results.estimate import Evidence, Kind

if TYPE_CHECKING:
    from zhat.comparing.sensitivity import Sensitivity

N_SIMULATED = 20_000
SIMULATION_SEED = 1


@dataclass(frozen=True)
class Comparison:
    """Evidences by name and prior probabilities; everything else follows.

    Attributes
    ----------
    evidences : mapping of str to Evidence
        In the order given.
    prior : tuple of float
        Prior probabilities of the models, in the same order; they sum to one.
    checks : mapping of str to Evidence
        Second opinions: evidences of the same models by another method, by the models' names (``compare(check=...)``).
    curves : tuple of Sensitivity
        Log evidence over hyperparameters of the priors (``compare(vary=...)``).
    """

    evidences: Mapping[str, Evidence]
    prior: tuple[float, ...]
    checks: Mapping[str, Evidence] = field(default_factory=dict)
    curves: tuple[Sensitivity, ...] = ()

    @staticmethod
    def of(evidences: Mapping[str, Evidence], prior: Mapping[str, float] | Sequence[float] | None = None) -> Comparison:
        """A comparison of evidences that can be compared: same data, different models, none failed."""
        check_evidences(evidences)
        return Comparison(dict(evidences), check_prior(tuple(evidences), prior))

    @property
    def names(self) -> tuple[str, ...]:
        """The models, in the order given."""
        return tuple(self.evidences)

    @property
    def log_evidences(self) -> np.ndarray:
        """One a model."""
        return np.array([e.log_evidence for e in self.evidences.values()])

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """The models by posterior probability, the most probable first."""
        order = np.argsort(-self.probabilities, kind="stable")
        return tuple(self.names[i] for i in order)

    @property
    def best(self) -> str:
        """The most probable model, by the numbers as they stand."""
        return self.ranking[0]

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Posterior probabilities, in the order given."""
        return probabilities(self.log_evidences, self.prior)

    @cached_property
    def _simulated(self) -> np.ndarray | None:
        errors = [e.error for e in self.evidences.values()]
        if any(error is None for error in errors):
            return None
        df = [e.degrees_of_freedom for e in self.evidences.values()]
        rng = _generator()
        return simulated_probabilities(self.log_evidences, np.array(errors, np.float64), df, self.prior, rng, N_SIMULATED)

    def probability_intervals(self, level: float = LEVEL) -> list[tuple[float, float]] | None:
        """For each model an interval of its posterior probability from the evidences' errors; None if one has no error."""
        if self._simulated is None:
            return None
        low, high = np.quantile(self._simulated, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]

    def log_bayes_factor(self, first: str, second: str) -> LogBayesFactor:
        """Of the first model against the second."""
        a, b = self._named(first), self._named(second)
        if a.error is None or b.error is None:
            return LogBayesFactor(first, second, a.log_evidence - b.log_evidence, None, math.inf)
        df = difference_df((a.error, b.error), (a.degrees_of_freedom, b.degrees_of_freedom))
        return LogBayesFactor(first, second, a.log_evidence - b.log_evidence, math.hypot(a.error, b.error), df)

    def log_bayes_factors(self) -> list[LogBayesFactor]:
        """All pairs, the one ahead first."""
        ranked = sorted(self.names, key=lambda name: -self.evidences[name].log_evidence)
        return [self.log_bayes_factor(a, b) for i, a in enumerate(ranked) for b in ranked[i + 1 :]]

    @property
    def decided(self) -> bool:
        """Whether the model with the largest evidence is ahead of every other beyond the errors."""
        ahead = max(self.names, key=lambda name: self.evidences[name].log_evidence)
        return all(self.log_bayes_factor(ahead, other).decided for other in self.names if other != ahead)

    @property
    def suspects(self) -> tuple[str, ...]:
        """The models whose evidence did not pass the checks of its run."""
        return tuple(name for name, e in self.evidences.items() if not e.status.is_ok)

    @property
    def agreements(self) -> dict[str, Agreement]:
        """For every model with a second opinion, how far the two evidences are apart."""
        return {name: Agreement(self.evidences[name], second) for name, second in self.checks.items()}

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The models on which the two methods are more than three joint errors apart."""
        return tuple(name for name, agreement in self.agreements.items() if agreement.disagrees)

    def _named(self, name: str) -> Evidence:
        if name not in self.evidences:
            raise BadInput(f"there is no model {name!r} in this comparison; it has {', '.join(map(repr, self.names))}.")
        return self.evidences[name]

    # -- as text, table, JSON ------------------------------------------------------------------------------------

    def sentence(self, scale: Scale = JEFFREYS) -> str:
        """The answer in one sentence."""
        ranked = sorted(self.names, key=lambda name: -self.evidences[name].log_evidence)
        factor = self.log_bayes_factor(ranked[0], ranked[1])
        if factor.se is None:
            text = (
                f"{ranked[0]} is ahead of {ranked[1]} by {factor.value:.2f} nats, but one of the two has no standard error: no "
                "verdict"
            )
        elif not factor.decided:
            text = (
                f"undecided: {ranked[0]} and {ranked[1]} differ by {with_error(factor.value, factor.se)} nats, which is "
                "within the error of the computation; run longer"
            )
        else:
            text = (
                f"the data favour {ranked[0]} over {ranked[1]} by a factor of {_factor(factor.value)} "
                f"(log {with_error(factor.value, factor.se)}): {factor.words(scale)} on the scale of {scale.name}"
            )
        if self.suspects:
            text += f". Not to be trusted: {', '.join(self.suspects)}"
        return one_line(f"{text}.{self._second_opinion()}")

    def _second_opinion(self) -> str:
        """What the second method says, in a sentence; empty without one."""
        if not self.checks:
            return ""
        method = next(iter(self.checks.values())).method
        if self.disagreements:
            return f" Not to be trusted: a second method ({method}) disagrees on {', '.join(self.disagreements)}."
        unjudged = [name for name, agreement in self.agreements.items() if not agreement.can_be_judged]
        if unjudged:
            return (
                f" A second method ({method}) was run, but without a standard error it cannot be judged on {', '.join(unjudged)}."
            )
        n, of = len(self.checks), len(self.evidences)
        which = f"{n} of {of}" if n < of else "both" if n == 2 else f"all {n}"
        return f" A second method ({method}) agrees on {which} models."

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and cells of the table, the most probable model first."""
        bounds = self.probability_intervals()
        header = ["model", "log evidence", "error", "log BF to best", "prior", "probability", "95 % interval"]
        header += ["method", "verdict"]
        lines = []
        for name in self.ranking:
            e, i = self.evidences[name], self.names.index(name)
            factor = self.log_bayes_factor(name, self.best)
            approximate = "≈" if e.kind is Kind.APPROXIMATION else ""
            lines.append(
                [
                    one_line(name),
                    f"{approximate}{e.log_evidence:.{decimals(e.error)}f}",
                    shown_error(e.error),
                    "" if name == self.best else with_error(factor.value, factor.se),
                    f"{self.prior[i]:.3g}",
                    _chance(self.probabilities[i]),
                    "?" if bounds is None else f"{_chance(bounds[i][0])} to {_chance(bounds[i][1])}",
                    e.method,
                    str(e.status),
                ]
            )
        return header, lines

    def __str__(self) -> str:
        """The table and the sentence."""
        header, lines = self.rows()
        widths = [max(len(row[j]) for row in (header, *lines)) for j in range(len(header))]
        text = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in (header, *lines)]
        return "\n".join([*text, "", self.sentence()])

    __repr__ = __str__

    def explain(self) -> str:
        """The table, every pair in words on both scales, second opinions, prior curves, and every reason for doubt."""
        lines = list[str]()
        for factor in self.log_bayes_factors():
            lines.append(f"{factor}; {factor.words(KASS_RAFTERY)} ({KASS_RAFTERY.name})")
        lines += [f"second opinion on {name}: {agreement}" for name, agreement in self.agreements.items()]
        lines += [f"{curve.model}: {curve.sentence}" for curve in self.curves]
        for name in self.suspects:
            lines += [f"{name}: {reason.sentence}" for reason in self.evidences[name].status.reasons]
        return "\n".join([str(self), "", *map(one_line, lines)])

    def to_markdown(self) -> str:
        """The table in Markdown."""
        header, lines = self.rows()
        escaped = [[_markdown(cell) for cell in row] for row in (header, *lines)]
        rule = ["---"] * len(header)
        return "\n".join("| " + " | ".join(row) + " |" for row in (escaped[0], rule, *escaped[1:]))

    def to_latex(self) -> str:
        """The table as a LaTeX tabular."""
        header, lines = self.rows()
        body = [" & ".join(_latex(cell) for cell in row) + r" \\" for row in (header, *lines)]
        columns = "l" + "r" * (len(header) - 3) + "ll"
        rule = r"\hline"
        return "\n".join([rf"\begin{{tabular}}{{{columns}}}", rule, body[0], rule, *body[1:], rule, r"\end{tabular}"])

    def to_pandas(self) -> Any:
        """A data frame with numbers, one row a model."""
        try:
            import pandas
        except ImportError as error:
            raise BadInput("to_pandas needs pandas: pip install pandas.") from error
        return pandas.DataFrame(self._records()).set_index("model")

    def to_json(self) -> str:
        """All numbers as JSON; what is not a number is null."""
        factors = [
            {
                "first": f.first,
                "second": f.second,
                "log_bayes_factor": _plain(f.value),
                "se": _plain(f.se),
                "degrees_of_freedom": _plain(f.degrees_of_freedom),
                "decided": f.decided,
                "jeffreys": f.words(JEFFREYS),
                "kass_raftery": f.words(KASS_RAFTERY),
            }
            for f in self.log_bayes_factors()
        ]
        content = {
            "format": "zhat comparison",
            "schema": 1,
            "models": self._records(),
            "log_bayes_factors": factors,
            "decided": self.decided,
            "checks": [{"model": name, **agreement.to_dict()} for name, agreement in self.agreements.items()],
            "curves": [curve.to_dict() for curve in self.curves],
            "sentence": self.sentence(),
        }
        return json.dumps(content, indent=2, allow_nan=False)

    def report(
        self,
        path: str | Path,
        *,
        question: str = "",
        second_opinions: Mapping[str, Evidence | Sequence[Evidence]] | None = None,
        sensitivity: Any = None,
        averages: Any = None,
    ) -> Path:
        """Write one HTML page that stands alone: answer, table, picture, reasons, citations, recipe; returns its path.

        The page shows the comparison's own `checks` and `curves`. `second_opinions` are further evidences of the same models;
        `sensitivity` are further results of `sensitivity(...)`; `averages` are, by name, results of `average(...)`.
        """
        from zhat.report.page.page import write_report

        return write_report(
            self, path, question=question, second_opinions=second_opinions, sensitivity=sensitivity, averages=averages
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        from zhat.report.notebook import of_comparison

        return of_comparison(self)

    def _records(self) -> list[dict[str, Any]]:
        bounds = self.probability_intervals()
        found = []
        for name in self.ranking:
            e, i = self.evidences[name], self.names.index(name)
            found.append(
                {
                    "model": name,
                    "log_evidence": _plain(e.log_evidence),
                    "error": _plain(e.error),
                    "kind": e.kind.value,
                    "prior": self.prior[i],
                    "probability": float(self.probabilities[i]),
                    "probability_low": None if bounds is None else bounds[i][0],
                    "probability_high": None if bounds is None else bounds[i][1],
                    "method": e.method,
                    "status": e.status.level.value,
                    "reasons": [reason.code for reason in e.status.reasons],
                    "n_likelihood": e.cost.n_likelihood,
                    "seconds": e.cost.seconds,
                    "seed": e.seed,
                }
            )
        return found


def _generator() -> np.random.Generator:
    from zhat.seeding import Key

    return Key(SIMULATION_SEED).child("comparison").generator()


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _factor(log_value: float) -> str:
    if log_value >= 300:
        return f"exp({log_value:.1f})"
    value = math.exp(log_value)
    return f"{value:,.0f}" if 1e3 <= value < 1e6 else f"{value:.3g}"


def _chance(p: float) -> str:
    if p == 0.0 or 1e-4 <= p <= 0.9999:
        return f"{p:.4f}"
    return f"{p:.1e}" if p < 0.5 else f"1 - {1.0 - p:.0e}" if p < 1.0 else "1"


def _markdown(cell: str) -> str:
    """A cell in which nothing is markup: neither HTML nor a column."""
    return html.escape(one_line(cell), quote=False).replace("|", "\\|")


def _latex(text: str) -> str:
    known = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$", "{": r"\{", "}": r"\}", "±": r"$\pm$", "≈": r"$\approx$"}
    known |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(known.get(c, c) for c in text)
