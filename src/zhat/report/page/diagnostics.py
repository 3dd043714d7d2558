"""One sentence for each diagnostic of a run: one wording when it is within its limit, another when it is flagged.

Each sentence gives the value and the threshold. Where a verdict depends on more than the stored diagnostics, the sentence follows
the verdict's code. A diagnostic that is not known here has no sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from zhat.formatting import with_error
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.report.page import limits
from zhat.results.estimate import Evidence
from zhat.verdicts.tempered import MAX_Z
from zhat.verdicts.weights import LARGE_CORRECTION


class Sentence(NamedTuple):
    """What a diagnostic says, and whether it is beyond its limit."""

    text: str
    flagged: bool = False


def sentences(result: Evidence) -> list[Sentence]:
    """The sentences on a result's diagnostics, the most telling first."""
    if result.log_evidence_se == 0.0:
        return [Sentence("The standard error is zero: all weights are equal, so the sum is exact.")]
    return [sentence for say in _SENTENCES if (sentence := say(result)) is not None]


def _number(result: Evidence, *names: str) -> float | None:
    """The first of these diagnostics that is a number."""
    for name in names:
        value = result.diagnostics.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value):
            return float(value)
    return None


def _numbers(result: Evidence, name: str) -> list[float]:
    """A diagnostic that is a list of numbers, without NaN."""
    values: Any = result.diagnostics.get(name)
    return [float(v) for v in values if not math.isnan(v)] if isinstance(values, list | tuple) else []


def _raised(result: Evidence, *codes: str) -> bool:
    return any(reason.code in codes for reason in result.status.reasons)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


# -- missed mass -----------------------------------------------------------------------------------------------------


def _finding(result: Evidence) -> Finding:
    """The finding of the check for missed mass, compared with this result."""
    return Finding.read(result.diagnostics, Answer(result.log_evidence, result.error or 0.0))


def _mode_check(result: Evidence) -> Sentence | None:
    found = _finding(result)
    if found.mode_check is Progress.NOT_DONE:
        return Sentence("Mode check: not finished. The run may have missed a mode.", True)
    if found.mode_check is Progress.NO_MODE:
        return Sentence("Mode check: the optimiser found no mode at which importance sampling is possible. Nothing was compared.")
    if found.at_modes is None:
        return None
    there = with_error(found.at_modes.log_evidence, found.at_modes.se)
    if _raised(result, "missed-peak"):
        missed = f"Mode check: importance sampling at the modes gives {there} (s.e.), against {result.log_evidence:.4f} here."
        return Sentence(f"{missed} The run missed part of the posterior.", True)
    return Sentence(f"Mode check: importance sampling at the modes gives {there} (s.e.) and finds no mode that this run missed.")


def _prior_draws(result: Evidence) -> Sentence | None:
    second = _finding(result).from_prior_draws
    if second is None:
        return None
    text = f"The mean likelihood of prior draws gives {with_error(second.log_evidence, second.se)} (s.e.)"
    if _raised(result, "missed-mass"):
        return Sentence(f"{text}, more than the chains found: they missed part of the posterior.", True)
    return Sentence(f"{text} and shows no mass that the chains missed.")


def _coverage_check(result: Evidence) -> Sentence | None:
    found = _finding(result)
    if found.coverage_check is Progress.NOT_DONE:
        return Sentence("Coverage check: not finished. The proposal may have missed a mode.", True)
    if found.coverage_check is Progress.NOT_NEEDED:
        return Sentence(f"Coverage check: not needed. The posterior has one mode, because {result.diagnostics.get('one_mode')}.")
    if found.coverage is None:
        return None
    there, limit = found.coverage.population, found.coverage.draws + found.effort.margin
    begin = "Coverage check: a tempered population started from the prior"
    if found.is_uncovered:
        return Sentence(
            f"{begin} has {_percent(there)} of its weight in regions that the proposal misses (flagged above {_percent(limit)}).",
            True,
        )
    return Sentence(
        f"{begin} found no region that the proposal misses ({_percent(there)} of its weight at points with a huge importance "
        f"weight; above {_percent(limit)} would be flagged)."
    )


def _unvisited(result: Evidence) -> Sentence | None:
    share = _finding(result).unvisited_share
    if share is None:
        return None
    if _raised(result, "missed-peak") and share > 0.0:
        return Sentence(f"The chains did not visit a mode with {_percent(share)} of the posterior mass.", True)
    return Sentence(
        f"The chains visited every mode that the mode check found (unvisited share of the posterior: {_percent(share)})."
    )


def _views(result: Evidence) -> Sentence | None:
    """What every family said, where several ran."""
    names = ("views", "view_log_evidences", "view_ses", "view_statuses")
    columns: list[Any] = [result.diagnostics.get(name) for name in names]
    if not all(isinstance(column, list) for column in columns) or len(columns[0]) < 2:
        return None
    said = [
        f"{label} {float(value):.4g}" + (f" ({status})" if math.isnan(float(se)) else f" ± {float(se):.2g}")
        for label, value, se, status in zip(*columns, strict=True)
    ]
    return Sentence(f"Families of methods: {'; '.join(said)}.", _raised(result, "no-agreement", "unconfirmed"))


def _population(result: Evidence) -> Sentence | None:
    found = _finding(result)
    if found.from_population is None:
        return None
    there = with_error(found.from_population.log_evidence, found.from_population.se)
    text = f"Second view: the tempered population gives {there} (s.e.)"
    if found.visited_by_population < 1.0:
        text += f", having visited {_percent(found.visited_by_population)} of the posterior"
    return Sentence(f"{text}; the two {'agree' if found.population_agrees else 'do not agree, so further families ran'}.")


def _resolution(result: Evidence) -> Sentence | None:
    if result.resolution is None:
        return None
    return Sentence(f"Resolution: {result.resolution_in_words}")


def _unseen(result: Evidence) -> Sentence | None:
    parts = _finding(result).unseen
    return Sentence(f"The check for missed mass left out {'; '.join(part.value for part in parts)}.") if parts else None


def _modes(result: Evidence) -> Sentence | None:
    n = _number(result, "n_modes")
    if n is None:
        return None
    text = f"The optimiser found {n:.0f} mode{'' if n == 1 else 's'}."
    if _raised(result, "modes-left"):
        return Sentence(f"{text[:-1]}, some of them from very few starting points: there may be more.", True)
    learned = _finding(result).n_learned
    if learned:
        text = (
            f"{text[:-1]}, {learned} of them through the coverage check; the estimate was then computed again with all of them."
        )
    return Sentence(text)


# -- weights ---------------------------------------------------------------------------------------------------------


def _tail(result: Evidence) -> Sentence | None:
    names = ("pareto_k", "largest_rung_pareto_k", "largest_pareto_k", "largest_forward_pareto_k")
    k = _number(result, *names)
    if k is None:
        return None
    limit = limits.PARETO_K.get(result.method)
    if math.isinf(k) and k < 0:
        return Sentence("All weights are equal or bounded: Pareto k is minus infinity.")
    return _tail_sentence("Pareto k", k, limit)


def _tail_under_prior(result: Evidence) -> Sentence | None:
    k = _number(result, "prior_pareto_k")
    return None if k is None else _tail_sentence("Pareto k of 1 / L over prior draws", k, limits.PARETO_K.get(result.method))


def _tail_sentence(name: str, k: float, limit: float | None) -> Sentence:
    if limit is None:
        return Sentence(f"{name} = {k:.2f}.")
    if k >= limit:
        return Sentence(f"{name} = {k:.2f}, not below {limit:g}: the variance of the weights may be infinite.", True)
    return Sentence(f"{name} = {k:.2f} (flagged from {limit:g}, where the variance of the weights may be infinite).")


def _effective(result: Evidence) -> Sentence | None:
    ess = _number(result, "ess", "ess_of_weights")
    if ess is None:
        return None
    n = _number(result, "n_draws")
    text = f"Effective sample size {ess:,.0f}{'' if n is None else f' of {n:,.0f} draws'}"
    limit = limits.ESS.get(result.method)
    if limit is None:
        return Sentence(f"{text}.")
    if ess < limit:
        return Sentence(f"{text}, below {limit:g}: too few for a standard error.", True)
    return Sentence(f"{text} (below {limit:g} would be flagged).")


def _one_draw(result: Evidence) -> Sentence | None:
    share = _number(result, "largest_share")
    return None if share is None else Sentence(f"The largest weight is {_percent(share)} of the sum of all weights.")


def _spread(result: Evidence) -> Sentence | None:
    sd = _number(result, "sd_log_weight")
    if sd is None:
        return None
    limit = limits.LOG_WEIGHT_SD
    if sd > limit:
        return Sentence(
            f"The log weights have standard deviation {sd:.2f}, above {limit:g}: their mean has no reliable s.e.", True
        )
    return Sentence(f"The log weights have standard deviation {sd:.2f} (above {limit:g} would be flagged).")


def _half_the_rungs(result: Evidence) -> Sentence | None:
    half = _number(result, "half_log_evidence")
    if half is None:
        return None
    text = f"With half the rungs the estimate is {with_error(half, _number(result, 'half_se'))} (s.e.)"
    if _raised(result, "not-converged"):
        return Sentence(
            f"{text}; with all of them it rises by more than {limits.RISE:g} joint standard errors: the lower bound has not converged.",
            True,
        )
    return Sentence(f"{text} (a rise of more than {limits.RISE:g} joint standard errors would be flagged).")


def _correction(result: Evidence) -> Sentence | None:
    corrected = _number(result, "importance_corrected")
    if corrected is None:
        return None
    moved = abs(corrected - result.log_evidence)
    if _raised(result, "large-correction"):
        return Sentence(
            f"Importance sampling at the mode moves the approximation by {moved:.2f}, above {LARGE_CORRECTION:g}.", True
        )
    return Sentence(
        f"Importance sampling at the mode moves the approximation by {moved:.2g} (above {LARGE_CORRECTION:g} would be flagged)."
    )


# -- populations and live points -------------------------------------------------------------------------------------


def _islands(result: Evidence) -> Sentence | None:
    values = _numbers(result, "island_log_evidences")
    if len(values) < 2:
        return None
    text = f"{len(values)} islands of particles, without common ancestors, give {', '.join(f'{v:.3f}' for v in values)}"
    if _raised(result, "island-scatter"):
        return Sentence(f"{text}: they differ by more than their standard errors allow.", True)
    return Sentence(f"{text}: they agree within their standard errors.")


def _ancestors(result: Evidence) -> Sentence | None:
    n = _number(result, "n_ancestors")
    if n is None:
        return None
    limit = limits.ANCESTORS.get(result.method)
    text = f"{n:,.0f} of the first points have descendants at the end"
    if limit is None:
        return Sentence(f"{text}.")
    if n < limit:
        return Sentence(f"{text}, fewer than {limit}: the variance between runs cannot be estimated from them.", True)
    return Sentence(f"{text} (fewer than {limit} would be flagged).")


def _descent(result: Evidence) -> Sentence | None:
    genealogical, other = _number(result, "genealogical_se"), _number(result, "rung_by_rung_se", "shrinkage_se")
    limit = limits.UNEQUAL.get(result.method)
    if genealogical is None or not other or limit is None:
        return None
    ratio = genealogical / other
    name = "shrinkage" if "shrinkage_se" in result.diagnostics else "rung-by-rung"
    text = f"The standard error from the genealogy is {ratio:.2g} times the {name} one"
    if ratio > limit:
        return Sentence(f"{text}, above {limit:g}: some points did not leave their region.", True)
    return Sentence(f"{text} (above {limit:g} would be flagged).")


def _mixing(result: Evidence) -> Sentence | None:
    left = _number(result, "largest_correlation_left", "largest_memory_left", "largest_memory")
    if left is None:
        return None
    text = f"After the moves the correlation with the starting points is at most {left:.2f}"
    n_chains = _number(result, "n_chains")
    if "largest_memory_left" in result.diagnostics:
        limit = limits.RANK_CORRELATION
    elif "largest_memory" in result.diagnostics and n_chains is not None:
        limit = limits.ladder_correlation(int(n_chains))
    else:
        limit = math.inf
    if left > limit:
        return Sentence(f"{text}, above {limit:g}: the moves do not mix.", True)
    if _raised(result, "stuck"):
        return Sentence(f"{text}; at some rung or threshold the points hardly moved.", True)
    return Sentence(f"{text}." if math.isinf(limit) else f"{text} (above {limit:g} would be flagged).")


def _ranks(result: Evidence) -> Sentence | None:
    whole = _number(result, "insertion_rank_z")
    if whole is None:
        return None
    late = _number(result, "insertion_rank_z_late")
    worst = max((whole, whole if late is None else late), key=abs)
    where = "" if worst == whole else " in the last third of the run"
    limit = limits.INSERTION_RANK
    if abs(worst) > limit:
        return Sentence(
            f"Insertion ranks are not uniform (z = {worst:.1f}{where}, beyond {limit:g}): new points are not independent draws from "
            "the constrained prior.",
            True,
        )
    return Sentence(f"Insertion ranks are uniform (z = {worst:.1f}{where}; beyond {limit:g} would be flagged).")


def _left_over(result: Evidence) -> Sentence | None:
    share = _number(result, "live_share")
    if share is None or "masses_se" in result.diagnostics:  # the evidence is that of draws in regions, not of live points
        return None
    text = f"The last live points hold {_percent(share)} of the evidence"
    if share > limits.LIVE_SHARE:
        return Sentence(f"{text}, above {_percent(limits.LIVE_SHARE)}: the run stopped too early.", True)
    return Sentence(f"{text} (above {_percent(limits.LIVE_SHARE)} would be flagged).")


def _survivors(result: Evidence) -> Sentence | None:
    n = _number(result, "fewest_survivors")
    if n is None or n >= limits.SURVIVORS:
        return None
    return Sentence(f"At a plateau of the likelihood only {n:.0f} live points were left, fewer than {limits.SURVIVORS}.", True)


# -- chains ----------------------------------------------------------------------------------------------------------


def _chains(result: Evidence) -> Sentence | None:
    r_hat = _number(result, "r_hat")
    if r_hat is None:
        return None
    limit = limits.R_HAT.get(result.method)
    if limit is None:
        return Sentence(f"R-hat of the chains is {r_hat:.4f}.")
    if r_hat > limit:
        return Sentence(f"R-hat of the chains is {r_hat:.4f}, above {limit:g}: the chains have not mixed.", True)
    return Sentence(f"R-hat of the chains is {r_hat:.4f} (above {limit:g} would be flagged).")


def _points(result: Evidence) -> Sentence | None:
    values = _numbers(result, "log_evidence_at_points")
    if len(values) < 2:
        return None
    text = f"The identity holds at every point; at {len(values)} points it gives {min(values):.4f} to {max(values):.4f}"
    if _raised(result, "points-disagree"):
        return Sentence(f"{text}: these differ by more than their standard errors allow.", True)
    return Sentence(f"{text}.")


def _acceptance_at_point(result: Evidence) -> Sentence | None:
    rate = _number(result, "acceptance_at_point")
    if rate is None:
        return None
    text, limit = f"The acceptance rate from the point is {_percent(rate)}", limits.ACCEPTANCE_AT_POINT
    if rate < limit:
        return Sentence(f"{text}, below {_percent(limit)}: the proposal does not fit the posterior.", True)
    return Sentence(f"{text} (below {_percent(limit)} would be flagged).")


def _near_mode(result: Evidence) -> Sentence | None:
    short = _number(result, "short_of_top")
    if short is None:
        return None
    text, limit = f"The best draw lies {short:.2g} below the mode in log density", limits.FAR_FROM_MODE
    if short > limit:
        return Sentence(f"{text}, more than {limit:g}: there are too few draws for this dimension.", True)
    return Sentence(f"{text} (more than {limit:g} would be flagged).")


# -- ladders ---------------------------------------------------------------------------------------------------------


def _discretisation(result: Evidence) -> Sentence | None:
    rule, noise = _number(result, "discretisation_error"), _number(result, "monte_carlo_error")
    if rule is None or noise is None:
        return None
    text = f"The discretisation error of the quadrature is about {rule:.2g}, the Monte Carlo standard error {noise:.2g}"
    if _raised(result, "coarse-ladder"):
        return Sentence(f"{text}: the rungs are too far apart.", True)
    return Sentence(f"{text} (flagged where the first is the larger).")


def _two_readings(result: Evidence) -> Sentence | None:
    z = _number(result, "against_bridged_z", "reverse_minus_forward_z")
    if z is None:
        return None
    names = "The integral and stepping stones" if "against_bridged_z" in result.diagnostics else "Reverse and forward stones"
    text = f"{names} over the same draws differ by {abs(z):.1f} standard errors of their difference"
    if _raised(result, "readings-differ"):
        return Sentence(f"{text}, more than {MAX_Z:g} and more than the reported standard error.", True)
    return Sentence(f"{text}, which is within the tolerance.")


def _identity(result: Evidence) -> Sentence | None:
    values = _numbers(result, "identity_z")
    if not values:
        return None
    worst = max(values, key=abs)
    text = f"The slope of the mean log likelihood differs from its variance by at most {abs(worst):.1f} standard errors"
    if _raised(result, "thermodynamic-identity"):
        return Sentence(f"{text}, more than {MAX_Z:g}: some rung has not converged.", True)
    if abs(worst) > MAX_Z:  # a coarse ladder, which has a sentence of its own, leaves this check out
        return None
    return Sentence(f"{text} (more than {MAX_Z:g} would be flagged).")


# -- harmonic mean ---------------------------------------------------------------------------------------------------


def _variance_from_prior(result: Evidence) -> Sentence | None:
    predicted, own = _number(result, "relative_variance_from_prior"), _number(result, "relative_variance")
    if predicted is None or own is None:
        return None
    text = f"Relative variance of a weight: {own:.3g} over posterior draws, {predicted:.3g} predicted from prior draws"
    if _raised(result, "infinite-variance"):
        return Sentence(f"{text}. It is too large, or the two do not agree: the estimate is too high.", True)
    return Sentence(f"{text} (above {limits.RELATIVE_VARIANCE:g} would be flagged).")


def _zero_likelihood(result: Evidence) -> Sentence | None:
    share = _number(result, "prior_share_of_zero_likelihood")
    if not share:
        return None
    return Sentence(f"{_percent(share)} of prior draws have zero likelihood, which the harmonic mean leaves out.", True)


_SENTENCES: tuple[Callable[[Evidence], Sentence | None], ...] = (
    _views, _population, _mode_check, _prior_draws, _coverage_check, _unvisited, _unseen, _resolution, _tail, _tail_under_prior, _effective, _one_draw, _spread, _half_the_rungs, _correction,
    _islands, _ancestors, _descent, _mixing, _ranks, _left_over, _survivors, _chains, _points, _acceptance_at_point, _near_mode,
    _discretisation, _two_readings, _identity, _variance_from_prior, _zero_likelihood, _modes,
)  # fmt: skip
