"""Sequential Monte Carlo: a population carried from the prior to the posterior, reweighted step by step.

    log Z = sum_k log E_{beta_k}[ L(theta)^(beta_{k+1} - beta_k) ],      0 = beta_0 < beta_1 < ... < beta_K = 1.

Each rung's expectation is an average over particles distributed as prior x likelihood^beta_k: they are reweighted to
the next rung, resampled, and moved by Markov kernels that leave that rung invariant until they have forgotten where
they stood (Del Moral, Doucet & Jasra 2006). Rungs are chosen so that the weights keep a given share of their effective
number (Jasra et al. 2011). Needs nothing but prior draws and a likelihood; with gradients, Hamiltonian moves take over
where gradient-free ones labour. Because it starts from the prior it finds separated modes in their proportions.

*Islands.* Particles live in `n_islands` equal groups, resampled apart, and each group's kernel is shaped by the *other*
groups: a kernel shaped by the particles that it moves is not invariant for them, and the bias grows like d^2 / N.

*Its error.* With sigma_k^2 the relative variance of rung k's average and r_k the correlation of the particles' log
likelihoods before and after its moves, increments of rungs j < k are correlated by r_{j+1} ... r_k:

    se^2 = sum_k sigma_k^2 + 2 sum_{j<k} sigma_j sigma_k r_{j+1} ... r_k.

That sees slow kernels but not particles that never leave their mode. A genealogical estimate does (Chan & Lai 2013, Lee &
Whiteley 2018: how unequally the first particles' descendants share the final weight, less what resampling's own rounding
adds). The larger of the two is reported; on well-mixing models they agree to a tenth. When the genealogical one is more than
twice the other, some particles sit where others do not come, and the result is suspect. With `waste_free=True` every state
of the moves counts (Dau & Chopin 2022).

*When it lies.* A peak so narrow that no particle ever comes near it is missed, whatever the error says (a first-order
transition). So the run looks from the other end as well: it climbs from its particles, and from those that stood apart on the way
(`sampling.scouts`), to the modes and importance samples there. Since that estimate exceeds log Z by b with probability at most
exp(-b), one that is clearly larger proves a miss, and the result is suspect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import gammaincc

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, check_count
from zhat.missed_mass.mode_check import mode_check
from zhat.missed_mass.outliers import Outliers
from zhat.model.model import Model, Offer
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.tempering import carried_error
from zhat.numerics.weights import pareto_k
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.defaults import check_kernels, kernels_for
from zhat.sampling.tempering.population import Moves, increments, run_along_path
from zhat.sampling.tempering.schedules import AdaptiveESS, Schedule
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.tempered import idle_status, unfinished
from zhat.verdicts.weights import MAX_PARETO_K

MIN_ANCESTORS = 20
# Above this ratio the two errors contradict each other (measured on well-mixing and multimodal models: 0.8 to 1.2).
UNEQUAL_RATIO = 2.0
SCATTER_CHANCE = 1e-5
# Above this the particles have hardly moved at some rung.
STUCK = 0.9


@dataclass(frozen=True)
class SMC(Method):
    """Adaptive tempering from prior to posterior with `n_particles` particles."""

    n_particles: int = 8000
    n_islands: int = 4
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.9))
    moves: Moves = field(default_factory=lambda: Moves(correlation=0.3, at_once=2, at_most=40))
    kernels: tuple[Kernel, ...] | None = None
    waste_free: bool = False
    mode_check: bool = True

    name: ClassVar[str] = "smc"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    cites: ClassVar[tuple[str, ...]] = ("delmoral2006", "jasra2011", "chan2013", "lee2018")
    when: ClassVar[str] = "several modes, odd shapes, hierarchies, black boxes: the work horse"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("SMC", "n_islands", self.n_islands, 2, "each island is tuned by the others")
        check_count("SMC", "n_particles", self.n_particles, 40, "a population of fewer has no spread to learn from")
        if self.n_particles % self.n_islands:
            raise BadInput(
                f"SMC(n_particles={self.n_particles}, n_islands={self.n_islands}): the islands are equal, so the number of "
                "particles must be a multiple of the number of islands."
            )
        if not hasattr(self.schedule, "next_beta"):
            raise BadType(f"SMC(schedule={self.schedule!r}): give a schedule object such as AdaptiveESS(0.9).")
        if not isinstance(self.moves, Moves):
            raise BadType(f"SMC(moves={self.moves!r}): give Moves(correlation=..., at_once=..., at_most=...).")
        check_kernels("SMC", self.kernels)

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        # Fitted moves even where there are conditionals: they cross correlated blocks, and one calibration covers all.
        kernels = kernels_for(model, self.kernels, gibbs=False)
        outliers = Outliers(model)
        run = run_along_path(
            model,
            self.n_particles,
            self.n_islands,
            self.schedule,
            kernels,
            self.moves,
            self.waste_free,
            key.child("path"),
            bench.loop,
            observer=outliers.watch,
        )
        if not run.complete:
            assert bench.loop.stopped is not None
            return unfinished(run, bench.loop.stopped)
        return self._estimate(model, run, outliers.draws, key, bench.loop)

    def _estimate(self, model: Model, run: PathRun, outliers: Draws | None, key: Key, loop: Loop) -> Estimate:
        sums = path_sums(run)
        genealogical, n_ancestors = genealogical_se(run, sums.islands)
        se: float | None = max(sums.se, genealogical)
        status = _status(run, sums, genealogical, n_ancestors)
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
        if self.mode_check and sums.se > 0:
            assert run.final is not None
            # Not from the prior as well: so many climbs cost as much as a quick run, and a large population sees more by itself.
            found = sums.log_evidence, sums.se
            seen, more = mode_check(model, run.final, *found, key.child("mode"), loop, from_prior=False, outliers=outliers)
            status, diagnostics = status.and_(seen), {**diagnostics, **more}
        because = None
        if not status.is_ok:
            # A run that failed its own checks keeps its number, not its error bar.
            se, because = None, status.reasons[0].sentence
        assert run.final is not None
        final = with_parameters(model, run.final)
        return Estimate(
            log_evidence=sums.log_evidence,
            log_evidence_se=se,
            no_se_because=because,
            status=status,
            diagnostics=diagnostics,
            record=PathRun(**{**vars(run), "final": final}),
        )


# -- arithmetic on a PathRun: pure NumPy -------------------------------------------------------------------------


@dataclass(frozen=True)
class PathSums:
    """What a resampled path run says of log Z."""

    log_evidence: float
    se: float
    islands: Array
    worst_pareto_k: float


def path_sums(run: PathRun) -> PathSums:
    """Log evidence per island, their log mean, and the rung-by-rung error with the moves' memory."""
    islands = np.zeros(run.n_islands)
    spread, worst = [], -np.inf
    for k, log_likelihood in enumerate(run.log_likelihood):
        log_weights = increments(log_likelihood, run.betas[k + 1] - run.betas[k])
        m, n = log_weights.shape
        top = float(log_weights.max())
        weights = np.exp(log_weights - top)
        with np.errstate(divide="ignore"):
            islands += top + np.log(weights.reshape(m, run.n_islands, -1).mean(axis=(0, 2)))
        by_particle = weights.mean(axis=0)  # the states of one particle are one chain
        spread.append(float(by_particle.std(ddof=1) / (by_particle.mean() * np.sqrt(n))))
        worst = max(worst, pareto_k(log_weights.ravel()))
    return PathSums(float(log_mean_exp(islands)), carried_error(spread, run.memory), islands, float(worst))


def genealogical_se(run: PathRun, islands: Array) -> tuple[float, int]:
    """Error from how unequally the final weight is shared among the descendants of the first particles; and their number.

    `islands` are the islands' log evidences, in proportion to which they share the final weight. What resampling's own rounding
    adds is taken off: a particle that deserves c copies gets floor(c) or one more, a variance of f (1 - f) with f the fraction
    of c, which says nothing of the weights (Lee & Whiteley's correction, for systematic resampling).
    """
    last = increments(run.log_likelihood[-1], run.betas[-1] - run.betas[-2])
    weights = np.exp(last - last.max()).sum(axis=0).reshape(run.n_islands, -1)
    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    island = np.exp(islands - islands.max())
    shares = (weights * (island / island.sum())[:, None]).ravel()
    n_first = run.log_likelihood[0].size
    by_ancestor = np.bincount(run.ancestors[-1], weights=shares, minlength=n_first)
    variance = ((by_ancestor - 1.0 / n_first) ** 2).sum() * n_first / (n_first - 1)
    return float(np.sqrt(max(variance - _rounding_variance(run), 0.0))), int((by_ancestor > 0).sum())


def _rounding_variance(run: PathRun) -> float:
    """Variance that systematic resampling adds to the sharing of the weight, summed over rungs."""
    total = 0.0
    for k in range(len(run.log_likelihood) - 1):
        log_weights = increments(run.log_likelihood[k], run.betas[k + 1] - run.betas[k])
        weights = np.exp(log_weights - log_weights.max()).reshape(len(log_weights), run.n_islands, -1)
        n_next = run.log_likelihood[k + 1].shape[1]
        sums = np.maximum(weights.sum(axis=(0, 2), keepdims=True), 1e-300)
        fraction = np.modf(weights / sums * (n_next // run.n_islands))[0]
        total += float((fraction * (1.0 - fraction)).sum()) / n_next**2
    return total


# -- verdicts ----------------------------------------------------------------------------------------------------


def _status(run: PathRun, sums: PathSums, genealogical: float, n_ancestors: int) -> Status:
    status = Status.ok()
    if sums.se == 0.0:
        return status  # a constant likelihood: one exact step
    if sums.worst_pareto_k >= MAX_PARETO_K:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"the weights of a rung have Pareto k = {sums.worst_pareto_k:.2f}: the likelihood has a spike that the particles "
                "have not resolved, and their average may hang on it; take more particles, or look at the spike.",
            )
        )
    if run.memory.max() > STUCK or run.acceptance.min() < 0.01:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"at beta = {run.betas[worst]:.3g} the particles' log likelihoods still had correlation "
                f"{run.memory[worst]:.2f} with where they began after {run.n_moves[worst]} moves (acceptance "
                f"{run.acceptance.min():.2f} at worst): give moves=Moves(at_most=...) more, or another kernel.",
            )
        )
    status = status.and_(idle_status(run))
    if genealogical > UNEQUAL_RATIO * sums.se:
        status = status.and_(
            Status.suspect(
                "unequal-descent",
                f"the final weight is shared {genealogical / sums.se:.1f} times more unequally among the first particles' "
                "descendants than the rungs' own errors explain: some particles sit where the others do not come; take more "
                "particles and moves, and compare with Importance.",
            )
        )
    with np.errstate(invalid="ignore"):  # an island that met no likelihood has log evidence -inf: infinite scatter
        spread = np.nan_to_num(sums.islands.var(ddof=1), nan=np.inf)
    scatter = spread * (run.n_islands - 1) / (run.n_islands * max(sums.se, genealogical) ** 2)
    if gammaincc((run.n_islands - 1) / 2, scatter / 2) < SCATTER_CHANCE:
        status = status.and_(
            Status.suspect(
                "island-scatter",
                f"the islands' own log evidences ({', '.join(f'{v:.2f}' for v in sums.islands)}) scatter more than the error "
                "allows; take more particles.",
            )
        )
    if n_ancestors < MIN_ANCESTORS:
        status = status.and_(
            Status.suspect(
                "few-ancestors",
                f"only {n_ancestors} of the first particles have descendants at the end: too few to tell how the run would vary; "
                "take more particles, or more moves a rung.",
            )
        )
    if genealogical > 1.0:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the error is above one nat ({genealogical:.2f}), where it is no longer the error of a normal; take more "
                "particles.",
            )
        )
    return status
