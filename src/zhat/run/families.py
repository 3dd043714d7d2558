"""Families of methods, by the end from which they start, and the order in which they run where an answer needs a second view.

What one family misses another sees: proposals at modes miss what lies at no mode; tempering from the prior passes by a spike inside a
broad mode (a first-order transition); likelihood thresholds lose a mode without a live point; chains keep to where they start. So an
answer is accepted when two families, or two algorithms of one, agree on it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from zhat.methods._base import Method
from zhat.methods.bridge import Bridge
from zhat.methods.importance import Importance
from zhat.methods.inla import INLA, can_integrate
from zhat.methods.nested import REGIONS_OF_COMPILED_UP_TO, REGIONS_UP_TO, NestedSampling
from zhat.methods.smc import SMC
from zhat.missed_mass.effort import EFFORT
from zhat.model.model import Model
from zhat.sampling.chains.bridging import FittedMixture
from zhat.sampling.importance.reference import PathFromMode
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.slice import Slice
from zhat.sampling.nested.replacement import MarkovReplacement


class End(enum.Enum):
    """Where a family starts."""

    MODES = "from the modes"
    TEMPERING = "from the prior, by tempering"
    THRESHOLDS = "from the prior, by likelihood thresholds"
    CHAINS = "from posterior chains"


@dataclass(frozen=True)
class Family:
    """One algorithm as a view of the evidence.

    Attributes
    ----------
    label : str
        Of the algorithm: two runs of one label are one view.
    end : End
    method : Method
    number : int
        Of the run, so that a second run of a method has random numbers of its own.
    repeats : bool
        Whether it is an algorithm that has run before, with more effort.
    other_coordinates : bool
        Whether it runs in the other coordinates of the model, where it has any (`model.coordinates.standard`).
    grows_from, grows_to : float
        Where a precision is asked for: the share of the method's own sizes with which it begins at least, and to which a run in doubt
        grows before the next family runs. A family that begins with a share runs only there: elsewhere it had all of its size before.
    suffices : float
        Where a precision is asked for: the standard error at which its run is precise enough, however small the target.
    shaped_by : str
        Label of an earlier family: the method's proposal is fitted to the posterior draws of its last accepted run, and the family is left
        out where there is none.
    """

    label: str
    end: End
    method: Method
    number: int = 0
    repeats: bool = False
    other_coordinates: bool = False
    grows_from: float = 0.0
    grows_to: float = 1.0
    suffices: float = 0.0
    shaped_by: str = ""

    def model_of(self, model: Model) -> Model:
        """The model in the coordinates in which this family runs."""
        return (model.in_other_coordinates() or model) if self.other_coordinates else model

    def as_run_on(self, model: Model) -> Family:
        """The same, in other coordinates only where the model has any."""
        return self if self.model_of(model) is not model else replace(self, other_coordinates=False)


# Live points of a second view: a standard error of a tenth or two of a nat, for half of the cost of the method's default.
LIVE_POINTS = 1000
# Above this many dimensions nested sampling takes minutes: bridge sampling and a second kernel of SMC are the further views.
NESTED_UP_TO = 30
# Up to here it follows bridge sampling whose chains mix poorly: on a horseshoe of 61 parameters it takes 25 CPU seconds, SMC minutes.
NESTED_AFTER_CHAINS_UP_TO = 64

# Where a precision is asked for: a standard error of a view by thresholds that is small enough to give the answer, and of one that confirms an
# answer from the modes. (A half of the posterior that is missing there is two standard errors.) Moves take a million likelihoods for a
# tenth; regions reach a hundredth with the fewest live points.
GIVES, CONFIRMS = 0.1, 0.5 * math.log(2.0)

FIRST = Family("importance", End.MODES, Importance())
IN_OWN_COORDINATES = replace(FIRST, number=1)
BRIDGE = Family("bridge", End.CHAINS, Bridge())
# Above `NESTED_UP_TO` dimensions bridge sampling comes before SMC: chains long enough for a fitted density (a thousand of 16,000 draws
# that are independent would do in a hundred dimensions), with a tempered population of their own as second view, at a tenth to a
# half of the gradients of an SMC run. Chains that disagree a little become up to four times as long: a Gaussian process of forty latent values is
# answered in 76 CPU seconds, after which no other family had an answer in 600. Above `BRIDGE_UP_TO` the draws would take gigabytes.
BRIDGE_CHAINS, BRIDGE_DRAWS_PER_DIMENSION, BRIDGE_WARMUP, BRIDGE_UP_TO, BRIDGE_LONGER = 16, 10, 400, 400, 4
# Up to there, for posteriors that no other family could follow: a mixture fitted to long chains.
BRIDGE_OF_CURVED = Family(
    "bridge", End.CHAINS, Bridge(n_chains=BRIDGE_CHAINS, n_draws=3000, proposal=FittedMixture()), 1, other_coordinates=True
)
# Chains that the caller brings, and a density fitted to them; Bridge with chains of its own is another view.
FROM_DRAWS = Family("bridge on your draws", End.CHAINS, Bridge(), 1)
# For a black box nested sampling from regions is the second view, at a third of the likelihoods of a tempered population. A run in doubt does
# not grow: nested sampling costs less than five times as many draws. Above so many dimensions regions may not pay, and moves take hundreds of
# thousands; so after a rough run of nested sampling importance sampling has a quarter of its own draws, or all of them. (A thousand draws that
# are refused and then drawn again until they are accepted would be selected by their weights: 3 standard errors low.)
FIRST_OF_BLACK_BOX = Family("importance", End.MODES, Importance(coverage_check=False), grows_to=0.0)
ROUGH_ABOVE = 6
# Nested sampling as a view of a black box: the first family has looked for modes already, and where this one lost some of them the two are
# compared on the rest (`missed_mass.visited`). So it makes an eighth of the starts that it makes by itself.
OF_BLACK_BOX = NestedSampling(search_effort=0.125)
GROWN = replace(FIRST_OF_BLACK_BOX, number=4, grows_from=0.25, grows_to=1.0)
# Where importance sampling at the modes has no answer, draws from a density fitted to those of nested sampling check its prior masses, at a
# hundredth of the likelihoods of an SMC run. They start from one end with it, so they say nothing about modes that it lost.
SHAPED_BY_NESTED = Family(
    "importance at nested draws",
    End.THRESHOLDS,
    Importance(coverage_check=False),
    3,
    grows_to=0.1,
    suffices=GIVES,
    shaped_by="nested",
)


# Above this many dimensions no t at a mode fits, nested sampling takes hours, and tempering from the prior minutes: a path from a normal near
# the posterior comes first, and has a view of its own from posterior chains that start at prior draws. Chains that are long enough for a density
# fitted to them are next where their draws do not take gigabytes, then a path from the prior, by moves along gradients.
MANY_DIMENSIONS = EFFORT.hundreds
# Particles of a path from the prior there, at least.
FEWEST = 400
FROM_MODE = Family("smc from the mode", End.MODES, SMC(start=PathFromMode()))
IN_OWN_FROM_MODE = replace(FROM_MODE, number=2)
BY_HMC = Family("smc by HMC", End.TEMPERING, SMC(kernels=(HMC(),)), 1)
# The same from few particles: above thirty dimensions its standard error of 0.1 to 0.2 confirms an answer from chains as their own population
# does where that is precise enough, at a fifth of the time of SMC (logistic regression with a hundred coefficients: 8 of 44 CPU seconds).
FEW_BY_HMC = replace(BY_HMC, method=SMC(n_particles=500, kernels=(HMC(),)), number=3, other_coordinates=True)


# Latent Gaussian parameters integrated by Laplace's method: hundreds of them are no more than a few.
INTEGRATED = Family("inla", End.MODES, INLA())


def first(model: Model) -> Family:
    """The family that runs first."""
    if can_integrate(model):
        return INTEGRATED
    if has_many_dimensions(model):
        return _standard(FROM_MODE)
    in_regions = model.is_black_box and model.n_dimensions <= REGIONS_UP_TO
    return _standard(FIRST_OF_BLACK_BOX if in_regions else FIRST)


def has_many_dimensions(model: Model) -> bool:
    """Whether a path from the mode comes first."""
    return model.n_dimensions > MANY_DIMENSIONS and not model.is_black_box


def _of_many_dimensions(model: Model, first_accepted: bool) -> Iterator[Family]:
    """The families after the path from the mode."""
    if not first_accepted and model.in_other_coordinates() is not None:
        yield IN_OWN_FROM_MODE
    if model.n_dimensions <= BRIDGE_UP_TO:
        yield _bridge(model)
    elif not first_accepted:
        return  # a path from the prior takes many minutes there, and no second family would confirm it
    yield _standard(replace(BY_HMC, method=SMC(n_particles=_affordable(model), kernels=(HMC(),))))


def _affordable(model: Model) -> int:
    """Particles of a path from the prior, fewer in proportion to the dimensions."""
    n = SMC().n_particles * MANY_DIMENSIONS // (2 * model.n_dimensions)
    return max(4 * (n // 4), FEWEST)


def _standard(family: Family) -> Family:
    """The family in standard coordinates: there hierarchical priors have modes, and no scale that depends on other parameters."""
    return replace(family, other_coordinates=True)


def following(model: Model, first_accepted: bool) -> Iterator[Family]:
    """The families after the first one; the last ones repeat with twice the effort.

    Where importance sampling is accepted and tempering differs from it, thresholds decide, which have no first-order transitions.
    Otherwise SMC comes first, which is the more precise one.
    """
    if can_integrate(model):
        yield _standard(FROM_MODE if has_many_dimensions(model) else FIRST)
    if has_many_dimensions(model):
        yield from _of_many_dimensions(model, first_accepted)
        return
    if not first_accepted and model.in_other_coordinates() is not None:
        yield IN_OWN_COORDINATES  # better where the data say more about a parameter than its prior does
    smc = _standard(Family("smc", End.TEMPERING, SMC()))
    by_hmc = BY_HMC
    more = SMC(n_particles=2 * SMC().n_particles)
    by_slices = MarkovReplacement(kernel=Slice(max_out=1))
    slices = _by_thresholds("nested by slices", NestedSampling(n_live=LIVE_POINTS, replacement=by_slices), 1)
    if model.n_dimensions > NESTED_UP_TO:
        if model.is_black_box:
            yield from (smc, BRIDGE)
        elif model.n_dimensions <= NESTED_AFTER_CHAINS_UP_TO:
            nested = _by_thresholds("nested", _by_moves(LIVE_POINTS))
            yield from (_bridge(model), _standard(nested), FEW_BY_HMC, smc, _standard(slices), by_hmc)
        else:
            yield from (_bridge(model), FEW_BY_HMC, smc, by_hmc)
        yield Family("smc", End.TEMPERING, more, 2)
        return
    if model.is_black_box:  # regions in up to twelve dimensions: a tenth of the likelihoods of moves
        rough = first_accepted or model.n_dimensions > ROUGH_ABOVE
        yield _by_thresholds("nested", OF_BLACK_BOX, suffices=CONFIRMS if rough else GIVES)
        yield SHAPED_BY_NESTED
        if not first_accepted and model.n_dimensions > ROUGH_ABOVE:
            yield _standard(GROWN)
        yield _by_thresholds("nested", replace(OF_BLACK_BOX, n_live=LIVE_POINTS), 2)
        yield from (smc, slices, Family("smc", End.TEMPERING, more, 3))
        return
    in_regions = model.n_dimensions <= REGIONS_OF_COMPILED_UP_TO
    nested = _standard(_by_thresholds("nested", NestedSampling() if in_regions else _by_moves(LIVE_POINTS)))
    if first_accepted:
        yield from (nested, smc)
    elif in_regions:
        yield from (nested, _standard(SHAPED_BY_NESTED), smc)
    else:
        yield from (smc, nested)
    yield from (slices, BRIDGE_OF_CURVED, by_hmc, _by_thresholds("nested", _by_moves(2 * LIVE_POINTS), 2))


def _by_thresholds(label: str, method: NestedSampling, number: int = 0, suffices: float = GIVES, repeats: bool = False) -> Family:
    return Family(label, End.THRESHOLDS, method, number, repeats, suffices=suffices)


def _by_moves(n_live: int) -> NestedSampling:
    """Nested sampling by moves: as a view of compiled models of more dimensions regions are not calibrated."""
    return NestedSampling(n_live=n_live, replacement=MarkovReplacement())


def _bridge(model: Model) -> Family:
    """Bridge sampling with chains as long as a density in so many dimensions needs."""
    n_draws = BRIDGE_DRAWS_PER_DIMENSION * model.n_dimensions
    return _standard(
        replace(BRIDGE, method=Bridge(n_chains=BRIDGE_CHAINS, n_draws=n_draws, n_warmup=BRIDGE_WARMUP, longer=BRIDGE_LONGER))
    )


def thorough(model: Model) -> Iterator[Family]:
    """The families of a crosscheck: one from each end, then a second algorithm of each, then repeats with more effort."""
    if can_integrate(model):
        yield INTEGRATED
    if has_many_dimensions(model):
        yield _standard(FROM_MODE)
        if model.in_other_coordinates() is not None:
            yield IN_OWN_FROM_MODE
        yield from _of_many_dimensions(model, True)
        return
    yield _standard(FIRST)
    if model.in_other_coordinates() is not None:
        yield IN_OWN_COORDINATES
    yield _standard(Family("smc", End.TEMPERING, SMC()))
    has_nested = model.n_dimensions <= NESTED_UP_TO
    if has_nested:
        yield _standard(_by_thresholds("nested", OF_BLACK_BOX if model.is_black_box else _by_moves(LIVE_POINTS)))
    long_chains = not model.is_black_box and NESTED_UP_TO < model.n_dimensions <= BRIDGE_UP_TO
    yield _bridge(model) if long_chains else BRIDGE
    if not model.is_black_box:
        yield BY_HMC
    if has_nested:
        by_slices = MarkovReplacement(kernel=Slice(max_out=1))
        yield _by_thresholds("nested by slices", NestedSampling(n_live=LIVE_POINTS, replacement=by_slices), 1)
    yield Family("importance", End.MODES, Importance(n_draws=2 * Importance().n_draws), 1, repeats=True)
    yield Family("smc", End.TEMPERING, SMC(n_particles=2 * SMC().n_particles), 2, repeats=True)
    if has_nested:
        more = replace(OF_BLACK_BOX, n_live=4 * LIVE_POINTS) if model.is_black_box else _by_moves(4 * LIVE_POINTS)
        yield _by_thresholds("nested", more, 2, repeats=True)
