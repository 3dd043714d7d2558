"""`formula`: a formula and a data frame in, a Model out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpyro.distributions as dist

from zhat.adapters.formula.design import design_of
from zhat.model.model import Model
from zhat.model.regression.build import chosen_prior, regression
from zhat.model.regression.families import Binomial, Family, family_of
from zhat.model.regression.priors import JZS, Prior


def formula(
    formula: str,
    data: Any,
    family: Family | str = "gaussian",
    *,
    prior: Prior | None = None,
    priors: Mapping[str, dist.Distribution] | None = None,
    name: str | None = None,
) -> Model:
    """A regression model from a formula and a table, with default priors that make Bayes factors meaningful.

    Parameters
    ----------
    formula : str
        ``"strength ~ density"``: as in R, read by formulaic. Interactions ``a*b``, factors ``C(g)``, splines ``bs(x, df=4)``,
        transformations ``log(x)``, and an ``offset(log(exposure))``. Random effects are refused: use Bambi, or `zhat.latent`.
    data : pandas DataFrame, dictionary of columns, or path of a CSV file
    family : Family or str
        One of `zhat.families`, or "gaussian", "bernoulli", "poisson", "negative binomial".
    prior : Prior, optional
        One of `zhat.priors`, for all coefficients. By default `zhat.priors.JZS()` for a gaussian response, whose evidence is then exact
        and relative to the model with the intercept alone, and `zhat.priors.ScaledNormal()` for the other families.
    priors : mapping of str to NumPyro distribution, optional
        Replaces the priors of single parameters, by the names of the columns: ``{"density": dist.Normal(0, 2)}``. "Intercept", and
        "sigma", "variance" or "precision" of a gaussian response, make all priors proper. The intercept is the predictor at the means of
        the columns.
    name : str, optional
        By default the formula.
    """
    family = family_of(family)
    chosen = chosen_prior(family, prior, priors or {})
    trials = family.trials if isinstance(family, Binomial) else None
    design = design_of(formula, data, trials, orthonormal=isinstance(chosen, JZS))
    return regression(design, family, chosen, priors, name or design.formula)
