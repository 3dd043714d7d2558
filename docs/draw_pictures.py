"""Draw the pictures of the README and of howto/pictures.md anew: ``python docs/draw_pictures.py``."""

from __future__ import annotations

import contextlib
import re
import tempfile
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


PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    draw_comparison()
    draw_four()


def draw_four() -> None:
    """What the first block of howto/pictures.md draws."""
    page = (Path(__file__).parent / "howto" / "pictures.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile(code.replace('"pictures.svg"', '"pictures.svg", metadata={"Date": None}'), "pictures.md", "exec"), {})
        (PICTURES / "four_pictures.svg").write_bytes(Path("pictures.svg").read_bytes())


def draw_comparison() -> None:
    """Five models of the Pima data."""
    models = {name: ev.zoo.pima(covariates).model for name, covariates in CHOICES.items()}
    comparison = ev.compare(models, seed=1)
    figure = Figure(figsize=(9.0, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    ev.plots.evidence_intervals(comparison, left)
    ev.plots.model_probabilities(comparison, right)
    right.set_yticklabels([])
    path = PICTURES / "pima_comparison.svg"
    figure.savefig(path, metadata={"Date": None})
    print(comparison.sentence(), f"drawn: {path}", sep="\n")


if __name__ == "__main__":
    main()
