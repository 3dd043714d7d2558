"""Do given draws belong to a model? What came with them against the model's own densities, and the score identities.

* A log density that the sampler stored is compared with log prior + log likelihood of the model at every draw: the two must be
  equal, or differ by one constant. The same for stored totals of the log likelihood and of the log prior, which tell apart other
  data and another prior.
* The score identities (`numerics.draws.score_identities`) need nothing but the draws and a gradient at each.

Facts only; `zhat.verdicts.given_draws` judges them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from zhat.model.model import Model
from zhat.numerics.draws.score_identities import ScoreTest, score_test
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import log_densities, log_jacobian, slopes
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.given import Given, strides
from zhat.sampling.chains.posterior import Chains

# Draws at which gradients are taken: enough for every z-score of the guides, at a cost below that of the draws.
AT_MOST = 4000
# Coordinates up to which all exchanges of two are tried, to name the two columns that are exchanged; and draws for each.
EXCHANGES_UP_TO = 12
DRAWS_OF_EXCHANGE = 8
# Rounding of a stored log density: absolute, and relative to its size (sums in single precision).
ROUNDING, RELATIVE = 1e-3, 5e-6
# Log of the chance above which exchanged columns are taken for the right ones.
MENDED = np.log(1e-3)


@dataclass(frozen=True)
class Gap:
    """Stored minus own log density: the constant part, and how far a draw is from it at most, in units of the rounding."""

    constant: float
    spread: float
    rounding: float

    @property
    def is_constant(self) -> bool:
        """Whether the two differ by one constant."""
        return self.spread <= self.rounding

    @property
    def is_zero(self) -> bool:
        """Whether they are equal."""
        return self.is_constant and abs(self.constant) <= self.rounding


@dataclass(frozen=True)
class Belonging:
    """What speaks for or against the draws being the model's.

    Attributes
    ----------
    lp, log_likelihood, log_prior : Gap or None
        Stored densities against the model's own; None where nothing was stored.
    without_jacobian : bool
        The stored density is that of the parameters themselves.
    exchanged : tuple of two coordinate names, or None
        Two columns whose exchange mends what is wrong.
    score : ScoreTest or None
    no_score_because : str
        Why the score identities were not tested.
    """

    lp: Gap | None = None
    log_likelihood: Gap | None = None
    log_prior: Gap | None = None
    without_jacobian: bool = False
    exchanged: tuple[str, str] | None = None
    score: ScoreTest | None = None
    no_score_because: str = ""


def belonging(model: Model, given: Given, chains: Chains, elsewhere: Array, loop: Loop) -> Belonging:
    """Compare given draws with a model; `elsewhere` are log likelihoods at prior draws, or at points around the draws, where zeros mean walls."""
    draws = chains.draws
    own = draws.log_prior + draws.log_likelihood
    jacobian: Array | None = None
    if given.lp is not None or given.log_prior is not None:
        jacobian = log_jacobian(model, draws.position, draws.log_prior)
    lp, without_jacobian, exchanged = None, False, None
    if given.lp is not None:
        assert jacobian is not None
        lp, without_jacobian = _stored_density(given.lp, own, jacobian)
        if not lp.is_constant:
            exchanged = _exchange_for_density(model, given, loop)
    score, why = None, _no_score(model, elsewhere)
    if not why:
        some = _some(given.position)
        score = score_test(some, slopes(model, some.reshape(-1, some.shape[2]), loop).reshape(some.shape))
        if exchanged is None and score.log_p < MENDED and (lp is None or not lp.is_constant):
            exchanged = _exchange_for_score(model, some, loop)
    return Belonging(
        lp=lp,
        log_likelihood=None if given.log_likelihood is None else gap(given.log_likelihood, draws.log_likelihood),
        log_prior=None if given.log_prior is None or jacobian is None else gap(given.log_prior, draws.log_prior - jacobian),
        without_jacobian=without_jacobian,
        exchanged=exchanged,
        score=score,
        no_score_because=why,
    )


def gap(stored: Array, own: Array) -> Gap:
    """A stored log density against the model's own, at the same draws."""
    difference = np.ravel(stored) - np.ravel(own)
    constant = float(np.median(difference))
    rounding = ROUNDING + RELATIVE * float(np.abs(own).max())
    if not np.isfinite(difference).all():
        return Gap(constant, np.inf, rounding)
    return Gap(constant, float(np.abs(difference - constant).max()), rounding)


def _stored_density(stored: Array, own: Array, jacobian: Array) -> tuple[Gap, bool]:
    """The gap of the sampler's log density, and whether that lacks the Jacobian.

    It may be an energy, of the other sign (some versions of ArviZ store NumPyro's potential energy as `lp`).
    """
    first = gap(stored, own)
    for sign, without in ((1.0, False), (-1.0, False), (1.0, True)):
        found = gap(sign * stored, own - jacobian if without else own)
        if found.is_constant:
            return found, without and float(np.ptp(jacobian)) > found.rounding
    return first, False


def _no_score(model: Model, elsewhere: Array) -> str:
    if model.is_black_box:
        return "a black box has no gradient"
    if (elsewhere == -np.inf).any():
        return "the density is zero in part of the parameter space, and the identities need not hold at such an edge"
    return ""


def _some(position: Array) -> Array:
    return _at_most(position, AT_MOST)


def _at_most(position: Array, n: int) -> Array:
    n_chains, n_draws, _ = position.shape
    across, along = strides(n_chains, n_draws, n)
    return position[::across, ::along]


def _exchange_for_density(model: Model, given: Given, loop: Loop) -> tuple[str, str] | None:
    """Two coordinates whose exchange makes the stored density the model's own."""
    d = given.position.shape[2]
    if not 2 <= d <= EXCHANGES_UP_TO:
        return None
    assert given.lp is not None
    rows = np.linspace(0, given.lp.size - 1, DRAWS_OF_EXCHANGE).astype(int)
    points, stored = given.position.reshape(-1, d)[rows], given.lp.reshape(-1)[rows]
    pairs = list(combinations(range(d), 2))
    own = np.add(*log_densities(model, np.concatenate([_exchanged(points, *pair) for pair in pairs]), loop))
    for pair, values in zip(pairs, own.reshape(len(pairs), -1), strict=True):
        if np.isfinite(values).all() and (gap(stored, values).is_constant or gap(-stored, values).is_constant):
            return _names(model, pair)
    return None


def _exchange_for_score(model: Model, position: Array, loop: Loop) -> tuple[str, str] | None:
    """Two coordinates whose exchange makes the score identities hold."""
    d = position.shape[2]
    if not 2 <= d <= EXCHANGES_UP_TO:
        return None
    few = _at_most(position, AT_MOST // 4)
    for pair in combinations(range(d), 2):
        other = _exchanged(few, *pair)
        if score_test(other, slopes(model, other.reshape(-1, d), loop).reshape(other.shape)).log_p > MENDED:
            return _names(model, pair)
    return None


def _exchanged(position: Array, i: int, j: int) -> Array:
    other = position.copy()
    other[..., [i, j]] = position[..., [j, i]]
    return other


def _names(model: Model, pair: tuple[int, int]) -> tuple[str, str]:
    labels = model.space.coordinate_names()
    return labels[pair[0]], labels[pair[1]]
