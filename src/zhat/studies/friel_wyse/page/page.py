"""The page: an annotated paper. Table by table what Friel & Wyse (2012) printed, what its settings give, what is true, and why.

Built from `report.markup`, so that everything is escaped; it loads nothing and runs nothing. Tables scroll within their own boxes
on a narrow screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from zhat.report.page.markup import Child, Html, join, style, tag
from zhat.report.page.whole import POLICY
from zhat.studies.friel_wyse.page import figures, prose
from zhat.studies.friel_wyse.page.layout import blocks, number, rows, without_empty
from zhat.studies.friel_wyse.page.notes import name_of, note_on
from zhat.studies.friel_wyse.speed import cost_rows, speed_rows
from zhat.studies.friel_wyse.study import Study
from zhat.studies.friel_wyse.tables.cells import Cell


def page(study: Study) -> str:
    """The whole page."""
    sections = [_summary(study)]
    makers = {"1": _table_1, "2": _table_2, "3": _pima, "4": _pima}
    sections += [makers[table](study, table) for table in study.tables]
    sections += [_costs(study), _differences(), _again(study)]
    title = "Friel & Wyse (2012), Estimating the evidence: reproduced"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", title),
        style(_css("zhat.report.page", "style.css")),
        style(_css("zhat.studies.friel_wyse.page", "page.css")),
    )
    top = tag("header", tag("h1", title), tag("p", prose.LEAD, class_="question"), _contents(study))
    body = tag("body", top, tag("main", *sections))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def _css(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _contents(study: Study) -> Html:
    links = [(f"table-{table}", f"Table {table}") for table in study.tables]
    links += [("cost", "Time"), ("differences", "Misprints"), ("again", "Do it again")]
    return tag("nav", tag("ul", *(tag("li", tag("a", words, href=f"#{target}")) for target, words in links)))


def _summary(study: Study) -> Html:
    judged = [cell for cell in study.cells if cell.verdict]
    same = sum(cell.verdict == "agrees" for cell in judged)
    own = [cell for cell in study.cells if cell.z_ours is not None]
    true = sum(abs(cell.z_ours or 0.0) < 3.0 for cell in own)
    quick = " This is a quick look: a tenth of the work." if study.settings.quick else ""
    answer = tag(
        "div",
        tag("span", f"{same} of {len(judged)} comparisons with a printed number are reproduced.", class_="verdict"),
        f"{true} of {len(own)} numbers by this library's own settings lie within three of their errors of the truth.{quick}",
        class_="answer",
    )
    return join([answer, *(tag("p", text) for text in prose.HOW_TO_READ)])


# -- tables ------------------------------------------------------------------------------------------------------------------


def scrolling(
    header: Sequence[Child], body: Sequence[Sequence[Child]], caption: str, numeric: Sequence[int], narrow: bool = False
) -> Html:
    """A table in a box of its own, in which it scrolls when the screen is narrow."""
    head = tag("tr", *(tag("th", h, scope="col", class_="number" if j in numeric else None) for j, h in enumerate(header)))
    lines = []
    for row in body:
        first, *rest = row
        cells = [tag("td", cell, class_="number" if j in numeric else None) for j, cell in enumerate(rest, start=1)]
        lines.append(tag("tr", tag("th", first, scope="row"), *cells))
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *lines))
    return tag("div", table, class_="scroll narrow" if narrow else "scroll", tabindex="0", role="region", aria_label=caption)


def _cells(cells: Sequence[Cell], caption: str) -> Html:
    shown = rows(cells)
    if cells[0].table == "1":
        shown = [(f"{row[0]}, tau0 = {cell.column}", *row[1:]) for cell, row in zip(cells, shown, strict=True)]
    header, body = without_empty(shown)
    marked = [[_marked(word) if j else word for j, word in enumerate(row)] for row in body]
    return scrolling(header, marked, caption, range(1, len(header)))


def _marked(word: str) -> Child:
    """Yes and no in colour, and in words."""
    first = word.split()[0]
    return tag("span", word, class_={"yes": "agrees", "no": "differs"}[first]) if first in ("yes", "no") else word


def _why(cells: Sequence[Cell]) -> Html:
    """What there is to say about each row, once."""
    said = []
    for row in dict.fromkeys(cell.row for cell in cells):
        text = note_on(cells[0].table, row)
        if text:
            said += [tag("dt", name_of(row)), tag("dd", text)]
    return tag("dl", *said)


def _table_1(study: Study, table: str) -> Html:
    cells = study.of("1")
    picture = tag("figure", figures.ten_samples(study.parts["table-1/values"]), tag("figcaption", prose.TEN_SAMPLES))
    return tag(
        "section",
        tag("h2", "Table 1: the harmonic mean does not see the prior", id="table-1"),
        tag("p", prose.TABLE_1),
        _cells(cells, "Table 1: log evidence of one simulated sample of 100"),
        picture,
        _why(cells),
    )


def _table_2(study: Study, table: str) -> Html:
    cells = study.of("2")
    drawn = figures.panels(study.parts)
    boxes = tag("div", *(tag("div", tag("h3", p.title), figures.boxes(p)) for p in drawn), class_="panels")
    return tag(
        "section",
        tag("h2", "Table 2 and Figure 1: radiata pine, eighteen runs", id="table-2"),
        tag("p", prose.TABLE_2),
        _cells(cells, "Table 2: mean of BF21 over eighteen runs"),
        tag("figure", boxes, tag("figcaption", prose.FIGURE_1), class_="wide"),
        tag("p", prose.nested_theory(study)),
        _why(cells),
    )


def _pima(study: Study, table: str) -> Html:
    cells = study.of(table)
    tau = {"3": "0.01", "4": "1"}[table]
    tables = [_cells(some, f"Table {table}: {title}") for title, some in blocks(cells)]
    best = [(name_of(c.row), number(c.published, 0.1), number(c.best_of, 0.1)) for c in cells if c.best_of and c.published]
    return tag(
        "section",
        tag("h2", f"Table {table}: Pima Indians, tau = {tau}", id=f"table-{table}"),
        tag("p", prose.PIMA[table]),
        *tables,
        _why(cells),
        tag("h3", "The best of five"),
        tag("p", prose.BEST_OF),
        scrolling(("method", "published BF12", "ours, best of five"), best, "Chosen as the paper chose", (1, 2), narrow=True),
        tag("h3", "Reversible jump over all 128 models"),
        tag("p", prose.jump_words(study, table)),
        scrolling(
            ("model", "by reversible jump", "by enumeration"),
            _ranking(study, table),
            "Posterior probabilities, all models alike a priori",
            (1, 2),
            narrow=True,
        ),
        tag("h3", "Relative run times"),
        tag("p", prose.SPEED),
        scrolling(
            ("method", "published", "ours", "CPU seconds a run", "likelihoods a run"),
            speed_rows(study, table),
            "Both models, one run",
            (1, 2, 3, 4),
            narrow=True,
        ),
    )


def _ranking(study: Study, table: str) -> list[list[Child]]:
    result = study.parts[f"table-{table}/jump-all"].result
    listed = {row[0]: row[1] for row in result["enumerated"]}
    return [[name, f"{p:.4f} ± {se:.4f}", f"{listed[name]:.4f}" if name in listed else "–"] for name, p, se in result["jump"]]


def _costs(study: Study) -> Html:
    cpu = sum(done.cpu_seconds + done.compile_seconds for done in study.parts.values())
    compiling = sum(done.compile_seconds for done in study.parts.values())
    times = [
        (name, f"{done.cpu_seconds:.1f}", f"{done.compile_seconds:.1f}", f"{done.n_likelihood:,}")
        for name, done in study.parts.items()
    ]
    parts: list[Child] = [
        tag("h2", "Time", id="cost"),
        tag("p", f"All parts took {cpu / 60:.1f} minutes of a processor, {compiling / 60:.1f} of them to compile. {prose.COST}"),
    ]
    for title, body in cost_rows(study):
        header = ("method", "microseconds", "times the bare likelihood")
        parts.append(scrolling(header, body, f"CPU time per evaluation, {title}", (1, 2), narrow=True))
    parts.append(scrolling(("part", "CPU seconds", "compiling", "likelihoods"), times, "Every part", (1, 2, 3), narrow=True))
    return tag("section", *parts)


def _differences() -> Html:
    return tag(
        "section",
        tag("h2", "Misprints, silences, and what is done about them", id="differences"),
        scrolling(("where", "printed", "used here"), prose.MISPRINTS, "Misprints of the paper", (), narrow=False),
        tag("ul", *(tag("li", text) for text in prose.SILENCES)),
    )


def _again(study: Study) -> Html:
    options = " --quick" if study.settings.quick else ""
    return tag(
        "section",
        tag("h2", "Do it again", id="again"),
        tag("pre", tag("code", f"zhat reproduce friel-wyse{options} --seed {study.seed} --out friel-wyse --workers 2")),
        tag("p", prose.AGAIN),
        tag("p", prose.CITE),
    )
