"""Annealed importance sampling: independent lineages tempered from the prior to the posterior, each with a weight.

    log w = sum_k (beta_{k+1} - beta_k) log L(theta_k),      Z = E[w],      0 = beta_0 < beta_1 < ... < beta_K = 1,

where theta_0 is drawn from the prior and theta_k comes from theta_{k-1} by moves that leave prior x likelihood^beta_k
invariant (Neal 2001). It is importance sampling whose proposal is the whole path, so Z is unbiased however badly the moves mix:
poor mixing shows as uneven weights. Needs prior draws and a likelihood; any ladder (`schedule`), any kernels, several sweeps a
rung. Where the model has tempered full conditionals, Gibbs sweeps are the moves.

*Unbiased* holds only if ladder and tuning do not depend on the lineages. A pilot of `n_pilot` resampled particles runs first and
measures the path's length Lambda; a trial with half the rungs and half the lineages then shows how uneven the weights are; and
the ladder gets as many rungs at equal distances as bring the variance of log w down to `log_weight_variance`. Pilot and trial are
not used for the answer. A ladder that is given (`zhat.schedules.PowerLadder(100, 5)`, as in Friel & Wyse 2012) is used as it is.

*A lower bound in expectation.* Since Z is unbiased, log Z comes out low on average, by half the squared standard error: the
result says `lower bound`. By Markov's inequality it exceeds log Z by b nats with probability at most exp(-b), whatever else went
wrong.

*Its standard error.* The lineages are independent: sd(w) / (sqrt(N) mean(w)). It is given only when the weights are even enough
for that: sd(log w), as its upper half has it, at most 2, and Pareto k below 0.5.

*When it lies.* When lineages have too few moves to follow the path, the largest weights are missing from the sample. Then more
rungs give a significantly higher value: the run is compared with its trial, which had half of them (`not-converged`). A narrow
peak that no lineage comes near leaves no trace in the weights (a first-order transition), so a mode check follows
(`missed_mass.mode_check`); and `zhat.sandwich` anneals back from the posterior for an upper value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, Size, check_count
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Kind, Status
from zhat.results.records import Array, PathRun
from zhat.sampling.backend.evaluation import prior_draws, with_parameters
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.defaults import check_kernels, kernels_for
from zhat.sampling.mixing import Moves
from zhat.sampling.observer import Observer
from zhat.sampling.tempering.lineages import LineageRun, anneal
from zhat.sampling.tempering.path_survey import PathSurvey, Plan, pilot, untuned_plan
from zhat.sampling.tempering.population import Population
from zhat.sampling.tempering.schedules import AdaptiveESS, FixedLadder, PowerLadder, Schedule
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.tempered import unfinished
from zhat.verdicts.weights import weights_status

# Above this the delta method's interval no longer covers (a log-normal weight with sd 2: 86 % instead of 95 %, N = 1000).
MAX_SD_LOG = 2.0
# Joint standard errors by which the full ladder may lie above the one with half its rungs.
RISE = 3.0
# Rungs between the ends come in multiples of this: all ladders then run through one compiled program.
MULTIPLE = 32
# The factor by which the trial may raise the number of rungs above that from the pilot's survey of the path.
MOST_STRETCH = 8
REMEDY = "take more rungs (a smaller log_weight_variance) or more sweeps a rung, or use zhat.SMC()"


@dataclass(frozen=True)
class AIS(Method):
    """Annealed importance sampling with `n_particles` independent lineages."""

    n_particles: int = 1000
    schedule: Schedule | None = None
    kernels: tuple[Kernel, ...] | None = None
    n_sweeps: int = 1
    log_weight_variance: float = 0.5
    most_rungs: int = 4096
    n_pilot: int = 1000
    pilot_moves: Moves = field(default_factory=lambda: Moves(correlation=0.3, at_once=2, at_most=20))
    doubling_check: bool = True
    mode_check: bool = True

    name: ClassVar[str] = "ais"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    evaluations: ClassVar[tuple[float, float]] = (50.0, 25.0)
    cites: ClassVar[tuple[str, ...]] = ("neal2001", "grosse2015")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_particles", 200, multiple_of=2), Size("n_pilot", 40, multiple_of=4, grows=False))
    look: ClassVar[Look] = Look.from_modes()
    when: ClassVar[str] = "an unbiased evidence, or a bound from below; models with tempered conditionals, whose sweeps are cheap"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("AIS", "n_particles", self.n_particles, 200, "Pareto k and the standard error need enough weights")
        check_count("AIS", "n_sweeps", self.n_sweeps, 1, "lineages must move")
        check_count("AIS", "n_pilot", self.n_pilot, 40, "a smaller population gives no usable covariance")
        check_count("AIS", "most_rungs", self.most_rungs, MULTIPLE, "the ladder needs rungs")
        if self.n_particles % 2:
            raise BadInput(f"AIS(n_particles={self.n_particles}): the trial takes half of them; give an even number.")
        if self.n_pilot % 4:
            raise BadInput(f"AIS(n_pilot={self.n_pilot}): the pilot has four islands; give a multiple of 4.")
        if not 0.0 < self.log_weight_variance <= 4.0:
            raise BadInput(
                f"AIS(log_weight_variance={self.log_weight_variance}): give a variance above 0 and at most 4, beyond which no "
                "standard error is given; about 0.5 is efficient."
            )
        if self.schedule is not None and not hasattr(self.schedule, "next_beta"):
            raise BadType(
                f"AIS(schedule={self.schedule!r}): give a ladder such as zhat.schedules.PowerLadder(100, 5.0), or None to have one."
            )
        if not isinstance(self.pilot_moves, Moves):
            raise BadType(
                f"AIS(pilot_moves={self.pilot_moves!r}): give zhat.settings.Moves(correlation=0.3, at_once=2, at_most=20)."
            )
        check_kernels("AIS", self.kernels)

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        finished: list[PathRun] = []
        try:
            return self._run(model, key, bench.loop, finished)
        except Stopped as why:
            if not finished or not finished[-1].log_likelihood:
                raise
            return _stopped(finished[-1], why)

    def _run(self, model: Model, key: Key, loop: Loop, finished: list[PathRun]) -> Estimate:
        outliers = Outliers(model, self.look.effort)
        plan, trial = self.prepare(model, key, loop, finished, outliers)
        start = prior_draws(model, self.n_particles, key.child("prior"), loop)
        run = anneal(model, plan, start, self.n_particles // 2, key.child("walk"), loop)
        weights = Weights.of(run.log_weights)
        record = run.record()
        assert record.final is not None
        status = _status(weights, run)
        diagnostics: dict[str, Diagnostic] = {
            "bound": "lower, in expectation",
            "jensen_shortfall": 0.5 * float(weights.log_mean_se) ** 2,
            "n_rungs": len(run.betas) - 1,
            "n_sweeps": self.n_sweeps,
            "betas": [float(b) for b in run.betas],
            "sd_log_weight": upper_spread(weights.log_weights),
            "ess": float(weights.ess),
            "pareto_k": float(weights.pareto_k),
            "largest_share": float(weights.largest_share),
            "zero_weights": int(weights.n_zero),
            "acceptance": [float(a) for a in run.acceptance],
        }
        if trial is not None:
            half = Weights.of(trial.log_weights)
            diagnostics["half_n_rungs"] = len(trial.betas) - 1
            diagnostics["half_log_evidence"] = float(half.log_mean)
            diagnostics["half_se"] = float(half.log_mean_se)
            if self.doubling_check:
                status = status.and_(_rise(weights, half, len(trial.betas) - 1, len(run.betas) - 1))
        answer = Answer(float(weights.log_mean), float(weights.log_mean_se))
        estimate = Estimate(
            log_evidence=answer.log_evidence,
            log_evidence_se=answer.se,
            kind=Kind.LOWER_BOUND,
            status=status,
            diagnostics=diagnostics,
            record=replace(record, final=with_parameters(model, record.final)),
        )
        if not (self.mode_check and answer.se > 0 and math.isfinite(answer.log_evidence)):
            return estimate
        witnesses = Sampled(record.final, outliers.draws)
        return after_look(estimate, look_for_missed_mass(model, answer, witnesses, self.look.effort, key.child("mode"), loop))

    # -- what is fixed before the lineages start ------------------------------------------------------------------------

    def prepare(
        self, model: Model, key: Key, loop: Loop, finished: list[PathRun] | None = None, observer: Observer | None = None
    ) -> tuple[Plan, LineageRun | None]:
        """The ladder with its kernels and tuning; and the trial run with half the rungs, if there was one.

        Its runs are appended to `finished`, also a pilot that is stopped. The `observer` is called with the pilot's rungs.
        """
        kernels = kernels_for(model, self.kernels)
        if self.kernels is None and not kernels[0].needs_tuning:  # Gibbs sweeps need no other kernel in reserve
            kernels = kernels[:1]
        given = given_rungs(self.schedule)
        if given is not None and not kernels[0].needs_tuning:
            half = untuned_plan(every_other(given), kernels[0], self.n_sweeps)
            trial = self._trial(model, half, key, loop) if self.doubling_check and len(given) > 2 else None
            if trial is not None and finished is not None:
                finished.append(trial.record())
            return untuned_plan(given, kernels[0], self.n_sweeps), trial
        loop.tick(f"pilot of {self.n_pilot} particles")
        schedule = self.schedule if given is None and self.schedule is not None else AdaptiveESS(0.6)
        population = Population(self.n_pilot, kernels, schedule, self.pilot_moves)
        finished = [] if finished is None else finished
        path = pilot(model, population, key.child("pilot"), loop, observer, finished)
        if self.schedule is not None:
            rungs = given if given is not None else path.run.betas
            half = path.plan(every_other(rungs), self.n_sweeps)
            trial = self._trial(model, half, key, loop) if self.doubling_check and len(rungs) > 2 else None
            if trial is not None:
                finished.append(trial.record())
            return path.plan(rungs, self.n_sweeps), trial
        return self._adapted(model, path, key, loop, finished)

    def _adapted(
        self, model: Model, path: PathSurvey, key: Key, loop: Loop, finished: list[PathRun]
    ) -> tuple[Plan, LineageRun | None]:
        """The number of rungs from the pilot's survey, raised by a trial where its weights are too uneven."""
        if path.length == 0.0:  # a constant likelihood: one exact step
            return path.plan(np.array([0.0, 1.0]), self.n_sweeps), None
        wanted = path.length**2 * path.slowness(self.n_sweeps) / self.log_weight_variance
        n_first = _multiple(wanted, self.most_rungs)
        trial = self._trial(model, path.plan(path.rungs(n_first // 2), self.n_sweeps), key, loop)
        finished.append(trial.record())
        # The variance of log w, if it were normal, from the relative variance of w, which weights near zero do not affect.
        uneven = Weights.of(trial.log_weights)
        variance = math.log(max((self.n_particles // 2 - uneven.n_zero) / max(uneven.ess, 1.0), 1.0))
        enough = (n_first // 2) * variance / self.log_weight_variance
        n_rungs = _multiple(max(n_first, min(enough, MOST_STRETCH * n_first)), self.most_rungs)
        return path.plan(path.rungs(n_rungs), self.n_sweeps), trial

    def _trial(self, model: Model, plan: Plan, key: Key, loop: Loop) -> LineageRun:
        n = self.n_particles // 2
        return anneal(model, plan, prior_draws(model, n, key.child("trial prior"), loop), n, key.child("trial"), loop)


def given_rungs(schedule: Schedule | None) -> Array | None:
    """The rungs of a ladder that is known beforehand; None for one that depends on the draws."""
    if not isinstance(schedule, PowerLadder | FixedLadder):
        return None
    betas = [0.0]
    while betas[-1] < 1.0:
        betas.append(schedule.next_beta(np.empty(0), betas[-1]))
    return np.asarray(betas)


def every_other(betas: Array) -> Array:
    """A ladder with half the rungs and the same ends."""
    return np.append(betas[:-1:2], betas[-1])


def _multiple(wanted: float, most: int) -> int:
    return int(min(MULTIPLE * math.ceil(max(wanted, 1.0) / MULTIPLE), MULTIPLE * (most // MULTIPLE)))


def upper_spread(log_weights: Array) -> float:
    """Standard deviation of the log weights by their upper half: from the median to the 84 % quantile of those above zero.

    Lineages that started in a far tail of the prior and never came back have log weights of minus thousands. They count as zeros
    in the mean, as they should, and say nothing about how even the others are.
    """
    possible = log_weights[log_weights > -np.inf]
    if len(possible) < 2:
        return math.inf
    middle, upper = np.quantile(possible, [0.5, 0.8413447460685429])
    return float(upper - middle)


# -- verdicts ------------------------------------------------------------------------------------------------------------


def _status(weights: Weights, run: LineageRun) -> Status:
    status = weights_status(weights, REMEDY)
    spread = upper_spread(weights.log_weights)
    if spread > MAX_SD_LOG:
        status = status.and_(
            Status.suspect(
                "uneven-weights",
                f"the log weights have a standard deviation of {spread:.1f} (flagged above {MAX_SD_LOG:.0f}, where a standard error of "
                f"their mean no longer covers): the lineages could not follow the path; {REMEDY}.",
            )
        )
    if len(run.acceptance) and run.acceptance.min() < 0.01:
        worst = int(np.argmin(run.acceptance))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"at inverse temperature {run.betas[1 + worst]:.3g} only {run.acceptance[worst]:.1%} of the moves were accepted: the "
                "lineages did not move there; give another kernel, kernels=(zhat.kernels.HMC(),).",
            )
        )
    return status


def _rise(weights: Weights, half: Weights, n_half: int, n_full: int) -> Status:
    """Compare with the run that had half the rungs: a lower bound that still rises is too low."""
    rise = weights.log_mean - half.log_mean
    error = math.hypot(weights.log_mean_se, half.log_mean_se)
    if not rise > RISE * error + 1e-9:
        return Status.ok()
    return Status.suspect(
        "not-converged",
        f"from {n_half} to {n_full} rungs the log evidence rose by {rise:.3f}, {rise / error if error else math.inf:.1f} standard "
        f"errors: it is a lower bound that still rises; {REMEDY}.",
    )


def _stopped(run: PathRun, why: Stopped) -> Estimate:
    """The failed estimate of a run that was stopped: the number of its trial where that had ended, else of its pilot."""
    if run.resampled or run.final is None or run.final.log_weight is None:
        return unfinished(run, why)
    sentence = (
        f"the run did not come to its end: {why}. The number is that of its trial, {len(run.final.position)} lineages over "
        f"{len(run.betas) - 1} rungs, which is in the record; most often too low."
    )
    return Estimate(log_mean_exp(run.final.log_weight), None, Status.failed(why.code, sentence), record=run)
