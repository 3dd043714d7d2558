"""What power posteriors and stepping stones share: chains on a ladder of inverse temperatures (rungs), from prior to posterior."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar

from zhat.errors import BadType
from zhat.methods._base import Method, Size
from zhat.missed_mass.look import Look
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.results.estimate import Estimate
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.defaults import check_kernels, kernels_for
from zhat.sampling.tempering.ladder import run_ladder
from zhat.sampling.tempering.ladder_settings import Ladder, LadderChains
from zhat.sampling.tempering.schedules import AdaptiveESS, Schedule
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.tempered import unfinished


@dataclass(frozen=True)
class OnLadder(Method):
    """Chains run on a ladder of inverse temperatures; `read` makes an estimate from their record."""

    chains: LadderChains = field(default_factory=LadderChains)
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.8))
    kernels: tuple[Kernel, ...] | None = None
    mode_check: bool = True

    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    look: ClassVar[Look] = Look.from_modes()
    sizes: ClassVar[tuple[Size, ...]] = (Size("chains"),)

    def __post_init__(self) -> None:
        """Check the settings."""
        owner = type(self).__name__
        if not isinstance(self.chains, LadderChains):
            raise BadType(f"{owner}(chains={self.chains!r}): give zhat.settings.LadderChains(n_chains=400, n_kept=10).")
        if not hasattr(self.schedule, "next_beta"):
            raise BadType(f"{owner}(schedule={self.schedule!r}): give a schedule such as zhat.schedules.PowerLadder(40, 5.0).")
        check_kernels(owner, self.kernels)

    @abstractmethod
    def read(self, record: object) -> Estimate:
        """The estimate from an existing tempered run, of chains or of a population."""

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        kernels = kernels_for(model, self.kernels)
        outliers = Outliers(model, self.look.effort)
        ladder = Ladder(self.chains, self.schedule, kernels)
        run = run_ladder(model, ladder, key.child("ladder"), bench.loop, observer=outliers)
        if not run.complete:
            assert bench.loop.stopped is not None
            return unfinished(run, bench.loop.stopped)
        estimate = self.read(run)
        assert run.final is not None
        if self.mode_check:
            estimate = self.checked(model, estimate, Sampled(run.final, outliers.draws), key.child("mode"), bench.loop)
        return replace(estimate, record=replace(run, final=with_parameters(model, run.final)))
