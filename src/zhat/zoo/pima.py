"""Pima Indians: which of seven measurements predict diabetes? Logistic regression (Friel & Wyse 2012, section 4.2).

    logit P(diabetes_i) = theta' (1, x_i),   theta ~ N(0, I/tau), the intercept included

532 women (the complete cases of the MASS data); covariates are standardised with the n - 1 standard deviation. No
closed form. The four values below come from importance sampling with two million draws and a standard error of
0.0003; at tau = 0.01 the prior is so wide that the evidence falls by ten nats and the harmonic mean does not notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.data import fingerprint
from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.datasets import load
from zhat.zoo.parts.densities import log_bernoulli_logit

COVARIATES = ("NP", "PGC", "BP", "TST", "BMI", "DP", "AGE")
MODEL_1 = ("NP", "PGC", "BMI", "DP")
MODEL_2 = (*MODEL_1, "AGE")
# (covariates, tau): log evidence, by importance sampling
KNOWN = {
    (frozenset(MODEL_1), 0.01): -257.2323,
    (frozenset(MODEL_2), 0.01): -259.8583,
    (frozenset(MODEL_1), 1.0): -247.3033,
    (frozenset(MODEL_2), 1.0): -247.5627,
}


def pima(covariates: Sequence[str] = MODEL_1, tau: float = 0.01) -> Example:
    """Logistic regression on any subset of the seven covariates (none is allowed: the intercept stays).

    The parameter is `theta`, intercept first, then the covariates as ordered in the call. `tau`, the prior precision,
    is the hyperparameter ``{"tau": ...}``, so a curve over it compiles once. `data` is ``(X, y)``.
    """
    names = _check(covariates)
    if not (np.isfinite(tau) and tau > 0.0):
        raise BadInput(f"tau={tau!r}: the prior precision must be a positive number.")
    x, y = design(names)
    d = len(names) + 1

    def prior(hyper: Any) -> Any:
        return {"theta": dist.Normal(0.0, 1.0 / jnp.sqrt(hyper["tau"])).expand([d]).to_event(1)}

    id = f"pima-{'-'.join(names) or 'intercept'}-tau-{tau:g}"
    log_evidence = KNOWN.get((frozenset(names), float(tau)))
    return Example(
        id=id,
        title=f"Pima diabetes on {' + '.join(('1', *names))}, prior precision {tau:g}",
        model=Model(
            _log_likelihood,
            prior,
            data=(x, y),
            hyper={"tau": float(tau)},
            name=id,
            data_id=fingerprint(y),  # all subsets explain the same response
        ),
        log_evidence=log_evidence,
        formula="unknown" if log_evidence is None else "importance sampling, 2 million draws, standard error 0.0003",
        source="Smith et al. (1988), complete cases of MASS; Friel & Wyse (2011)",
        tags=("one-dimensional" if d == 1 else "two-dimensional" if d == 2 else "many-dimensional", "friel-wyse"),
    )


def pima_with_mask(tau: float = 0.01) -> Model:
    """All 128 models as one: the full model with a mask of the covariates among its data, for `zhat.Subsets`.

    `data` is ``{"x": X, "y": y, "mask": seven ones}``; the intercept is always in.
    """
    x, y = design(COVARIATES)

    def log_likelihood(params: Any, data: Any) -> Any:
        mask = jnp.concatenate([jnp.ones(1), data["mask"]])
        return log_bernoulli_logit(data["y"], data["x"] @ (params["theta"] * mask))

    def prior(hyper: Any) -> Any:
        return {"theta": dist.Normal(0.0, 1.0 / jnp.sqrt(hyper["tau"])).expand([len(COVARIATES) + 1]).to_event(1)}

    data = {"x": x, "y": y, "mask": np.ones(len(COVARIATES))}
    return Model(log_likelihood, prior, data=data, hyper={"tau": float(tau)}, name="pima", data_id=fingerprint(y))


def design(covariates: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The design matrix, a column of ones and the standardised covariates, and the zeros and ones to explain."""
    table = load("pima_indians")
    y = table["diabetes"]
    columns = [np.ones_like(y)]
    columns += [(table[name] - np.mean(table[name])) / np.std(table[name], ddof=1) for name in covariates]
    return np.stack(columns, axis=1), y


def _log_likelihood(params: Any, data: Any) -> Any:
    x, y = data
    return log_bernoulli_logit(y, x @ params["theta"])


def _check(covariates: Sequence[str]) -> tuple[str, ...]:
    if isinstance(covariates, str):
        raise BadInput(f"covariates={covariates!r}: give a tuple of names, for example ({covariates!r},).")
    names = tuple(covariates)
    unknown = [name for name in names if name not in COVARIATES]
    if unknown:
        raise BadInput(f"covariates has {unknown[0]!r}: the Pima data have {', '.join(COVARIATES)}.")
    if len(set(names)) < len(names):
        raise BadInput(f"covariates={names}: each may stand once.")
    return names
