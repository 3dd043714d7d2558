"""Every setting of the check for missed mass, each with the reason for its value.

The checks trade evaluations against what they can find. `EFFORT` is what methods use whose standard errors are hundredths of a
nat; `SHARP` is for methods that state thousandths, for which a smaller mode matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from zhat.model.model import Model
from zhat.sampling.importance.modes import Search
from zhat.sampling.importance.survey import Starts
from zhat.sampling.mixing import Moves


@dataclass(frozen=True)
class Effort:
    """Settings of the check for missed mass: how much it evaluates, and its thresholds."""

    # -- two estimates of one evidence -------------------------------------------------------------------------------------
    # Joint standard errors, and nats on top of them, by which a second estimate may exceed an answer. Three: chance exceeds that
    # in one of a thousand runs at most, and no answer that is four standard errors low passes. The nats allow for weights
    # whose standard error is itself uncertain.
    joint_errors: float = 3.0
    slack: float = 0.05
    # Joint standard errors that are enough without these nats for answers from chains, where the second estimate's weights have a variance: once
    # in 30,000 runs by chance. Other methods need the nats always: with the modes that they missed and added they may differ by them.
    clear_errors: float = 4.0
    always_nats: bool = True
    # Pareto k below which weights have a variance.
    with_variance: float = 0.5
    # Below this Pareto k the second estimate's standard error is used (Vehtari et al. 2024).
    trusted_pareto_k: float = 0.7
    # Without a usable standard error Markov's inequality decides, which needs no variance: exp(-12) < 1e-5.
    markov_nats: float = 12.0
    # Weighted draws from the proposal at the modes: a standard error of about 0.02 on most models.
    n_draws_at_modes: int = 2000

    # -- shares of the posterior that draws should visit -------------------------------------------------------------------
    # Draws that visit a mode less often than this fraction of its estimated share have missed it. Chains are correlated,
    # so a share that is only somewhat small proves nothing.
    seldom: float = 0.25
    # The mode's share must exceed what was visited by so many of its own standard errors.
    visit_errors: float = 4.0
    # An unvisited share below so many standard errors of the answer does not matter for it.
    harmless_errors: float = 2.0
    # Points belong to a mode up to so many standard deviations of a chi-squared beyond its mean: nearly all of a normal's.
    near: float = 3.0
    # The same for a mode that is taken out of a comparison: what is left of it outside must not count.
    all_of_mode: float = 10.0

    # -- coverage of a proposal --------------------------------------------------------------------------------------------
    # An importance weight this many times the mean marks a point that the proposal hardly reaches.
    huge: float = 100.0
    # A population of a few hundred independent particles knows a share of 1 % to about half that: no verdict below this.
    margin: float = 0.03
    # The same for an answer from chains, where the population is compared with the draws themselves: eight particles of two thousand.
    # (S1-d5: a slab with 1 % of the posterior around the spike in which all chains are.)
    sharp_margin: float = 0.004
    # Tails of the density that is fitted to such draws; and the quantile of the draws' own importance weights that a particle must
    # exceed by `huge` to lie where the draws hardly reach. (Against the mean weight, as for a proposal, 19 of 20 runs of
    # gaussian-100 were flagged: a t in a hundred dimensions is unlike any normal.)
    heavy_tails: float = 5.0
    covered_quantile: float = 0.998
    # Dimensions up to which Laplace's method affords this check: a population takes a second or two there.
    coverage_up_to: int = 30

    # -- survey of the modes -----------------------------------------------------------------------------------------------
    # Starts from the prior where a likelihood evaluation is cheap; one in sixteen is compared with the known modes, at twelve points. A basin
    # of 3e-4 of the prior then has seven starts, of which three and more are recognised. They are doubled up to `most_starts` while some mode
    # was met by one start only, or there are several.
    starts: int = 24_576
    most_starts: int = 98_304
    # Fewer starts above this many numbers of data, where a likelihood evaluation is expensive; at least so many.
    cheap_data: int = 5_000
    fewest_starts: int = 512
    # Starts of a search where the posterior is known to have one mode (`Model.one_mode`): it begins at the highest.
    starts_to_one_mode: int = 64
    # Starts of a black box, whose likelihoods are thousands of times as expensive as compiled ones: a basin of 1e-3 of the prior.
    starts_of_black_box: int = 10_240
    # At least so many beside a less precise answer: a fifth of its likelihoods. (With 256, two modes of unequal width in eight dimensions, the narrow
    # one with half a hundredth of the prior, were 0.69 low at a standard error of 0.01 and ok in 7 of 8 runs at `precision=0.1`.)
    fewest_of_black_box: int = 2_048
    # Starts and particles of the smallest check, for an answer with a standard error of a tenth: as many evaluations as its draws.
    least_starts: int = 256
    least_particles: int = 100
    least_searches: int = 2
    # Searches before the first comparison, and further ones from starts that no known mode explains. Fewer above `cheap_dimensions`,
    # where a Hessian is expensive, and for a black box, of which a Newton step costs 1 + d (d + 1) likelihoods.
    first_searches: int = 64
    searches: int = 256
    cheap_dimensions: int = 20
    fewest_searches: int = 16
    # Above so many dimensions searches and particles become fewer in proportion: a Newton step takes d^3, a move d^2.
    hundreds: int = 200
    searches_of_black_box: int = 4
    # A mixture of more modes than this takes longer than methods that need no modes.
    known_modes: int = 64
    # Starts from the points of the run that reached the posterior: they are in its modes already.
    starts_from_run: int = 4
    # Newton steps: from anywhere, and from an outlying point or a start above the known modes' normal approximations, which is either in
    # a basin and a few steps from its mode or in a tail and need not converge.
    steps: int = 40
    steps_from_outlier: int = 12
    # Modes more than `negligible` nats below the largest need not be reached often (Laplace's method); each of the others must be
    # reached by this many starts before no further mode is expected (as with species in a sample, Good 1953).
    fewest_hits: int = 3
    negligible: float = 5.0

    # Where there is no prior to draw from, starts are from a normal so many times as wide as the draws. Among tens of thousands the
    # farthest is then twelve standard deviations away; heavier tails reach scales of 1e-300, where densities overflow.
    wider: float = 3.0

    # -- outlying points of a tempered population --------------------------------------------------------------------------
    # Kept from a rung, and in all. With half as many, modes in twenty and thirty dimensions were missed without a warning.
    outliers_of_a_rung: int = 8
    outliers_in_all: int = 24
    # Nats above the rung's median below which a point is no outlier: on most models hardly any point is one.
    apart: float = 2.0
    # In more dimensions than this the highest point of every rung is kept, even if it is hardly an outlier: when modes separate,
    # the one particle in the smaller mode is not an outlier yet. So more are kept in all.
    many_dimensions: int = 20
    outliers_in_many: int = 64

    # -- populations from the prior ----------------------------------------------------------------------------------------
    # Particles, and as many where a likelihood evaluation is expensive: of black boxes, and above `cheap_rows` numbers of data.
    # Up to there a check of importance sampling costs about what its draws do.
    particles: int = 2000
    particles_if_expensive: int = 400
    cheap_rows: int = 50_000
    # Populations beside the first, which temper half of the way and of which only outlying points are kept: for answers that are known to
    # thousandths of a nat, above `many_dimensions` and up to here. Without them a mode with two hundredths of the posterior in ten
    # dimensions is missed in 4 of 20 runs. Above, the survey finds the modes of the traps, and each population is expensive.
    further_populations: int = 0
    further_up_to: int = 20
    # The share of the effective sample size that a step keeps, and how long particles move: half of the steps that an estimate would
    # take, because nothing is averaged over these particles.
    ess_kept: float = 0.5
    moves: Moves = field(default_factory=lambda: Moves(correlation=0.3, at_once=2, at_most=20))
    islands: int = 4
    # Particles from which posterior chains start, where the above would be fewer.
    chain_starts: int = 1000
    # Last particles of a population from which searches start, beside draws that the caller brings: a mode with a tenth of the
    # posterior is among them in 97 of 100 populations.
    particles_searched: int = 32

    # -- posterior chains beside an answer from a mode, in hundreds of dimensions ----------------------------------------------
    # Chains: a basin that holds a twentieth of the prior is met by one of them with a probability of 96 %.
    chains: int = 64
    # Steps up the slope at most, each chain's of a length of its own: the first is that to the top of a white normal, a success makes
    # the next one longer and a failure shorter.
    climbs: int = 100
    first_climb: float = 1.0
    longer: float = 1.5
    shorter: float = 0.25
    # They stop so many nats for each dimension below the lowest density of the answer's draws: three times as far out as a white normal
    # reaches, and outside of a slab up to twenty times (e^3) as wide as the peak at the mode, which keeps its chains and so shows.
    stop_below: float = 3.0
    # Trajectories that are thrown away, in calls of so many between which the step size is tuned; then draws kept of each chain, and
    # trajectories from one to the next. In white coordinates one trajectory forgets nearly all of a normal's start.
    warm_up: int = 60
    trajectories_at_once: int = 5
    kept: int = 8
    trajectories_between: int = 4
    # R-hat of any coordinate above which they are not at one distribution: a thousand coordinates of 64 chains of eight independent
    # draws have a largest one of about 1.06.
    r_hat: float = 1.1

    # -- NaN near the posterior --------------------------------------------------------------------------------------------
    # Posterior draws that are moved and evaluated again after a run that met NaN: a share of one thousandth is met with 98 %
    # probability; fewer of a black box.
    n_moved: int = 4096
    n_moved_if_expensive: int = 512
    # How far they are moved, in standard deviations of the posterior: far enough to cross an edge at which the posterior ends, near
    # enough not to leave its bulk.
    moved_by: float = 0.5

    # -- families of models ------------------------------------------------------------------------------------------------
    # Best models of a family that are searched again from prior draws, and starts in all: one compiled batch.
    models_searched: int = 4
    starts_in_family: int = 64
    # A share of a model's mass in other modes below this changes no conclusion about a family.
    missed_share: float = 0.05

    def survey(self, model: Model) -> Starts:
        """The starts and searches of a survey of this model's modes."""
        if self.relies_on_one_mode(model):
            n, first, searches = self.starts_to_one_mode, 1, 0
            return Starts(n, n, first, searches, self.known_modes, Search(max_iterations=self.steps))
        if model.is_black_box:
            n, first, searches = self.starts_of_black_box, self.searches_of_black_box, 4 * self.searches_of_black_box
        else:
            n = max(self.fewest_starts, int(self.starts * min(1.0, self.cheap_data / max(model.data_size, 1))))
            affordable = min(1.0, self.cheap_dimensions / max(model.n_dimensions, 1))
            first = max(self.fewest_searches, int(self.first_searches * affordable))
            searches = max(self.fewest_searches, int(self.searches * affordable))
            if model.n_dimensions > self.hundreds:
                first = searches = max(self.least_searches, int(self.fewest_searches * self.hundreds / model.n_dimensions))
        at_most, search = n * self.most_starts // self.starts, Search(max_iterations=self.steps)
        return Starts(n, at_most, first, searches, self.known_modes, search, self.steps_from_outlier)

    def relies_on_one_mode(self, model: Model) -> bool:
        """Whether nothing looks for further modes: the posterior is known to have one, and a likelihood evaluation is expensive.

        Where it is cheap, a check of that statement costs little.
        """
        return bool(model.one_mode) and model.data_size > self.cheap_rows

    def population_size(self, model: Model) -> int:
        """Particles of a population from the prior that searches for further modes, a multiple of four."""
        if model.is_black_box:
            return self.particles_if_expensive
        affordable = max(self.particles_if_expensive, self.particles * min(1.0, self.cheap_rows / max(model.data_size, 1)))
        if model.n_dimensions > self.hundreds:
            affordable = max(self.least_particles, affordable * (self.hundreds / model.n_dimensions) ** 2)
        return 4 * int(0.25 * affordable)

    def n_further_populations(self, model: Model) -> int:
        """Populations beside the first one."""
        affordable = not model.is_black_box and self.many_dimensions < model.n_dimensions <= self.further_up_to
        return self.further_populations if affordable else 0

    @property
    def share_of_difference(self) -> float:
        """The share of the difference of two posterior draws, whose covariance is twice the posterior's, that is `moved_by`."""
        return self.moved_by / math.sqrt(2.0)

    def scaled(self, share: float) -> Effort:
        """A check for a less precise answer: it evaluates this share of what it would otherwise."""
        if share >= 1.0:
            return self
        return replace(
            self,
            starts=max(self.least_starts, int(share * self.starts)),
            most_starts=max(4 * self.least_starts, int(share * self.most_starts)),
            fewest_starts=self.least_starts,
            starts_of_black_box=min(
                self.starts_of_black_box, max(self.fewest_of_black_box, int(share * self.starts_of_black_box))
            ),
            searches_of_black_box=max(self.least_searches, int(share * self.searches_of_black_box)),
            further_populations=0,
            particles=max(self.particles_if_expensive, 4 * int(0.25 * share * self.particles)),
            particles_if_expensive=max(self.least_particles, 4 * int(0.25 * share * self.particles_if_expensive)),
            n_draws_at_modes=max(self.least_starts, int(share * self.n_draws_at_modes)),
        )

    def searched(self, times: float) -> Effort:
        """A check whose survey of the modes makes so many times the starts."""
        if times == 1.0:
            return self
        return replace(
            self,
            starts=max(self.least_starts, int(times * self.starts)),
            most_starts=max(self.least_starts, int(times * self.most_starts)),
            fewest_starts=max(self.least_starts, int(times * self.fewest_starts)),
            starts_of_black_box=max(self.least_starts, int(times * self.starts_of_black_box)),
        )

    def affords_coverage(self, model: Model) -> bool:
        """Whether a population from the prior is cheap enough for a method that itself takes about a second."""
        return not model.is_black_box and model.n_dimensions <= self.coverage_up_to


EFFORT = Effort()
# From ten dimensions on the highest point of every rung, for answers that are known to thousandths of a nat: a mode with two
# hundredths of the posterior in ten dimensions is otherwise missed in two of five runs.
SHARP = replace(EFFORT, many_dimensions=9, further_populations=3)
