"""How the evidence depends on the prior: a curve over a hyperparameter, from as few runs as the weights allow.

A run at one value h0 leaves posterior draws. With r = prior_h(theta) / prior_h0(theta),

    log Z(h) = log Z(h0) + log E_{posterior at h0}[ r ],

so every value near h0 costs only prior densities. The weights r decide whether h is near enough: Pareto k below 0.5 and an
effective sample size of at least 100, as for every estimate here. Where they do not suffice, a new run is made at the value
that is farthest from every run so far, and the remaining values are tried again: each value uses the run with the smallest
error.

*Its error.* That of the run and that of the mean of r, together. Values that use the same run share its error, so the *shape*
of the curve is known better than its height.

*When it lies.* As its runs do; a suspect run makes suspect points. Correlated draws (chains) make the error of the mean of r
too small; the default methods leave independent or nearly independent draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput, BadType
from zhat.formatting import decimals, shown_error
from zhat.methods._base import Method
from zhat.model.model import Model
from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.weights import Weights
from zhat.results.estimate import Evidence, Kind, Level
from zhat.results.records import Array, Draws
from zhat.run.estimate import evidence
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key, check_seed
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS


@dataclass(frozen=True)
class Sensitivity:
    """Log evidence at every value of a hyperparameter, with its error, and the runs behind it.

    `run_at[i]` is the value whose run gives the i-th point; it equals `values[i]` where that value was run itself.
    """

    hyperparameter: str
    model: str
    values: Array
    log_evidence: Array
    se: Array  # NaN where there is no error
    run_at: Array
    runs: Mapping[float, Evidence]

    @property
    def suspects(self) -> tuple[float, ...]:
        """The values whose runs did not pass their own checks."""
        return tuple(value for value, run in self.runs.items() if not run.status.is_ok)

    def against(self, other: Sensitivity) -> tuple[Array, Array]:
        """Log Bayes factor of this model against another over the same values, and its error (the runs being independent)."""
        if not np.array_equal(self.values, other.values):
            raise BadInput("Sensitivity.against(): the two curves have different values; make both over the same ones.")
        if self.data_id != other.data_id:
            raise BadInput(
                f"{self.model!r} and {other.model!r} have different data: evidences can only be compared on the same data."
            )
        return self.log_evidence - other.log_evidence, np.hypot(self.se, other.se)

    @property
    def data_id(self) -> str | None:
        """The fingerprint of the data."""
        return next(iter(self.runs.values())).data_id

    @property
    def effort(self) -> str:
        """The number of runs, in words."""
        return f"{len(self.runs)} run{'' if len(self.runs) == 1 else 's'} for {len(self.values)} values"

    @property
    def sentence(self) -> str:
        """How far the log evidence moves over the values."""
        moved = float(np.max(self.log_evidence) - np.min(self.log_evidence))
        low, high = float(np.min(self.values)), float(np.max(self.values))
        doubt = f"; suspect runs at {', '.join(f'{value:g}' for value in self.suspects)}" if self.suspects else ""
        return f"for {self.hyperparameter} from {low:g} to {high:g} the log evidence moves by {moved:.2f} nats ({self.effort}){doubt}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON; what is not a finite number is null."""
        return {
            "hyperparameter": self.hyperparameter,
            "model": self.model,
            "values": self.values.tolist(),
            "log_evidence": finite(self.log_evidence),
            "error": finite(self.se),
            "run_at": self.run_at.tolist(),
            "suspects": list(self.suspects),
            "n_runs": len(self.runs),
        }

    def __str__(self) -> str:
        """A line a value."""
        lines = [f"{self.hyperparameter:>12}  {'log evidence':>12}  {'error':>8}  run at"]
        for value, log_z, se, at in zip(self.values, self.log_evidence, self.se, self.run_at, strict=True):
            shown = f"{log_z:.{decimals(se)}f}"
            lines.append(f"{value:12.6g}  {shown:>12}  {shown_error(se):>8}  {'itself' if at == value else f'{at:g}'}")
        return "\n".join([*lines, self.effort])


def sensitivity(
    model: Model,
    hyperparameter: str,
    values: Sequence[float],
    method: Method | str | None = None,
    *,
    seed: int | None = None,
    progress: bool | None = None,
) -> Sensitivity:
    """The curve of log evidence against one entry of the model's hyperparameters.

    Parameters
    ----------
    model : Model
        With `hyper` a dictionary.
    hyperparameter : str
        The (scalar) entry that is varied.
    values : sequence of float
        The values at which the log evidence is wanted.
    """
    grid = check_curve(model, hyperparameter, values)
    key = Key(check_seed(seed)).child("sensitivity")
    loop = Loop(progress=False)
    models = {value: model.with_hyper({**model.hyper, hyperparameter: value}) for value in grid}
    runs: dict[float, Evidence] = {}
    best: dict[float, tuple[float, float, float]] = {}  # value -> (error or inf, log evidence, run at)
    todo = list(grid)
    while todo:
        at = _farthest(todo, list(runs), grid)
        run_seed = int(key.child(grid.index(at)).generator().integers(2**63))
        run = runs[at] = evidence(models[at], method, seed=run_seed, progress=progress)
        if run.status.level is Level.FAILED:
            raise BadInput(f"sensitivity(): the run at {hyperparameter} = {at:g} failed: {run.status.reasons[0].sentence}")
        best[at] = (math.nan if run.error is None else run.error, run.log_evidence, at)
        if run.status.is_ok and run.kind is not Kind.EXACT:  # an exact value costs less than reweighted draws
            draws = posterior_draws(run, f"{hyperparameter} = {at:g}")
            for value in grid:
                if value in runs:
                    continue
                found = _reweighted(models[at], models[value], draws, run, loop)
                if found is not None and (value not in best or found[0] < best[value][0]):
                    best[value] = (*found, at)
        todo = [value for value in grid if value not in best]
    se, log_z, run_at = (np.array([best[value][i] for value in grid]) for i in range(3))
    return Sensitivity(hyperparameter, model.name, np.array(grid), log_z, se, run_at, runs)


def sensitivities(
    models: Sequence[Model],
    hyperparameter: str,
    values: Sequence[float],
    method: Method | str | None = None,
    *,
    seed: int | None = None,
    progress: bool | None = None,
) -> list[Sensitivity]:
    """Curves of several models over the same values, from independent seeds: ``first.against(second)`` is a Bayes factor.

    Arguments as in `sensitivity`. The models must have the same data.
    """
    for model in models:
        if model.data_id != models[0].data_id:
            raise BadInput(
                f"{models[0].name!r} and {model.name!r} have different data (fingerprints {models[0].data_id} and "
                f"{model.data_id}): evidences can only be compared on the same data."
            )
    for model in models:
        check_curve(model, hyperparameter, values, f"sensitivity(): model {model.name!r}")
    key = Key(check_seed(seed))
    seeds = [int(key.child("sensitivity of", i).generator().integers(2**63)) for i in range(len(models))]
    return [
        sensitivity(model, hyperparameter, values, method, seed=own, progress=progress)
        for model, own in zip(models, seeds, strict=True)
    ]


def _reweighted(at: Model, to: Model, draws: Draws, run: Evidence, loop: Loop) -> tuple[float, float] | None:
    """Error and log evidence under the other prior, or None where the weights refuse."""
    with jax.enable_x64(True):
        new, _ = log_densities(to, draws.position, loop)
    log_weight = np.zeros(len(new)) if draws.log_weight is None else draws.log_weight
    ratio = np.where(draws.log_prior > -np.inf, new - draws.log_prior, -np.inf)
    both, before = Weights.of(log_weight + ratio), Weights.of(log_weight)
    if both.ess < MIN_ESS or (both.pareto_k >= MAX_PARETO_K and both.sd_log > 0.0):
        return None
    change = float(both.log_mean - before.log_mean)
    share = log_weight - log_sum_exp(log_weight)
    error = math.sqrt(float(np.sum((np.exp(share + ratio - change) - np.exp(share)) ** 2)))
    if run.error is None:
        return None
    return math.hypot(run.error, error), run.log_evidence + change


def _farthest(todo: list[float], runs: list[float], grid: list[float]) -> float:
    """The middle of the grid first; then the value with the most places between it and the nearest run."""
    if not runs:
        return grid[len(grid) // 2]
    return max(todo, key=lambda value: min(abs(grid.index(value) - grid.index(run)) for run in runs))


def check_curve(model: Any, hyperparameter: str, values: Any, who: str = "sensitivity(): the model") -> list[float]:
    """The values, rising, of a hyperparameter that the model has; `who` begins the sentence of a refusal."""
    if not isinstance(model, Model):
        raise BadType(f"sensitivity() takes a Model first, not a {type(model).__name__}.")
    if not isinstance(model.hyper, Mapping) or hyperparameter not in model.hyper:
        known = ", ".join(model.hyper) if isinstance(model.hyper, Mapping) else "none by name"
        raise BadInput(
            f"{who} has no hyperparameter {hyperparameter!r}; it has {known}. Build it as zhat.Model(..., prior=function, "
            f'hyper={{"{hyperparameter}": ...}}).'
        )
    if np.ndim(model.hyper[hyperparameter]) != 0:
        raise BadInput(f"hyperparameter {hyperparameter!r} is not a single number: vary a scalar.")
    grid = sorted({float(value) for value in values})
    if len(grid) < 2 or not np.isfinite(grid).all():
        raise BadInput(f"values={values!r}: give at least two different finite values.")
    return grid


def finite(values: Array) -> list[float | None]:
    """Numbers for JSON; what is not finite is null."""
    return [float(value) if math.isfinite(value) else None for value in values]
