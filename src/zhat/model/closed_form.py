"""ClosedForm: what a model carries whose evidence is a formula, or a quadrature that is exact to rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zhat.numerics.exact.integrals import Integral


@dataclass(frozen=True)
class ClosedForm:
    """The log evidence as a function of the model's data and hyperparameters; it must be that of the model's own prior and likelihood.

    Attributes
    ----------
    log_evidence : callable ``(data, hyper) -> Integral``
    how : str
        For the report: "a formula", "quadrature over g".
    """

    log_evidence: Callable[[Any, Any], Integral]
    how: str
