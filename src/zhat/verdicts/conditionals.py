"""From checks of a model's full conditionals to a verdict."""

from __future__ import annotations

from collections.abc import Iterable

from zhat.results.estimate import Status
from zhat.sampling.chains.conditionals import ConditionalCheck


def conditionals_status(checks: Iterable[ConditionalCheck]) -> Status:
    """Whether the conditionals are those of prior x likelihood, constants included."""
    status = Status.ok()
    for check in checks:
        names = " and ".join(map(repr, check.block))
        if check.shape_gap > 0.0:
            sentence = (
                f"the conditional of {names} is not that of prior x likelihood: between two of its values its log "
                f"rises by up to {check.shape_gap:.3g} more or less than theirs; derive it again, from this prior and this likelihood."
            )
            status = status.and_(Status.suspect("wrong-conditional", sentence))
        elif check.log_factor is not None:
            sentence = (
                f"the log density of the conditional of {names} is off by {check.log_factor:+.3f} against its own draws: it is not "
                "normalised, which a Gibbs sampler tolerates and this method does not; add the constant to its log density."
            )
            status = status.and_(Status.suspect("conditional-constant", sentence))
    return status
