"""``zhat crosscheck``: a table, a verdict, an exit code."""

import json

from zhat.cli.program import main


def test_a_table_and_an_exit_code(capsys):
    assert main(["crosscheck", "zoo:E1", "--seed", "1", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "confirmed (trust 3 of 5)" in out and "from the modes" in out and "Next:" in out


def test_json(capsys):
    assert main(["crosscheck", "zoo:E1", "--seed", "1", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "confirmed"


def test_a_model_that_does_not_exist_is_bad_input(capsys):
    assert main(["crosscheck", "nowhere.py", "--quiet"]) == 2
    assert "nowhere.py" in capsys.readouterr().err


def test_a_report_and_a_bad_path_before_any_run(capsys, tmp_path):
    page = tmp_path / "page.html"
    assert main(["crosscheck", "zoo:E1", "--seed", "1", "--html", str(page)]) == 0
    assert "Crosscheck of E1" in page.read_text() and "report written to" in capsys.readouterr().err
    assert main(["crosscheck", "zoo:E1", "--html", str(tmp_path / "page.pdf")]) == 2
