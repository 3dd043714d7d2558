"""Sequential Monte Carlo: a population tempered from the prior to the posterior, reweighted step by step.

    log Z = sum_k log E_{beta_k}[ L(theta)^(beta_{k+1} - beta_k) ],      0 = beta_0 < beta_1 < ... < beta_K = 1.

Each rung's expectation is an average over particles distributed as prior x likelihood^beta_k: they are reweighted to the next
rung, resampled, and moved by Markov kernels that leave that rung invariant until they are hardly correlated with their starts
(Del Moral, Doucet & Jasra 2006). A rung is one inverse temperature beta_k; rungs are chosen so that the weights keep a given
share of the effective sample size (Jasra et al. 2011). Needs nothing but prior draws and a likelihood; with gradients,
Hamiltonian moves take over where gradient-free ones mix poorly. Because it starts from the prior it finds separated modes in
their proportions.

*Islands.* Particles are in `n_islands` equal groups, resampled separately, and each group's kernel is shaped by the *other*
groups: a kernel shaped by the particles that it moves is not invariant for them, and the bias grows like d^2 / N.

*Its standard error.* With sigma_k^2 the relative variance of rung k's average and r_k the correlation of the particles' log
likelihoods before and after its moves, increments of rungs j < k are correlated by r_{j+1} ... r_k:

    se^2 = sum_k sigma_k^2 + 2 sum_{j<k} sigma_j sigma_k r_{j+1} ... r_k.

This includes slow mixing within modes but not particles that never leave their mode. A genealogical estimate includes both (Chan
& Lai 2013, Lee & Whiteley 2018: how unequally the first particles' descendants share the final weight, less what resampling's own
rounding adds). The larger of the two is reported; on well-mixing models they agree to a tenth. When the genealogical one is more
than twice the other, some particles are in regions that others do not reach, and the result is suspect. With `waste_free=True`
every state of the moves counts (Dau & Chopin 2022).

*In hundreds of dimensions* a path from the prior takes an hour. Above two hundred, and with `start=zhat.settings.PathFromMode()`, it starts
from a normal near the posterior instead, in coordinates in which that normal is white, with fewer particles
(`sampling.importance.reference`). The check for missed mass are then posterior chains that start at prior draws, and the path back from
them (`missed_mass.chain_view`); up to two hundred dimensions a small population tempered from the prior. A posterior with
several modes, or far from normal, is refused; up to four hundred dimensions, with `start=None`, the path from the
prior follows.

*When it lies.* A peak so narrow that no particle ever comes near it is missed, whatever the standard error (a first-order
transition). So there is a mode check as well (`missed_mass.mode_check`): searches for modes start from the particles and from the
outlying points of the run, and importance sampling at the modes gives a second estimate. Since that exceeds log Z by b with
probability at most exp(-b), one that is clearly larger proves a miss, and the result is suspect.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, Size, check_count
from zhat.methods._from_mode import ROUNDING, n_particles_of, one_mode, seen_from_chains, seen_from_prior, too_far
from zhat.missed_mass.chain_view import Way
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.results.estimate import Diagnostic, Estimate, Level
from zhat.results.records import Draws, PathRun
from zhat.sampling.backend.evaluation import prior_draws, with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.reference import PathFromMode, PathFromPrior, fitted_normal, reference_at
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.defaults import check_kernels, kernels_for
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.mixing import Moves
from zhat.sampling.tempering.path_sums import genealogical_se, path_sums
from zhat.sampling.tempering.population import Population, run_along_path
from zhat.sampling.tempering.schedules import AdaptiveESS, Schedule
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.population import population_status
from zhat.verdicts.tempered import unfinished

# Dimensions up to which a path from the prior follows where that from the mode is refused with `start=None`: above, it takes an hour.
FROM_PRIOR_UP_TO = 400
# Likelihoods of a run from the mode for a particle, a gradient counted as two, and of its check (logistic regressions with 300 and 1,000 coefficients).
FROM_MODE = 400, 200_000


@dataclass(frozen=True)
class SMC(Method):
    """Adaptive tempering from prior to posterior with `n_particles` particles."""

    n_particles: int = 8000
    n_islands: int = 4
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.9))
    moves: Moves = field(default_factory=lambda: Moves(correlation=0.3, at_once=2, at_most=40))
    kernels: tuple[Kernel, ...] | None = None
    start: PathFromPrior | PathFromMode | None = None
    waste_free: bool = False
    mode_check: bool = True

    name: ClassVar[str] = "smc"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    evaluations: ClassVar[tuple[float, float]] = (10.0, 6.0)
    cites: ClassVar[tuple[str, ...]] = ("delmoral2006", "jasra2011", "chan2013", "lee2018")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_particles", 40, multiple_of="n_islands"),)
    look: ClassVar[Look] = Look.from_modes()
    when: ClassVar[str] = "several modes, odd shapes, hierarchies, black boxes: the work horse"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("SMC", "n_islands", self.n_islands, 2, "each island is tuned by the others")
        check_count("SMC", "n_particles", self.n_particles, 40, "a smaller population gives no usable covariance")
        if self.n_particles % self.n_islands:
            raise BadInput(
                f"SMC(n_particles={self.n_particles}, n_islands={self.n_islands}): the islands are equal, so the number of "
                f"particles must be a multiple of the number of islands; give n_particles={-(-self.n_particles // self.n_islands) * self.n_islands}."
            )
        if not hasattr(self.schedule, "next_beta"):
            raise BadType(f"SMC(schedule={self.schedule!r}): give a schedule such as zhat.schedules.AdaptiveESS(0.9).")
        if not isinstance(self.moves, Moves):
            raise BadType(f"SMC(moves={self.moves!r}): give zhat.settings.Moves(correlation=0.3, at_once=2, at_most=40).")
        check_kernels("SMC", self.kernels)
        if self.start is not None and not isinstance(self.start, PathFromPrior | PathFromMode):
            raise BadType(
                f"SMC(start={self.start!r}): give zhat.settings.PathFromPrior() or zhat.settings.PathFromMode(), or None to have it chosen."
            )

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        if self._starts_at_mode(model):
            estimate = self._from_mode(model, bench, key)
            from_prior = self.start is None and model.n_dimensions <= FROM_PRIOR_UP_TO and bench.loop.stopped is None
            if estimate.status.level is not Level.FAILED or not from_prior:
                return estimate
        # Fitted moves even where there are conditionals: they mix across correlated blocks, and one calibration holds for all models.
        kernels = kernels_for(model, self.kernels, gibbs=False)
        outliers = Outliers(model, self.look.effort)
        population = Population(self.n_particles, kernels, self.schedule, self.moves, self.n_islands, self.waste_free)
        run = run_along_path(model, population, key.child("path"), bench.loop, observer=outliers)
        if not run.complete:
            assert bench.loop.stopped is not None
            return unfinished(run, bench.loop.stopped)
        return self._estimate(model, run, outliers.draws, key, bench.loop)

    def _starts_at_mode(self, model: Model) -> bool:
        """Whether the path starts from a normal near the posterior: as asked for, or in hundreds of dimensions."""
        chosen = model.n_dimensions > self.effort.hundreds and not model.is_black_box and self.kernels is None
        return chosen if self.start is None else isinstance(self.start, PathFromMode)

    def evaluations_in_all(self, model: Model) -> int | None:
        """See `Method`: a path from the mode is short in any number of dimensions."""
        if not self._starts_at_mode(model):
            return None
        return FROM_MODE[0] * n_particles_of(self.n_particles, model.n_dimensions, self.n_islands) + FROM_MODE[1]

    def _from_mode(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        if model.is_black_box:
            raise BadInput(
                f"SMC(start=zhat.settings.PathFromMode()): {model.name!r} is a black box and has no gradients; leave start= out."
            )
        loop, effort = bench.loop, self.look.effort
        survey = bench.survey(effort.survey(model))
        mode = one_mode(survey, effort.negligible)
        if isinstance(mode, Estimate):
            return mode
        reference = reference_at(model, *fitted_normal(model, mode, key.child("normal"), loop))
        pilot = prior_draws(reference.model, 256, key.child("pilot"), loop)
        refused = too_far(pilot.log_likelihood)
        if refused is not None:
            return refused
        n = n_particles_of(self.n_particles, model.n_dimensions, self.n_islands)
        population = Population(n, self.kernels or (HMC(),), self.schedule, self.moves, self.n_islands, self.waste_free)
        run = run_along_path(reference.model, population, key.child("path"), loop)
        if not run.complete:
            assert loop.stopped is not None
            return unfinished(run, loop.stopped)
        assert run.final is not None
        final = with_parameters(model, reference.draws(model, run.final, loop))
        estimate, answer = self._summed(run, final)
        se = max(estimate.log_evidence_se or 0.0, ROUNDING * abs(estimate.log_evidence))
        diagnostics = {**estimate.diagnostics, **survey.diagnostics, "start": "mode"}
        estimate = replace(estimate, log_evidence_se=se, diagnostics=diagnostics)
        if not self.mode_check:
            return estimate
        if model.n_dimensions <= effort.hundreds:
            return after_look(estimate, seen_from_prior(model, answer, survey, effort, key.child("prior"), loop))
        lowest = float((run.final.log_prior + run.final.log_likelihood).min())
        finding, status = seen_from_chains(
            model, answer, Way(reference, run.betas, lowest), survey, effort, key.child("chains"), loop
        )
        return after_look(estimate.doubted(status), finding)

    def _estimate(self, model: Model, run: PathRun, outliers: Draws | None, key: Key, loop: Loop) -> Estimate:
        assert run.final is not None
        estimate, answer = self._summed(run, with_parameters(model, run.final))
        if not self.mode_check or answer.se == 0.0:
            return estimate
        witnesses = Sampled(run.final, outliers)
        return after_look(estimate, look_for_missed_mass(model, answer, witnesses, self.look.effort, key.child("mode"), loop))

    def _summed(self, run: PathRun, final: Draws) -> tuple[Estimate, Answer]:
        """The estimate from a complete run, and the answer to compare with: the rung-by-rung standard error alone."""
        sums = path_sums(run)
        genealogical, n_ancestors = genealogical_se(run, sums.islands)
        diagnostics: dict[str, Diagnostic] = {
            "n_rungs": len(run.betas) - 1,
            "betas": [float(b) for b in run.betas],
            "moves_per_rung": [float(m) for m in run.n_moves],
            "acceptance": [float(a) for a in run.acceptance],
            "largest_correlation_left": float(run.correlation.max()),
            "rung_by_rung_se": sums.se,
            "genealogical_se": genealogical,
            "n_ancestors": n_ancestors,
            "largest_rung_pareto_k": sums.worst_pareto_k,
            "island_log_evidences": [float(v) for v in sums.islands],
        }
        estimate = Estimate(
            log_evidence=sums.log_evidence,
            log_evidence_se=max(sums.se, genealogical),
            status=population_status(run, sums, genealogical, n_ancestors),
            diagnostics=diagnostics,
            record=replace(run, final=final),
        )
        return estimate, Answer(sums.log_evidence, sums.se)
