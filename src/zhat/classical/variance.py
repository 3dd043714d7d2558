"""Analysis of variance: every model that the factors of a formula allow, against the grand mean (Rouder et al. 2012)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from zhat.adapters.formula.design import parsed
from zhat.adapters.formula.door import formula as model_of
from zhat.adapters.formula.table import frame_of
from zhat.errors import BadInput
from zhat.model.regression.priors import JZS
from zhat.results.estimate import Evidence
from zhat.run.estimate import evidence

MOST_TERMS = 7


@dataclass(frozen=True)
class Anova:
    """Log Bayes factors of all models against the grand mean, and what they say about each term.

    Attributes
    ----------
    response : str
    models : tuple of tuple of str
        The terms of each model; the first has none. A model with an interaction has its main effects.
    evidences : tuple of Evidence
        One a model: log Z is the log Bayes factor against the grand mean.
    prior : str
    """

    response: str
    models: tuple[tuple[str, ...], ...]
    evidences: tuple[Evidence, ...]
    prior: str

    @property
    def log_bayes_factors(self) -> dict[str, float]:
        """Of each model against the grand mean, by its formula."""
        return {self.name(i): e.log_evidence for i, e in enumerate(self.evidences)}

    @property
    def probabilities(self) -> dict[str, float]:
        """Posterior probabilities of the models, all alike beforehand."""
        values = np.array([e.log_evidence for e in self.evidences])
        shares = np.exp(values - values.max())
        return {self.name(i): float(p) for i, p in enumerate(shares / shares.sum())}

    def log_inclusion(self, term: str) -> float:
        """Log Bayes factor of a term: the models with it, as they are, against the same models without it.

        Only models in which no interaction contains the term count, so that each has a partner ("matched models").
        """
        every = {term for terms in self.models for term in terms}
        if term not in every:
            raise BadInput(f"log_inclusion({term!r}): there is no such term; there are {', '.join(sorted(every))}.")
        parts = set(term.split(":"))
        free = [i for i, terms in enumerate(self.models) if not any(parts < set(t.split(":")) for t in terms)]
        with_it = {frozenset(self.models[i]): i for i in free if term in self.models[i]}
        pairs = [(i, self.models.index(tuple(t for t in self.models[i] if t != term))) for i in with_it.values()]
        above, below = (_log_sum([self.evidences[p[k]].log_evidence for p in pairs]) for k in (0, 1))
        return above - below

    def name(self, i: int) -> str:
        """The formula of a model."""
        return f"{self.response} ~ {' + '.join(self.models[i]) or '1'}"

    def __str__(self) -> str:
        """A line a model, the best first; then the terms."""
        order = sorted(range(len(self.models)), key=lambda i: -self.evidences[i].log_evidence)
        width = max(len(self.name(i)) for i in order)
        chances = list(self.probabilities.values())
        lines = [f"{'model':<{width}}  {'log BF':>10}  probability  verdict"]
        for i in order:
            lines.append(
                f"{self.name(i):<{width}}  {self.evidences[i].log_evidence:10.4f}  {chances[i]:11.4f}  {self.evidences[i].status}"
            )
        lines += [
            f"log BF for including {term}: {self.log_inclusion(term):.4f}"
            for term in dict.fromkeys(t for m in self.models for t in m)
        ]
        return "\n".join([*lines, f"prior: {self.prior}"])

    __repr__ = __str__


def anova(formula: str, data: Any, *, scale: float = 0.5, slopes: float = math.sqrt(2.0) / 4.0, seed: int | None = None) -> Anova:
    """Bayes factors of all models between the grand mean and the formula, which may have factors and numbers.

    Parameters
    ----------
    formula : str
        Such as ``"rt ~ group * task"``. Text columns are factors; write ``C(x)`` for factors that are coded as numbers.
    scale : float
        Of the Cauchy priors of standardised effects of factors; 1/2 as in BayesFactor and JASP.
    slopes : float
        Of those of numerical columns.
    """
    found, frame, prior = parsed(formula), frame_of(data), JZS(slopes=slopes, factors=scale)
    response = str(next(iter(found.lhs)))
    terms = [str(term) for term in found.rhs if str(term) != "1"]
    if not 1 <= len(terms) <= MOST_TERMS:
        raise BadInput(f"anova({formula!r}) has {len(terms)} terms: give one to {MOST_TERMS}.")
    models = [()] + [some for k in range(1, len(terms) + 1) for some in combinations(terms, k) if _keeps_margins(some, terms)]
    results = []
    for some in models:
        text = f"{response} ~ {' + '.join(some) or '1'}"
        results.append(evidence(model_of(text, frame, prior=prior), seed=seed))
    return Anova(response, tuple(models), tuple(results), prior.words)


def _keeps_margins(some: tuple[str, ...], terms: list[str]) -> bool:
    """Whether every interaction stands with its parts."""
    parts = [set(term.split(":")) for term in some]
    return all(set(t.split(":")) in parts for term in parts for t in terms if set(t.split(":")) < term)


def _log_sum(values: list[float]) -> float:
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))
