"""Likelihoods that were NaN and counted as zero: a note where they are far from the posterior, a doubt where they are near.

The rule: the share of NaN among posterior draws that are moved by half a standard deviation (`missed_mass.nan_check`) estimates what share
of the posterior may have been set to zero, and log Z then lacks about that share. It is a doubt where it exceeds the standard error of
log Z: up to there the error that is quoted covers it. It is also a doubt above one hundredth, whatever the standard error of the run,
because several runs that are combined have a smaller one. NaN elsewhere, also among prior draws, is a note that gives the counts.

A model built with `zero_where_nan=True` says that the likelihood is zero there: no doubt, and the note only.
"""

from __future__ import annotations

from zhat.missed_mass.nan_check import NanFound
from zhat.results.estimate import Status

# Share of NaN near the posterior that is a doubt whatever the standard error.
LARGEST_SHARE = 0.01


def nan_status(found: NanFound, zero_where_nan: bool, error: float | None) -> Status:
    """The verdict on the NaN likelihoods of a run whose log evidence has this error."""
    if not found.n_nan:
        return Status.ok()
    where = f"the log likelihood was NaN at {found.n_nan:,} of {found.n_evaluated:,} points"
    if found.prior_share is not None:
        where += f" ({_percent(found.prior_share) if found.prior_share else 'none'} of the prior draws)"
    if zero_where_nan:
        return Status.note("nan-far", f"{where}, which counted as zero likelihood (zero_where_nan=True).")
    limit = LARGEST_SHARE if error is None else min(error, LARGEST_SHARE)
    if found.near_share > limit:
        return Status.suspect(
            "nan-as-zero",
            f"the log likelihood is NaN at {_percent(found.near_share)} of {found.n_near:,} points near the posterior (its draws, "
            f"moved by half a standard deviation; flagged above {_percent(limit)}), for example at {found.example}. These "
            "counted as zero likelihood, so that mass may be missing. Return a number there; or -inf, or build the model with "
            "zero_where_nan=True, if the likelihood is zero there.",
        )
    if not found.n_near:
        return Status.note(
            "nan-far", f"{where}, which counted as zero likelihood; there are no draws to see how near the posterior."
        )
    near = f"at {_percent(found.near_share)} of {found.n_near:,} points near the posterior"
    far = (
        f"{near} (flagged above {_percent(limit)})"
        if found.near_share
        else f"at none of {found.n_near:,} points near the posterior"
    )
    return Status.note("nan-far", f"{where}, and {far}; these counted as zero likelihood.")


def nan_status_of_family(n_nan: int, zero_where_nan: bool) -> Status:
    """The verdict for a family of models, whose draws are all near a posterior: any NaN is a doubt, unless it is meant as zero."""
    if not n_nan:
        return Status.ok()
    where = f"the log likelihood was NaN at {n_nan:,} points, which counted as zero likelihood"
    if zero_where_nan:
        return Status.note("nan-far", f"{where} (zero_where_nan=True).")
    return Status.suspect(
        "nan-as-zero",
        f"{where}: mass may be missing. Return a number there; or -inf, or build the model with zero_where_nan=True, if the likelihood "
        "is zero there.",
    )


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %"
