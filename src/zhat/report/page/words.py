"""Why a number may be trusted, in sentences: a run's diagnostics, its repeats, and its agreement with others.

Every sentence says what was looked at, what was found, and what would have been bad. Nothing here judges: the verdict is the
run's own status, whose reasons are sentences already. A diagnostic that is not known here is left to the table of settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from zhat.comparing.agreement import Agreement
from zhat.formatting import with_error
from zhat.results.estimate import Evidence, Kind

Found = Mapping[str, Any]


def why_trust(result: Evidence) -> list[str]:
    """Sentences on one result, the most telling first."""
    found = [sentence for say in _SENTENCES if (sentence := say(result.diagnostics)) is not None]
    return [*_of_repeats(result), *found, *_of_kind(result)]


def agreement(first: Evidence, second: Evidence) -> str:
    """By how many joint standard errors two evidences of one model differ."""
    return str(Agreement(first, second))


def disagree(first: Evidence, second: Evidence) -> bool:
    """Whether two evidences of one model differ by more than three joint standard errors."""
    return Agreement(first, second).disagrees


def _of_repeats(result: Evidence) -> list[str]:
    if len(result.repeats) < 2:
        return []
    values = [run.log_evidence for run in result.repeats]
    spread = result.diagnostics.get("between_run_sd")
    text = f"{len(values)} independent runs lie between {min(values):.4f} and {max(values):.4f}"
    return [f"{text}, with a standard deviation of {spread:.2g}." if isinstance(spread, float) else f"{text}."]


def _of_kind(result: Evidence) -> list[str]:
    if result.kind is Kind.APPROXIMATION:
        return ["This is an approximation, without sampling noise: its error is how far importance sampling moves it."]
    if result.kind is Kind.LOWER_BOUND:
        return ["Z is estimated without bias, so its logarithm is a lower bound on average."]
    return []


# -- one diagnostic each ---------------------------------------------------------------------------------------------


def _second_view(d: Found) -> str | None:
    if "from_mode_log_evidence" in d:
        return (
            f"The run was looked at from the other end: importance sampling where the modes are gives "
            f"{with_error(d['from_mode_log_evidence'], d.get('from_mode_se'))}. A peak that the run had missed would show there."
        )
    if d.get("particle_check") == "done":
        return (
            "The run was looked at from the other end: particles that came up from the prior stand nowhere that the proposal "
            f"hardly reaches (share of them with a huge weight: {d.get('huge_share_particles', 0.0):.2g})."
        )
    return None


def _tail(d: Found) -> str | None:
    k = d.get("pareto_k", d.get("largest_rung_pareto_k", d.get("largest_pareto_k")))
    if not isinstance(k, float) or math.isnan(k):
        return None
    return f"The largest weights have Pareto k {k:.2f}; from 0.5 on their variance might not exist and no error would be shown."


def _worth(d: Found) -> str | None:
    if "ess" not in d:
        return None
    of = f" of {d['n_draws']:,}" if "n_draws" in d else ""
    return f"The draws are worth {d['ess']:,.0f}{of} independent ones; under a hundred would be too few."


def _one_draw(d: Found) -> str | None:
    return f"No single draw carries more than {100 * d['largest_share']:.2g} % of the answer." if "largest_share" in d else None


def _mixing(d: Found) -> str | None:
    left = d.get("largest_correlation_left", d.get("largest_memory_left", d.get("largest_memory")))
    return None if left is None else f"After their moves the points remember at most {left:.0%} of where they started."


def _ancestors(d: Found) -> str | None:
    if "n_ancestors" not in d:
        return None
    return f"{d['n_ancestors']:,} of the first points have descendants at the end; few would mean a chance outcome."


def _islands(d: Found) -> str | None:
    values = d.get("island_log_evidences")
    if not values or len(values) < 2:
        return None
    return f"{len(values)} islands of particles, which share no ancestor, say {', '.join(f'{v:.3f}' for v in values)}."


def _ranks(d: Found) -> str | None:
    if "insertion_rank_z" not in d:
        return None
    return (
        f"New points enter at even ranks among the survivors (z {d['insertion_rank_z']:+.1f}); beyond about four the constrained "
        "moves would fall short."
    )


def _left_over(d: Found) -> str | None:
    return f"What was still alive when the run ended holds {d['live_share']:.1%} of the evidence." if "live_share" in d else None


def _chains(d: Found) -> str | None:
    return f"R-hat of the chains is {d['r_hat']:.4f}; at one they cannot be told apart." if "r_hat" in d else None


def _points(d: Found) -> str | None:
    values = d.get("log_evidence_at_points")
    if not values or len(values) < 2:
        return None
    return f"The identity holds at any point; {len(values)} points give {min(values):.4f} to {max(values):.4f}."


def _curve(d: Found) -> str | None:
    if "discretisation_error" not in d:
        return None
    return f"Of the error, {d['discretisation_error']:.2g} comes from the spacing of the rungs, not from chance."


def _bridged(d: Found) -> str | None:
    if "against_bridged_z" not in d:
        return None
    return f"Stepping stones read from the same draws differ by {abs(d['against_bridged_z']):.1f} errors."


def _ladder(d: Found) -> str | None:
    if "half_log_evidence" not in d:
        return None
    half = with_error(d["half_log_evidence"], d.get("half_se"))
    return f"With half the rungs the answer is {half}: it has settled if these agree."


def _modes(d: Found) -> str | None:
    n = d.get("n_modes")
    return None if n is None else f"The search ended in {n} peak{'' if n == 1 else 's'}."


_SENTENCES: tuple[Callable[[Found], str | None], ...] = (
    _second_view, _tail, _worth, _one_draw, _islands, _ancestors, _mixing, _ranks, _left_over, _chains, _points, _curve, _bridged,
    _ladder, _modes,
)  # fmt: skip
