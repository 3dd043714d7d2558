"""Modes, prior draws and posterior draws of one model, shared by methods: each is computed once, on demand.

It also holds the `loop` that counts evaluations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from zhat.errors import NoSupport
from zhat.model.model import Model
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.chains.posterior import Chains, ChainSettings, run_chains
from zhat.sampling.importance.survey import Starts, Survey, survey_modes
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.observer import Observer
from zhat.seeding import Key

# Times as many prior draws where the likelihood is zero at all of them, and again: of 65,536 one meets a support of 5e-5 of the prior (95 % sure).
MORE = (16, 16)
# Prior draws where a likelihood evaluation is expensive: of a black box, and of a model with large data.
FEW = 256


@dataclass(frozen=True)
class Found:
    """What has been computed so far."""

    prior: Draws | None
    survey: Survey | None


class Workbench:
    """Computed on demand, and kept for the methods that run on one model with one key."""

    def __init__(self, model: Model, key: Key, loop: Loop, given: Chains | None = None) -> None:
        self.model = model
        self.loop = loop
        self.given = given  # posterior draws that the caller brought: every method then uses these, whatever number it asks for
        self._key = key.child("workbench")
        self._prior: Draws | None = None
        self._prior_so_far: Draws | None = None
        self._survey: Survey | None = None
        self._posterior: Chains | None = None

    @property
    def found(self) -> Found:
        """What has been computed so far."""
        return Found(self._prior or self._prior_so_far, self._survey)

    def prior(self) -> Draws:
        """Draws from the prior with their likelihoods: starting points, and draws for the first checks (fewer for a black box)."""
        if self._prior is None:
            n = FEW if self.model.is_black_box or self.model.has_large_data else 1024
            try:
                self._prior = self._with_support(n)
            except Stopped as stop:
                if stop.evaluated is not None:
                    position, log_prior, log_likelihood = stop.evaluated
                    n = len(position)
                    self._prior_so_far = Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=n)
                raise
        return self._prior

    def _with_support(self, n: int) -> Draws:
        """n prior draws; sixteen times as many, and again, where the likelihood is zero at all of them."""
        key = self._key.child("prior")
        for more in MORE:
            try:
                return prior_draws(self.model, n, key, self.loop)
            except NoSupport:
                n, key = more * n, key.child(more)
        return prior_draws(self.model, n, key, self.loop)

    def survey(self, starts: Starts) -> Survey:
        """The posterior's modes that a survey from so many prior draws finds; later calls return that of the first."""
        if self._survey is None:
            self._survey = survey_modes(self.model, starts, self._key.child("modes"), self.loop)
        return self._survey

    def posterior(self) -> Chains:
        """Chains of posterior draws, with their R-hat and effective sample size."""
        if self.given is not None:
            return self.given
        if self._posterior is None:
            self._posterior = run_chains(self.model, self._key.child("posterior"), self.loop)
        return self._posterior

    def chains(self, key: Key, n_chains: int, n_draws: int, kernel: Kernel | None) -> Chains:
        """The shared chains if they have this number, length and kernel; otherwise new chains, from this key."""
        if self.given is not None or (kernel is None and (n_chains, n_draws) == (8, 1000)):
            return self.posterior()
        return run_chains(self.model, key, self.loop, ChainSettings(n_chains, n_draws=n_draws, kernel=kernel))

    def chains_from_both_sides(
        self,
        key: Key,
        settings: ChainSettings,
        starts: Starts,
        observer: Observer | None = None,
        enough: Callable[[Chains], bool] = lambda chains: True,
    ) -> Chains:
        """Chains of which every second starts at a mode and the others from tempered particles; or the given ones."""
        if self.given is not None:
            return self.given
        modes = self.survey(starts).modes.usable
        return run_chains(self.model, key, self.loop, replace(settings, modes=modes), observer=observer, enough=enough)
