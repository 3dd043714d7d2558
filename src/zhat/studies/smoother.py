"""INLA on the latent Gaussian models of the zoo: evidence, correction, truth; and the smoother of the coal data with its band."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zhat import zoo
from zhat.methods.inla import INLA
from zhat.report.files import new_figure, save_figure
from zhat.results.estimate import Evidence
from zhat.results.marginals import marginals
from zhat.run.estimate import evidence
from zhat.zoo.fields import series

HEADER = ("model", "latents", "nested Laplace", "log Z", "error", "truth", "in errors", "nodes", "seconds", "verdict")


@dataclass(frozen=True)
class Study:
    """Results by example, and the rows of the table."""

    results: dict[str, Evidence]
    rows: list[tuple[str, ...]]


def run_all(seed: int = 1, names: tuple[str, ...] = zoo.LATENT_IDS) -> Study:
    """Every latent Gaussian model, compiled beforehand so that seconds are warm."""
    results: dict[str, Evidence] = {}
    rows: list[tuple[str, ...]] = []
    for i, name in enumerate(names):
        example = zoo.example(name)
        assert example.log_evidence is not None
        evidence(example.model, INLA(), seed=0, progress=False)
        result = results[name] = evidence(example.model, INLA(), seed=seed + i, progress=False)
        off = result.log_evidence - example.log_evidence
        error = result.error
        rows.append(
            (
                name,
                str(result.diagnostics["n_latents"]),
                f"{result.diagnostics['nested_laplace']:.4f}",
                f"{result.log_evidence:.4f}",
                "?" if error is None else f"{error:.4f}",
                f"{example.log_evidence:.5f}",
                "" if not error else f"{off / error:+.1f}",
                str(result.diagnostics["n_nodes"]),
                f"{result.cost.seconds:.2f}",
                str(result.status),
            )
        )
    return Study(results, rows)


def draw(study: Study, folder: Path) -> list[Path]:
    """The rate of the coal-mining disasters with its 95 % band over the counts; returns the file written."""
    found = marginals(study.results["coal-smooth"])["x"]
    years = series.COAL_FIRST_YEAR + np.arange(len(series.COAL))
    figure = new_figure(7.2, 3.2)
    ax = figure.subplots()
    ax.bar(years, series.COAL, color="#d9d9d9", width=0.9, label="counts")
    ax.fill_between(years, np.exp(found.low), np.exp(found.high), color="#9ecae1", alpha=0.7, lw=0, label="95 % band")
    ax.plot(years, np.exp(found.median), color="#08519c", lw=1.4, label="median rate")
    ax.set_xlabel("year")
    ax.set_ylabel("disasters a year")
    ax.legend(frameon=False, fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, folder / "coal_smoother.svg")]
