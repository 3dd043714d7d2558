"""Draw the README's picture anew: ``python docs/draw_pictures.py``."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import evidentia as ev

CHOICES = {
    "all seven": ("NP", "PGC", "BP", "TST", "BMI", "DP", "AGE"),
    "glucose, mass, pedigree, pregnancies": ("NP", "PGC", "BMI", "DP"),
    "... and age": ("NP", "PGC", "BMI", "DP", "AGE"),
    "glucose, mass, pedigree": ("PGC", "BMI", "DP"),
    "glucose, mass": ("PGC", "BMI"),
}


def main() -> None:
    models = {name: ev.zoo.pima(covariates).model for name, covariates in CHOICES.items()}
    comparison = ev.compare(models, seed=1)
    figure = Figure(figsize=(9.0, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    ev.plots.evidence_intervals(comparison, left)
    ev.plots.model_probabilities(comparison, right)
    right.set_yticklabels([])
    path = Path(__file__).parent / "pictures" / "pima_comparison.svg"
    figure.savefig(path, metadata={"Date": None})
    print(comparison.sentence(), f"drawn: {path}", sep="\n")


if __name__ == "__main__":
    main()
