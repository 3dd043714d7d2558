"""What methods share whose answer comes from posterior chains, their own or the caller's: making the chains, and looking beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from zhat.missed_mass.beside_chains import look_beside_chains
from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.outliers import Outliers
from zhat.model.model import Model
from zhat.results.estimate import Estimate, Status
from zhat.sampling.chains.neck import look_into_neck
from zhat.sampling.chains.posterior import Chains, ChainSettings
from zhat.seeding import Key
from zhat.verdicts.from_chains import chains_status, neck_status
from zhat.verdicts.missed_mass import NOT_LOOKED, after_look

if TYPE_CHECKING:
    from zhat.sampling.kernels._base import Kernel
    from zhat.sampling.workbench import Workbench


class FromChains(Protocol):
    """The settings of such a method."""

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        ...

    @property
    def n_draws(self) -> int:
        """Draws of each."""
        ...

    @property
    def n_warmup(self) -> int:
        """Moves before the first draw."""
        ...

    @property
    def longer(self) -> int:
        """How many times as long the chains become, at most, while they disagree or have too few independent draws."""
        ...

    @property
    def kernel(self) -> Kernel | None:
        """How the chains move."""
        ...

    @property
    def mode_check(self) -> bool:
        """Whether the check for missed mass is made."""
        ...

    @property
    def effort(self) -> Effort:
        """That of the check."""
        ...


@dataclass(frozen=True)
class Watched:
    """Chains, and the outlying points of the tempered run from which they started; given chains come alone."""

    chains: Chains
    outliers: Outliers | None = None


def watched_chains(method: FromChains, model: Model, bench: Workbench, key: Key) -> Watched:
    """The given chains, or new ones: half of them start from tempered particles, half at modes."""
    if bench.given is not None:
        return Watched(bench.given)
    effort = method.effort
    outliers = Outliers(model, effort, every_point=True)
    n_starts = max(effort.chain_starts, effort.population_size(model))
    settings = ChainSettings(
        method.n_chains, method.n_warmup, method.n_draws, method.kernel, n_starts, short_every=4, longer=method.longer
    )

    def enough(chains: Chains) -> bool:
        return chains_status(chains, model.n_dimensions).is_ok

    return Watched(bench.chains_from_both_sides(key, settings, effort.survey(model), outliers, enough), outliers)


def looked_beside(method: FromChains, model: Model, estimate: Estimate, watched: Watched, bench: Workbench, key: Key) -> Estimate:
    """The estimate after the check for missed mass beside its chains, or with the remark that none was made."""
    if not method.mode_check:
        return estimate.doubted(Status.ok(), NOT_LOOKED)
    if not estimate.log_evidence_se:
        return estimate
    return checked_beside(model, estimate, watched, bench, method.effort, key)


def checked_beside(model: Model, estimate: Estimate, watched: Watched, bench: Workbench, effort: Effort, key: Key) -> Estimate:
    """The estimate, which has a standard error, after the check for necks and that for missed mass."""
    assert estimate.log_evidence_se is not None
    answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
    neck = look_into_neck(model, watched.chains.draws.position, key.child("neck"), bench.loop)
    measured = {"slope_tail": neck.at_draws, "slope_tail_moved": neck.after_moves}
    estimate = estimate.doubted(neck_status(neck), measured)
    if not estimate.status.is_ok:
        return estimate
    return after_look(estimate, look_beside_chains(model, answer, watched.chains, watched.outliers, bench, effort, key))
