"""Nested sampling: the evidence as an integral over prior mass, by points that climb likelihood contours.

    Z = ∫_0^1 L(X) dX,      X = prior mass where the likelihood exceeds L.

Live points drawn from the prior die in order of their likelihood, and are replaced by draws from the prior above it. With
n alive, a death shrinks the mass by a factor t ~ Beta(n, 1), so log X falls by 1/n on average: the masses are known up to
noise of known law (Skilling 2006). The trapezoid rule over them gives Z; the last live points die without replacement and
so bring in what is left. Here half of the live points die at a time, which is as exact (`sampling.nested_run`), and new
points come from constrained moves that start at survivors (`sampling.constrained`). Needs nothing but prior draws and a
likelihood: no gradient, no tempering, and no trouble with first-order transitions as long as the run goes on through them.

*Its error.* Only the masses are random, so log Z is as uncertain as they make it: about √(H/n), with H the information in
nats. The delta method over every shrinkage gives the same for live numbers that vary; `mass=SimulatedMass(...)` simulates the
shrinkages instead, and both the number and its error come from the simulations. All of these suppose that new points are
independent of the survivors. Whether they are shows in how the final weight is shared among the descendants of the first live
points, the genealogical estimate that also serves SMC: with perfect replacement it is the same number (measured: to a
hundredth), with points that do not leave their mode or hardly move it is larger. The larger of the two is reported; when
they differ by a factor of two the result is suspect.

*When it lies.* When replacements are not drawn as they should be. Their ranks among the survivors must be uniform (Fowlie,
Handley & Su 2020); that is tested over the whole run and over its last third. A peak that no live point is near when the
threshold passes its foot is missed; so the run also looks from the other end, from the modes. Plateaus are taken for what
they are: all points of one likelihood die together (Fowlie, Handley & Su 2021). Convergence: Chopin & Robert (2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, check_count
from zhat.missed_mass.mode_check import mode_check
from zhat.missed_mass.outliers import Outliers
from zhat.model.model import Model, Offer
from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.nested import (
    information,
    insertion_rank_z,
    log_evidence,
    log_evidence_se,
    log_volumes,
    nested_log_weights,
    simulated_log_evidences,
    simulated_log_volumes,
    skilling_se,
)
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, Draws, NestedRun
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Stopped
from zhat.sampling.nested.moves import ConstrainedCrankNicolson
from zhat.sampling.nested.replacement import Replacement
from zhat.sampling.nested.run import RemainingEvidence, Stop, run_nested
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key

# A standard normal score beyond this is no accident: chance 6e-5 for each of two looks.
RANK_LIMIT = 4.0
# Above this ratio descent and shrinkage contradict each other (measured on well-mixing and multimodal models: 1 to 1.2).
UNEQUAL_RATIO = 2.0
MIN_ANCESTORS = 20
MIN_SURVIVORS = 20
# What may be left of the likelihood's rank after the moves before they are said not to move.
STUCK = 0.5
# Share of the evidence in the last live points above which a run has stopped on the way up.
EARLY = 0.2
# Posterior draws of less than e^-NEGLIGIBLE of the largest weight are left out of the record.
NEGLIGIBLE = 40.0


class Mass(Protocol):
    """How prior masses are assigned to dead points."""

    def evidence(self, run: NestedRun, key: Key) -> tuple[float, float]:
        """Log evidence and its standard error."""
        ...


@dataclass(frozen=True)
class ExpectedMass:
    """Every log mass at its expectation: log X falls by 1/n a death."""

    def evidence(self, run: NestedRun, key: Key) -> tuple[float, float]:
        """See `Mass`; the error is the delta method's."""
        log_x = log_volumes(run.n_alive)
        return log_evidence(run.log_likelihood, log_x), log_evidence_se(run.log_likelihood, log_x, run.n_alive)


@dataclass(frozen=True)
class SimulatedMass:
    """Masses drawn from their law, `n_simulations` times: log Z is the mean and its error the spread."""

    n_simulations: int = 200

    def __post_init__(self) -> None:
        """Check the number."""
        check_count("SimulatedMass", "n_simulations", self.n_simulations, 20, "a spread of fewer is too uncertain")

    def evidence(self, run: NestedRun, key: Key) -> tuple[float, float]:
        """See `Mass`."""
        rng = key.generator()
        values: list[float] = []
        while len(values) < self.n_simulations:  # some at a time: a hundred runs' worth of masses is a lot of memory
            n = min(10, self.n_simulations - len(values))
            log_x = simulated_log_volumes(run.n_alive, rng.random((n, len(run.n_alive))))
            values += list(simulated_log_evidences(run.log_likelihood, log_x))
        return float(np.mean(values)), float(np.std(values, ddof=1))


@dataclass(frozen=True)
class NestedSampling(Method):
    """`n_live` points climbing from the prior, a share of which is replaced at a time."""

    n_live: int = 2000
    share_replaced: float = 0.5
    replacement: Replacement = field(default_factory=ConstrainedCrankNicolson)
    stop: Stop = field(default_factory=lambda: RemainingEvidence(0.01))
    mass: Mass = field(default_factory=ExpectedMass)
    mode_check: bool = True

    name: ClassVar[str] = "nested"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    cites: ClassVar[tuple[str, ...]] = ("skilling2006", "chopin2010", "fowlie2020", "fowlie2021")
    when: ClassVar[str] = "several modes, plateaus, black boxes; a second opinion beside SMC, with posterior draws"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("NestedSampling", "n_live", self.n_live, 40, "fewer live points have no shape to learn moves from")
        share = self.share_replaced
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise BadType(f"NestedSampling(share_replaced={share!r}): give a number between 0 and 0.8.")
        if not 0.0 < share <= 0.8:
            raise BadInput(
                f"NestedSampling(share_replaced={share}): new points start from the survivors, so give a share above 0 and at "
                "most 0.8."
            )
        for name, verb, example in (
            ("replacement", "first_scale", "ConstrainedCrankNicolson()"),
            ("stop", "reached", "RemainingEvidence(0.01)"),
            ("mass", "evidence", "ExpectedMass()"),
        ):
            value = getattr(self, name)
            if isinstance(value, type) or not hasattr(value, verb):
                raise BadType(f"NestedSampling({name}={value!r}): give an object such as {example}.")

    @property
    def n_replaced(self) -> int:
        """How many die at a time: a multiple of four, for the blocks that shape each other's moves."""
        return max(4, int(self.n_live * self.share_replaced) // 4 * 4)

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        loop = bench.loop
        run = run_nested(model, self.n_live, self.n_replaced, self.replacement, self.stop, key.child("run"), loop)
        if not run.complete:
            assert loop.stopped is not None
            return _stopped(run, loop.stopped)
        estimate = self._read(run, key.child("mass"))
        assert run.final is not None
        if self.mode_check and estimate.log_evidence_se:
            live = _last(run.final, run.n_live)
            found = estimate.log_evidence, estimate.log_evidence_se
            seen = mode_check(model, live, *found, key.child("mode"), loop, outliers=_outliers(model, run.final, run.n_live))
            estimate = estimate.doubted(*seen)
        return replace(estimate, record=replace(run, final=with_parameters(model, _heavy(run.final))))

    def read(self, record: object) -> Estimate:
        """The estimate from a run of nested sampling that is there already."""
        if not isinstance(record, NestedRun):
            raise BadType(f"NestedSampling reads a NestedRun, not a {type(record).__name__}.")
        if not record.complete:
            raise BadInput("this run of nested sampling was stopped before its end and has no evidence; run it again.")
        return self._read(record, Key(0).child("mass"))

    def _read(self, run: NestedRun, key: Key) -> Estimate:
        value, shrinkage = self.mass.evidence(run, key)
        log_x = log_volumes(run.n_alive)
        nats = information(run.log_likelihood, log_x)
        shares = evidence_shares(run)
        genealogical, n_ancestors = genealogical_se(run, shares)
        se = shrinkage if genealogical is None else max(shrinkage, genealogical)
        scores = insertion_scores(run)
        left = float(shares[-run.n_live :].sum())
        status = _status(run, shrinkage, genealogical, n_ancestors, scores, left)
        diagnostics: dict[str, Diagnostic] = {
            "n_dead": len(run.n_alive) - run.n_live,
            "n_batches": len(run.threshold),
            "information": nats,
            "h_se": skilling_se(nats, run.n_live),
            "shrinkage_se": shrinkage,
            "genealogical_se": "none: points drawn afresh" if genealogical is None else genealogical,
            "n_ancestors": n_ancestors,
            "live_share": left,
            "insertion_rank_z": scores[0],
            "insertion_rank_z_late": scores[1],
            "ess": float(1.0 / (shares @ shares)),
            "fewest_survivors": int(run.n_survivors.min(initial=run.n_live)),
            "moves_per_batch": [float(m) for m in run.n_moves],
            "acceptance": [float(a) for a in run.acceptance],
            "largest_memory_left": float(run.memory.max(initial=0.0)),
        }
        return Estimate(
            log_evidence=value,
            log_evidence_se=se if status.is_ok else None,
            no_se_because=None if status.is_ok else status.reasons[0].sentence,
            status=status,
            diagnostics=diagnostics,
            record=run,
        )


# -- arithmetic on a NestedRun: pure NumPy -------------------------------------------------------------------------


def evidence_shares(run: NestedRun) -> Array:
    """What part of the evidence each point holds: the weights of the posterior draws, summing to one."""
    log_terms = run.log_likelihood + nested_log_weights(log_volumes(run.n_alive))
    return np.exp(log_terms - log_sum_exp(log_terms))


def genealogical_se(run: NestedRun, shares: Array) -> tuple[float | None, int]:
    """Error from how unequally the evidence is shared among the descendants of the first live points; and their number.

    None when points were drawn afresh: then nobody descends from anybody.
    """
    if (run.ancestors < 0).any():
        return None, run.n_live
    by_ancestor = np.bincount(run.ancestors, weights=shares, minlength=run.n_live)
    n = run.n_live
    n_ancestors = int((by_ancestor > 1e-6 / n).sum())
    if run.log_likelihood[0] == run.log_likelihood[-1]:
        return 0.0, n_ancestors  # one value: whoever holds it, the evidence is that value
    return float(np.sqrt(((by_ancestor - 1.0 / n) ** 2).sum() * n / (n - 1))), n_ancestors


def insertion_scores(run: NestedRun) -> tuple[float, float]:
    """Are the places of new points among the survivors uniform? Standard normal scores: whole run, and its last third.

    The places of k points among the same m survivors are not independent: their sum varies (k + m + 1)/(m + 2) times as much
    as if they were (Mann & Whitney). Batches are independent of each other.
    """
    if not len(run.n_dead):
        return 0.0, 0.0
    ends = np.cumsum(run.n_dead)
    scores = []
    for end, k, m in zip(ends, run.n_dead, run.n_survivors, strict=True):
        alone = insertion_rank_z(run.insertion_rank[end - k : end], int(m) + 1)
        scores.append(alone * math.sqrt((m + 2) / (k + m + 1)))
    late = scores[-max(1, len(scores) // 3) :]
    return float(sum(scores) / math.sqrt(len(scores))), float(sum(late) / math.sqrt(len(late)))


def _outliers(model: Model, dead: Draws, n_live: int) -> Draws | None:
    """Points that died apart from the crowd that died about then: among each n_live in a row, under the prior that they share."""
    outliers = Outliers(model)
    for begin in range(0, len(dead.log_likelihood) - n_live // 2, n_live):
        here = slice(begin, begin + n_live)
        outliers.look(0.0, dead.position[here], dead.log_prior[here], dead.log_likelihood[here])
    return outliers.draws


def _last(draws: Draws, n: int) -> Draws:
    """The last n of some draws, unweighted."""
    return Draws(draws.position[-n:], draws.log_likelihood[-n:], draws.log_prior[-n:], n)


def _heavy(draws: Draws) -> Draws:
    """The draws whose weight counts; `n_drawn` stays."""
    assert draws.log_weight is not None
    keep = draws.log_weight >= draws.log_weight.max() - NEGLIGIBLE
    return replace(
        draws,
        position=draws.position[keep],
        log_likelihood=draws.log_likelihood[keep],
        log_prior=draws.log_prior[keep],
        log_weight=draws.log_weight[keep],
    )


# -- verdicts ----------------------------------------------------------------------------------------------------


def _status(
    run: NestedRun, se: float, genealogical: float | None, n_ancestors: int, scores: tuple[float, float], left: float
) -> Status:
    status = Status.ok()
    if se == 0.0:
        return status  # a constant likelihood
    if max(map(abs, scores)) > RANK_LIMIT:
        status = status.and_(
            Status.suspect(
                "insertion-ranks",
                f"new points do not enter at uniform ranks among the survivors (score {scores[0]:+.1f}, in the last third "
                f"{scores[1]:+.1f}; it should be standard normal): the moves are too few or too poor; give the replacement a "
                "smaller Moves(correlation=...) and more moves.",
            )
        )
    if run.memory.max(initial=0.0) > STUCK or run.acceptance.min(initial=1.0) < 0.001:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"above the log likelihood {run.threshold[worst]:.6g} the ranks of new points still had correlation "
                f"{run.memory[worst]:.2f} with those of the points they began at after {run.n_moves[worst]} moves: give "
                "the replacement Moves(at_most=...) more, or another replacement such as ConstrainedSlice().",
            )
        )
    if genealogical is not None and genealogical > UNEQUAL_RATIO * se:
        status = status.and_(
            Status.suspect(
                "unequal-descent",
                f"the evidence is shared {genealogical / se:.1f} times more unequally among the first points' descendants than "
                "the shrinkage explains: some points sit where the others do not come; take more live points and moves.",
            )
        )
    if n_ancestors < MIN_ANCESTORS:
        # Ancestors grow with the live points: half as many again as are needed, in thousands.
        wanted = math.ceil(1.5e-3 * run.n_live * MIN_ANCESTORS / max(n_ancestors, 1)) * 1000
        status = status.and_(
            Status.suspect(
                "few-ancestors",
                f"only {n_ancestors} of the first live points have descendants that count: too few to tell how the run would vary; "
                f"take more live points, n_live={wanted} perhaps.",
            )
        )
    few = int(run.n_survivors.min(initial=run.n_live))
    if few < MIN_SURVIVORS:
        status = status.and_(
            Status.suspect(
                "few-survivors",
                f"only {few} live points were above a plateau of the likelihood, and all new ones descend from them; take more "
                "live points.",
            )
        )
    if left > EARLY:
        status = status.and_(
            Status.suspect(
                "stopped-early",
                f"the last live points still hold {left:.0%} of the evidence, so the climb was not over: let it go on, with "
                "stop=RemainingEvidence(0.01).",
            )
        )
    if max(se, genealogical or 0.0) > 1.0:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the error is above one nat ({max(se, genealogical or 0.0):.2f}), where it is no longer the error of a normal; "
                "take more live points.",
            )
        )
    return status


def _stopped(run: NestedRun, why: Stopped) -> Estimate:
    sentence = f"no evidence yet, the {len(run.n_alive) - run.n_live:,} dead points so far are in the record: {why}."
    return Estimate(np.nan, None, status=Status.failed(why.code, sentence), no_se_because=sentence, record=run)
