"""Everything that a study leaves in its folder: the page, the figures as SVG and PNG, and the numbers."""

from __future__ import annotations

from pathlib import Path

from zhat.errors import BadInput
from zhat.studies.friel_wyse.page import figures
from zhat.studies.friel_wyse.page.layout import markdown
from zhat.studies.friel_wyse.page.page import page
from zhat.studies.friel_wyse.parts import write_whole
from zhat.studies.friel_wyse.study import Study, write_numbers


def write_all(study: Study, folder: Path) -> list[Path]:
    """Write what the tables of this study allow, and return the files; PNG only where matplotlib is."""
    paths = [folder / "friel_wyse.html"]
    write_whole(paths[0], page(study))
    for name, text in _svg(study).items():
        paths.append(folder / name)
        write_whole(paths[-1], text)
    try:
        drawn = _png(study)
    except BadInput:
        drawn = {}
    for name, data in drawn.items():
        paths.append(folder / name)
        write_whole(paths[-1], data)
    paths.append(folder / "tables.md")
    write_whole(paths[-1], "\n".join(markdown(table, study.of(table)) for table in study.tables))
    return [*paths, *write_numbers(study, folder)]


def _svg(study: Study) -> dict[str, str]:
    found = {}
    if "1" in study.tables:
        found["table_1_ten_samples.svg"] = figures.stand_alone([figures.ten_samples(study.parts["table-1/values"])])
    if "2" in study.tables:
        found["figure_1.svg"] = figures.stand_alone([figures.boxes(panel) for panel in figures.panels(study.parts)])
    return found


def _png(study: Study) -> dict[str, bytes]:
    found = {}
    if "1" in study.tables:
        found["table_1_ten_samples.png"] = figures.png_of_ten_samples(study.parts["table-1/values"])
    if "2" in study.tables:
        found["figure_1.png"] = figures.png_of_figure_1(figures.panels(study.parts))
    return found
