"""Every number of Friel & Wyse (2012) beside ours: published, with its settings, with ours, the truth, and whether they agree.

Two questions are kept apart. *Is the paper's number what its settings give?* is answered by a z-score of the published number
against our runs with those settings. *Is it right?* is answered by ours against the truth. Where the paper gives no error
(Tables 3 and 4, one run chosen of five) the scatter of our own runs stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zhat.studies.friel_wyse.page.notes import name_of, note_on
from zhat.studies.friel_wyse.parts import Done
from zhat.studies.friel_wyse.published import published
from zhat.studies.friel_wyse.tables import table_2
from zhat.studies.friel_wyse.tables import tables_3_and_4 as pima

LIMIT = 3.0
# The paper's reversible jump: the share of moves that switch models, and their number, taken to be that of its other runs.
PAPER_SWITCHES, PAPER_JUMPS = 0.29, 200_000
COLUMNS = {"log_z_1": "log evidence, model 1", "log_z_2": "log evidence, model 2", "bf12": "BF12", "bf21": "BF21"}


@dataclass(frozen=True)
class Value:
    """A mean over runs, its standard error, and the spread of the runs; the error of a single run is its own."""

    value: float
    error: float | None = None
    spread: float | None = None
    n_runs: int = 1


@dataclass(frozen=True)
class Cell:
    """One number of the paper. `with_paper_settings` is ours with its settings, `with_ours` what this library does by itself."""

    table: str
    row: str
    column: str
    published: float | None
    published_spread: float | None
    with_paper_settings: Value | None
    with_ours: Value | None
    truth: float | None
    z_published: float | None
    z_truth: float | None
    z_ours: float | None
    verdict: str
    why: str
    best_of: float | None = None

    @property
    def name(self) -> str:
        """The row in words."""
        return name_of(self.row)

    def plain(self) -> dict[str, Any]:
        """For CSV and JSON."""
        found: dict[str, Any] = {}
        for key, value in asdict(self).items():
            if isinstance(value, dict):
                found |= {f"{key}_{part}": number for part, number in value.items()}
            elif key in ("with_paper_settings", "with_ours"):
                found |= {f"{key}_{part}": None for part in ("value", "error", "spread", "n_runs")}
            else:
                found[key] = value
        return found


def mean_of(values: ArrayLike) -> Value:
    """Mean, its error and the spread, of independent runs."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return Value(float(array[0]))
    spread = float(array.std(ddof=1))
    if spread < 1e-6 * abs(float(array.mean())):  # a search that ends where it ends, to rounding
        return Value(float(array.mean()))
    return Value(float(array.mean()), spread / math.sqrt(len(array)), spread, len(array))


# -- Table 1 ------------------------------------------------------------------------------------------------------------------


def cells_of_table_1(found: Mapping[str, Done]) -> list[Cell]:
    """How far values move from tau0 = 1; levels belong to a sample that is lost."""
    result = found["table-1/values"].result
    exact, printed = result["exact"][0], published()
    cells = []
    for row in ("exact", "harmonic"):
        for i, tau0 in enumerate(result["tau0"]):
            column = f"{tau0:g}"
            known = printed["1", row, column]
            moved = known.value - printed["1", row, "1"].value
            if row == "exact":
                review, ours = Value(exact[i]), Value(*result["chib"][i])
                own = exact[i] - exact[-1]
                same = abs(moved - own) < 0.1
                words = f"From tau0 = 1 the paper's value moves by {moved:+.2f}, ours by {own:+.2f}."
            else:
                lanes = mean_of(result["harmonic"][0][i][1:])
                review, ours = Value(result["harmonic"][0][i][0], None, lanes.spread, lanes.n_runs), None
                own = result["harmonic"][0][i][0] - result["harmonic"][0][-1][0]
                # The noise is that of two heavy-tailed means; the claim is only that the exact value's move is not followed.
                same = abs(moved) < 1.0 and abs(own) < 1.0
                words = f"From tau0 = 1 the paper's value moves by {moved:+.2f}, ours by {own:+.2f}; the exact one by "
                words += f"{exact[i] - exact[-1]:+.2f}."
            cells.append(
                Cell(
                    table="1",
                    row=row,
                    column=column,
                    published=known.value,
                    published_spread=None,
                    with_paper_settings=review,
                    with_ours=ours,
                    truth=exact[i],
                    z_published=None,
                    z_truth=None,
                    z_ours=None if ours is None else _z(ours, exact[i], False),
                    verdict="agrees" if same else "differs",
                    why=f"{words} {note_on('1', row)}",
                )
            )
    return cells


# -- Table 2 ----------------------------------------------------------------------------------------------------------------

ROWS_2 = (
    ("laplace", "laplace", "laplace"),
    ("laplace_map", "gibbs", "laplace_map"),
    ("harmonic", "gibbs", "harmonic"),
    ("chib", "chib", "chib"),
    ("ais", "ais", "ais"),
    ("nested", "nested", "nested"),
    ("power", "power", "power"),
    ("power_corrected", "power", "power_corrected"),
)


def bayes_factors(done: Done, key: str) -> np.ndarray:
    """BF21 run by run."""
    first, second = (np.asarray(done.result[f"model {i}"][key]) for i in (1, 2))
    return np.asarray(np.exp(second - first))


def cells_of_table_2(found: Mapping[str, Done]) -> list[Cell]:
    """Means of the Bayes factor over eighteen runs, as the paper has them."""
    first, second = table_2.exact()
    truth = math.exp(second - first)
    cells = [_cell("2", "exact", "bf21", Value(truth), None, truth, relative=False)]
    for row, part, key in ROWS_2:
        review = mean_of(bayes_factors(found[f"table-2/{part}"], key))
        cells.append(_cell("2", row, "bf21", review, _ours_2(found, row), truth, relative=False))
    for row in ("importance", "smc"):
        cells.append(_cell("2", row, "bf21", None, _ours_2(found, row), truth, relative=False))
    return cells


def _ours_2(found: Mapping[str, Done], row: str) -> Value | None:
    done = found.get(f"table-2/ours-{row}")
    return None if done is None else mean_of(bayes_factors(done, "values"))


# -- Tables 3 and 4 -----------------------------------------------------------------------------------------------------------

# Row, its part, the key in it, the row of the paper it is held against, and that of ours.
ROWS_34 = (
    ("laplace", "laplace", "laplace", "laplace", "laplace"),
    ("chib_jeliazkov", "chib-jeliazkov", "chib_jeliazkov", "chib_jeliazkov", "chib_jeliazkov"),
    ("laplace_map", "chain", "laplace_map", "laplace_map", "laplace_map"),
    ("harmonic", "chain", "harmonic", "harmonic", "harmonic"),
    ("power_10", "power-10", "power", "power", "power"),
    ("power_20", "power-20", "power", "power", "power"),
    ("power_20_corrected", "power-20", "power_corrected", None, None),
    ("ais", "ais", "ais", "ais", "ais"),
    ("nested_few", "nested-few", "nested", "nested", "nested"),
    ("nested_many", "nested-many", "nested", "nested", "nested"),
)


def cells_of_pima(table: str, found: Mapping[str, Done], n_best_of: int) -> list[Cell]:
    """Two log evidences and their ratio for every row."""
    truths = pima.truth(pima.TAUS[table])
    benchmark = published()[table, "jump", "bf12"].value
    cells: list[Cell] = []
    for row, part, key, printed, own in ROWS_34:
        done = found[f"table-{table}/{part}"]
        runs = [np.asarray(done.result[f"model {i}"][key]) for i in (1, 2)]
        cells += _triple(table, row, printed, [mean_of(r) for r in runs], _ours_34(found, table, own), truths)
        n = min(n_best_of, len(runs[0]))
        factors = np.exp(runs[0][:n] - runs[1][:n])
        best = float(factors[np.argmin(np.abs(np.log(factors / benchmark)))])
        cells[-1] = Cell(**{**vars(cells[-1]), "best_of": best})
    for row in ("importance", "smc"):
        cells += _triple(table, row, None, None, _ours_34(found, table, row), truths)
    cells.append(_jump_cell(table, found[f"table-{table}/jump-pair"], math.exp(truths[0] - truths[1])))
    return cells


def _jump_cell(table: str, done: Done, truth: float) -> Cell:
    """The benchmark. The paper's error is that of a chain of two states that switches in 29 % of its moves, as its did."""
    factor = math.exp(done.result["log_bayes_factor"])
    error = None if done.result["error"] is None else factor * done.result["error"]
    memory = 1.0 - 2.0 * PAPER_SWITCHES
    theirs = factor * math.sqrt(4.0 * (1.0 + memory) / (1.0 - memory) / PAPER_JUMPS)
    return _cell(table, "jump", "bf12", Value(factor, error, theirs), None, truth, relative=True)


def _ours_34(found: Mapping[str, Done], table: str, row: str | None) -> list[Value] | None:
    done = found.get(f"table-{table}/ours-{row}")
    if done is None:
        return None
    models = [done.result[f"model {i}"] for i in (1, 2)]
    return [Value(m["values"][0], m["errors"][0]) if len(m["values"]) == 1 else mean_of(m["values"]) for m in models]


def _triple(
    table: str, row: str, printed: str | None, review: list[Value] | None, ours: list[Value] | None, truths: tuple[float, float]
) -> list[Cell]:
    cells = []
    for i, column in enumerate(("log_z_1", "log_z_2")):
        one = None if review is None else review[i]
        own = None if ours is None else ours[i]
        cells.append(_cell(table, row, column, one, own, truths[i], relative=False, printed=printed))
    factor = math.exp(truths[0] - truths[1])
    pair = None if review is None else _ratio(review)
    own = None if ours is None else _ratio(ours)
    cells.append(_cell(table, row, "bf12", pair, own, factor, relative=True, printed=printed))
    return cells


def _ratio(pair: Sequence[Value]) -> Value:
    """exp of the difference; errors are those of the logarithm times the factor."""
    factor = math.exp(pair[0].value - pair[1].value)

    def joint(a: float | None, b: float | None) -> float | None:
        return None if a is None or b is None else factor * math.hypot(a, b)

    return Value(factor, joint(pair[0].error, pair[1].error), joint(pair[0].spread, pair[1].spread), pair[0].n_runs)


# -- one cell ------------------------------------------------------------------------------------------------------------------


def _cell(
    table: str,
    row: str,
    column: str,
    review: Value | None,
    ours: Value | None,
    truth: float,
    relative: bool,
    printed: str | None = "",
) -> Cell:
    known = published().get((table, row if printed == "" else printed or "", column))
    # An error of a mean without a variance is no error.
    z_truth, z_ours = (None, None) if row == "harmonic" else (_z(review, truth, relative), _z(ours, truth, relative))
    verdict, z, words = _judged(known, review, relative)
    note = note_on(table, row)
    return Cell(
        table=table,
        row=row,
        column=column,
        published=None if known is None else known.value,
        published_spread=None if known is None else known.spread,
        with_paper_settings=review,
        with_ours=ours,
        truth=truth,
        z_published=z,
        z_truth=z_truth,
        z_ours=z_ours,
        verdict=verdict,
        why=" ".join(part for part in (words, note) if part),
    )


def _z(value: Value | None, truth: float, relative: bool) -> float | None:
    """Errors between a value and the truth; of the logarithms where a ratio is compared."""
    if value is None or not value.error:
        return None
    if relative:
        return math.log(value.value / truth) / (value.error / value.value)
    return (value.value - truth) / value.error


def _judged(known: Any, review: Value | None, relative: bool) -> tuple[str, float | None, str]:
    """Whether the published number is what the paper's settings give, how many errors apart they are, and that in words."""
    if known is None:
        return "", None, "" if review is None else "Not in the paper."
    if review is None:
        return "", None, ""
    gap = known.value - review.value
    if review.spread is None:  # nothing random in it
        same = abs(gap) <= max(0.01, 2.0 * known.rounding, 1e-4 * abs(known.value))
        words = f"Published {known.value:g}, here {review.value:.4f}."
        return ("agrees" if same else "differs"), None, words
    theirs = known.spread / math.sqrt(review.n_runs) if known.spread is not None else review.spread
    error = math.sqrt(theirs**2 + (review.error or 0.0) ** 2 + known.rounding**2 / 3.0)
    if relative and known.value > 0:
        # Ratios are compared by their logarithms, whose errors are symmetric.
        z = math.log(known.value / review.value) / (error / review.value)
    else:
        z = gap / error
    verdict = "agrees" if abs(z) < LIMIT else "differs"
    return verdict, z, f"Published and ours with its settings are {abs(z):.1f} errors apart."
