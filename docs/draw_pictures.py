"""Pictures of the README and of howto/pictures.md, pictures and tables of running_example.md, made anew: run this file."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

import zhat
from zhat.studies import running_example, table_one

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
    draw_running_example()


def draw_four() -> None:
    """What the first block of howto/pictures.md draws."""
    page = (Path(__file__).parent / "howto" / "pictures.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        exec(compile(code.replace('"pictures.svg"', '"pictures.svg", metadata={"Date": None}'), "pictures.md", "exec"), {})
        (PICTURES / "four_pictures.svg").write_bytes(Path("pictures.svg").read_bytes())


def draw_running_example() -> None:
    """The tables and pictures of running_example.md."""
    study = running_example.run_all()
    running_example.draw(study, PICTURES)
    page = Path(__file__).parent / "running_example.md"
    text = page.read_text(encoding="utf-8")
    text = put_table(text, "running example", running_example.HEADER, study.rows)
    text = put_table(text, "table 1", table_one.HEADER, [row.cells() for row in table_one.run_table()])
    page.write_text(text, encoding="utf-8")


def put_table(text: str, marker: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The page with this table behind its marker."""
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    begin, end = f"<!-- {marker} -->\n", "<!-- end -->"
    before, _, rest = text.partition(begin)
    table = "\n".join(lines).replace("| --- |", "|---|").replace(" --- |", "---|")
    return f"{before}{begin}\n{table}\n\n{end}{rest.partition(end)[2]}"


def draw_comparison() -> None:
    """Five models of the Pima data."""
    models = {name: zhat.zoo.pima(covariates).model for name, covariates in CHOICES.items()}
    comparison = zhat.compare(models, seed=1)
    figure = Figure(figsize=(9.0, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    zhat.plots.evidence_intervals(comparison, left)
    zhat.plots.model_probabilities(comparison, right)
    right.set_yticklabels([])
    path = PICTURES / "pima_comparison.svg"
    figure.savefig(path, metadata={"Date": None})
    print(comparison.sentence(), f"drawn: {path}", sep="\n")


if __name__ == "__main__":
    main()
