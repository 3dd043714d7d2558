"""The evidence from posterior draws that the caller has: which methods run, and what is checked before they do.

    evidence(model, draws=fit)                    # bridge sampling; importance sampling shaped by the draws where that refuses
    evidence(model, "reciprocal", draws=fit)      # no evaluations but the draws' own
    evidence(mcmc)                                # NumPyro's MCMC: model, data and draws in one

Nothing is sampled again to make the estimate. Names, shapes and supports are matched before anything runs; then every draw is
evaluated once, and the verdict states whether the draws are the model's (`zhat.sampling.chains.belonging`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zhat.errors import BadInput
from zhat.methods._base import Method, registry
from zhat.methods.bridge import Bridge
from zhat.methods.importance import Importance
from zhat.missed_mass.around_draws import points_around
from zhat.model.model import Model
from zhat.results.estimate import Diagnostic, Evidence, Level, Status
from zhat.run.distribution.plans import Plan
from zhat.sampling.chains.belonging import belonging
from zhat.sampling.chains.given import Given, evaluated, matched
from zhat.sampling.chains.posterior import Chains
from zhat.sampling.importance.from_draws import proposal_from_draws as fit_proposal
from zhat.sampling.importance.proposals import Proposal, fitted
from zhat.sampling.importance.refitted import Refitted
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.given_draws import given_diagnostics, given_status

# After these nothing else starts: the caller or the budget ended the run, the draws are not the model's, or they lack a part of the posterior
# that was found elsewhere, which a density fitted to them lacks too.
ENDED = {"interrupted", "budget", "unchecked", "foreign-draws", "constant-differs", "missed-mode", "missed-peak", "missed-mass"}

# Points around the draws of a joint density that show whether it is zero somewhere near.
AROUND = 256

Run = Callable[[Method, Given | None], Plan[Evidence]]


@dataclass(frozen=True)
class Judged:
    """Given draws after they were evaluated: the chains, the verdict on them, and what is known of them."""

    chains: Chains
    status: Status
    diagnostics: dict[str, Diagnostic]


def given_draws(model: Model, draws: Any) -> Given:
    """The draws of any container as vectors of this model."""
    from zhat.adapters.draws import read_draws

    return matched(model, read_draws(draws, model))


def model_of(source: Any) -> Model | None:
    """The model inside of NumPyro's MCMC object; None for anything else."""
    from zhat.adapters.draws import model_of

    return model_of(source)


def proposal_from_draws(
    model: Model, draws: Any, *, n_components: int = 1, degrees_of_freedom: float = 3.0, seed: int = 0
) -> Proposal:
    """A mixture of `n_components` t's fitted to posterior draws of a model, for `zhat.Importance(proposal=...)`.

    Parameters
    ----------
    model : Model
    draws
        In any of the forms that `zhat.evidence(draws=...)` takes; names that are not parameters of the model are left out.
    n_components : int
        One is safest; more follow a curved posterior better, and a tail that they leave uncovered shows in Pareto k.
    degrees_of_freedom : float
        Of the t's: fewer have heavier tails.
    seed : int
        Of the fit, which starts at randomly chosen draws.
    """
    from zhat.adapters.draws import read_draws

    values = draws if isinstance(draws, dict) else read_draws(draws, model).values
    return fit_proposal(model, values, n_components=n_components, degrees_of_freedom=degrees_of_freedom, seed=seed)


def judged(model: Model, given: Given, bench: Workbench) -> Judged:
    """Evaluate the draws, and see whether they are the model's."""
    chains = evaluated(model, given, bench.loop)
    if model.space.has_prior:
        elsewhere = bench.prior()
    else:
        elsewhere = points_around(model, chains.draws.position, AROUND, Key(0).child("around draws"), bench.loop)
    found = belonging(model, given, chains, elsewhere.log_likelihood, bench.loop)
    return Judged(chains, given_status(model, given, chains, found), given_diagnostics(given, chains, found))


def check_method(method: Method, repeats: int, precision: float | None = None) -> None:
    """Refuse a method that makes its own draws, repeats, which would use the same draws each time, and a precision that they do not give."""
    if not method.reads_draws and not _can_be_shaped(method):
        able = ", ".join(name for name, cls in registry().items() if cls.reads_draws)
        raise BadInput(
            f"{type(method).__name__} makes its own draws and does not use yours; with draws=... these do: {able}, and importance, whose "
            "proposal they shape."
        )
    if repeats > 1:
        raise BadInput(
            f"repeats={repeats} with draws=...: the draws would be the same each time, and the scatter of the repeats too small; leave "
            "repeats out, or draws."
        )
    if precision is not None:
        raise BadInput(
            f"precision={precision} with draws=...: the number of draws decides the standard error, and no more are made; leave precision out, "
            "or draws."
        )


def by_draws(run: Run, given: Given, method: Method | None) -> Plan[Evidence]:
    """The evidence by the method named, or by bridge sampling and, where that refuses, importance sampling shaped by the draws."""
    if isinstance(method, Importance):
        result = yield from run(replace(method, proposal=_shaped(given)), None)
        return replace(result, settings=_settings(result, given))
    first = yield from run(method or Bridge(), given)
    first = replace(first, settings=_settings(first, given))
    ended = any(reason.code in ENDED for reason in first.status.reasons) or first.status.level is Level.FAILED
    if method is not None or first.status.is_ok or ended:
        return (
            first if method is not None else replace(first, why_this_method="bridge sampling, because posterior draws were given")
        )
    second = yield from run(Importance(proposal=_shaped(given)), None)
    reason = first.status.reasons[0]
    kept = second if second.status.is_ok else first
    what = "importance sampling from a density fitted to the draws" if kept is second else "bridge sampling from the draws given"
    also = "" if kept is second else "; importance sampling from a density fitted to the draws refused as well"
    return replace(
        kept,
        why_this_method=f"{what}, because bridge sampling refused ({reason.code}): {reason.sentence}{also}"
        if kept is second
        else what + also,
        settings=_settings(kept, given),
        cost=first.cost + second.cost,
    )


def _can_be_shaped(method: Method) -> bool:
    return isinstance(method, Importance) and method.proposal is None


def _shaped(given: Given) -> Refitted:
    position = given.position.reshape(-1, given.position.shape[2])
    first = fitted(position, np.ones(len(position)), 1, 3.0, Key(0).child("proposal from draws").generator())
    return Refitted(first, position)


def _settings(result: Evidence, given: Given) -> dict[str, Any]:
    """The settings of a result with the description of the draws, in place of the draws themselves in a proposal that was fitted to them."""
    proposal = result.settings.get("proposal")
    if isinstance(proposal, dict):
        proposal = {name: value for name, value in proposal.items() if name != "position"}
        return {**result.settings, "proposal": proposal, "draws": _described(given)}
    return {**result.settings, "draws": _described(given)}


def _described(given: Given) -> dict[str, Any]:
    """What a result keeps of the draws it was made from."""
    digest = hashlib.sha256(np.ascontiguousarray(given.position).tobytes()).hexdigest()[:16]
    n_chains, n_draws, _ = given.position.shape
    return {"from": given.brought.source, "chains": n_chains, "draws": n_draws, "fingerprint": digest}
