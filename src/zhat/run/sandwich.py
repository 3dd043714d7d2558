"""Bounds on the log evidence from below and above: annealing from the prior, and back from the posterior.

    E[log Z_up] <= log Z <= E[-log W_down],      W_down the mean weight of lineages from the posterior to the prior,

because annealing up is unbiased for Z and annealing down for 1 / Z, and the logarithm is concave (Grosse, Ghahramani & Adams
2015). Where the two agree, both are right; the gap is an upper bound, in expectation, on the error of either. A narrow peak that
holds the mass, which no run in one direction shows, widens the gap.

The bound from above needs *exact* draws of the posterior, which do not exist for real data, so there are two uses:

* `sandwich(model)`: on the data of the model. Annealing down starts from chains, so the upper number is heuristic: a mode that the
  chains missed is missing from it too. The result states this. (A mode check follows, as in AIS.)
* `sandwich(model, simulate=...)`: on data like yours. Parameters are drawn from the prior and data from them; then the parameters
  *are* an exact draw of the posterior given those data, chains that start there remain exact, and both bounds are rigorous in
  expectation. The gap shows how accurate the settings are on such data, and so on real data of the same kind and size.

`exact_draws=` takes draws that are known to be exact by other means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import numpy as np

from zhat.errors import BadInput, BadType
from zhat.formatting import with_error
from zhat.methods.annealed import AIS
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.look import look_for_missed_mass
from zhat.missed_mass.nan_check import NanFound, nan_near
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model
from zhat.numerics.series import log_mean_se_correlated
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Status, promised_se
from zhat.results.records import Array, Draws
from zhat.run.whose_model import not_a_model
from zhat.sampling.backend.backend import shown_parameters
from zhat.sampling.backend.evaluation import log_densities, prior_draws, prior_positions
from zhat.sampling.backend.loop import Budget, Loop
from zhat.sampling.importance.from_draws import positions_of
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.lineages import anneal
from zhat.sampling.tempering.path_survey import Plan
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key, check_seed
from zhat.verdicts.missed_mass import missed_mass_status
from zhat.verdicts.nan import nan_status
from zhat.verdicts.weights import weights_status

# Moves of chains that all start at the one exact draw: they are exact after any number, and less correlated after more. In calls of
# this many.
MOVES, AT_ONCE = 100, 25
# A gap is suspect when it is this many standard errors wide, and wider than this many nats.
WIDE_ERRORS, WIDE_NATS = 4.0, 0.1


@dataclass(frozen=True)
class Sandwich:
    """Log evidence from below and from above.

    Attributes
    ----------
    lower, upper : float
        From the prior up, and from the posterior down.
    lower_se, upper_se : float or None
        Their standard errors; None where the weights do not allow one, and with a status that is not ok (then both are among the
        diagnostics).
    rigorous : bool
        Whether the upper number is a bound in expectation (exact draws), or a heuristic one (chains on real data).
    simulated : bool
        Whether the data were simulated: then both numbers are about those data.
    status : Status
        `ok` when the two agree.
    """

    lower: float
    upper: float
    lower_se: float | None
    upper_se: float | None
    rigorous: bool
    simulated: bool
    status: Status
    model: str
    seed: int
    n_likelihood: int
    n_gradient: int
    seconds: float
    diagnostics: Mapping[str, Diagnostic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Remove the standard errors beside a status that is not ok."""
        object.__setattr__(self, "lower_se", promised_se(self.lower_se, self.status))
        object.__setattr__(self, "upper_se", promised_se(self.upper_se, self.status))

    @property
    def gap(self) -> float:
        """Upper less lower number, in nats."""
        return self.upper - self.lower

    @property
    def gap_se(self) -> float | None:
        """Standard error of the gap: the two runs are independent."""
        if self.lower_se is None or self.upper_se is None:
            return None
        return math.hypot(self.lower_se, self.upper_se)

    def __str__(self) -> str:
        """One line: ``log Z from -7.97 ± 0.01 to -7.95 ± 0.01: gap 0.02  ok``."""
        ends = [with_error(value, se) for value, se in self._ends()]
        return f"log Z from {ends[0]} to {ends[1]}: gap {self.gap:.3f}  {self.status}"

    __repr__ = __str__

    def explain(self) -> str:
        """The line of `__str__`, what kind of bounds these are, and every reason of the status."""
        lines = [str(self)]
        if self.simulated:
            lines.append(
                "  data simulated from the prior: the numbers are about those data, and the gap about what these settings "
                "achieve on data like yours."
            )
        if self.rigorous:
            lines.append("  both are bounds in expectation: on average the first lies below log Z and the second above.")
        else:
            lines.append(
                "  the first is a lower bound in expectation; the second is heuristic, since it starts from chains: a mode that "
                "they missed is missing from it too. Use simulate=... for a rigorous pair."
            )
        lines += [f"  {self.status.level.value}: {reason.sentence}" for reason in self.status.reasons]
        return "\n".join(lines)

    def _ends(self) -> tuple[tuple[float, float | None], tuple[float, float | None]]:
        return (self.lower, self.lower_se), (self.upper, self.upper_se)


def sandwich(
    model: Model,
    method: AIS | None = None,
    *,
    simulate: Callable[[dict[str, Any], np.random.Generator], Any] | None = None,
    exact_draws: Mapping[str, Any] | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
) -> Sandwich:
    """Anneal up from the prior and back down from the posterior along the same rungs.

    Parameters
    ----------
    model : Model
    method : AIS, optional
        Its ladder, kernels and number of lineages serve both directions.
    simulate : callable ``(params, rng) -> data``, optional
        Draws data given parameters (a dictionary of NumPy values); the sandwich is then made for such data, and rigorous.
    exact_draws : dictionary of arrays, optional
        Exact posterior draws for the model's data, by parameter name, leading axis over draws.
    seed, progress, budget
        As for `evidence`. A budget that is spent raises: one bound alone is no sandwich.
    """
    _check(model, method, simulate, exact_draws)
    seed = check_seed(seed)
    method = method or AIS()
    key, loop = Key(seed).child("sandwich"), Loop(budget, progress, "sandwich")
    with loop.listening(), jax.enable_x64(True):
        truth = None
        if simulate is not None:
            model, truth = _simulated(model, simulate, key.child("simulate"))
        effort = method.look.effort
        outliers = Outliers(model, effort)
        plan, _ = method.prepare(model, key.child("plan"), loop, observer=outliers)
        n = method.n_particles
        start = prior_draws(model, n, key.child("prior"), loop)
        upward = anneal(model, plan, start, n // 2, key.child("up"), loop)
        up = Weights.of(upward.log_weights)
        if truth is not None:
            top = _from_one(model, plan, truth, n, key.child("posterior"), loop)
        elif exact_draws is not None:
            top = _given(model, exact_draws, n, loop)
        else:
            top = _from_chains(model, n, key, loop)
        down = anneal(model, plan.backwards(), top, n // 2, key.child("down"), loop).log_weights
        finding = Finding(Answer(float(up.log_mean), float(up.log_mean_se)), effort)
        if (
            truth is None and exact_draws is None and up.log_mean_se > 0
        ):  # chains may have missed the same mass as the run from the prior
            ended = upward.record().final
            assert ended is not None
            witnesses = Sampled(ended, outliers.draws)
            finding = look_for_missed_mass(model, finding.answer, witnesses, effort, key.child("mode"), loop)
        nan = Status.ok()
        if loop.n_nan:
            met = NanFound(loop.n_nan, loop.n_likelihood + loop.n_gradient, prior_share=None)
            near = met if model.zero_where_nan else nan_near(model, top, met, key.child("nan"), loop)
            nan = nan_status(near, model.zero_where_nan, float(up.log_mean_se))
        seconds = loop.seconds
    ends = Ends(
        up=up,
        log_down=down,
        chain=top.chain,
        possible=float((start.log_likelihood > -np.inf).mean()),
        is_exact=exact_draws is not None or truth is not None,
    )
    return Sandwich(
        **ends.bounds(),
        rigorous=ends.is_exact,
        simulated=truth is not None,
        status=ends.status.and_(missed_mass_status(finding)).and_(nan),
        model=model.name,
        seed=seed,
        n_likelihood=loop.n_likelihood,
        n_gradient=loop.n_gradient,
        seconds=seconds,
        diagnostics={"n_rungs": len(plan.betas) - 1, **ends.diagnostics, **finding.diagnostics},
    )


def _check(model: Any, method: Any, simulate: Any, exact_draws: Any) -> None:
    if not isinstance(model, Model):
        raise BadType(not_a_model(model, "sandwich"))
    if method is not None and not isinstance(method, AIS):
        raise BadType(f"method is a {type(method).__name__}: a sandwich is made with zhat.AIS(...).")
    if simulate is not None and not callable(simulate):
        raise BadType(f"simulate is a {type(simulate).__name__}: give a function (params, rng) -> data.")
    if simulate is not None and exact_draws is not None:
        raise BadInput("simulate=... and exact_draws=...: give one of them; the draws would not be of the simulated data.")
    if simulate is not None and model.data is None:
        raise BadInput(
            f"simulate=...: model {model.name!r} takes no data; give them as zhat.Model(log_likelihood, prior, data=...)."
        )


# -- posterior draws ---------------------------------------------------------------------------------------------------------


def _simulated(model: Model, simulate: Callable[..., Any], key: Key) -> tuple[Model, Array]:
    """The model with data simulated from a prior draw, and that draw."""
    truth = prior_positions(model, 1, key.child("truth"))
    params = shown_parameters(model, truth)
    data = simulate({name: value[0] for name, value in params.items()}, key.child("data").generator())
    return model.with_data(data), truth


def _from_one(model: Model, plan: Plan, truth: Array, n: int, key: Key, loop: Loop) -> Draws:
    """n exact draws from one: chains that all start there, each exact after every move, less and less correlated."""
    position = np.repeat(truth, n, axis=0)
    log_prior, log_likelihood = (np.repeat(part, n) for part in log_densities(model, truth, loop))
    state = State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)
    if plan.kernels:
        rng = key.generator()
        moving = plan.last(Tempered(1.0))
        for _ in range(MOVES // AT_ONCE):
            state = sweep(model, moving, state, AT_ONCE, rng, loop).last
            loop.tick("moves at the posterior")
    return Draws(position=state.position, log_prior=state.log_prior, log_likelihood=state.log_likelihood, n_drawn=n)


def _from_chains(model: Model, n: int, key: Key, loop: Loop) -> Draws:
    """n draws out of the posterior chains, evenly spaced within each."""
    draws = Workbench(model, key, loop).posterior().draws
    assert draws.chain is not None
    n_chains = int(draws.chain.max()) + 1
    each = len(draws.position) // n_chains
    if n > len(draws.position):
        raise BadInput(
            f"AIS(n_particles={n}): the chains have only {len(draws.position):,} draws to start from; take fewer particles."
        )
    rows = np.linspace(0, len(draws.position) - 1, n).round().astype(np.int64)
    return Draws(
        position=draws.position[rows],
        log_prior=draws.log_prior[rows],
        log_likelihood=draws.log_likelihood[rows],
        n_drawn=n,
        chain=rows // each,
    )


def _given(model: Model, exact_draws: Mapping[str, Any], n: int, loop: Loop) -> Draws:
    """The caller's draws, as unconstrained vectors; as many as there are lineages, in turn."""
    given = positions_of(model, exact_draws, "exact_draws")
    position = given[np.arange(n) % len(given)]
    log_prior, log_likelihood = log_densities(model, position, loop)
    if not (np.isfinite(log_prior) & np.isfinite(log_likelihood)).all():
        raise BadInput("exact_draws: some lie where the posterior density is zero; they cannot be draws of it.")
    return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=n)


# -- the two numbers -----------------------------------------------------------------------------------------------------------


def upper_from(log_weights: Array, chain: Any, possible: float, n_prior: int) -> tuple[float, float, Weights]:
    """Log Z from the weights of annealing down, its standard error, and the weights.

    Annealing down ends on the part of the prior where the likelihood is not zero; the share `possible` of `n_prior` prior draws
    lies there.
    """
    weights = Weights.of(log_weights)
    se = float(weights.log_mean_se)
    if chain is not None:  # draws of a chain are correlated: the larger of the two standard errors
        length = min(np.bincount(chain))
        by_chain = np.stack([log_weights[chain == c][:length] for c in np.unique(chain)])
        if length >= 4:
            se = max(se, log_mean_se_correlated(by_chain))
    error_of_share = (1.0 - possible) / (possible * n_prior)
    return -float(weights.log_mean) + math.log(possible), math.sqrt(se**2 + error_of_share), weights


@dataclass(frozen=True)
class Ends:
    """The weights of both directions: up from the prior, and down from the posterior."""

    up: Weights
    log_down: Array
    chain: Any
    possible: float
    is_exact: bool

    @cached_property
    def _down(self) -> tuple[float, float, Weights]:
        return upper_from(self.log_down, self.chain, self.possible, self.up.n_drawn)

    def bounds(self) -> dict[str, Any]:
        """Both numbers, each with a standard error where its weights allow one."""
        upper, upper_se, down = self._down
        errors = [
            se if weights_status(weights, "take more rungs").is_ok else None
            for se, weights in ((float(self.up.log_mean_se), self.up), (upper_se, down))
        ]
        return {"lower": float(self.up.log_mean), "upper": upper, "lower_se": errors[0], "upper_se": errors[1]}

    @property
    def status(self) -> Status:
        """Whether the two numbers agree."""
        upper, upper_se, _ = self._down
        return gap_status(upper - float(self.up.log_mean), math.hypot(float(self.up.log_mean_se), upper_se), self.is_exact)

    @property
    def diagnostics(self) -> dict[str, Diagnostic]:
        """Diagnostics of the weights of both directions, and their standard errors, reliable or not."""
        _, upper_se, down = self._down
        return {
            "up_ess": float(self.up.ess),
            "up_se": float(self.up.log_mean_se),
            "up_pareto_k": float(self.up.pareto_k),
            "down_ess": float(down.ess),
            "down_se": upper_se,
            "down_pareto_k": float(down.pareto_k),
            "prior_share_possible": self.possible,
        }


def gap_status(gap: float, error: float, rigorous: bool) -> Status:
    """Whether the two numbers agree."""
    if not abs(gap) > max(WIDE_ERRORS * error, WIDE_NATS):
        return Status.ok()
    if gap > 0:
        return Status.suspect(
            "gap",
            f"the upper number exceeds the lower one by {gap:.2f} nats, {gap / error:.0f} standard errors: the lineages do not follow "
            "the path, or one of the two runs missed mass; take more rungs and sweeps: "
            "zhat.AIS(log_weight_variance=0.1, n_sweeps=4).",
        )
    why = "the weights depend on lineages not yet made" if rigorous else "the chains miss part of the posterior"
    return Status.suspect(
        "crossed",
        f"the upper number lies {-gap:.2f} nats below the lower one: {why}; take more particles, zhat.AIS(n_particles=4000), and longer chains.",
    )
