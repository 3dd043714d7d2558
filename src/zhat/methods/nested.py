"""Nested sampling: the evidence as an integral over prior mass, by live points on rising likelihood contours.

    Z = ∫_0^1 L(X) dX,      X = prior mass where the likelihood exceeds L.

Live points drawn from the prior die in order of their likelihood, and are replaced by draws from the prior above it. With
n alive, a death shrinks the mass by a factor t ~ Beta(n, 1), so log X falls by 1/n on average: the masses are known up to
noise of known law (Skilling 2006). The trapezoid rule over them gives Z; the last live points die without replacement and
so bring in what is left. Here half of the live points die at a time, which is as exact (`sampling.nested.run`), and new
points come from moves above the threshold that start at survivors, in a run that begins with many more prior draws than stay alive; in up to four dimensions, and for a black box in up to twelve, from
regions around the survivors, which takes a tenth of the likelihood calls (`sampling.nested.region`). Needs nothing but prior draws and a
likelihood: no gradient, no tempering, and no difficulty with first-order transitions as long as the run continues through them.

*Its standard error.* Only the masses are random, so log Z is as uncertain as they make it: about √(H/n), with H the information
in nats. The delta method over every shrinkage gives the same for live numbers that vary; `mass=SimulatedMass(...)` simulates the
shrinkages instead, and both the number and its standard error come from the simulations. All of these suppose that new points are
independent of the survivors. The shares of the final weight among the descendants of the first live points test this by the
genealogical estimate, as in SMC: with perfect replacement it is the same number (measured: to a hundredth), with points that do
not leave their mode or hardly move it is larger. The larger of the two is reported; when they differ by a factor of two the
result is suspect. Points drawn from regions have no ancestors. The regions' prior masses are known, so all evaluated points
are an importance sample, whose mean weight is the answer and whose standard error is several times smaller; the evidence of the
shrinkages is compared with it.

*When it lies.* When replacements do not have the right distribution. Their ranks among the survivors must be uniform (Fowlie,
Handley & Su 2020); that is tested over the whole run and over its last third. A peak without a live point near it when the
threshold rises above its base is missed; so a mode check follows the run (`missed_mass.mode_check`). Plateaus are treated as
such: all points of one likelihood die together (Fowlie, Handley & Su 2021). Convergence: Chopin & Robert (2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds
from zhat.methods._base import Method, Size, check_count, check_search_effort
from zhat.missed_mass.effort import EFFORT, Effort
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.numerics.nested import (
    information,
    log_evidence,
    log_evidence_se,
    log_volumes,
    simulated_log_evidences,
    simulated_log_volumes,
    skilling_se,
)
from zhat.results.estimate import Diagnostic, Estimate
from zhat.results.records import Draws, MeasuredMasses, NestedRun
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.nested.region import RegionReplacement
from zhat.sampling.nested.replacement import MarkovReplacement, Replacement
from zhat.sampling.nested.run import LivePoints, run_nested
from zhat.sampling.nested.stopping import FlatTop, RemainingEvidence, Stop
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.nested import FromMasses, evidence_shares, from_masses, nested_errors, nested_status, unfinished_nested

# Posterior draws of less than e^-NEGLIGIBLE of the largest weight are left out of the record.
NEGLIGIBLE = 40.0
# Live points by default: by moves a standard error of √(H/n), 0.1 for an information H of 20 nats; from regions 0.003 to 0.01. A black
# box, whose likelihoods take the time, has no more than regions need (0.005 to 0.03): with half as many, one of eighteen modes may be
# lost by chance. Compiled models with fewer are run by moves.
LIVE_POINTS, LIVE_POINTS_IN_REGIONS = 2000, 500
# In many dimensions lines of descent run together: the information H grows with the dimensions, and of n first live points some 1.5 n / H have
# descendants that count. With 2,000, 15 were left in a hundred dimensions (H = 177), fewer than the 20 by which runs can be judged. So there are so
# many live points for a dimension, up to a number whose run still ends within minutes.
LIVE_POINTS_A_DIMENSION, MOST_LIVE_POINTS = 40, 4000
# A share of the posterior at a mode that the draws of regions do not visit is an error of log Z of about its size; up to here it is added to
# the standard error, above the run is flagged.
SMALL_SHARE = 0.05
# Joint standard errors by which that second estimate exceeds the answer before the difference counts: by chance in one of forty runs.
EXCESS = 2.0
# Dimensions up to which new points are drawn from regions. Measured up to ten (2 calls a new point for a Gaussian); above,
# ellipsoids around 250 points enclose ever more than the points. The limit itself was not tuned.
REGIONS_UP_TO = 12
# The same for a compiled model, whose answer by regions is a hundred times cheaper at one error (CPU seconds x squared error of the eggbox
# 6e-5, by moves 2.4e-3), but states a standard error of a few thousandths. A cigar and a pancake round one centre: right in two, three and
# four dimensions (12 runs, largest |z| 1.3); in six 0.01 to 0.09 low at a stated 0.003, and a flat funnel in ten 0.01 low at 0.003.
REGIONS_OF_COMPILED_UP_TO = 4
# The mode check of a black box whose run took few calls: a third of them more. Starts that are compared with the known modes, which a basin of
# 3e-3 of the prior is met by, but one search alone, from the highest live point, and 500 draws at its end: a search from a start takes ten steps of
# 1 + d (d + 1) calls. (With 256 starts two modes of unequal width in eight dimensions, the narrow one with 1e-2 of the prior, were 0.69 low
# at a standard error of 0.008 in 15 of 20 runs.)
CHEAP = replace(EFFORT, starts_of_black_box=2048, searches_of_black_box=1, starts_from_run=1, n_draws_at_modes=500, steps=12)
# That of a compiled model from regions, whose answer is known to thousandths of a nat: as many draws at the modes as a standard error of a
# few thousandths takes. (With two thousand a mode with two hundredths of the posterior in ten dimensions went unnoticed in five of eight
# runs; with these, and with searches from the run's own points that no mode explains, in none of five.)
SHARP_AT_MODES = replace(EFFORT, n_draws_at_modes=20_000)


class Mass(Protocol):
    """How prior masses are assigned to dead points."""

    def evidence(self, run: NestedRun, key: Key) -> tuple[float, float]:
        """Log evidence and its standard error."""
        ...


@dataclass(frozen=True)
class ExpectedMass:
    """Every log mass at its expectation: log X falls by 1/n a death."""

    def evidence(self, run: NestedRun, key: Key) -> tuple[float, float]:
        """See `Mass`; the standard error is that of the delta method."""
        log_x = log_volumes(run.n_alive)
        return log_evidence(run.log_likelihood, log_x), log_evidence_se(run.log_likelihood, log_x, run.n_alive)


@dataclass(frozen=True)
@checked_kinds
class SimulatedMass:
    """Masses drawn from their distribution, `n_simulations` times: log Z is the mean, its standard error the standard deviation."""

    n_simulations: int = 200

    def __post_init__(self) -> None:
        """Check the number."""
        check_count("SimulatedMass", "n_simulations", self.n_simulations, 20, "a standard deviation of fewer is too uncertain")

    def evidence(self, run: NestedRun, key: Key) -> tuple[float, float]:
        """See `Mass`."""
        rng = key.generator()
        values: list[float] = []
        while len(values) < self.n_simulations:  # in parts: the masses of a hundred runs would take much memory
            n = min(10, self.n_simulations - len(values))
            log_x = simulated_log_volumes(run.n_alive, rng.random((n, len(run.n_alive))))
            values += list(simulated_log_evidences(run.log_likelihood, log_x))
        return float(np.mean(values)), float(np.std(values, ddof=1))


# `Method.evaluations` of a run from regions: 3,400 likelihoods in three, 20,000 in ten dimensions with 500 live points; with 2000
# 20,000 in two, 72,000 in seven (logistic regression), 48,000 to 140,000 in ten.
IN_REGIONS = (0.0, 3.0)


@dataclass(frozen=True)
class NestedSampling(Method):
    """`n_live` live points from the prior, a share of which is replaced at a time.

    What is None is chosen for the model: for black boxes of up to twelve dimensions 500 live points, `RegionReplacement` and `FlatTop`;
    for compiled models of up to four the same with 2000 live points (or with any number from 500); else 2000, from fifty dimensions on 40 for
    each up to 4000, `MarkovReplacement` (with 32 first draws for each live point) and `RemainingEvidence(0.01)`. `mass` None is the measured masses of regions where there are any,
    else `ExpectedMass`. The survey of the modes in the mode check makes `search_effort` times its usual starts.
    """

    n_live: int | None = None
    share_replaced: float = 0.5
    replacement: Replacement | None = None
    stop: Stop | None = None
    mass: Mass | None = None
    mode_check: bool = True
    search_effort: float = 1.0

    name: ClassVar[str] = "nested"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    evaluations: ClassVar[tuple[float, float]] = (60.0, 60.0)
    cites: ClassVar[tuple[str, ...]] = ("skilling2006", "chopin2010", "fowlie2020", "fowlie2021")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_live", 40, unset=LIVE_POINTS),)
    look: ClassVar[Look] = Look.from_modes()
    # Five hundred live points: with fewer, regions lose modes by chance and their standard errors are too small.
    first_share: ClassVar[float] = 0.25
    when: ClassVar[str] = "several modes, plateaus, black boxes; a second opinion beside SMC, with posterior draws"

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.n_live is not None:
            check_count("NestedSampling", "n_live", self.n_live, 40, "fewer live points give no usable covariance")
        check_search_effort("NestedSampling", self.search_effort)
        share = self.share_replaced
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise BadType(f"NestedSampling(share_replaced={share!r}): give a number between 0 and 0.8.")
        if not 0.0 < share <= 0.8:
            raise BadInput(
                f"NestedSampling(share_replaced={share}): new points start from the survivors, so give a share above 0 and at "
                "most 0.8."
            )
        for name, verb, example in (
            ("replacement", "first_scale", "zhat.settings.MarkovReplacement()"),
            ("stop", "reached", "zhat.settings.RemainingEvidence(0.01)"),
            ("mass", "evidence", "zhat.settings.ExpectedMass()"),
        ):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, type) or not hasattr(value, verb):
                raise BadType(f"NestedSampling({name}={value!r}): give an object such as {example}.")

    def evaluations_on(self, model: Model) -> tuple[float, float]:
        """See `Method`: regions take a small part of what moves do."""
        return IN_REGIONS if self._in_regions(model) else self.evaluations

    def effort_on(self, model: Model) -> Effort:
        """See `Method`."""
        return self._checked_with(model, self._in_regions(model))

    def _checked_with(self, model: Model, in_regions: bool) -> Effort:
        """The effort of the mode check."""
        of_regions = CHEAP if model.is_black_box else SHARP_AT_MODES
        return (of_regions if in_regions else self.effort).searched(self.search_effort)

    def _in_regions(self, model: Model) -> bool:
        return isinstance(self.settings_for(model).replacement, RegionReplacement)

    def settings_for(self, model: Model) -> LivePoints:
        """The settings of a run on this model, in which nothing is left to choose."""
        replacement = self.replacement
        if replacement is None:
            enough = model.is_black_box or self.n_live is None or self.n_live >= LIVE_POINTS_IN_REGIONS
            up_to = REGIONS_UP_TO if model.is_black_box else REGIONS_OF_COMPILED_UP_TO
            in_regions = enough and model.n_dimensions <= up_to
            replacement = RegionReplacement() if in_regions else MarkovReplacement()
        in_regions = isinstance(replacement, RegionReplacement)
        of_black_box = in_regions and model.is_black_box
        n_live = self.n_live or (LIVE_POINTS_IN_REGIONS if of_black_box else _live_points(model.n_dimensions))
        stop = self.stop or (FlatTop() if in_regions else RemainingEvidence(0.01))
        n_first = n_live * replacement.first_draws if isinstance(replacement, MarkovReplacement) else n_live
        # A multiple of four, for the blocks that shape each other's moves.
        return LivePoints(n_live, max(4, int(n_live * self.share_replaced) // 4 * 4), replacement, stop, n_first)

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        loop = bench.loop
        run = run_nested(model, self.settings_for(model), key.child("run"), loop)
        if not run.complete:
            assert loop.stopped is not None
            return unfinished_nested(run, loop.stopped)
        estimate = self._read(run, key.child("mass"))
        assert run.final is not None
        if self.mode_check and estimate.log_evidence_se:
            outliers = self._outliers(model, run.final, run.n_live)
            if run.measured is None or model.is_black_box:
                effort = self._checked_with(model, run.measured is not None)
                around = None if run.measured is None else run.final
                witnesses = Sampled(_last(run.final, run.n_live), outliers, around=around)
                estimate = self.checked(model, estimate, witnesses, key.child("mode"), loop, effort)
            else:
                visitors = _resampled(run.measured, run.n_live, key.child("visitors"))
                witnesses = Sampled(visitors, outliers, equal_weight=True, passed=run.final)
                estimate = _checked_sharply(model, estimate, witnesses, self._checked_with(model, True), key.child("mode"), loop)
        final, measured = run.final, run.measured
        if measured is not None:
            final, measured = measured.draws or final, replace(measured, draws=None)
        return replace(estimate, record=replace(run, final=with_parameters(model, _heavy(final)), measured=measured))

    def _outliers(self, model: Model, dead: Draws, n: int) -> Draws | None:
        """Dead points that are outliers among n consecutive ones, which have about the same threshold."""
        outliers = Outliers(model, self.look.effort)
        for begin in range(0, len(dead.log_likelihood) - n // 2, n):
            here = slice(begin, begin + n)
            outliers.keep(0.0, dead.position[here], dead.log_prior[here], dead.log_likelihood[here])
        return outliers.draws

    def read(self, record: object) -> Estimate:
        """The estimate from an existing run of nested sampling."""
        if not isinstance(record, NestedRun):
            raise BadType(f"NestedSampling reads a NestedRun, not a {type(record).__name__}.")
        if not record.complete:
            raise BadInput("this run of nested sampling was stopped before its end and has no evidence; run it again.")
        return self._read(record, Key(0).child("mass"))

    def _read(self, run: NestedRun, key: Key) -> Estimate:
        value, shrinkage = (self.mass or ExpectedMass()).evidence(run, key)
        masses = from_masses(run, value, shrinkage)
        reported = masses if self.mass is None else None
        log_x = log_volumes(run.n_alive)
        nats = information(run.log_likelihood, log_x)
        shares, errors = evidence_shares(run), nested_errors(run, shrinkage, reported)
        diagnostics: dict[str, Diagnostic] = {
            "n_dead": len(run.n_alive) - run.n_live,
            "n_batches": len(run.threshold),
            "information": nats,
            "h_se": skilling_se(nats, run.n_live),
            "shrinkage_se": shrinkage,
            "genealogical_se": "none: points drawn afresh" if errors.genealogical is None else errors.genealogical,
            "n_ancestors": errors.n_ancestors,
            "live_share": errors.live_share,
            "insertion_rank_z": errors.scores[0],
            "insertion_rank_z_late": errors.scores[1],
            "ess": float(1.0 / (shares @ shares)),
            "fewest_survivors": int(run.n_survivors.min(initial=run.n_live)),
            "moves_per_batch": [float(m) for m in run.n_moves],
            "acceptance": [float(a) for a in run.acceptance],
            "largest_memory_left": float(run.memory.max(initial=0.0)),
        }
        if masses is not None:
            diagnostics |= _of_masses(masses, value)
        return Estimate(
            log_evidence=value if reported is None else reported.log_evidence,
            log_evidence_se=errors.se,
            status=nested_status(run, errors),
            diagnostics=diagnostics,
            record=run,
        )


def _live_points(n_dimensions: int) -> int:
    """Live points by default where they are moved."""
    return min(max(LIVE_POINTS, LIVE_POINTS_A_DIMENSION * n_dimensions), MOST_LIVE_POINTS)


def _of_masses(masses: FromMasses, from_shrinkages: float) -> dict[str, Diagnostic]:
    """What is known of the evidence from the masses of regions, beside that from the shrinkages."""
    return {
        "log_evidence_by_shrinkage": from_shrinkages,
        "log_evidence_by_masses": masses.log_evidence,
        "masses_se": masses.se,
        "masses_z": masses.z,
        "masses_pareto_k": masses.pareto_k,
        "masses_ess": masses.ess,
    }


def _checked_sharply(model: Model, estimate: Estimate, witnesses: Sampled, effort: Effort, key: Key, loop: Loop) -> Estimate:
    """The estimate after the mode check, in which the posterior draws of regions are asked whether they visit every mode.

    A small share that they do not visit, or by which importance sampling at the modes exceeds the answer, is added to the standard
    error, as that of modes that were lost on the way.
    """
    assert estimate.log_evidence_se is not None
    answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
    finding = look_for_missed_mass(model, answer, witnesses, effort, key, loop)
    lost, second = finding.unvisited_share or 0.0, finding.at_modes
    if second is not None and second.pareto_k < EFFORT.trusted_pareto_k:
        lost = max(lost, second.excess(answer) if second.joint_errors(answer) > EXCESS else 0.0)
    if 0.0 < lost < SMALL_SHARE:
        answer = replace(answer, se=math.hypot(answer.se, lost))
        estimate = replace(estimate, log_evidence_se=answer.se)
        finding = replace(finding, answer=answer)
    return after_look(estimate, finding)


def _resampled(measured: MeasuredMasses, n: int, key: Key) -> Draws:
    """n posterior draws of equal weight."""
    draws = measured.draws
    assert draws is not None and draws.log_weight is not None
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    rows = key.generator().choice(len(weight), size=n, p=weight / weight.sum())
    return Draws(
        position=draws.position[rows], log_prior=draws.log_prior[rows], log_likelihood=draws.log_likelihood[rows], n_drawn=n
    )


def _last(draws: Draws, n: int) -> Draws:
    """The last n of some draws, unweighted."""
    return Draws(
        position=draws.position[-n:], log_prior=draws.log_prior[-n:], log_likelihood=draws.log_likelihood[-n:], n_drawn=n
    )


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
