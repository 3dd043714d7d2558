"""Every code that a verdict may carry: at which level, who raises it, what it means, and what to do.

`Status.suspect` and `Status.failed` take codes from this table and refuse others, and `docs/trust.md` shows it (`zhat methods
--codes --into docs/trust.md`). A file that was written by another version may hold a code that is not here: it loads as it is,
because a stored `Reason` is text.

The table stands beside `Status`, on the ground floor of results, and not in `verdicts/`: the constructor of a status must know
it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from zhat.errors import BadInput

# A note stands beside any level and changes none.
SUSPECT, FAILED, NOTE = "suspect", "failed", "note"


@dataclass(frozen=True)
class Code:
    """One code of a verdict."""

    name: str
    raised_by: str
    meaning: str
    remedy: str
    levels: tuple[str, ...] = (SUSPECT,)


TABLE: tuple[Code, ...] = (
    # -- several families
    Code(
        "no-agreement",
        "the default, `zhat.crosscheck`",
        "no two algorithms agree on a number",
        "longer runs of the family with the highest number, a reparametrisation, or posterior draws",
    ),
    Code(
        "unconfirmed",
        "the default, `zhat.crosscheck`",
        "one algorithm has an answer and no other confirms it",
        "`zhat.crosscheck(model)`, or posterior draws",
    ),
    # -- weights
    Code(
        "pareto-k",
        "every mean of weights",
        "the variance of the weights may be infinite: the mean may depend on draws not yet made",
        "use a method that tempers, such as `zhat.SMC()`, or more draws",
    ),
    Code("low-ess", "every mean of weights or along chains", "effective sample size below 100", "more draws, or `zhat.SMC()`"),
    Code(
        "uneven-weights",
        "AIS",
        "the log weights spread too widely for a standard error of their mean",
        "more rungs (a smaller `log_weight_variance`), more sweeps, or `zhat.SMC()`",
    ),
    # -- modes
    Code(
        "no-mode",
        "Laplace, Importance, SMC from the mode",
        "no search for a mode converged",
        "`zhat.SMC()`, or give `zhat.Importance` a proposal",
        (FAILED,),
    ),
    Code(
        "many-modes",
        "Importance, SMC from the mode",
        "more modes than a proposal can be put at",
        "`zhat.SMC()` or `zhat.NestedSampling()`",
        (FAILED,),
    ),
    Code(
        "far-from-normal",
        "SMC from the mode",
        "the posterior is so far from a normal that the path from there has hundreds of rungs",
        "`zhat.SMC(start=zhat.settings.PathFromPrior())`",
        (FAILED,),
    ),
    Code(
        "no-peak",
        "Laplace, Laplace-Metropolis",
        "the curvature at the best point is not that of a mode",
        "`zhat.SMC()`, or `spread=zhat.settings.SampleCovariance()`",
        (FAILED,),
    ),
    Code(
        "modes-left",
        "Laplace",
        "some of several modes were reached by very few searches, so there may be more",
        "more `n_starts`",
    ),
    Code(
        "far-from-mode",
        "Laplace-Metropolis",
        "the best draw lies well below the mode",
        "`zhat.Laplace()`, which searches for the mode",
    ),
    Code(
        "large-correction",
        "Laplace, Laplace-Metropolis",
        "importance sampling moves the approximation by more than half a nat",
        "`zhat.Importance()` or `zhat.SMC()`",
    ),
    Code(
        "no-guide",
        "Variational",
        "no Gaussian has a finite evidence lower bound",
        "`zhat.SMC()`",
        (FAILED,),
    ),
    # -- latent Gaussian models
    Code(
        "quadrature",
        "INLA, `Exact`",
        "two lattices over the parameters that no formula integrates disagree, and a finer one has too many nodes",
        "another parametrisation, or `zhat.SMC()`",
        (SUSPECT, FAILED),
    ),
    Code(
        "inner-modes",
        "INLA",
        "the latents have several modes for one value of the other parameters",
        "`zhat.SMC()` or `zhat.Importance()`",
    ),
    # -- missed mass
    Code(
        "missed-mode",
        "Importance, Laplace, bridge, reciprocal, Chib & Jeliazkov",
        "coverage check: a tempered population from the prior has weight where the proposal or the draws hardly reach",
        "`zhat.SMC()`",
    ),
    Code(
        "missed-peak",
        "every method with a check for missed mass",
        "mode check: importance sampling at the modes finds more than the run, or a mode that its draws do not visit",
        "compare `zhat.SMC()` and `zhat.Importance()`",
    ),
    Code(
        "missed-mass",
        "bridge, reciprocal, Chib, Chib & Jeliazkov, harmonic mean",
        "the mean likelihood of prior draws exceeds the answer",
        "`zhat.SMC()`",
    ),
    Code(
        "unchecked",
        "every method with a check for missed mass",
        "the check for missed mass was not finished; the estimate itself is",
        "a larger `zhat.Budget(...)`",
    ),
    # -- tempering
    Code(
        "stuck",
        "SMC, AIS, nested, power posteriors, stepping stones",
        "at some rung or threshold the points hardly moved",
        "more moves, or another kernel such as `zhat.kernels.HMC()`",
    ),
    Code(
        "idle",
        "SMC, power posteriors, stepping stones",
        "some particles cannot be moved by any step: a spike or ridge far narrower than the rest of the posterior",
        "plot the likelihood there, or bound it",
    ),
    Code(
        "underflow",
        "power posteriors, stepping stones",
        "full conditionals drew points with zero likelihood: a prior too vague for floating point",
        "a tighter prior",
    ),
    Code(
        "spike",
        "power posteriors, stepping stones",
        "the weights between two rungs have a heavy tail: a mode that the chains have not resolved",
        "more chains",
    ),
    Code(
        "unequal-chains",
        "power posteriors, stepping stones",
        "islands of chains give different answers: some are in regions that others do not reach",
        "`zhat.SMC()`, or more moves",
    ),
    Code(
        "readings-differ",
        "power posteriors, stepping stones",
        "two sums over the same draws disagree: rungs too far apart, or not in equilibrium",
        "more rungs or moves",
    ),
    Code(
        "coarse-ladder",
        "power posteriors",
        "the discretisation error of the quadrature exceeds the Monte Carlo error",
        "more rungs, or `rule=zhat.settings.SecondOrder()`",
    ),
    Code(
        "thermodynamic-identity",
        "power posteriors",
        "the mean log likelihood rises by more or less than its variance allows",
        "more rungs or moves",
    ),
    Code(
        "few-ancestors",
        "SMC, nested",
        "too few of the first particles have descendants to tell how another run would vary",
        "more particles or live points",
    ),
    Code(
        "unequal-descent",
        "SMC, nested",
        "the final weight is shared more unequally among descendants than the standard error explains",
        "more particles and moves",
    ),
    Code(
        "island-scatter",
        "SMC",
        "the islands' own answers scatter more than the standard error allows",
        "more particles, such as `zhat.SMC(n_particles=16000)`",
    ),
    Code("not-converged", "AIS", "with twice the rungs the lower bound rose significantly", "more rungs, or `zhat.SMC()`"),
    Code(
        "large-error",
        "SMC, nested, Chib, Chib & Jeliazkov, bridge, reciprocal",
        "a standard error above one nat (a quarter for methods that use chains) is not that of a normal",
        "more particles, live points or draws",
    ),
    # -- nested sampling
    Code(
        "insertion-ranks",
        "nested",
        "new points do not enter at uniform ranks among the survivors: the constrained moves are too few or too poor",
        "`replacement=zhat.settings.MarkovReplacement(...)` with more moves",
    ),
    Code(
        "few-survivors",
        "nested",
        "a plateau left few live points above it, from which all later ones descend",
        "more live points",
    ),
    Code(
        "stopped-early",
        "nested",
        "the last live points still hold much of the evidence",
        "`stop=zhat.settings.RemainingEvidence(0.01)`",
    ),
    Code(
        "masses-differ",
        "nested",
        "measured prior masses of regions and shrinkages of live points give different evidences",
        "more live points, or `replacement=zhat.settings.MarkovReplacement()`",
    ),
    Code(
        "rejection",
        "nested",
        "draws from the prior hardly ever exceed the threshold",
        "a replacement that moves points",
        (FAILED,),
    ),
    # -- chains and ordinates
    Code(
        "chains-disagree",
        "bridge, reciprocal, harmonic mean, Laplace-Metropolis, Chib, Chib & Jeliazkov, SMC from the mode, searches over models, jumps",
        "chains have not mixed, or are in different modes (R-hat)",
        "longer chains, or `zhat.SMC()`",
    ),
    Code(
        "halves-differ",
        "bridge, reciprocal",
        "the two halves of the chains give different answers",
        "longer chains, or `zhat.SMC()`",
    ),
    Code(
        "regions-differ",
        "reciprocal",
        "an identity that holds for every region gave different answers for two",
        "longer chains, or `zhat.SMC()`",
    ),
    Code(
        "few-draws",
        "bridge, reciprocal, given draws",
        "too few independent draws for a density to be fitted to half of them",
        "longer chains, or `zhat.SMC()`",
    ),
    Code(
        "no-overlap",
        "bridge, reciprocal",
        "the draws and the density that is compared with them do not overlap",
        "`zhat.SMC()`",
        (FAILED,),
    ),
    Code(
        "foreign-draws",
        "given draws, bridge",
        "the draws do not look like draws of this model's posterior",
        "give the draws of this model, with these data and priors",
        (SUSPECT, FAILED),
    ),
    Code(
        "prior-depends",
        "Savage-Dickey",
        "the priors of the tested and of the other parameters depend on each other, so the density ratio is no Bayes factor",
        "write the restricted model and compare: `zhat.compare({...})`",
    ),
    Code(
        "constant-differs",
        "given draws",
        "a log density stored with the draws is the model's plus a constant: one of the two lacks it",
        "compare the two at one point, `model.evaluate(...)`",
    ),
    Code(
        "neck",
        "bridge, reciprocal, Chib & Jeliazkov",
        "the slopes at the draws, or after short moves of them, have a heavy tail: the posterior narrows without end somewhere, and chains "
        "hardly enter there",
        "`zhat.SMC()`, nested sampling, or another parameterisation",
    ),
    Code(
        "joint-density",
        "`zhat.Model.from_log_density`",
        "only the joint density is known: whether the prior integrates to one, and whether a start from the prior finds more, is not checked",
        "`zhat.Model(log_likelihood, prior)`, with both apart",
        (NOTE,),
    ),
    Code(
        "divergences",
        "given draws",
        "more than one transition in two hundred of the sampler that made the draws diverged",
        "smaller steps, another parameterisation, or `zhat.SMC()`",
    ),
    Code(
        "repeated-draws",
        "given draws",
        "more than a tenth of the draws are copies of others: a resampled set, or walkers flattened into one chain; or many stand at one end of a "
        "parameter's range, as clipped draws do",
        "the draws as the sampler made them, each chain apart",
    ),
    Code(
        "interleaved",
        "given draws",
        "draws resemble later ones and not those between: several chains or walkers stand in turn in one array",
        "arrays (chain, draw, ...); of emcee the sampler itself",
    ),
    Code(
        "points-disagree",
        "Chib, Chib & Jeliazkov",
        "an identity that holds at every point gave different answers at two",
        "check the conditionals; longer chains",
    ),
    Code(
        "wrong-conditional",
        "Chib",
        "a full conditional is not that of prior x likelihood",
        "derive it again from this prior and this likelihood",
    ),
    Code("conditional-constant", "Chib", "a full conditional lacks its constant", "add the constant to its log density"),
    Code(
        "low-acceptance",
        "Chib & Jeliazkov",
        "the proposal density is unlike the posterior",
        "smaller blocks, another proposal, or `zhat.SMC()`",
    ),
    Code(
        "no-ordinate",
        "Chib, Chib & Jeliazkov",
        "no posterior draw comes near the point where the density is estimated",
        "a point of higher density, or `zhat.SMC()`",
        (FAILED,),
    ),
    # -- harmonic mean
    Code(
        "infinite-variance",
        "harmonic mean",
        "the draws that carry the variance of 1 / L are not in the sample",
        "`zhat.Importance()` or `zhat.SMC()`",
    ),
    Code(
        "zero-likelihood",
        "harmonic mean",
        "prior mass with zero likelihood is left out of the estimate",
        "`zhat.Importance()` or `zhat.SMC()`",
    ),
    Code(
        "variance-unseen",
        "harmonic mean read from a record",
        "whether the variance of 1 / L exists can only be seen from prior draws",
        "run `zhat.HarmonicMean()` on the model",
    ),
    # -- sandwich and repeats
    Code("gap", "sandwich", "the numbers from below and from above do not meet", "more rungs (a smaller `log_weight_variance`)"),
    Code("crossed", "sandwich", "the upper number lies below the lower one", "more particles; longer chains"),
    Code("scatter", "repeats", "independent runs scatter more than their standard errors allow", "more particles or draws a run"),
    # -- the model
    Code(
        "edge",
        "all",
        "posterior weight lies where a parameter equals the edge of its support: the evidence may be infinite",
        "check the parameters near their bounds",
    ),
    Code(
        "nan-as-zero",
        "all",
        "the log likelihood is NaN near the posterior, which counted as zero likelihood",
        "return -inf where the likelihood is zero, or build the model with `zero_where_nan=True`",
    ),
    Code(
        "nan-far",
        "all",
        "the log likelihood was NaN at some points, none of them near the posterior, which counted as zero likelihood",
        "nothing, if the likelihood is negligible there",
        (NOTE,),
    ),
    Code("no-data", "all", "an array of the data has no rows", "give the data", (NOTE,)),
    Code(
        "log-scale",
        "all",
        "all log likelihoods of prior draws lie between 0 and 1, as probabilities do",
        "return the logarithm of the likelihood",
    ),
    Code("determinism", "black boxes", "the same point gave two different likelihoods", "fix the likelihood's random numbers"),
    Code("precision", "all", "the likelihood is not resolved far below a nat", "compute it in float64"),
    Code(
        "target-not-reached",
        "precision=",
        "the standard error is above the one that was asked for, because the budget or the number of rounds did not allow more",
        "a larger `zhat.Budget(...)`, `workers=`, or a larger `precision=`",
        (NOTE,),
    ),
    # -- families of models
    Code(
        "several-modes",
        "families of models",
        "searches from prior draws found other modes of a model",
        "compare the best models with `zhat.SMC()`",
    ),
    Code("suspect-models", "families of models", "the evidence of some models that count is in doubt", "run these by themselves"),
    Code(
        "best-model",
        "searches over models",
        "few walks visited the best model found, so there may be better ones",
        "more `n_moves`",
    ),
    Code("few-visited", "searches over models", "the evaluated models hold little of the mass", "more `n_moves`"),
    Code(
        "cheap-evidences",
        "searches over models",
        "the cheap evidences that guide the search are far from the refined ones",
        "`zhat.compare` on the best few",
    ),
    Code("pilot", "jumps", "a pilot run from which jumps are proposed doubts itself", "see the pilot's own reason"),
    Code("few-switches", "jumps", "too few switches between models for a standard error of the odds", "more `n_moves`"),
    Code(
        "prior-visits",
        "jumps",
        "with the likelihood off, visits do not match the prior: a move is wrong",
        "check every `zhat.Move`",
    ),
    Code("pilots-disagree", "jumps", "the odds differ from those of the pilot runs", "run both models with `zhat.SMC()`"),
    # -- stopped
    Code("budget", "all", "the budget was spent; the record holds what there was", "a larger `zhat.Budget(...)`", (FAILED,)),
    Code("interrupted", "all", "Ctrl-C; the record holds what there was", "run it again", (FAILED,)),
    Code(
        "stalled",
        "SMC, power posteriors, stepping stones",
        "no next inverse temperature is a number: the likelihood varies too much",
        "rescale the log likelihood, or bound the prior",
        (FAILED,),
    ),
)
CODES: dict[str, Code] = {code.name: code for code in TABLE}


def known(name: str, level: str) -> str:
    """The name itself, if the table has it at this level; else a refusal with the nearest known one."""
    if name not in CODES:
        close = difflib.get_close_matches(name, CODES, n=1, cutoff=0.4)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise BadInput(
            f"no verdict has the code {name!r}{hint} Give the code a line in zhat.results.codes.TABLE, or make a verdict of your own "
            f'as zhat.Status(zhat.Level.{level.upper()}, (zhat.types.Reason("my-code", "what is wrong; what to try."),)).'
        )
    if level not in CODES[name].levels:
        what = "a note" if level == NOTE else f"a {level} one"
        raise BadInput(f"the code {name!r} is for {' or '.join(CODES[name].levels)} results, not for {what}.")
    return name
