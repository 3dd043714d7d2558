"""bilby: a likelihood and a PriorDict as a model. `Model.from_bilby` is the door to `model`.

A PriorDict is a prior transform: `rescale` maps the unit cube to the parameters, conditional priors included, and `cdf` maps them back.
Fixed parameters (DeltaFunction) go to the likelihood and are no parameters of the model.

`Constraint` priors cut the prior off, and `rescale` ignores them. The likelihood is zero outside, and the prior that is left has to be
normalised: its mass inside the constraints is estimated with points of low discrepancy, and refused where that is not precise enough to
be left out of the standard error.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zhat.adapters.cube.prior_transform import How
from zhat.adapters.cube.prior_transform import model as from_transform
from zhat.errors import BadInput, BadType
from zhat.model.model import About, Model

# Scrambled Sobol sequences by which the mass inside of the constraints is estimated, the points of each, and the largest standard error of
# its logarithm: a quarter of what an evidence of the default has, so that leaving it out widens no interval by more than 3 %.
N_SEQUENCES, N_POINTS = 16, 2**15
LARGEST_SE = 5e-4
# bilby's word for zero likelihood is the most negative float.
ZERO = -1e300


def model(likelihood: Any, priors: Any, about: About | None = None) -> Model:
    """See `Model.from_bilby`."""
    priors = _prior_dict(priors)
    _check_priors(priors)
    keys = list(priors.non_fixed_keys)
    fixed = {key: float(priors[key].peak) for key in priors.fixed_keys}
    call = _caller(likelihood)
    log_mass = log_mass_inside(priors, keys)
    constrained = bool(priors.constraint_keys)

    def log_likelihood(theta: Mapping[str, Any]) -> float:
        parameters = {**fixed, **{key: float(value) for key, value in theta.items()}}
        if constrained and not priors.evaluate_constraints(dict(parameters)):
            return -np.inf
        value = float(call(parameters))
        return -np.inf if value < ZERO else value - log_mass

    def transform(u: Any) -> dict[str, Any]:
        return dict(zip(keys, priors.rescale(keys, list(u)), strict=True))

    def inverse(theta: Mapping[str, Any]) -> Any:
        found = priors.cdf({key: theta[key] for key in keys})
        return np.array([float(found[key]) for key in keys])

    given: About = {
        "labels": {key: _label(priors[key], key) for key in keys},
        "units": {key: str(priors[key].unit) for key in keys if priors[key].unit},
        **(about or {}),
    }
    back = inverse if _goes_back(transform, inverse, len(keys)) else None
    return from_transform(log_likelihood, transform, len(keys), how=How(inverse=back, traced=False), about=given)


def log_mass_inside(priors: Any, keys: list[str]) -> float:
    """Log of the prior mass that satisfies every `Constraint`; zero without any."""
    if not priors.constraint_keys:
        return 0.0
    from scipy.stats import qmc

    shares = []
    for seed in range(N_SEQUENCES):
        u = qmc.Sobol(len(keys), scramble=True, rng=seed).random(N_POINTS)
        values = dict(zip(keys, priors.rescale(keys, list(u.T)), strict=True))
        fixed = {key: np.full(N_POINTS, float(priors[key].peak)) for key in priors.fixed_keys}
        shares.append(float(np.mean(np.asarray(priors.evaluate_constraints({**fixed, **values}), np.float64) > 0)))
    share = float(np.mean(shares))
    se = float(np.std(shares, ddof=1) / np.sqrt(N_SEQUENCES) / max(share, 1e-300))
    if share == 0.0 or se > LARGEST_SE:
        raise BadInput(
            f"the constraints {', '.join(priors.constraint_keys)} leave {share:.3g} of the prior, known to {100 * se:.2g} % only "
            f"({100 * LARGEST_SE:.2g} % are allowed): that error would be missing from log Z. Write them as conditional priors or as "
            "narrower priors."
        )
    return float(np.log(share))


def _prior_dict(priors: Any) -> Any:
    try:
        from bilby.core.prior import PriorDict
    except ImportError as error:
        raise BadInput("from_bilby needs bilby: pip install 'zhat[bilby]'.") from error
    if isinstance(priors, PriorDict):
        return priors
    if not isinstance(priors, Mapping):
        raise BadType(f"priors is a {type(priors).__name__}: give a bilby PriorDict: from_bilby(likelihood, priors).")
    return PriorDict(dict(priors))


def _check_priors(priors: Any) -> None:
    from bilby.core.prior import JointPrior, Prior

    for key, prior in priors.items():
        if not isinstance(prior, Prior):
            raise BadType(f"priors[{key!r}] is a {type(prior).__name__}, not a bilby prior.")
        if isinstance(prior, JointPrior):
            raise BadInput(
                f"priors[{key!r}] is part of a joint prior ({type(prior).__name__}), which is not carried over: write its transform, "
                "zhat.Model.from_prior_transform(...), or independent and conditional priors."
            )
    if not priors.non_fixed_keys:
        raise BadInput("every prior is a DeltaFunction or a Constraint: a model needs at least one parameter.")


def _caller(likelihood: Any) -> Callable[[dict[str, Any]], Any]:
    """The likelihood as a function of the parameters; before bilby 2.7 it kept them as a state."""
    method = getattr(likelihood, "log_likelihood", None)
    if not callable(method):
        raise BadType(
            f"likelihood is a {type(likelihood).__name__} without a method log_likelihood: give a bilby Likelihood first, then the priors."
        )
    if "parameters" in inspect.signature(method).parameters:
        return lambda parameters: method(parameters)

    def with_state(parameters: dict[str, Any]) -> Any:
        likelihood.parameters.update(parameters)
        return method()

    return with_state


def _label(prior: Any, key: str) -> str:
    """The label of a prior; a prior without a name has none, or the word None."""
    label = prior.latex_label
    return key if label in (None, "None", "") else str(label)


def _goes_back(transform: Callable[[Any], Any], inverse: Callable[[Any], Any], n_dim: int) -> bool:
    """Whether `cdf` undoes `rescale` at some points."""
    for u in np.random.Generator(np.random.PCG64(2)).uniform(0.05, 0.95, size=(8, n_dim)):
        try:
            if not np.allclose(inverse(transform(u)), u, atol=1e-8):
                return False
        except Exception:  # a prior without a distribution function may raise anything
            return False
    return True
