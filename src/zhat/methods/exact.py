"""Exact: the evidence in closed form, or by a quadrature that is exact to rounding, for models that carry one.

    Z = integral of prior x likelihood,  with every parameter integrated by a formula but at most a few scales, and those by quadrature.

Linear models with the default priors of `zhat.formula` are of this kind: coefficients, intercept and sigma are integrated by formulas
(Liang et al. 2008; Rouder et al. 2012), and what remains are integrals over the scales g of the effects. So are linear models with
conjugate priors, or with independent normal ones. Nothing is sampled, and the answer does not depend on a seed.

*Its standard error.* There is none: the sampling error is zero. `approximation_error` is the numerical error: the difference of two
quadrature rules, or rounding. A quadrature whose two finest rules differ by more than 1e-5 is suspect (`quadrature`), and the default
then samples the same model.

*When it lies.* When the formula is not that of the model's prior and likelihood. The models that `zhat` builds are tested against
sampled evidences; a `ClosedForm` of your own is taken at its word: compare it once with ``zhat.evidence(model, "smc")``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from zhat.methods._base import Method
from zhat.missed_mass.look import Look
from zhat.model.model import Model, Offer
from zhat.results.estimate import Estimate, Kind, Status
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key


@dataclass(frozen=True)
class Exact(Method):
    """The formula or quadrature that the model carries."""

    name: ClassVar[str] = "exact"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.CLOSED_FORM})
    cites: ClassVar[tuple[str, ...]] = ("liang2008", "rouder2012")
    look: ClassVar[Look] = Look.none("nothing is sampled, so that nothing can be missed")
    when: ClassVar[str] = "linear models of `zhat.formula`, and any model that carries its evidence as a formula"
    evaluates: ClassVar[bool] = False

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        assert model.closed_form is not None
        found = model.closed_form.log_evidence(model.data, model.hyper)
        status = Status.ok()
        if math.isnan(found.log_value):
            return Estimate(
                math.nan, None, Status.failed("quadrature", f"{model.closed_form.how}: the result is not a number; {REMEDY}.")
            )
        if not found.agrees:
            sentence = (
                f"{model.closed_form.how}: the two finest rules ({found.n_points:,} points) differ by {found.error:.2g}, a share of the "
                f"evidence; {REMEDY}."
            )
            status = Status.suspect("quadrature", sentence)
        return Estimate(
            log_evidence=float(found.log_value),
            log_evidence_se=0.0,
            approximation_error=float(found.error),
            kind=Kind.EXACT,
            status=status,
            diagnostics={"closed_form": model.closed_form.how, "numerical_error": float(found.error), "n_points": found.n_points},
        )


REMEDY = "use zhat.SMC(), which samples the same model"
