"""From a design, a family and priors to a model that says what it is."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpyro.distributions as dist

from zhat.errors import BadInput, BadType
from zhat.model.described import Described
from zhat.model.model import Model
from zhat.model.regression.design import Design
from zhat.model.regression.families import Bernoulli, Family, Gaussian
from zhat.model.regression.priors import JZS, NormalGamma, Prior, Reference, ScaledNormal
from zhat.model.regression.proper import NOISE, conjugate_model, default_priors, glm
from zhat.model.regression.reference import linear_model, refuse_shared

# Newton steps of a maximum likelihood fit, after which separated classes have predictors beyond this; and the step below which there is a
# maximum: where there is none, every step adds about one.
STEPS, FAR, CONVERGED = 25, 15.0, 1e-6


def chosen_prior(family: Family, prior: Prior | None, priors: Mapping[str, Any]) -> Prior:
    """The prior that was given, or the family's default: JZS for linear models whose intercept and sigma have no prior of their own."""
    if isinstance(prior, type):
        raise BadType(f"prior={prior.__name__} is a class: give an object, zhat.priors.{prior.__name__}().")
    if prior is not None and not isinstance(prior, Prior):
        raise BadType(
            f"prior is a {type(prior).__name__}: give one of zhat.priors, such as zhat.priors.JZS(); priors of single coefficients go "
            'into priors={"density": ...}.'
        )
    linear = isinstance(family, Gaussian)
    if prior is None:
        own = {"Intercept", *NOISE} & set(priors)
        return JZS() if linear and not own else ScaledNormal()
    if not linear and not isinstance(prior, ScaledNormal):
        raise BadInput(
            f"prior={type(prior).__name__}() is for linear models; for family={family.name!r} give zhat.priors.ScaledNormal(), or priors "
            "of single coefficients."
        )
    return prior


def regression(
    design: Design, family: Family, prior: Prior | None, priors: Mapping[str, dist.Distribution] | None, name: str
) -> Model:
    """The model, with its sentences."""
    priors = dict(priors or {})
    prior = chosen_prior(family, prior, priors)
    check_priors(priors, design, family)
    design.check()
    family.check(design.response, design.y, design.trials)
    if isinstance(prior, Reference):
        refuse_shared(prior, priors)
        model = linear_model(design, prior, priors, name)
    elif isinstance(prior, NormalGamma):
        if priors:
            raise BadInput(
                "prior=zhat.priors.NormalGamma(...) is one joint prior: change its mean and precision instead of giving priors=..."
            )
        model = conjugate_model(design, prior, name)
    else:
        model = glm(design, family, prior, priors, name)  # type: ignore[arg-type]
    return replace(model, described=_described(design, family, prior, priors))


def check_priors(priors: Mapping[str, Any], design: Design, family: Family) -> None:
    """Refuse priors of what is no parameter, and what is no distribution of one number."""
    known = [*design.names, *(["Intercept"] if design.has_intercept else []), *family.own_priors()]
    known += NOISE if isinstance(family, Gaussian) else ()
    for name, value in priors.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.4)
            guess = f" Did you mean {near[0]!r}?" if near else ""
            raise BadInput(f"priors: {design.formula!r} has no coefficient {name!r}.{guess} It has {', '.join(known)}.")
        if not isinstance(value, dist.Distribution):
            raise BadType(
                f"priors[{name!r}] is a {type(value).__name__}: give a NumPyro distribution, such as numpyro.distributions.Normal(0, 2)."
            )
        if tuple(value.batch_shape) + tuple(value.event_shape) != ():
            raise BadInput(f"priors[{name!r}] has the shape {value.batch_shape}: give a distribution of one number.")
    if len(set(NOISE) & set(priors)) > 1:
        raise BadInput("priors: sigma, variance and precision are one parameter; give a prior for one of them.")


def in_words(value: dist.Distribution) -> str:
    """``Normal(0, 2)``."""
    numbers = [getattr(value, name, None) for name in value.arg_constraints]
    shown = ", ".join(f"{float(number):.4g}" for number in numbers if number is not None and np.ndim(number) == 0)
    return f"{type(value).__name__}({shown})"


def _described(design: Design, family: Family, prior: Prior, priors: Mapping[str, dist.Distribution]) -> Described:
    words = prior.words
    if isinstance(prior, ScaledNormal):
        every = {**default_priors(design, family, prior), **priors}
        if set(NOISE) & set(priors):
            every = {key: value for key, value in every.items() if key != "sigma" or key in priors}
        shown = [f"{key} ~ {in_words(value)}" for key, value in every.items()]
        words += ": " + ", ".join(shown[:12]) + (", ..." if len(shown) > 12 else "")
    elif priors:
        words += "; replaced: " + ", ".join(f"{key} ~ {in_words(value)}" for key, value in priors.items())
    link = "" if family.link == "identity" else f", {family.link} link"
    text = f"{design.formula} ({family.name}{link}; {design.n:,} rows, {design.p} columns)"
    return Described(text, words, prior.cites, design.names, separation(design, family))


def separation(design: Design, family: Family) -> str:
    """A sentence where the columns separate zeros from ones perfectly; empty otherwise."""
    if not isinstance(family, Bernoulli) or not design.p:
        return ""
    x = np.concatenate([np.ones((design.n, 1)), design.centred / np.where(design.spread > 0, design.spread, 1.0)], axis=1)
    beta, sign = np.zeros(x.shape[1]), 2.0 * design.y - 1.0
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30.0, 30.0)))
        weight = np.maximum(chance * (1.0 - chance), 1e-10)
        step = np.linalg.lstsq((x.T * weight) @ x, x.T @ (design.y - chance), rcond=None)[0]
        beta = beta + step
        if not np.isfinite(beta).all() or np.max(np.abs(step)) < CONVERGED:  # a maximum, so that nothing is separated
            return ""
    if np.min(sign * (x @ beta)) < FAR:
        return ""
    return (
        f"the columns separate the zeros of {design.response!r} from its ones perfectly, so that the likelihood alone has no maximum and "
        "the evidence depends on the scale of the priors more than usual; compare several with prior=zhat.priors.ScaledNormal(slopes=...)."
    )
