"""Checks of a model at prior draws: all of them in `model.check()`, the cheap ones (`preflight`) before every run.

Each finding is a sentence with a verdict: fine, doubtful, wrong, or cannot tell.

The normalisation of the prior is tested by a change of measure. With q a Gaussian narrower than the prior, fitted to one half
of its draws,

    E_prior[ q(u) / prior(u) ] = 1

holds exactly if the density integrates to one *and* is that of the sampler; a missing constant, truncation or Jacobian gives
another number. Where the weights have a heavy tail (Pareto k of 0.5 or more) the test cannot tell.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import numpy as np

from zhat.errors import BadInput, ShapeError
from zhat.model.model import Model, black_box_values
from zhat.model.values import describe_point
from zhat.numerics.weights import Weights
from zhat.results.estimate import Status

if TYPE_CHECKING:
    from zhat.results.records import Draws
    from zhat.sampling.backend.loop import Loop


# Points that are evaluated twice, and together and one by one.
N_POINTS = 3


class Verdict(enum.Enum):
    """Outcome of a check."""

    FINE = "fine"
    DOUBTFUL = "doubtful"
    WRONG = "wrong"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Finding:
    """One check: its name, the verdict, and a sentence."""

    check: str
    verdict: Verdict
    sentence: str


@dataclass(frozen=True)
class Report:
    """All findings on a model."""

    model: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong (doubts may remain)."""
        return all(finding.verdict is not Verdict.WRONG for finding in self.findings)

    def __getitem__(self, check: str) -> Finding:
        """The finding of this name."""
        return next(finding for finding in self.findings if finding.check == check)

    def __str__(self) -> str:
        """One line per finding."""
        width = max(len(finding.check) for finding in self.findings)
        lines = [f"{f.check.ljust(width)}  {f.verdict.value.ljust(11)}  {f.sentence}" for f in self.findings]
        return "\n".join([f"model {self.model!r}", *lines])


def check_model(model: Model, n_draws: int, seed: int) -> Report:
    """Every check, on `n_draws` prior draws."""
    # Imported here: `Model.check` is a door from a lower room, and `import zhat` does not need these.
    from zhat.sampling.backend.evaluation import prior_draws
    from zhat.sampling.backend.loop import Loop
    from zhat.seeding import Key, check_seed

    if n_draws < 10:
        raise BadInput(f"n_draws={n_draws}: a check needs at least 10 prior draws.")
    loop = Loop(progress=False)
    draws = prior_draws(model, n_draws, Key(check_seed(seed)).child("check"), loop)
    findings = (
        _shapes(model),
        _finite(model, draws, loop.n_nan),
        _looks_like_a_log(draws),
        _deterministic(model, draws),
        _batch_equals_single(model, draws),
        prior_integral(draws.position, draws.log_prior),
        _precision(draws),
    )
    return Report(model.name, findings)


def preflight(model: Model, draws: Draws, loop: Loop) -> Status:
    """The cheap checks that every run makes on its first prior draws; a doubtful finding becomes part of the status."""
    checks = [_looks_like_a_log(draws), _precision(draws)]
    if model.is_black_box:
        checks.append(_deterministic(model, draws))
        loop.count(n_likelihood=2 * N_POINTS)
        if (
            checks[-1].verdict is Verdict.FINE and model.core.batched
        ):  # noise cannot be distinguished from dependence between points
            checks.append(_batch_equals_single(model, draws))
            loop.count(n_likelihood=2 * N_POINTS)
    status = _no_rows(model)
    for finding in checks:
        if finding.verdict is Verdict.WRONG:
            raise BadInput(f"{model.name!r}: {finding.sentence}")
        if finding.verdict is Verdict.DOUBTFUL:
            status = status.and_(Status.suspect(finding.check.replace(" ", "-"), finding.sentence))
    return status


def _no_rows(model: Model) -> Status:
    """A note where an array of the data has no rows (a matrix of no columns is a legal design)."""
    empty = [np.shape(leaf) for leaf in jax.tree.leaves(model.data) if np.ndim(leaf) and np.shape(leaf)[0] == 0]
    if not empty:
        return Status.ok()
    return Status.note(
        "no-data", f"an array of the data has no rows (shape {empty[0]}): without observations log Z is 0 whatever the prior."
    )


def _shapes(model: Model) -> Finding:
    shapes = ", ".join(f"{site.name}{list(site.shape)}" for site in model.space.sites)
    return Finding("shapes", Verdict.FINE, f"{model.n_dimensions} free coordinates: {shapes}; one log likelihood per point.")


def _finite(model: Model, draws: Draws, n_nan: int) -> Finding:
    share = float(np.isfinite(draws.log_likelihood).mean())
    sentence = f"{share:.1%} of {draws.n_drawn:,} prior draws have a likelihood above zero."
    if n_nan:
        sentence += f" At {n_nan:,} of them it is NaN, which counts as zero likelihood; return -inf where the likelihood is zero."
    owner = np.repeat([site.name for site in model.space.sites], [site.size for site in model.space.sites])
    lost = ~np.isfinite(draws.position)
    if (beyond := float(lost.any(axis=1).mean())) > 0.01:
        names = ", ".join(dict.fromkeys(str(name) for name in owner[lost.mean(axis=0) > 0.01]))
        sentence += (
            f" In {beyond:.1%} a parameter ({names}) overflows floating point: a prior this vague is difficult for every method "
            "that starts from it, and it dominates the evidence. Give a prior that states what is known of the parameter."
        )
        return Finding("support", Verdict.DOUBTFUL, sentence)
    return Finding("support", Verdict.FINE if share > 0.01 and not n_nan else Verdict.DOUBTFUL, sentence)


def _looks_like_a_log(draws: Draws) -> Finding:
    values = draws.log_likelihood[np.isfinite(draws.log_likelihood)]
    if len(values) > 20 and values.min() >= 0.0 and values.max() <= 1.0 and np.ptp(values) > 0:
        sentence = (
            f"all log likelihoods of {len(values):,} prior draws lie between 0 and 1 ({values.min():.3g} to {values.max():.3g}): is this "
            "the likelihood itself? Return its logarithm. If it is the logarithm, return it minus 1 and add 1 to log Z."
        )
        return Finding("log scale", Verdict.DOUBTFUL, sentence)
    return Finding("log scale", Verdict.FINE, "the values look like log likelihoods.")


def _first_points(model: Model, draws: Draws, n: int) -> dict[str, np.ndarray]:
    from zhat.sampling.backend.backend import constrain_batch

    inside = np.flatnonzero(np.isfinite(draws.log_prior))[:n]
    return constrain_batch(model, draws.position[inside])[0]


def _deterministic(model: Model, draws: Draws) -> Finding:
    if not model.is_black_box:
        return Finding("determinism", Verdict.FINE, "a traced function gives the same value every time.")
    params = _first_points(model, draws, N_POINTS)
    first, second = black_box_values(model, params), black_box_values(model, params)
    if np.array_equal(first, second, equal_nan=True):
        return Finding("determinism", Verdict.FINE, "three points evaluated twice gave the same values.")
    i = int(np.argmax(first != second))
    sentence = (
        f"the log likelihood at {describe_point(model.core.outward(params), i)} was {first[i]:.6g} and then {second[i]:.6g}: it is noisy. Fix "
        "the seed of its random numbers; the evidence of a noisy likelihood is biased."
    )
    return Finding("determinism", Verdict.DOUBTFUL, sentence)


def _batch_equals_single(model: Model, draws: Draws) -> Finding:
    if not (model.is_black_box and model.core.batched):
        return Finding("batch", Verdict.FINE, "points are evaluated by one function.")
    params = _first_points(model, draws, N_POINTS)
    together = black_box_values(model, params)
    try:
        alone = [black_box_values(model, {k: v[i : i + 1] for k, v in params.items()})[0] for i in range(len(together))]
    except ShapeError as error:
        return Finding("batch", Verdict.WRONG, str(error))
    if np.allclose(together, alone, rtol=1e-9, atol=1e-12, equal_nan=True):
        return Finding("batch", Verdict.FINE, "three points together and one by one gave the same values.")
    sentence = (
        f"batched=True, but three points together gave {together} and one by one {np.array(alone)}: the values of one point "
        "depend on the other points of the batch; sum over data only, not over points, or set batched=False."
    )
    return Finding("batch", Verdict.WRONG, sentence)


def prior_integral(position: np.ndarray, log_prior: np.ndarray) -> Finding:
    """Whether the prior integrates to one, from draws and their log densities."""
    usable = np.isfinite(position).all(axis=1) & np.isfinite(log_prior)
    position, log_prior = position[usable], log_prior[usable]
    if len(position) < 200 or not usable.all():
        return Finding("prior", Verdict.CANNOT_TELL, "too few usable prior draws to test that the prior integrates to one.")
    half, d = len(position) // 2, position.shape[1]
    mean = position[:half].mean(axis=0)
    covariance = np.atleast_2d(np.cov(position[:half].T)) * (0.8 if d <= 30 else 0.9) ** 2
    sign, log_determinant = np.linalg.slogdet(covariance)
    if sign <= 0:
        return Finding(
            "prior", Verdict.CANNOT_TELL, "the covariance of the prior draws is singular; its integral was not tested."
        )
    z = np.linalg.solve(np.linalg.cholesky(covariance), (position[half:] - mean).T)
    log_q = -0.5 * (z * z).sum(axis=0) - 0.5 * log_determinant - 0.5 * d * np.log(2 * np.pi)
    weights = Weights.of(log_q - log_prior[half:])
    if not weights.pareto_k < 0.5 or weights.ess < 50:
        sentence = f"the weights of the test have a heavy tail (Pareto k = {weights.pareto_k:.2f}); the prior's integral cannot be judged."
        return Finding("prior", Verdict.CANNOT_TELL, sentence)
    integral, error = float(np.exp(-weights.log_mean)), float(weights.log_mean_se)
    if abs(weights.log_mean) <= 4.0 * error + 1e-3:
        return Finding("prior", Verdict.FINE, f"the prior integrates to {integral:.3f} (± {integral * error:.3f}).")
    sentence = (
        f"the prior integrates to {integral:.3f} (± {integral * error:.3f}), not 1: a constant, a truncation or a Jacobian is "
        "missing, or its sampler draws from another density."
    )
    return Finding("prior", Verdict.WRONG, sentence)


def _precision(draws: Draws) -> Finding:
    values = draws.log_likelihood[np.isfinite(draws.log_likelihood)]
    largest = float(np.abs(values).max(initial=0.0))
    top = float(np.abs(values.max())) if len(values) else 0.0
    if np.spacing(top) > 1e-3:
        sentence = (
            f"log likelihoods near {values.max():.3g} cannot differ by less than {np.spacing(top):.1g} in double precision: "
            "subtract a constant from the log likelihood."
        )
        return Finding("precision", Verdict.DOUBTFUL, sentence)
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32).astype(np.float64)
    if len(values) > 20 and np.array_equal(rounded, values) and np.ptp(values) > 0 and largest > 1e4:
        sentence = (
            f"values near {largest:.3g} carry only single precision (steps of {np.spacing(np.float32(largest)):.1g}): compute "
            "the log likelihood in float64."
        )
        return Finding("precision", Verdict.DOUBTFUL, sentence)
    return Finding("precision", Verdict.FINE, "values are resolved far below a nat.")
