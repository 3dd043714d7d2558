"""What a tempered run says of itself, whichever sum reads it: its error, and whether the chains can be believed.

Chains that never met give independent answers, so their scatter is an honest error. It is also a witness: where chains sit in
places that others do not come to, their answers differ by more than each rung's own noise can explain, however that noise is
carried from rung to rung.
"""

from __future__ import annotations

import numpy as np

from evidentia.errors import BadInput, BadType
from evidentia.numerics.tempering import Sum, carried_se, independent_columns_se, within_rungs_se
from evidentia.records import PathRun
from evidentia.result import Estimate, Status
from evidentia.sampling.loop import Stopped

# Chains needed before their scatter is an error.
MIN_CHAINS = 8
# Above this ratio the two errors contradict each other.
UNEQUAL_RATIO = 2.0
# Above this correlation of the log likelihoods with where they began, chains have not settled at a rung: nothing but their moves
# brings them there (a population is also reweighted, and may be left with more). Told from noise by a hundred chains at least.
UNSETTLED, TELLING = 0.4, 100
STUCK = 0.9
# In errors: how far two readings of the same draws may lie apart, and a slope from the variances at its ends.
MAX_Z = 5.0


def settled_run(record: object, reader: str) -> PathRun:
    """The record as a tempered run whose rungs can be averaged over, or a sentence that says why it is not one."""
    if not isinstance(record, PathRun):
        raise BadType(
            f"{reader} reads a PathRun, not a {type(record).__name__}: give the result of SMC, PowerPosterior or SteppingStone."
        )
    if not record.settled:
        raise BadInput(
            f"{reader}: the rungs of annealed importance sampling stand for their distributions only with weights; give a run of "
            "SMC, PowerPosterior or SteppingStone."
        )
    if not record.complete:
        raise BadInput(f"{reader}: the run ended at beta = {record.betas[-1]:.3g} of 1 and has no evidence; run it to its end.")
    return record


def unfinished(run: PathRun, why: Stopped) -> Estimate:
    """What a run that was stopped hands over."""
    sentence = f"no evidence yet, the rungs up to beta = {run.betas[-1]:.3g} of 1 are in the record: {why}."
    return Estimate(np.nan, None, status=Status.failed(why.code, sentence), no_se_because=sentence, record=run)


def sum_se(run: PathRun, total: Sum) -> tuple[float, float]:
    """The error of a sum over this run's draws, and its degrees of freedom."""
    if run.resampled:
        return carried_se(total.influence, run.memory), float("inf")
    if run.log_likelihood[0].shape[1] >= MIN_CHAINS:
        return independent_columns_se(total.influence)
    return within_rungs_se(total.influence), float("inf")


def chains_status(run: PathRun, total: Sum, remedy: str) -> Status:
    """Whether the chains moved, and whether they tell the same story."""
    status = Status.ok()
    limit = UNSETTLED if not run.resampled and run.log_likelihood[0].shape[1] >= TELLING else STUCK
    if run.memory.max() > limit or run.acceptance.min() < 0.01:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"at beta = {run.betas[worst]:.3g} the log likelihoods still had correlation {run.memory[worst]:.2f} with where "
                f"the chains began after {run.n_moves[worst]} moves (acceptance {run.acceptance.min():.2f} at worst): {remedy}.",
            )
        )
    if run.resampled or run.log_likelihood[0].shape[1] < MIN_CHAINS:
        return status
    scatter, _ = independent_columns_se(total.influence)
    explained = carried_se(total.influence, run.memory)
    if explained > 0.0 and scatter > UNEQUAL_RATIO * explained:
        status = status.and_(
            Status.suspect(
                "unequal-chains",
                f"the chains' own answers scatter {scatter / explained:.1f} times more than the noise at each rung explains: "
                f"some sit where the others do not come; use SMC, which moves weight between them, or {remedy}.",
            )
        )
    return status


def agreement_status(run: PathRun, difference: Sum, names: tuple[str, str], remedy: str) -> tuple[Status, float]:
    """Whether two readings of the same draws agree, within the error of their difference; and by how many errors not."""
    se, _ = sum_se(run, difference)
    z = difference.value / se if se > 0.0 else 0.0
    if abs(z) <= MAX_Z:
        return Status.ok(), z
    return Status.suspect(
        "readings-differ",
        f"{names[0]} and {names[1]} of the same draws differ by {difference.value:+.3f}, {abs(z):.1f} times their error: the "
        f"rungs are too far apart, or some have not settled; {remedy}.",
    ), z
