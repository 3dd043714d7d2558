"""`zhat reproduce friel-wyse`: the numbers of a quick look, the files, and that an interrupted run gives the same digits."""

from __future__ import annotations

import csv
import json
import math

import pytest

from zhat.cli import main
from zhat.errors import BadInput
from zhat.studies.friel_wyse.page.layout import number, with_error
from zhat.studies.friel_wyse.page.notes import NAMES
from zhat.studies.friel_wyse.parts import Part, file_of, kept, run_all
from zhat.studies.friel_wyse.published import published
from zhat.studies.friel_wyse.settings import paper_settings, quick_settings
from zhat.studies.friel_wyse.study import all_parts, reproduce
from zhat.studies.friel_wyse.tables import table_2
from zhat.studies.friel_wyse.tables import tables_3_and_4 as pima
from zhat.studies.friel_wyse.tables.cells import Value, mean_of

pytestmark = pytest.mark.xdist_group("friel-wyse")  # one quick look serves all

# -- a quick look ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("friel-wyse")
    assert main(["reproduce", "friel-wyse", "--quick", "--table", "1", "--figure", "1", "--out", str(folder)]) == 0
    with open(folder / "cells.csv", encoding="utf-8") as file:
        cells = {(row["table"], row["row"], row["column"]): row for row in csv.DictReader(file)}
    return folder, cells


def test_everything_is_written(quick):
    folder, cells = quick
    names = {path.name for path in folder.iterdir()}
    assert names >= {"friel_wyse.html", "figure_1.svg", "figure_1.png", "table_1_ten_samples.svg", "cells.csv", "results.json"}
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results["seed"] == 1 and len(results["cells"]) == len(cells)
    assert not list(folder.glob("**/*.part"))
    page = (folder / "friel_wyse.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "<script" not in page and "src=" not in page
    for words in ("Annealed importance sampling", "Row 9", "sqrt(H/N)", "--quick --seed 1"):
        assert words in page


def test_table_2_of_a_quick_look(quick):
    _, cells = quick
    exact = math.exp(table_2.exact()[1] - table_2.exact()[0])
    assert exact == pytest.approx(4553.6455, abs=1e-3)
    for row in ("laplace", "laplace_map", "chib"):
        assert float(cells["2", row, "bf21"]["with_paper_settings_value"]) == pytest.approx(exact, rel=3e-3)
    for row in ("chib", "ais", "power", "laplace_map"):
        assert abs(float(cells["2", row, "bf21"]["z_truth"])) < 4.5
    for row in ("nested", "harmonic"):  # poor, as in the paper
        assert float(cells["2", row, "bf21"]["with_paper_settings_spread"]) > 0.2 * exact


def test_table_1_of_a_quick_look(quick):
    _, cells = quick
    moved = float(cells["1", "exact", "0.0001"]["with_paper_settings_value"]) - float(
        cells["1", "exact", "1"]["with_paper_settings_value"]
    )
    assert moved == pytest.approx(0.5 * math.log(0.0001 / 100.0001) - 0.5 * math.log(1 / 101), abs=0.1)
    harmonic = [float(cells["1", "harmonic", tau0]["with_paper_settings_value"]) for tau0 in ("0.0001", "0.01", "0.1", "1")]
    assert max(harmonic) - min(harmonic) < 2.0


def test_started_again_nothing_is_run(quick, capsys):
    folder, _ = quick
    before = (folder / "cells.csv").read_text(encoding="utf-8")
    assert main(["reproduce", "friel-wyse", "--quick", "--table", "1", "--table", "2", "--out", str(folder)]) == 0
    assert (folder / "cells.csv").read_text(encoding="utf-8") == before
    said = capsys.readouterr().err
    assert "finished already" in said and "of the work]" not in said


@pytest.mark.slow
def test_tables_3_and_4_of_a_quick_look(tmp_path):
    study = reproduce(quick_settings(), 1, tmp_path, tables=("3", "4"))
    for table, tau in pima.TAUS.items():
        truth = pima.truth(tau)
        cells = {(cell.row, cell.column): cell for cell in study.of(table)}
        laplace = cells["laplace", "log_z_1"]
        assert laplace.verdict == "agrees" and abs(laplace.with_paper_settings.value - laplace.published) < 0.011
        for row in ("chib_jeliazkov", "importance", "smc", "ais", "power", "nested"):
            own = next((c for (r, column), c in cells.items() if r.startswith(row) and column == "bf12" and c.z_ours), None)
            assert own is not None and abs(own.z_ours) < 4.5
        # Ten steps lose nats, twenty lose less, and the harmonic mean is far too high.
        coarse, fine = (cells[f"power_{n}", "log_z_1"].with_paper_settings.value for n in (10, 20))
        assert coarse < fine < truth[0] + 0.5
        assert cells["harmonic", "log_z_1"].with_paper_settings.value > truth[0] + 3.0
        assert abs(cells["jump", "bf12"].z_truth) < 4.5
        assert study.parts[f"table-{table}/jump-all"].result["jump"][0][0] == "1 + NP + PGC + BMI + DP"


# -- parts: interrupted, restarted, spread -----------------------------------------------------------------------------------


def _draws(settings, key, loop):
    loop.count(n_likelihood=3)
    return {"values": key.generator().standard_normal(3).tolist()}


PARTS = [Part(f"table-2/part-{i}", "2", f"part {i}", _draws, 1.0) for i in range(5)]


def test_an_interrupted_run_gives_the_same_numbers(tmp_path):
    settings = quick_settings()
    whole = run_all(PARTS, settings, 7, tmp_path / "whole", 1, lambda text: None)
    said = []

    def interrupt(text):
        said.append(text)
        if len(said) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(PARTS, settings, 7, tmp_path / "parts", 1, interrupt)
    assert len(list((tmp_path / "parts" / "parts").iterdir())) == 2
    again = run_all(list(reversed(PARTS)), settings, 7, tmp_path / "parts", 1, lambda text: None)
    assert {name: done.result for name, done in again.items()} == {name: done.result for name, done in whole.items()}
    assert len({tuple(done.result["values"]) for done in whole.values()}) == 5


def test_a_file_of_another_run_or_half_a_file_is_not_read(tmp_path):
    settings = quick_settings()
    run_all(PARTS[:1], settings, 7, tmp_path, 1, lambda text: None)
    path = file_of(tmp_path, PARTS[0].name)
    assert kept(tmp_path, PARTS[0], settings, 7) is not None
    assert kept(tmp_path, PARTS[0], settings, 8) is None
    assert kept(tmp_path, PARTS[0], paper_settings(), 7) is None
    whole = path.read_text(encoding="utf-8")
    for text in (whole[: len(whole) // 2], "[]", "{}", whole.replace('"seconds"', '"minutes"')):
        path.write_text(text, encoding="utf-8")
        assert kept(tmp_path, PARTS[0], settings, 7) is None


def test_names_are_the_seeds_so_they_differ():
    names = [part.name for part in all_parts()]
    assert len(set(names)) == len(names)
    assert {part.table for part in all_parts()} == {"1", "2", "3", "4"}


def test_bad_arguments_get_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="no Table 5"):
        reproduce(quick_settings(), 1, tmp_path, tables=("5",))
    with pytest.raises(BadInput, match="workers=0"):
        reproduce(quick_settings(), 1, tmp_path, workers=0, tables=("1",))


# -- numbers -----------------------------------------------------------------------------------------------------------------


def test_what_the_paper_printed():
    found = published()
    assert found["2", "nested", "bf21"].value == 5369.71 and found["2", "nested", "bf21"].spread == 3874.79
    assert found["4", "jump", "bf12"].rounding == pytest.approx(0.05)
    assert sum(table in ("3", "4") for table, _, _ in found) == 2 * (7 * 4 + 1)
    assert {row for _, row, _ in found} <= set(NAMES)


def test_quick_differs_in_amounts_only():
    full, quick = paper_settings(), quick_settings()
    assert full.pine.n_rungs == quick.pine.n_rungs and full.pine.n_runs == quick.pine.n_runs == 18
    assert [n for n, _ in full.pima.ladders] == [n for n, _ in quick.pima.ladders] == [10, 20]
    assert full.pine.n_gibbs == 505_000 and full.pima.n_samples == 200_000


def test_numbers_show_what_their_errors_allow():
    assert with_error(Value(4553.6432, 0.2108)) == "4553.64 ± 0.21"
    assert with_error(Value(4594.797, 23.98)) == "4595 ± 24"
    assert with_error(Value(-257.2516)) == "-257.2516" and with_error(None) == "–"
    assert number(float("nan")) == "–"
    one = mean_of([1.0, 2.0, 3.0])
    assert one.value == 2.0 and one.spread == 1.0 and one.error == pytest.approx(1 / math.sqrt(3)) and one.n_runs == 3
    assert mean_of([2.0, 2.0]).error is None
