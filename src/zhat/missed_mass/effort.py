"""Every setting of the check for missed mass, each with the reason for its value.

The checks trade evaluations against what they can find. `EFFORT` is what methods use whose standard errors are hundredths of a
nat; `SHARP` is for methods that state thousandths, for which a smaller mode matters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from zhat.model.model import Model


@dataclass(frozen=True)
class Effort:
    """Settings of the check for missed mass: how much it evaluates, and its thresholds."""

    # -- two estimates of one evidence -------------------------------------------------------------------------------------
    # Joint standard errors, and nats on top of them, by which a second estimate may exceed an answer. Three: chance exceeds that
    # in one of a thousand runs at most, and no answer that is four standard errors low passes. The nats allow for weights
    # whose standard error is itself uncertain.
    joint_errors: float = 3.0
    slack: float = 0.05
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

    # -- starts of a search for modes --------------------------------------------------------------------------------------
    # A basin that takes one start in 300 is reached by 97 of 100 searches with 1,024 starts.
    starts: int = 1024
    # Fewer starts above this many dimensions and numbers of data, where a Hessian is expensive and modes are seldom many: a model
    # of a hundred dimensions has 32 starts.
    cheap_dimensions: int = 10
    cheap_data: int = 5000
    fewest_starts: int = 16
    # A Newton step of a black box costs 1 + d (d + 1) likelihoods.
    starts_of_black_box: int = 4
    # A check makes up to this many times as many starts as a first search where dimensions x data are below `cheap_work`: a check
    # that misses a mode lets a wrong answer pass. (The mode of unequal-modes-10: 95 of 100 searches with 1,024 starts, 60 of 60
    # with 3,072.)
    thorough: float = 3.0
    cheap_work: int = 3000
    # Whether a check starts from prior draws as well as from the run's own points.
    search_from_prior: bool = True
    # Starts from the points of the run that reached the posterior: they are in its modes already.
    starts_from_run: int = 4
    # Newton steps: from anywhere, and from an outlying point, which is either in a basin and a few steps from its mode or in the
    # tails of the other points and need not converge.
    steps: int = 40
    steps_from_outlier: int = 12
    # Modes more than `negligible` nats below the largest need not be reached often (Laplace's method); each of the others must be
    # reached by this many starts before no further mode is expected (as with species in a sample, Good 1953).
    fewest_hits: int = 3
    negligible: float = 5.0

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
    # In tens of dimensions a narrow mode may hold so little half way to the posterior that no particle of two thousand enters it (one
    # of two modes in 30 dimensions: 0.005 %): up to three times as many from ten dimensions on, fewer again above thirty, where
    # each is expensive.
    more_particles: float = 3.0
    few_dimensions: int = 10
    high_dimensions: int = 100
    # Populations beside the first, in more than `many_dimensions`; they temper half of the way. One population in two finds the
    # narrow mode of unequal-modes-30, a first and seven others do in 23 of 24 trials. Up to `medium_dimensions` three suffice.
    extra_populations: int = 7
    extra_in_few: int = 3
    medium_dimensions: int = 20
    # Above this many dimensions an extra population costs more than the run that it checks.
    extra_up_to: int = 50
    # The share of the effective sample size that a step keeps, the correlation at which moves stop, moves at once and at most: half
    # of the steps that an estimate would take, because nothing is averaged over these particles.
    ess_kept: float = 0.5
    correlation: float = 0.3
    moves_at_once: int = 2
    moves_at_most: int = 20
    islands: int = 4
    # Particles from which posterior chains start, where the above would be fewer.
    chain_starts: int = 1000
    # Last particles of a population from which searches start, beside draws that somebody else made: a mode with a tenth of the
    # posterior is among them in 97 of 100 populations.
    particles_searched: int = 32

    # -- families of models ------------------------------------------------------------------------------------------------
    # Best models of a family that are searched again from prior draws, and starts in all: one compiled batch.
    models_searched: int = 4
    starts_in_family: int = 64
    # Two searches end at one mode when they are nearer than this, in standard deviations.
    same_mode: float = 0.1
    # A share of a model's mass in other modes below this changes no conclusion about a family.
    missed_share: float = 0.05

    def search_starts(self, model: Model) -> int:
        """Starts of a first search for the modes of a model."""
        if model.is_black_box:
            return self.starts_of_black_box
        dimensions, data = self.cheap_dimensions / max(model.n_dimensions, 1), self.cheap_data / max(model.data_size, 1)
        return max(self.fewest_starts, int(self.starts * min(1.0, dimensions) ** 1.5 * min(1.0, data)))

    def check_starts(self, model: Model) -> int:
        """Starts of a check that no mode was missed: more than those of a first search."""
        if model.is_black_box:
            return self.search_starts(model)
        cheap = self.cheap_work / max(model.n_dimensions * model.data_size, 1)
        return int(self.search_starts(model) * min(max(cheap, 1.0), self.thorough))

    def population_size(self, model: Model) -> int:
        """Particles of a population from the prior that searches for further modes, a multiple of four."""
        if model.is_black_box:
            return self.particles_if_expensive
        d = max(model.n_dimensions, 1)
        wanted = self.particles * max(1.0, min(d / self.few_dimensions, self.high_dimensions / d, self.more_particles))
        affordable = self.particles * self.cheap_rows / max(model.data_size, 1)
        return 4 * int(0.25 * max(self.particles_if_expensive, min(wanted, affordable)))

    def n_extra_populations(self, model: Model) -> int:
        """Populations beside a first one; none in few dimensions, where one suffices, in very many, or for a black box."""
        if not self.many_dimensions < model.n_dimensions <= self.extra_up_to or model.is_black_box:
            return 0
        return self.extra_populations if model.n_dimensions > self.medium_dimensions else self.extra_in_few

    def affords_coverage(self, model: Model) -> bool:
        """Whether a population from the prior is cheap enough for a method that itself takes about a second."""
        return not model.is_black_box and model.n_dimensions <= self.coverage_up_to


EFFORT = Effort()
# From ten dimensions on the highest point of every rung and extra populations, for answers that are known to thousandths of a nat.
SHARP = replace(EFFORT, many_dimensions=9)
