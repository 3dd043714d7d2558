"""Chib & Jeliazkov's method: Bayes' rule solved for the evidence at one point, with the density there from Metropolis output.

    log Z = log L(theta*) + log prior(theta*) - log posterior(theta*)

Where full conditionals are not known, detailed balance gives the posterior density at theta*. With a proposal density
q(theta, theta') and its acceptance probability alpha (Chib & Jeliazkov 2001),

    posterior(theta*) = E_posterior[ alpha(theta, theta*) q(theta, theta*) ]  /  E_q(theta*, .)[ alpha(theta*, theta) ],

an average over posterior draws over an average over proposals from theta*. With several blocks the density is a product of such
ratios; from the second on the averages are over reduced runs, in which the earlier blocks are held at theta*, and a divisor takes
its proposals along the next reduced run. Any posterior draws and any proposal density will do. Here they are Hamiltonian chains
(Crank-Nicolson for black boxes) that start from the particles of a short tempered run, and by default a proposal that does not
depend on the present point, a Student t or a mixture of them fitted to draws that the averages do not use. Then the identity is a
bridge between the posterior and the proposal, with both averaged functions bounded (Mira & Nicholls 2004), which holds in fifty
dimensions where a random walk (`proposal=zhat.settings.Walk()`) hardly ever comes near theta*. Works in the unconstrained
coordinates and needs a likelihood only.

*Its standard error.* The delta method, run by run, with the effective sample size of each draw's influence on the answer;
numerator and divisor that share a run are taken together.

*Its checks.* R-hat of the chains; Pareto k and effective sample size of the averaged series; the acceptance at theta*; the answer
at five points (best draw, mean, median, two draws), which must agree within the standard errors of their differences (the point
with the smallest standard error gives the answer, unless one is given); as for `Bridge`, whether slopes after short moves of the draws
show a neck, and whether importance sampling at the modes, tempered points or prior draws show mass that the chains missed.

*When it lies.* When the chains have not visited all of the posterior: the log evidence is then too low by minus the log of the
share visited. R-hat shows chains in different modes, not a mode that no chain has found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from zhat.errors import BadInput, BadType
from zhat.kinds import shown
from zhat.methods._base import Method, Size, check_count
from zhat.methods._from_chains import Watched, checked_beside
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.look import Look
from zhat.missed_mass.mode_check import mean_likelihood
from zhat.missed_mass.outliers import Outliers
from zhat.model.model import Model, Offer
from zhat.numerics.ordinates import ordinates
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, Draws, OrdinateRun
from zhat.sampling.backend.evaluation import log_densities, state_at, with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.ordinates import central_points, point_of
from zhat.sampling.chains.posterior import Chains, ChainSettings, run_chains
from zhat.sampling.chains.transitions import (
    Columns,
    Independent,
    Transition,
    TransitionFamily,
    conditional_moments,
    moments,
)
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.defaults import held_kernel
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.target import Tempered
from zhat.sampling.tuning import Tuning
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.from_chains import MAX_R_HAT
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.ordinates import ordinate_estimate, tail_indices
from zhat.verdicts.weights import MAX_PARETO_K

REMEDY = "use zhat.SMC(), which needs no point"
AT_ONCE = 25
# Of given chains the first fourth fits the proposal, and the others are averaged.
PILOT_OF_GIVEN = 4
# Below this acceptance probability the divisor is an average of a few draws.
MIN_ACCEPTANCE = 0.01


@dataclass(frozen=True)
class ChibJeliazkov(Method):
    """Posterior ordinates from `n_chains` chains of `n_draws` moves, with `proposal` fitted to `n_pilot` moves before."""

    n_chains: int = 32
    n_warmup: int = 100
    n_pilot: int = 200
    n_draws: int = 500
    proposal: TransitionFamily = field(default_factory=Independent)
    blocks: Sequence[Sequence[str]] | None = None
    point: Mapping[str, Any] | None = None

    name: ClassVar[str] = "chib-jeliazkov"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    evaluations: ClassVar[tuple[float, float]] = (150.0, 40.0)
    cites: ClassVar[tuple[str, ...]] = ("chib2001", "mira2004")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_draws", 50),)
    look: ClassVar[Look] = Look.from_modes(SHARP)
    when: ClassVar[str] = "posterior draws mix well in one mode; a second opinion that starts from the posterior"
    reads_draws: ClassVar[bool] = True
    needs_with_draws: ClassVar[frozenset[Offer]] = frozenset({Offer.JOINT_DENSITY})

    def __post_init__(self) -> None:
        """Check the settings."""
        owner = "ChibJeliazkov"
        check_count(owner, "n_chains", self.n_chains, 4, "chains are compared with each other")
        check_count(owner, "n_warmup", self.n_warmup, 0, "there cannot be fewer than none")
        check_count(owner, "n_pilot", self.n_pilot, 50, "the proposal is fitted to them")
        check_count(owner, "n_draws", self.n_draws, 50, "fewer draws do not show the autocorrelation of a chain")
        if not hasattr(self.proposal, "fitted"):
            raise BadType(
                f"{owner}(proposal={self.proposal!r}): give a proposal such as zhat.settings.Independent() or zhat.settings.Walk()."
            )
        if self.point is not None and not isinstance(self.point, Mapping):
            raise BadType(f"{owner}(point={self.point!r}): give a dictionary of parameter names and values.")
        if self.blocks is not None and not (
            isinstance(self.blocks, tuple | list)
            and all(isinstance(b, tuple | list) and b and all(isinstance(name, str) for name in b) for b in self.blocks)
        ):
            raise BadType(f'{owner}(blocks={shown(self.blocks)}): give groups of names, such as (("mu",), ("tau", "beta")).')

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        loop = bench.loop
        blocks = self._columns(model)
        total = self.n_pilot + self.n_draws
        effort = self.look.effort
        outliers: Outliers | None = None
        if bench.given is None:
            outliers, n_starts = (
                Outliers(model, effort, every_point=True),
                max(effort.chain_starts, effort.population_size(model)),
            )
            settings = ChainSettings(self.n_chains, self.n_warmup, total, n_starts=n_starts)
            chains = run_chains(model, key.child("chains"), loop, settings, observer=outliers)
            n_chains, n_pilot, n_draws = self.n_chains, self.n_pilot, self.n_draws
        else:
            chains = bench.given
            n_chains, n_pilot, n_draws = _parts_of(chains)
        pilot, kept = _split(chains, n_chains, n_pilot, model.n_dimensions)
        rng = key.child("point").generator()
        points = central_points(pilot.position, rng)
        best = pilot.position[int(np.argmax(pilot.log_likelihood + pilot.log_prior))]
        first = best if self.point is None else point_of(model, self.point, "ChibJeliazkov")
        points = np.concatenate([first[None], points])
        fit = key.child("fit").generator()
        transitions = [self.proposal.fitted(pilot.position, columns, fit) for columns in blocks]
        runs = _Runs(model, points, blocks, transitions, pilot, kept, n_chains, n_draws, loop)
        record = runs.ordinates(key.child("averages").generator())
        if self.point is None:
            record = _best_first(record)
        acceptance = float(np.exp(min(_log_mean(down[0]) for down in record.log_down)))
        diagnostics: dict[str, Diagnostic] = {
            "n_blocks": len(blocks),
            "acceptance_at_point": acceptance,
            "chain_ess": float(chains.ess),
        }
        estimate = ordinate_estimate(record, chains.r_hat, MAX_R_HAT, REMEDY, diagnostics).doubted(_acceptance_status(acceptance))
        if not np.isfinite(estimate.log_evidence) or not estimate.status.is_ok:
            return estimate
        assert estimate.log_evidence_se is not None
        if len(blocks) == 1 and acceptance > 1.0 - 1e-12:  # the proposal equals the posterior: no mode can be missing
            answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
            prior = bench.prior() if model.space.has_prior else None
            return after_look(estimate, Finding(answer, effort, from_prior_draws=mean_likelihood(prior)))
        return checked_beside(model, estimate, Watched(chains, outliers), bench, effort, key.child("mode"))

    def _columns(self, model: Model) -> list[Columns]:
        """The unconstrained coordinates of each block; one block of all unless blocks are given."""
        if self.blocks is None:
            return [np.arange(model.n_dimensions)]
        named = [name for block in self.blocks for name in block]
        if sorted(named) != sorted(model.space.names):
            raise BadInput(
                f"ChibJeliazkov(blocks=...) names {named}, and the parameters are {list(model.space.names)}: every parameter "
                "must be in exactly one block."
            )
        starts = np.cumsum([0, *(site.size for site in model.space.sites)])
        at = {site.name: np.arange(starts[i], starts[i + 1]) for i, site in enumerate(model.space.sites)}
        return [np.concatenate([at[name] for name in block]) for block in self.blocks]


@dataclass(frozen=True)
class _Runs:
    """The runs of one estimate: the full one, then the reduced runs with one more block held at the points each."""

    model: Model
    points: Array
    blocks: list[Columns]
    transitions: list[Transition]
    pilot: Draws
    full: Draws
    n_chains: int
    n_draws: int
    loop: Loop

    def ordinates(self, rng: np.random.Generator) -> OrdinateRun:
        """The series to be averaged, block after block."""
        model, n_points = self.model, len(self.points)
        log_prior, log_likelihood = log_densities(model, self.points, self.loop)
        at_points = log_prior + log_likelihood
        # A run is a list over points of draws (n, d) and their log densities; points share the full run.
        run = [(self.full.position, self.full.log_prior + self.full.log_likelihood)] * n_points
        if len(self.blocks) == 1 and self.transitions[0].is_independent:
            return self._record(log_likelihood, log_prior, *self._one_density(run[0], at_points, rng))
        log_up, log_down = [], []
        for j, (columns, transition) in enumerate(zip(self.blocks, self.transitions, strict=True)):
            last = j == len(self.blocks) - 1
            up = [
                self._up(draws, point, value, columns, transition, last)
                for draws, point, value in zip(run, self.points, at_points, strict=True)
            ]
            log_up.append(self._by_point(up))
            if last:
                n = self.n_chains * self.n_draws
                run = [(np.tile(point, (n, 1)), np.full(n, value)) for point, value in zip(self.points, at_points, strict=True)]
            else:
                run = self._reduced(np.concatenate(self.blocks[: j + 1]), rng)
            log_down.append(self._by_point([self._down(draws, transition, rng) for draws in run]))
        return self._record(log_likelihood, log_prior, log_up, log_down)

    def _record(self, log_likelihood: Array, log_prior: Array, log_up: list[Array], log_down: list[Array]) -> OrdinateRun:
        return OrdinateRun(
            points=self.points,
            log_likelihood=log_likelihood,
            log_prior=log_prior,
            log_exact=np.zeros(len(self.points)),
            log_up=tuple(log_up),
            log_down=tuple(log_down),
            final=with_parameters(self.model, self.full),
        )

    def _one_density(
        self, run: tuple[Array, Array], at_points: Array, rng: np.random.Generator
    ) -> tuple[list[Array], list[Array]]:
        """One block and proposals that do not depend on the origin: one set of them serves all points."""
        (transition,), (draws, log_draws) = self.transitions, run
        proposed = transition.draw(rng, draws)
        log_proposed = self._log_posterior(proposed)
        at_draws, at_proposed, scores = (transition.log_density(x, x) for x in (draws, proposed, self.points))
        pairs = list(zip(at_points, scores, strict=True))
        up = [_log_acceptance(log_draws, value, score, at_draws) + score for value, score in pairs]
        down = [_log_acceptance(value, log_proposed, at_proposed, score) for value, score in pairs]
        return [self._by_point(up)], [self._by_point(down)]

    def _by_point(self, rows: list[Array]) -> Array:
        return np.stack(rows).reshape(len(rows), self.n_chains, self.n_draws)

    def _up(
        self, run: tuple[Array, Array], point: Array, at_point: float, columns: Columns, transition: Transition, last: bool
    ) -> Array:
        """log alpha(theta, theta*) q(theta, theta*) along a run."""
        origin, log_origin = run
        target = origin.copy()
        target[:, columns] = point[columns]
        # With all later blocks empty the target is the point itself.
        log_target = np.full(len(origin), at_point) if last else self._log_posterior(target)
        forward = transition.log_density(origin, target)
        return _log_acceptance(log_origin, log_target, forward, transition.log_density(target, origin)) + forward

    def _down(self, run: tuple[Array, Array], transition: Transition, rng: np.random.Generator) -> Array:
        """log alpha(theta*, theta) with theta proposed along a run in which the block is held at the point."""
        origin, log_origin = run
        target = transition.draw(rng, origin)
        forward, back = transition.log_density(origin, target), transition.log_density(target, origin)
        return _log_acceptance(log_origin, self._log_posterior(target), forward, back)

    def _log_posterior(self, position: Array) -> Array:
        self.loop.tick(f"{len(position):,} proposals")
        log_prior, log_likelihood = log_densities(self.model, position, self.loop)
        return log_prior + log_likelihood

    def _reduced(self, held: Columns, rng: np.random.Generator) -> list[tuple[Array, Array]]:
        """Chains in the coordinates that are not held, for every point at once; the others are held at the points."""
        model, n_points, d = self.model, len(self.points), self.model.n_dimensions
        free = np.setdiff1d(np.arange(d), held)
        _, covariance = moments(self.pilot.position)
        regression, rest = conditional_moments(covariance, free)
        start = np.tile(self.full.position.reshape(self.n_chains, self.n_draws, d)[:, -1], (n_points, 1))
        moved = start.copy()
        moved[:, held] = np.repeat(self.points[:, held], self.n_chains, axis=0)
        moved[:, free] += (moved - start) @ regression.T  # the free coordinates move to their conditional mean, as for a normal
        factor = np.zeros((d, d))
        factor[np.ix_(free, free)] = np.linalg.cholesky(rest)
        # A step is the factor times noise: rows of zeros leave the held coordinates unchanged.
        tuning = Tuning(np.zeros((1, d)), factor[None], np.eye(d)[None], np.float64(1.0))
        kernel = held_kernel(model)
        moving = TunedKernel(kernel, Tempered(1.0), tuning)
        scale, n_warmup = kernel.first_scale(len(free)), max(AT_ONCE * 8, self.n_draws // 2)
        state = state_at(model, moved, self.loop)
        parts = []
        for begin in range(-n_warmup, self.n_draws, AT_ONCE):
            part = sweep(model, moving.scaled(scale), state, AT_ONCE, rng, self.loop)
            self.loop.tick(f"reduced run with {len(free)} coordinates free  acceptance {part.acceptance.mean:.2f}")
            state = part.last
            if begin < 0:
                scale = kernel.next_scale(scale, part.acceptance.for_scale(scale))
            else:
                parts.append((part.states.position, part.states.log_prior + part.states.log_likelihood))
        position, log_posterior = (np.concatenate([part[i] for part in parts])[: self.n_draws] for i in (0, 1))
        by_point = position.reshape(self.n_draws, n_points, self.n_chains, d).transpose(1, 2, 0, 3).reshape(n_points, -1, d)
        logs = log_posterior.reshape(self.n_draws, n_points, self.n_chains).transpose(1, 2, 0).reshape(n_points, -1)
        return list(zip(by_point, logs, strict=True))


def _log_acceptance(log_origin: ArrayLike, log_target: ArrayLike, forward: ArrayLike, back: ArrayLike) -> Array:
    """Log of the Metropolis-Hastings probability; probability zero where the target has density zero."""
    with np.errstate(invalid="ignore"):
        ratio = np.subtract(log_target, log_origin) + np.subtract(back, forward)
    return np.asarray(np.minimum(np.where(np.equal(log_target, -np.inf), -np.inf, ratio), 0.0))


def _parts_of(chains: Chains) -> tuple[int, int, int]:
    """Number of given chains, and of the draws of each that fit the proposal and that are averaged; a single chain is cut in two."""
    assert chains.draws.chain is not None
    n_chains = max(2, len(np.unique(chains.draws.chain)))
    length = len(chains.draws.position) // n_chains
    n_pilot = length // PILOT_OF_GIVEN
    return n_chains, n_pilot, length - n_pilot


def _split(chains: Chains, n_chains: int, n_pilot: int, d: int) -> tuple[Draws, Draws]:
    """The pilot's draws, and those that are averaged."""
    draws = chains.draws
    n = n_chains * (len(draws.position) // n_chains)
    position = draws.position[:n].reshape(n_chains, -1, d)
    logs = [array[:n].reshape(n_chains, -1) for array in (draws.log_likelihood, draws.log_prior)]
    out = []
    for part in (slice(None, n_pilot), slice(n_pilot, None)):
        log_likelihood, log_prior = (array[:, part].ravel() for array in logs)
        chain = np.repeat(np.arange(n_chains), position[:, part].shape[1])
        here = position[:, part].reshape(-1, d)
        out.append(Draws(position=here, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=len(chain), chain=chain))
    return out[0], out[1]


def _best_first(record: OrdinateRun) -> OrdinateRun:
    """The record with the point of the smallest standard error first, among those whose averages do not depend on few draws."""
    at_points = ordinates(len(record.points), record.log_up, record.log_down)
    heavy = (tail_indices(record) >= MAX_PARETO_K) | ~np.isfinite(at_points.log_density)
    order = np.lexsort((at_points.se, heavy))
    return OrdinateRun(
        points=record.points[order],
        log_likelihood=record.log_likelihood[order],
        log_prior=record.log_prior[order],
        log_exact=record.log_exact[order],
        log_up=tuple(part[order] for part in record.log_up),
        log_down=tuple(part[order] for part in record.log_down),
        final=record.final,
    )


def _log_mean(logs: Array) -> float:
    return float(np.log(np.mean(np.exp(logs)))) if np.isfinite(logs).any() else -np.inf


def _acceptance_status(acceptance: float) -> Status:
    if acceptance >= MIN_ACCEPTANCE:
        return Status.ok()
    return Status.suspect(
        "low-acceptance",
        f"a proposal from the point is accepted with probability {acceptance:.2g}: the proposal density is not like the "
        f"posterior; give smaller blocks or another proposal, or {REMEDY}.",
    )
