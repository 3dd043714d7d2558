"""What power posteriors and stepping stones have in common: chains that climb from the prior to the posterior, read by a sum."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar

from evidentia.errors import BadType
from evidentia.methods._base import Method
from evidentia.model import Model, Offer
from evidentia.result import Estimate
from evidentia.sampling.climb import Climb
from evidentia.sampling.evaluate import with_parameters
from evidentia.sampling.from_mode import look_from_mode
from evidentia.sampling.kernel_choice import check_kernels, kernels_for
from evidentia.sampling.kernels._base import Kernel
from evidentia.sampling.ladder import climb_ladder
from evidentia.sampling.path import AdaptiveESS, Schedule
from evidentia.sampling.scouts import Scouts
from evidentia.sampling.tempered_verdict import unfinished
from evidentia.sampling.workbench import Workbench
from evidentia.seeding import Key


@dataclass(frozen=True)
class OnLadder(Method):
    """Chains climb a ladder of rungs; `read` makes an estimate of the record."""

    climb: Climb = field(default_factory=Climb)
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.8))
    kernels: tuple[Kernel, ...] | None = None
    look_from_mode: bool = True

    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})

    def __post_init__(self) -> None:
        """Check the settings."""
        owner = type(self).__name__
        if not isinstance(self.climb, Climb):
            raise BadType(f"{owner}(climb={self.climb!r}): give Climb(n_chains=..., n_kept=...).")
        if not hasattr(self.schedule, "next_beta"):
            raise BadType(f"{owner}(schedule={self.schedule!r}): give a schedule such as PowerLadder(40, 5.0).")
        check_kernels(owner, self.kernels)

    @abstractmethod
    def read(self, record: object) -> Estimate:
        """The estimate from a tempered run that is there already, by chains or by a population."""

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        kernels = kernels_for(model, self.kernels)
        scouts = Scouts(model)
        run = climb_ladder(model, self.climb, self.schedule, kernels, key.child("ladder"), bench.loop, scouts=scouts)
        if not run.complete:
            assert bench.loop.stopped is not None
            return unfinished(run, bench.loop.stopped)
        estimate = self.read(run)
        assert run.final is not None
        if self.look_from_mode and estimate.log_evidence_se:
            found = (estimate.log_evidence, estimate.log_evidence_se)
            seen = look_from_mode(model, run.final, *found, key.child("mode"), bench.loop, scouts=scouts.draws)
            estimate = estimate.doubted(*seen)
        return replace(estimate, record=replace(run, final=with_parameters(model, run.final)))
