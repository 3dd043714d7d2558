"""The result of enumerating a family of subsets: probabilities, inclusion, averaged coefficients, best models.

*Errors.* Those of the log evidences, by the delta method: the derivative of a covariate's inclusion probability with respect to
log Z_k is p_k (gamma_k - inclusion).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from zhat.errors import BadInput
from zhat.formatting import with_error
from zhat.numerics.combining.model_weights import average_over_models, probabilities
from zhat.results.estimate import Status
from zhat.results.records import Array


def model_name(covariates: Sequence[str], mask: Array) -> str:
    """A subset in words: ``1 + age + income``."""
    return " + ".join(["1", *(c for c, m in zip(covariates, mask, strict=True) if m)])


def top_models(covariates: Sequence[str], masks: Array, p: Array, log_z: Array, se: Array, n: int) -> list[TopModel]:
    """The n most probable models: name, probability, log evidence, its error."""
    order = np.argsort(-p, kind="stable")[:n]
    return [(model_name(covariates, masks[i]), float(p[i]), float(log_z[i]), float(se[i])) for i in order]


def lines_of(inclusion: dict[str, float], errors: dict[str, float], top: list[TopModel], status: Status) -> list[str]:
    """Inclusion probabilities, the most probable models, and what is in doubt, for printing."""
    width = max(12, *(len(name) for name in inclusion))
    lines = [f"  {name:<{width}} {with_error(value, errors[name])}" for name, value in inclusion.items()]
    lines.append("most probable models:")
    lines += [f"  {p:.4f}  log Z {with_error(z, se)}  {name}" for name, p, z, se in top]
    return (
        lines
        + [f"{status.level.value}: {reason.sentence}" for reason in status.reasons]
        + [f"note: {note.sentence}" for note in status.notes]
    )


TopModel = tuple[str, float, float, float]


@dataclass(frozen=True)
class SubsetEvidences:
    """What enumeration found: one row a model, in the order of the masks read as binary numbers (first covariate lowest).

    Attributes
    ----------
    coefficients, coefficients_se, coefficients_variance : (models, d) arrays
        Posterior means of the unconstrained coordinates in every model, their Monte Carlo errors, and posterior variances.
    refined : tuple of int
        Rows that were run one by one; `suspect` are those of them whose run is not ok.
    status : Status
        The verdict on the whole.
    """

    covariates: tuple[str, ...]
    masks: Array
    log_evidence: Array
    se: Array
    prior: Array
    coefficients: Array
    coefficients_se: Array
    coefficients_variance: Array
    refined: tuple[int, ...]
    suspect: tuple[int, ...]
    status: Status = field(default_factory=Status)

    @cached_property
    def probabilities(self) -> Array:
        """Posterior probability of every model."""
        return probabilities(self.log_evidence, self.prior)

    @property
    def inclusion(self) -> dict[str, float]:
        """Posterior probability that a covariate is in the model."""
        return dict(zip(self.covariates, map(float, self.probabilities @ self.masks), strict=True))

    @cached_property
    def inclusion_se(self) -> dict[str, float]:
        """Standard errors of the inclusion probabilities, from those of the evidences; NaN where one that counts has none."""
        _, se = average_over_models(self.masks, self.probabilities, self.se)
        return dict(zip(self.covariates, map(float, se), strict=True))

    def name(self, i: int) -> str:
        """The model of a row in words."""
        return model_name(self.covariates, self.masks[i])

    def row(self, included: Sequence[str]) -> int:
        """The row of a model, by the covariates in it."""
        unknown = [name for name in included if name not in self.covariates]
        if unknown:
            raise BadInput(f"row(): no covariate {unknown[0]!r}; there are {', '.join(self.covariates)}.")
        return int(sum(1 << self.covariates.index(name) for name in included))

    def top(self, n: int = 10) -> list[TopModel]:
        """The n most probable models: name, probability, log evidence, its error."""
        return top_models(self.covariates, self.masks, self.probabilities, self.log_evidence, self.se, n)

    @property
    def _present(self) -> Array:
        extra = self.coefficients.shape[1] - len(self.covariates)
        return np.concatenate([np.ones((len(self.masks), extra)), self.masks], axis=1)

    @property
    def averaged_coefficients(self) -> Array:
        """Posterior means of the unconstrained coordinates averaged over models, an excluded coefficient counting as zero.

        Only meaningful where the last coordinates are the coefficients of the covariates, in their order.
        """
        return average_over_models(self.coefficients * self._present, self.probabilities, self.se)[0]

    @property
    def averaged_coefficients_se(self) -> Array:
        """Standard errors of `averaged_coefficients`: of the evidences and of the means within models."""
        values, errors = self.coefficients * self._present, self.coefficients_se * self._present
        return average_over_models(values, self.probabilities, self.se, errors)[1]

    @property
    def averaged_coefficients_sd(self) -> Array:
        """Posterior standard deviations of the averaged coefficients: within models, and between them."""
        present, p = self._present, self.probabilities
        counts = p >= 1e-6  # a refused model may have no moments; a negligible one does not matter
        square = (self.coefficients_variance + self.coefficients**2)[counts] * present[counts]
        mean = p[counts] @ (self.coefficients[counts] * present[counts])
        return np.asarray(np.sqrt(np.maximum(p[counts] @ square - mean**2, 0.0)))

    def __str__(self) -> str:
        """Inclusion probabilities, the most probable models, and the reasons of the verdict."""
        lines = lines_of(self.inclusion, self.inclusion_se, self.top(5), self.status)
        return "\n".join([f"{len(self.masks)} models; inclusion probabilities:", *lines])
