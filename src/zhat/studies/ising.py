"""Evidence of Ising models and Boltzmann machines: what an approximate partition function does to it.

The example that Friel & Wyse (2012, section 3.7) name for variational Bayes, after Parise & Welling (2006): the likelihood
exp(theta . T(x)) / Z(theta) has a sum over all states inside. Exact Z makes it an ordinary model; beside it stand the same evidences with
Z replaced by Bethe's and by the mean-field approximation, and with the likelihood replaced by Besag's pseudo-likelihood.

*The lesson.* Mean field gives a lower bound on Z, hence a likelihood that is too large, once for every record: the "variational evidence"
is no lower bound, and it is further off the more records there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from zhat import zoo
from zhat.methods.laplace import Laplace
from zhat.methods.variational import Variational
from zhat.numerics._checks import FloatArray
from zhat.numerics.fields.ising import Approximation, Graph, bethe, lattice, log_partition_lattice, mean_field
from zhat.numerics.logspace import log_sum_exp
from zhat.report.files import new_figure, save_figure
from zhat.run.estimate import evidence
from zhat.zoo.fields import series
from zhat.zoo.fields.ising import BOLTZMANN, FAIR_COIN, LATTICE, boltzmann_design, picture_statistics

HEADER = ("model", "parameters", "exact", "Laplace", "ELBO", "corrected", "s.e.", "Bethe", "mean field", "pseudo-likelihood")
GRID = np.linspace(-0.5, 1.2, 681)
Approximate = Callable[[Graph], Approximation]


@dataclass(frozen=True)
class Study:
    """Rows of the table, and curves over the coupling of the picture for the drawing."""

    rows: list[tuple[str, ...]]
    curves: dict[str, FloatArray]
    evidences: dict[str, float]


def run_all(seed: int = 1, say: Callable[[str], None] = lambda words: None) -> Study:
    """Every model by exact and approximate partition functions."""
    curves = coupling_curves()
    by_curve = {name: integral(curve) for name, curve in curves.items()}
    rows = [("no parameter", "0", f"{FAIR_COIN:.4f}", *[""] * 7)]
    for i, which in enumerate(LATTICE):
        say(f"picture: {which}")
        others = [by_curve[name] for name in ("Bethe", "mean field", "pseudo-likelihood")] if which == "coupling" else []
        rows.append(_row(f"ising-lattice-{which}", f"picture: {which}", seed + i, others))
    for i, edges in enumerate(BOLTZMANN):
        say(f"risk factors: {edges}")
        # With the mean-field Z the posterior has its maximum on a kink, where Laplace's method has no value.
        others = [laplace(edges, bethe)]
        rows.append(_row(f"boltzmann-{edges}", f"risk factors: {edges}", seed + 100 + i, others))
    return Study(rows, curves, by_curve)


def _row(id: str, title: str, seed: int, others: list[float]) -> tuple[str, ...]:
    example = zoo.example(id)
    assert example.log_evidence is not None
    # An exponential family with a normal prior has a log-concave posterior: one mode, and nothing for a coverage check to find.
    first = evidence(example.model, Laplace(n_starts=16, coverage_check=False), seed=seed, progress=False)
    second = evidence(example.model, Variational(coverage_check=False), seed=seed, progress=False)
    corrected = f"{second.log_evidence:.4f}" if second.log_evidence_se else "withheld"
    se = f"{second.log_evidence_se:.4f}" if second.log_evidence_se else ""
    cells = [f"{value:.4f}" for value in others] + [""] * (3 - len(others))
    elbo = f"{second.diagnostics['elbo']:.4f}"
    return (
        title,
        str(example.model.n_dimensions),
        f"{example.log_evidence:.4f}",
        f"{first.log_evidence:.4f}",
        elbo,
        corrected,
        se,
        *cells,
    )


# -- the picture: one coupling, by quadrature ----------------------------------------------------------------------------------


@cache
def coupling_curves() -> dict[str, FloatArray]:
    """Log likelihoods of the picture over the coupling: exact, Bethe, mean field, pseudo-likelihood."""
    across, down, _ = picture_statistics()
    rows, columns = series.ISING_PICTURE.shape
    fit = (across + down) * GRID
    return {
        "exact": fit - np.array([log_partition_lattice(rows, columns, t, t) for t in GRID]),
        "Bethe": fit - np.array([bethe(lattice(rows, columns, t)).log_partition for t in GRID]),
        "mean field": fit - np.array([mean_field(lattice(rows, columns, t)).log_partition for t in GRID]),
        "pseudo-likelihood": np.array([_pseudo(t) for t in GRID]),
    }


def _pseudo(coupling: float) -> float:
    """Besag's pseudo-likelihood: the product of every spin's conditional given its neighbours."""
    x = series.ISING_PICTURE
    padded = np.pad(x, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return float(-np.sum(np.log1p(np.exp(-2.0 * coupling * x * around))))


def integral(curve: FloatArray) -> float:
    """Log of the integral of a likelihood curve over the prior N(0, 1), by the trapezoid rule on the grid."""
    joint = curve - 0.5 * GRID**2 - 0.5 * math.log(2.0 * math.pi)
    return float(log_sum_exp(joint)) + math.log(GRID[1] - GRID[0])


# -- the table of men: Laplace's method with an approximate Z --------------------------------------------------------------------


def laplace(edges: str, approximation: Approximate) -> float:
    """Laplace's method for a Boltzmann machine whose log Z is this approximation; second derivatives by differences."""
    chosen = BOLTZMANN[edges][0]
    statistics, counts = boltzmann_design(chosen)
    place = {name: i for i, name in enumerate(series.RISK_FACTORS)}
    pairs = np.array([(place[a], place[b]) for a, b in chosen], dtype=np.int64).reshape(-1, 2)
    n, total, d = float(counts.sum()), counts @ statistics, statistics.shape[1]

    def downhill(theta: FloatArray) -> tuple[float, FloatArray]:
        found = approximation(Graph(6, pairs, theta[6:], theta[:6]))
        value = total @ theta - n * found.log_partition - 0.5 * theta @ theta
        slope = total - n * np.concatenate([found.spins, found.products]) - theta
        return -float(value), -slope

    start = np.concatenate([np.arctanh(total[:6] / n), np.zeros(d - 6)])
    best = minimize(downhill, start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 500})
    step = 1e-4
    hessian = np.array([downhill(best.x + step * e)[1] - downhill(best.x - step * e)[1] for e in np.eye(d)]) / (2.0 * step)
    sign, log_determinant = np.linalg.slogdet(0.5 * (hessian + hessian.T))
    # d/2 log 2 pi of Laplace's method and -d/2 log 2 pi of the standard normal prior cancel.
    return float(-best.fun - 0.5 * log_determinant) if sign > 0 else math.nan


def draw(study: Study, folder: Path) -> list[Path]:
    """Likelihoods of the picture over the coupling, by partition function; returns the file written."""
    figure = new_figure(7.2, 3.4)
    left, right = figure.subplots(1, 2)
    colours = {"exact": "#08519c", "Bethe": "#238b45", "mean field": "#d94801", "pseudo-likelihood": "#6a51a3"}
    for name, curve in study.curves.items():
        left.plot(GRID, curve, color=colours[name], lw=1.4, label=name)
        joint = curve - 0.5 * GRID**2
        density = np.exp(joint - joint.max())
        right.plot(
            GRID,
            density / (density.sum() * (GRID[1] - GRID[0])),
            color=colours[name],
            lw=1.4,
            label=f"{study.evidences[name]:.2f}",
        )
    left.set_xlim(-0.1, 0.7)
    left.set_ylim(-80.0, -50.0)
    left.set_xlabel("coupling")
    left.set_ylabel("log likelihood of the picture")
    left.legend(frameon=False, fontsize=8)
    right.set_xlim(-0.1, 0.7)
    right.set_xlabel("coupling")
    right.set_ylabel("posterior density")
    right.legend(frameon=False, fontsize=8, title="log evidence", title_fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, folder / "ising.svg")]
