"""Chib's method: Bayes' rule solved for the evidence at one point, with the posterior density there from Gibbs output.

    log Z = log L(theta*) + log prior(theta*) - log posterior(theta*)

holds at every point theta*. Likelihood and prior are known; the posterior density is a product over the blocks of a Gibbs
sampler (Chib 1995),

    posterior(theta*) = p(theta_1* | theta_2*, ..., theta_m*) ... p(theta_{m-1}* | theta_m*) p(theta_m*),

whose last factor is the average of the full conditional p(theta_m* | theta_1, ..., theta_{m-1}) over the Gibbs draws, whose
middle factors are such averages over *reduced runs*, in which the later blocks are held at theta*, and whose first factor is
a full conditional: with one block nothing is averaged and the answer is exact. Needs the model's `conditionals`, constants
included.

*The point* may be any of high density. As in Friel & Wyse (2012) the last block's value is the one among posterior draws at which
its averaged density is highest; that would cost the square of the number of draws, so some hundred candidates are compared over
some hundred draws of the warm-up. The other blocks then take, in turn, the best of as many draws from their conditionals. The
setting `point` replaces this choice.

*Its standard error.* Each run's averages are of correlated draws; the delta method on their logs with the effective sample size
of the averaged densities themselves. All chains move together in compiled calls, from starts dispersed as the prior. (Newey &
West's standard error, which Chib uses, is among the diagnostics; on strongly correlated chains it is 5 to 17 % too small.)

*Its checks.* R-hat of the chains and of every averaged series; Pareto k and effective sample size of these; the answer at four
further points (mean, median and two draws), which must agree within the standard error of the difference; each conditional's
shape against prior x likelihood, and its constant where the block is one number or several unbounded ones; whether importance
sampling at the modes, or the prior draws, show mass that the chains missed (`missed_mass.mode_check`). With one block nothing is
averaged over the chains, and no mode can be missing.

*When it lies.* When the sampler has not visited all of the posterior. In a mixture of k components the posterior has k! mirrored
modes; a Gibbs sampler that stays in one of them gives an answer that is too low by up to log k! (Neal 1999), smoothly and at
every point. Chains that start dispersed end in different mirrored modes, and R-hat shows it; if a labelling is forced by the
prior, the prior must be normalised for it. A mode that no chain visits shows only in the mode check. Cite Chib (1995).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.errors import BadType
from zhat.methods._base import Method, Size, check_count
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.numerics.series import r_hat
from zhat.results.estimate import Estimate
from zhat.results.records import Array, Draws, OrdinateRun
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import unconstrained, with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.conditionals import (
    Params,
    check_conditionals,
    draws_given,
    log_conditional,
    log_ordinates,
)
from zhat.sampling.chains.ordinates import central_points, point_of
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.conditionals import conditionals_status
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.ordinates import ordinate_estimate

REMEDY = "use zhat.SMC(), which needs no conditionals"
AT_ONCE = 100
# A Gibbs sampler may mix slowly and be right: the standard error includes the correlation. Beyond this the chains do not agree.
MAX_R_HAT = 1.05
# Candidates for the point, and draws over which each is averaged: the cost is their product.
N_CANDIDATES = 128


@dataclass(frozen=True)
class Chib(Method):
    """Posterior ordinates from `n_chains` Gibbs chains of `n_draws` sweeps, at `point` or at one of high density."""

    n_chains: int = 32
    n_warmup: int = 200
    n_draws: int = 1000
    point: Mapping[str, Any] | None = None
    mode_check: bool = True

    name: ClassVar[str] = "chib"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD, Offer.CONDITIONALS})
    evaluations: ClassVar[tuple[float, float]] = (300.0, 0.0)
    cites: ClassVar[tuple[str, ...]] = ("chib1995", "neal1999")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_draws", 50),)
    look: ClassVar[Look] = Look.from_modes(SHARP)
    when: ClassVar[str] = "the full conditionals are known: a few blocks, no mirrored modes"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("Chib", "n_chains", self.n_chains, 4, "chains are compared with each other")
        check_count("Chib", "n_warmup", self.n_warmup, 20, "the point is chosen among the draws of the warm-up")
        check_count("Chib", "n_draws", self.n_draws, 50, "fewer draws do not show the autocorrelation of a chain")
        if self.point is not None and not isinstance(self.point, Mapping):
            raise BadType(f"Chib(point={self.point!r}): give a dictionary of parameter names and values.")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        rng, loop = key.child("chains").generator(), bench.loop
        start = _starts(bench.prior(), self.n_chains, key.child("start").generator())
        warm = _gibbs(model, len(model.conditionals), start, self.n_warmup, rng, loop, "warm-up")
        full = _gibbs(model, len(model.conditionals), warm.position[-1], self.n_draws, rng, loop, "Gibbs")
        pilot = warm.position[self.n_warmup // 2 :].reshape(-1, model.n_dimensions)
        choosing = key.child("point").generator()
        if self.point is None:
            first = _high_density_point(model, pilot, choosing, loop)
        else:
            first = point_of(model, self.point, "Chib")
        points = np.concatenate([first[None], central_points(pilot, choosing)])
        record = self._ordinates(model, points, full, rng, loop)
        series = [full.log_likelihood.T, *np.moveaxis(full.position, 2, 0).swapaxes(1, 2)]
        worst = max(r_hat(one) for one in series)
        estimate = ordinate_estimate(record, worst, MAX_R_HAT, REMEDY, {"n_blocks": len(model.conditionals)})
        checks = check_conditionals(model, pilot, key.child("conditionals").generator(), loop)
        estimate = estimate.doubted(conditionals_status(checks))
        # A standard error of zero proves nothing here: where blocks are independent within a mode, all averaged densities are equal.
        if not self.mode_check or estimate.log_evidence_se is None or len(model.conditionals) == 1:
            return estimate
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        witnesses = Sampled(record.final, prior_draws=bench.prior(), equal_weight=True)
        return after_look(estimate, look_for_missed_mass(model, answer, witnesses, self.look.effort, key.child("mode"), loop))

    def _ordinates(self, model: Model, points: Array, full: State, rng: np.random.Generator, loop: Loop) -> OrdinateRun:
        """Average block after block, the last one on the full run, the others on runs with the later blocks held."""
        blocks = model.conditionals
        stars, _ = constrain_batch(model, points)
        n_points, d = len(points), model.n_dimensions
        shared = full.position.swapaxes(0, 1).reshape(-1, d)
        log_up = []
        draws = [shared] * n_points
        for j in range(len(blocks) - 1, 0, -1):
            rows = [
                log_ordinates(model, blocks[j], {name: stars[name][p : p + 1] for name in blocks[j].block}, draws[p], loop)
                for p in range(n_points)
            ]
            log_up.append(np.concatenate(rows).reshape(n_points, self.n_chains, self.n_draws))
            if j > 1:
                held = [name for block in blocks[j:] for name in block.block]
                begin = _held(model, np.tile(full.position[-1], (n_points, 1)), held, stars, self.n_chains)
                warm = _gibbs(model, j, begin, self.n_warmup, rng, loop, f"reduced run {j}, warm-up")
                reduced = _gibbs(model, j, warm.position[-1], self.n_draws, rng, loop, f"reduced run {j}")
                by_point = reduced.position.reshape(self.n_draws, n_points, self.n_chains, d).transpose(1, 2, 0, 3)
                draws = list(by_point.reshape(n_points, -1, d))
        at_points = [model.evaluate(**{name: value[p] for name, value in stars.items()}) for p in range(n_points)]
        loop.count(n_likelihood=n_points)
        return OrdinateRun(
            points=points,
            log_likelihood=np.array([log_likelihood for _, log_likelihood in at_points]),
            log_prior=np.array([log_prior for log_prior, _ in at_points]),
            log_exact=log_conditional(model, blocks[0], stars),
            log_up=tuple(log_up),
            log_down=(),
            final=_record_of(model, full),
        )


def _starts(prior: Draws, n: int, rng: np.random.Generator) -> Array:
    """Dispersed starts: some of the likelier quarter of prior draws.

    From some draws of a very diffuse prior a Gibbs sampler needs hundreds of sweeps to reach the posterior.
    """
    alive = np.flatnonzero(np.isfinite(prior.log_likelihood) & np.isfinite(prior.position).all(axis=1))
    likelier = alive[np.argsort(-prior.log_likelihood[alive])][: max(n, len(prior.log_likelihood) // 4)]
    return prior.position[rng.choice(likelier, n, replace=len(likelier) < n)]


def _gibbs(model: Model, n_blocks: int, start: Array, n_moves: int, rng: np.random.Generator, loop: Loop, what: str) -> State:
    """Sweeps over the first `n_blocks` conditionals from these points; the other parameters are held."""
    kernel = Gibbs(model.conditionals[:n_blocks])
    position, parts = start, []
    for begin in range(0, n_moves, AT_ONCE):
        loop.tick(f"{what}  {begin} of {n_moves} sweeps", begin / n_moves)
        zero = np.zeros(len(position))
        state = State(position=position, log_prior=zero, log_likelihood=zero)
        part = sweep(model, TunedKernel(kernel, Tempered(1.0), None), state, AT_ONCE, rng, loop)
        position = part.last.position
        parts.append(part.states)
    return State.joined(parts).take(slice(0, n_moves))


def _high_density_point(model: Model, pilot: Array, rng: np.random.Generator, loop: Loop) -> Array:
    """The point of Friel & Wyse (2012): the last block where its averaged density is highest, the others best given it."""
    blocks = model.conditionals
    some = pilot[rng.choice(len(pilot), N_CANDIDATES)]
    candidates, _ = constrain_batch(model, some)
    others = pilot[rng.choice(len(pilot), N_CANDIDATES)]
    logs = log_ordinates(model, blocks[-1], candidates, others, loop)
    top = logs.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        averaged = top[:, 0] + np.log(np.mean(np.exp(logs - top), axis=1))
    best = int(np.argmax(averaged))
    # The rest begins at the median of the pilot, mapped to the parameters, where conditionals are well behaved.
    centre, _ = constrain_batch(model, np.median(pilot, axis=0)[None])
    point: Params = {name: value[0] for name, value in centre.items()}
    point |= {name: candidates[name][best] for name in blocks[-1].block}
    for block in blocks[-2::-1]:
        drawn = draws_given(model, block, point, N_CANDIDATES, rng)
        batch = {name: np.broadcast_to(value, (N_CANDIDATES, *np.shape(value))) for name, value in point.items()}
        best = int(np.argmax(log_conditional(model, block, {**batch, **drawn})))
        point |= {name: value[best] for name, value in drawn.items()}
    return unconstrained(model, {name: np.asarray(value)[None] for name, value in point.items()})[0]


def _held(model: Model, position: Array, names: list[str], stars: Params, n_chains: int) -> Array:
    """The points with these parameters set to the values of the stars, `n_chains` rows a star."""
    params, _ = constrain_batch(model, position)
    return unconstrained(model, {**params, **{name: np.repeat(stars[name], n_chains, axis=0) for name in names}})


def _record_of(model: Model, full: State) -> Draws:
    n_draws, n_chains = full.log_likelihood.shape
    draws = Draws(
        position=full.position.swapaxes(0, 1).reshape(-1, model.n_dimensions),
        log_prior=full.log_prior.T.ravel(),
        log_likelihood=full.log_likelihood.T.ravel(),
        n_drawn=n_draws * n_chains,
        chain=np.repeat(np.arange(n_chains), n_draws),
    )
    return with_parameters(model, draws)
