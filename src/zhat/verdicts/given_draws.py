"""The verdict on draws that the caller brought: are they the model's, and are they enough?"""

from __future__ import annotations

import math

from zhat.model.model import Model
from zhat.results.estimate import Diagnostic, Status
from zhat.sampling.chains.belonging import Belonging
from zhat.sampling.chains.given import Given, piled_share, repeated_share
from zhat.sampling.chains.posterior import Chains
from zhat.verdicts.from_chains import MAX_R_HAT

# Chance below which draws are refused as another density's, and below which they are doubted. Sixty sets of right draws of a
# logistic regression had 0.007 at least; with two columns exchanged, another prior or another model's draws it was below 1e-12.
REFUSED, DOUBTED = 1e-6, 1e-3
# Share of divergent transitions above which a Hamiltonian sampler's draws leave out a part of the posterior that matters.
MANY_DIVERGENT = 0.005
# Share of draws that repeat one elsewhere: a resampled sample, whose autocorrelation hides its effective sample size.
MANY_REPEATED = 0.1
# Share of draws, but for one, at an end of a coordinate's range: none of a density, all that were beyond it of clipped draws.
MANY_PILED = 0.005
CHECK = "check that model, data, priors and draws belong together"


def given_status(model: Model, given: Given, chains: Chains, found: Belonging) -> Status:
    """Whether the draws may be used."""
    status = _densities_status(found, given.brought.lp_lacks_constants)
    if status.is_ok and given.interleaved is None:  # whose standard errors would be too small
        status = _score_status(model, found, chains)
    share = given.brought.n_divergent / max(given.position.shape[0] * given.position.shape[1] * given.thinned_by, 1)
    if share > MANY_DIVERGENT:
        status = status.and_(
            Status.suspect(
                "divergences",
                f"{given.brought.n_divergent:,} transitions diverged ({share:.1%}, flagged above {MANY_DIVERGENT:.1%}): the sampler could "
                "not follow the posterior everywhere, and the draws may leave a part of it out; sample with smaller steps or another "
                "parameterisation, or use zhat.SMC().",
            )
        )
    repeated = repeated_share(given.position)
    if given.interleaved is not None:
        status = status.and_(
            Status.suspect(
                "interleaved",
                f"every draw resembles the one {given.interleaved.lag} places later (correlation {given.interleaved.correlation:.2f}, "
                f"{given.interleaved.z:.0f} standard errors), and not those between: the draws of several chains or walkers stand in turn in one "
                "array, and their standard error would be too small. Keep chains apart, (chain, draw, ...); of emcee give the sampler itself.",
            )
        )
    elif repeated > MANY_REPEATED:
        status = status.and_(
            Status.suspect(
                "repeated-draws",
                f"{repeated:.0%} of the draws are copies of others elsewhere in the chains: a resampled set, or walkers flattened into one "
                "chain, whose standard error cannot be known; give the draws as the sampler made them, each chain apart.",
            )
        )
    piled, coordinate = piled_share(given.position)
    if piled > MANY_PILED:
        status = status.and_(
            Status.suspect(
                "repeated-draws",
                f"{piled:.1%} of the draws have the same smallest, or the same largest, value of {model.space.coordinate_names()[coordinate]!r}: "
                "they were clipped there, and no density is that of clipped draws; give the draws as the sampler made them.",
            )
        )
    return status


def joint_density_note() -> Status:
    """What could not be checked where only the joint density is known."""
    return Status.note(
        "joint-density",
        "only the joint density of this model is known. Not checked: whether its prior integrates to one (a missing constant, or a bound "
        "that the prior's constant does not account for, is in log Z), and, from the prior, whether the draws missed a part of the "
        "posterior; searches for modes started from around the draws.",
    )


def given_diagnostics(given: Given, chains: Chains, found: Belonging) -> dict[str, Diagnostic]:
    """What is known of the draws, for the result."""
    out: dict[str, Diagnostic] = {
        "given_chains": given.n_chains,
        "given_draws": int(given.position.shape[1]),
        "given_ess": float(chains.ess),
        "given_r_hat": float(chains.r_hat),
        "given_thinned_by": given.thinned_by,
        "given_from": given.brought.source,
        "divergent": given.brought.n_divergent,
    }
    if given.ignored:
        out["ignored_names"] = list(given.ignored)
    if found.lp is not None:
        out |= {"lp_constant": found.lp.constant, "lp_spread": found.lp.spread}
    if found.score is not None:
        out |= {"score_largest_z": found.score.largest, "score_log_p": found.score.log_p}
    else:
        out["score_not_tested"] = found.no_score_because
    if given.n_chains == 1:
        out["one_chain"] = "its halves were compared; nothing can show whether it visited every mode"
    return out


def _densities_status(found: Belonging, lacks_constants: bool) -> Status:
    """What the stored log densities say."""
    prior, likelihood, lp = found.log_prior, found.log_likelihood, found.lp
    exchanged = (
        f" Exchanging {found.exchanged[0]} and {found.exchanged[1]} mends it: two columns of the draws are exchanged."
        if found.exchanged
        else ""
    )
    if likelihood is not None and not likelihood.is_constant:
        known = "; the stored log prior agrees, so these are other data or another likelihood" if prior and prior.is_zero else ""
        return Status.failed(
            "foreign-draws",
            f"the log likelihood stored with the draws differs from the model's by {likelihood.constant:+.4g}, and by up to "
            f"{likelihood.spread:.3g} more from draw to draw{known}: {CHECK}.{exchanged}",
        )
    if prior is not None and not prior.is_constant:
        known = "; the stored log likelihood agrees, so it is another prior" if likelihood and likelihood.is_zero else ""
        return Status.failed(
            "foreign-draws",
            f"the log prior stored with the draws differs from the model's by {prior.constant:+.4g}, and by up to {prior.spread:.3g} more "
            f"from draw to draw{known}: {CHECK}.{exchanged}",
        )
    if lp is not None and not lp.is_constant:
        return Status.failed(
            "foreign-draws",
            f"the log density stored with the draws differs from the model's by {lp.constant:+.4g}, and by up to {lp.spread:.3g} more from "
            f"draw to draw: other data, another prior or another parameterisation; {CHECK}.{exchanged}",
        )
    for what, gap, allowed in (
        ("log likelihood", likelihood, False),
        ("log prior", prior, False),
        ("log density", lp, lacks_constants),
    ):
        if gap is not None and not gap.is_zero and not allowed:
            return Status.suspect(
                "constant-differs",
                f"the {what} stored with the draws is the model's plus {gap.constant:+.6g} at every draw: one of the two lacks a constant. "
                "If it is the model, this log Z is off by as much; if it is the sampler, it is not. Compare them at one point with "
                "model.evaluate(...).",
            )
    return Status.ok()


def _score_status(model: Model, found: Belonging, chains: Chains) -> Status:
    """What the score identities say."""
    score = found.score
    if score is None or score.log_p > math.log(DOUBTED):
        return Status.ok()
    name = "their sum" if score.largest == abs(score.total) else model.space.coordinate_names()[score.worst_coordinate]
    mends = f" Exchanging {found.exchanged[0]} and {found.exchanged[1]} mends it." if found.exchanged else ""
    sentence = (
        f"the mean slope of the log posterior at the draws is not zero, or its products with the coordinates are not those of the "
        f"posterior: off by up to {_standard_errors(score.largest)}, most for {name}. For draws of this posterior that has a chance of "
        f"{_chance(score.log_p)}: other data, another prior, exchanged columns or too short chains; {CHECK}.{mends}"
    )
    if score.log_p < math.log(REFUSED) and chains.r_hat <= MAX_R_HAT:
        return Status.failed("foreign-draws", sentence)
    return Status.suspect("foreign-draws", sentence)


def _standard_errors(z: float) -> str:
    return f"{z:.1f} standard errors" if z < 1000.0 else "more than 1,000 standard errors"


def _chance(log_p: float) -> str:
    return f"{math.exp(log_p):.1g}" if log_p > math.log(1e-99) else "less than 1e-99"
