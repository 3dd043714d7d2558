"""Every method on the running example of Friel & Wyse (2012), beside the exact value: numbers, standard errors, costs, pictures.

Gaussian observations with independent normal and gamma priors: conditionally conjugate, so that Gibbs sweeps from tempered
conditionals are there for the methods that use them, and the evidence is known to 1e-8 by quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zhat import zoo
from zhat.methods._base import registry
from zhat.report.files import new_figure, save_figure
from zhat.results.estimate import Evidence
from zhat.run.estimate import evidence

HEADER = ("method", "log Z", "error", "off by", "in errors", "likelihoods", "seconds", "verdict")
PICTURES = {"power-posterior": "power_curve", "nested": "nested_trace", "ais": "weights"}


@dataclass(frozen=True)
class Study:
    """Results by method, the exact value, and the rows of the table."""

    exact: float
    results: dict[str, Evidence]
    rows: list[tuple[str, ...]]


def run_all(seed: int = 1) -> Study:
    """Every method that the model supports, a seed of its own each, compiled beforehand so that seconds are warm."""
    example = zoo.running_example()
    assert example.log_evidence is not None
    results: dict[str, Evidence] = {}
    rows: list[tuple[str, ...]] = []
    able = [name for name, method in registry().items() if method.needs <= example.model.offers]
    for i, name in enumerate(able):
        evidence(example.model, name, seed=0, progress=False)
        result = results[name] = evidence(example.model, name, seed=seed + i, progress=False)
        off = result.log_evidence - example.log_evidence
        error = result.error
        rows.append(
            (
                name,
                f"{result.log_evidence:.4f}",
                "?" if error is None else f"{error:.4f}",
                f"{off:+.4f}",
                "" if not error else f"{off / error:+.1f}",
                f"{result.cost.n_likelihood:,}",
                f"{result.cost.seconds:.2f}",
                str(result.status),
            )
        )
    return Study(example.log_evidence, results, rows)


def draw(study: Study, folder: Path) -> list[Path]:
    """The power-posterior curve, the nested run and the AIS weights as pictures; returns the files written."""
    from zhat.report.pictures.nested_trace import nested_trace
    from zhat.report.pictures.power_curve import power_curve
    from zhat.report.pictures.weights import weights

    makers = {"power_curve": power_curve, "nested_trace": nested_trace, "weights": weights}
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for method, picture in PICTURES.items():
        figure = new_figure()
        makers[picture](study.results[method], figure.subplots())
        written.append(save_figure(figure, folder / f"running_example_{picture}.svg"))
    return written
