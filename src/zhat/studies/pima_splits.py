"""Does averaging over models predict better? Held-out cases of the Pima data, over random splits.

On two thirds of the 532 women all 128 logistic regressions are enumerated; the held-out third is then predicted, case by
case, by the average over models, by the most probable model alone, and by the full model. The score of a case is the log of
the probability that was given to what happened,

    log p(y_i | training data),   p = sum_m P(m | training data) p(y_i | training data, m),

each p(y_i | m) being a mean over posterior draws, so that the uncertainty of the coefficients is in it. Covariates are
standardised by the training rows alone. The average is over the models that together hold `COVERED` of the probability,
renormalised.

*What an error here is.* Splits share rows, so their scores are not independent: the spread over splits is shown as it is, and the
average is compared with the others split by split, on the same held-out cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput, EvidenceFailed
from zhat.methods._base import check_count
from zhat.methods.importance import Importance
from zhat.model.model import Model
from zhat.report.files import new_figure, save_figure
from zhat.report.pictures.score_differences import score_differences
from zhat.results.records import Array
from zhat.run.estimate import evidence
from zhat.seeding import Key
from zhat.spaces.subset_results import model_name
from zhat.spaces.subsets import Subsets
from zhat.zoo.datasets import load
from zhat.zoo.pima import COVARIATES, pima_with_mask

TAUS = (0.01, 1.0)
TRAINING = 2.0 / 3.0
COVERED = 0.99
N_SPLITS = 20
# Predictions need far fewer draws than evidences: their error is hundredths of that of one case.
METHOD = Importance(n_draws=4000, n_pilot=2000, coverage_check=False)
HEADER = ("tau", "score of", "mean per case", "sd over splits", "average ahead by", "in splits", "models averaged", "best model")


@dataclass(frozen=True)
class Split:
    """Mean log scores per held-out case, and the models averaged."""

    average: float
    best: float
    full: float
    best_model: str
    n_averaged: int


@dataclass(frozen=True)
class Study:
    """Splits by prior precision."""

    splits: dict[float, tuple[Split, ...]]
    n_held_out: int

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Of the table: three scores for each prior."""
        found: list[tuple[str, ...]] = []
        for tau, splits in self.splits.items():
            scores = {name: np.array([getattr(split, name) for split in splits]) for name in ("average", "best", "full")}
            names = [split.best_model for split in splits]
            modal = max(sorted(set(names)), key=names.count)
            averaged = np.median([split.n_averaged for split in splits])
            words = {
                "average": ("model average", f"{averaged:.0f} (median)", ""),
                "best": ("most probable model", "", f"{modal} ({names.count(modal)} of {len(names)})"),
                "full": ("full model", "", ""),
            }
            for name, score in scores.items():
                ahead = scores["average"] - score
                found.append(
                    (
                        f"{tau:g}",
                        words[name][0],
                        f"{score.mean():.4f}",
                        f"{score.std(ddof=1):.4f}",
                        "" if name == "average" else f"{ahead.mean():+.4f}",
                        "" if name == "average" else f"{int((ahead > 0).sum())} of {len(ahead)}",
                        *words[name][1:],
                    )
                )
        return found

    @property
    def sentence(self) -> str:
        """What it shows."""
        parts = []
        for tau, splits in self.splits.items():
            against_best = np.array([split.average - split.best for split in splits])
            against_full = np.array([split.average - split.full for split in splits])
            parts.append(
                f"at tau = {tau:g} the average beats the most probable model in {int((against_best > 0).sum())} of {len(splits)} "
                f"splits (by {self.n_held_out * against_best.mean():+.2f} nats over {self.n_held_out} held-out cases) and the "
                f"full model in {int((against_full > 0).sum())} (by {self.n_held_out * against_full.mean():+.2f})"
            )
        return "; ".join(parts) + "."


def run_splits(seed: int = 1, n_splits: int = N_SPLITS, say: Callable[[str], None] = lambda text: None) -> Study:
    """All splits under every prior; a split is the same for all priors."""
    check_count("pima-splits", "n_splits", n_splits, 2, "a spread needs two")
    table = load("pima_indians")
    x, y = np.stack([table[name] for name in COVARIATES], axis=1), table["diabetes"]
    n = round(TRAINING * len(y))
    key = Key(seed).child("pima splits")
    found: dict[float, list[Split]] = {tau: [] for tau in TAUS}
    models = {tau: pima_with_mask(tau) for tau in TAUS}
    for i in range(n_splits):
        say(f"split {i + 1} of {n_splits} ...")
        order = key.child("rows", i).generator().permutation(len(y))
        training, held_out = order[:n], order[n:]
        mean, sd = x[training].mean(axis=0), x[training].std(axis=0, ddof=1)
        design = np.concatenate([np.ones((len(y), 1)), (x - mean) / sd], axis=1)
        for j, (tau, model) in enumerate(models.items()):
            data = {"x": design[training], "y": y[training], "mask": np.ones(len(COVARIATES))}
            found[tau].append(_split(model.with_data(data), design[held_out], y[held_out], key.child("runs", i, j)))
    return Study({tau: tuple(splits) for tau, splits in found.items()}, len(y) - n)


def _split(model: Model, x: Array, y: Array, key: Key) -> Split:
    family = Subsets(model, COVARIATES)
    known = family.enumerate(seed=_seed(key.child("all")), progress=False)
    if not known.status.is_ok:
        raise BadInput(f"pima-splits: {known.status.reasons[0].sentence}")
    p = known.probabilities
    order = np.argsort(-p, kind="stable")
    averaged = order[: int(np.searchsorted(np.cumsum(p[order]), COVERED)) + 1]
    full = len(p) - 1  # the mask of ones
    chance = {i: _chances(family.at(known.masks[i]), known.masks[i], x, key.child("one", int(i))) for i in {*averaged, full}}
    weights = p[averaged] / p[averaged].sum()
    mixed = sum(w * chance[i] for w, i in zip(weights, averaged, strict=True))
    best = order[0]
    return Split(
        average=_score(np.asarray(mixed), y),
        best=_score(chance[best], y),
        full=_score(chance[full], y),
        best_model=model_name(COVARIATES, known.masks[best]),
        n_averaged=len(averaged),
    )


def _chances(model: Model, mask: Array, x: Array, key: Key) -> Array:
    """Predictive probabilities of diabetes for every row, averaged over the posterior."""
    run = evidence(model, METHOD, seed=_seed(key), progress=False)
    if not run.status.is_ok:
        raise EvidenceFailed(run.explain(), run)
    draws = posterior_draws(run)
    log_weight = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
    weight = np.exp(log_weight - log_weight.max())
    theta = draws.parameters["theta"] * np.concatenate([[1.0], mask])
    return np.asarray(weight @ expit(theta @ x.T) / weight.sum())


def _score(chance: Array, y: Array) -> float:
    return float(np.mean(np.where(y == 1.0, np.log(chance), np.log1p(-chance))))


def _seed(key: Key) -> int:
    return int(key.generator().integers(2**63))


def draw(study: Study, folder: Path) -> list[Path]:
    """How far the average is ahead of the other two in every split; returns the file written."""
    figure = new_figure(7.2, 3.4)
    for ax, (tau, splits) in zip(figure.subplots(1, len(study.splits), sharey=True), study.splits.items(), strict=True):
        differences = {
            "most probable\nmodel": np.array([split.average - split.best for split in splits]),
            "full\nmodel": np.array([split.average - split.full for split in splits]),
        }
        score_differences(differences, ax)
        ax.set_title(f"prior precision tau = {tau:g}", fontsize=10)
    figure.axes[0].set_ylabel("log score per case:\nmodel average less the other")
    folder.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, folder / "pima_splits.svg")]
