"""All subsets of the terms of a linear model, each exact: no sampling, so that thousands of models take seconds.

Under a prior with one g for all coefficients (`ZellnerSiow`, `UnitInformation`, and `JZS` without factors) the evidence of a subset
depends on its R squared and its number of columns alone (Liang et al. 2008): a small linear system and one quadrature a model. Evidences
are relative to the model with the intercept alone. `zhat.Subsets.from_formula` builds the family.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.model.regression.build import regression
from zhat.model.regression.design import Design, Term
from zhat.model.regression.families import Gaussian
from zhat.model.regression.priors import JZS, Reference, UnitInformation, ZellnerSiow
from zhat.numerics.exact.g_priors import Sums, log_bf_fixed_g, log_bf_one_g, log_prior_of_log_g
from zhat.numerics.exact.integrals import Integral
from zhat.results.estimate import Status
from zhat.results.records import Array
from zhat.spaces.subset_results import SubsetEvidences, model_name
from zhat.spaces.subsets import MOST, all_masks, prior_of

# log g of the lattice for posterior means; as wide as that of the evidence.
LATTICE = np.linspace(-40.0, 80.0, 2401)


@dataclass(frozen=True)
class LinearSubsets:
    """The family of all subsets of the terms of a linear model under a prior with one g."""

    design: Design
    prior: Reference

    def __post_init__(self) -> None:
        """Check that one g serves all columns, and that the full model can be fitted."""
        if isinstance(self.prior, JZS) and any(term.is_factor for term in self.design.terms):
            raise BadInput(
                f"{self.design.formula!r} has factors, each of which has a scale of its own under JZS: give "
                "prior=zhat.priors.ZellnerSiow() or zhat.priors.UnitInformation(), or compare some models with zhat.classical.anova."
            )
        self.design.check().check_linear()

    @property
    def covariates(self) -> tuple[str, ...]:
        """The terms."""
        return tuple(term.name for term in self.design.terms)

    def at(self, included: Sequence[str]) -> Model:
        """One model of the family, by the names of its terms."""
        unknown = [name for name in included if name not in self.covariates]
        if unknown:
            raise BadInput(f"LinearSubsets.at(): no term {unknown[0]!r}; there are {', '.join(self.covariates)}.")
        terms = [term for term in self.design.terms if term.name in included]
        columns = [j for term in terms for j in term.columns]
        ends = np.cumsum([0, *(len(term.columns) for term in terms)])
        design = replace(
            self.design,
            x=self.design.x[:, columns],
            names=tuple(self.design.names[j] for j in columns),
            terms=tuple(Term(term.name, tuple(range(ends[i], ends[i + 1])), term.is_factor) for i, term in enumerate(terms)),
            formula=f"{self.design.response} ~ {' + '.join(term.name for term in terms) or '1'}",
        )
        mask = np.array([float(name in included) for name in self.covariates])
        return regression(design, Gaussian(), self.prior, None, model_name(self.covariates, mask))

    def enumerate(self, *, prior: Callable[[Array], float] | None = None) -> SubsetEvidences:
        """Evidences of all subsets; `prior` is the unnormalised prior probability of a mask, all alike by default."""
        p = len(self.covariates)
        if p > MOST:
            raise BadInput(f"{p} terms are {2**p:,} models, too many to enumerate (at most {MOST} terms); leave some out.")
        masks = all_masks(p)
        chances = prior_of(masks, prior, "LinearSubsets.enumerate")
        sums = self.design.sums()
        term = np.zeros(self.design.p, dtype=int)
        for i, one in enumerate(self.design.terms):
            term[list(one.columns)] = i
        log_z, se = np.zeros(len(masks)), np.zeros(len(masks))
        mean, variance = np.zeros((len(masks), self.design.p)), np.zeros((len(masks), self.design.p))
        for i, mask in enumerate(masks):
            columns = np.flatnonzero(mask[term] > 0.0)
            if not len(columns):
                continue
            some = Sums(sums.n, sums.yy, sums.xy[columns], sums.xx[np.ix_(columns, columns)], sums.has_intercept)
            best, r2 = some.least_squares()
            found = self._log_bf(some, len(columns), r2)
            log_z[i], se[i] = found.log_value, found.error
            mean[i, columns], variance[i, columns] = self._moments(some, best, r2)
        if self.design.p != p:  # several columns a term: no table of one coefficient a covariate
            mean = variance = np.full((len(masks), p), np.nan)
        return SubsetEvidences(
            self.covariates, masks, log_z, se, chances, mean, np.zeros_like(mean), variance, (), (), Status.ok()
        )

    @property
    def _scale(self) -> float:
        return (
            self.prior.slopes if isinstance(self.prior, JZS) else self.prior.scale if isinstance(self.prior, ZellnerSiow) else 1.0
        )

    def _log_bf(self, sums: Sums, p: int, r2: float) -> Integral:
        if isinstance(self.prior, UnitInformation):
            return Integral.closed_form(float(log_bf_fixed_g(sums.df, p, r2, sums.n)))
        return log_bf_one_g(sums.n, sums.df, p, r2, self._scale)

    def _moments(self, sums: Sums, best: Array, r2: float) -> tuple[Array, Array]:
        """Posterior means and variances of the coefficients: least squares, shrunk by q = n g / (1 + n g), averaged over g."""
        if isinstance(self.prior, UnitInformation):
            g, weight = np.array([float(sums.n)]), np.ones(1)
        else:
            g = np.exp(LATTICE) * sums.n
            log_weight = log_prior_of_log_g(LATTICE, self._scale) + log_bf_fixed_g(sums.df, len(best), r2, g)
            weight = np.exp(log_weight - log_weight.max())
            weight /= weight.sum()
        q = g / (1.0 + g)
        shrunk = float(weight @ q)
        noise = float(weight @ (q * (1.0 - q * r2))) * sums.yy / max(sums.df - 2, 1)
        return shrunk * best, noise * np.diag(np.linalg.inv(sums.xx)) + float(weight @ (q - shrunk) ** 2) * best**2
