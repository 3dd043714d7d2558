"""How long runs take beside each other, and an evaluation beside the bare likelihood."""

from __future__ import annotations

from zhat.studies.friel_wyse.page.notes import name_of
from zhat.studies.friel_wyse.parts import Done
from zhat.studies.friel_wyse.published import published
from zhat.studies.friel_wyse.study import Study
from zhat.studies.friel_wyse.tables import table_2
from zhat.studies.friel_wyse.tables import tables_3_and_4 as pima

# Row, its part, and the row of Friel & Wyse (2012).
PARTS = (
    ("laplace", "laplace", "laplace"),
    ("chib_jeliazkov", "chib-jeliazkov", "chib_jeliazkov"),
    ("laplace_map", "chain", "laplace_map"),
    ("harmonic", "chain", "harmonic"),
    ("power_10", "power-10", "power"),
    ("power_20", "power-20", "power"),
    ("ais", "ais", "ais"),
    ("nested_few", "nested-few", "nested"),
    ("nested_many", "nested-many", "nested"),
)


def speed_rows(study: Study, table: str) -> list[tuple[str, ...]]:
    """Published and ours, on the scale on which the 200,000 posterior samples take what the paper's took."""
    printed = published()
    chain = study.parts[f"table-{table}/chain"]
    unit = printed[table, "harmonic", "speed"].value / (_cpu(chain) / _n_runs(study, table, "chain"))
    found: list[tuple[str, ...]] = []
    for row, part, known in PARTS:
        done = study.parts[f"table-{table}/{part}"]
        n = _n_runs(study, table, part)
        seconds = _cpu(done) / n
        found.append(
            (
                name_of(row),
                f"{printed[table, known, 'speed'].value:g}",
                f"{unit * seconds:.2g}" if unit * seconds < 10 else f"{unit * seconds:.0f}",
                f"{seconds:.2f}",
                f"{done.n_likelihood / n:,.0f}",
            )
        )
    return found


def _cpu(done: Done) -> float:
    """CPU seconds; where compiling took all that could be told apart, seconds."""
    return done.cpu_seconds or done.seconds


def _n_runs(study: Study, table: str, part: str) -> int:
    first = study.parts[f"table-{table}/{part}"].result["model 1"]
    return max(len(value) for value in first.values() if isinstance(value, list))


def cost_rows(study: Study) -> list[tuple[str, list[tuple[str, ...]]]]:
    """CPU time per evaluation for each family of models that was timed."""
    found: list[tuple[str, list[tuple[str, ...]]]] = []
    families = (("costs/pine", "2", "pine", table_2.PAPER), ("costs/pima", "3", "Pima, tau = 0.01", pima.PAPER))
    for name, table, title, review in families:
        if name not in study.parts:
            continue
        times = study.parts[name].result
        long = {key: _per_evaluation(study.parts[f"table-{table}/{key}"]) for key in review if key != "laplace"}
        short = {key: float(value) for key, value in times.items() if key == "laplace" or key.startswith("ours-")}
        bare = times["bare"]
        body: list[tuple[str, ...]] = [("the likelihood alone", f"{bare:.3f}", "1.0")]
        body += [(_words(key), f"{value:.3f}", f"{value / bare:.1f}") for key, value in {**long, **short}.items()]
        found.append((title, body))
    return found


def _per_evaluation(done: Done) -> float:
    return 1e6 * done.cpu_seconds / max(done.n_likelihood + done.n_gradient, 1)


def _words(key: str) -> str:
    row = key.removeprefix("ours-")
    known = {"gibbs": "harmonic mean and Laplace at the MAP", "chain": "harmonic mean and Laplace at the MAP"}
    if row in known:
        return f"{known[row]}, as in the paper"
    plain = row.replace("-", "_")
    name = name_of(plain).removesuffix(" (not in the paper)")
    return f"{name}, ours" if key.startswith("ours-") else f"{name}, as in the paper"
