"""All subsets of the terms of a formula: exact for linear models, one masked model for the other families."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from zhat.adapters.formula.design import design_of
from zhat.errors import BadInput
from zhat.model.regression.build import chosen_prior, regression
from zhat.model.regression.families import Binomial, Family, Gaussian, family_of
from zhat.model.regression.priors import Prior, Reference
from zhat.spaces.linear_subsets import LinearSubsets
from zhat.spaces.subsets import Subsets


def subsets_of(formula: str, data: Any, family: Family | str, prior: Prior | None) -> Subsets | LinearSubsets:
    """The family of all subsets; see `Subsets.from_formula`."""
    family = family_of(family)
    chosen = chosen_prior(family, prior, {})
    design = design_of(formula, data, family.trials if isinstance(family, Binomial) else None)
    if not design.terms:
        raise BadInput(f"{formula!r} has no terms beside the intercept: there are no subsets.")
    if isinstance(chosen, Reference):
        return LinearSubsets(design, chosen)
    if isinstance(family, Gaussian):
        raise BadInput(
            f"Subsets.from_formula(prior={type(chosen).__name__}(...)): subsets of linear models have a prior with one g; give "
            "prior=zhat.priors.JZS(), zhat.priors.ZellnerSiow() or zhat.priors.UnitInformation()."
        )
    model = regression(design, family, chosen, None, design.formula)
    masked = replace(model, data={**model.data, "mask": np.ones(len(design.terms))}, data_id=model.data_id)
    return Subsets(masked, tuple(term.name for term in design.terms))
