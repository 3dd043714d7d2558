"""``--log FILE``: one line for each record, whatever it contains, and nothing afterwards."""

from __future__ import annotations

import logging
import warnings

import pytest

from zhat.cli import main
from zhat.cli.logs import logged
from zhat.errors import BadInput


def test_records_go_to_the_file(tmp_path):
    path = tmp_path / "run.log"
    log = logging.getLogger("zhat")
    with logged(str(path)):
        log.info("a name with\na line break")
    log.info("after")
    with logged(None):
        log.info("nowhere")
    lines = path.read_text().splitlines()
    assert len(lines) == 1 and lines[0].endswith("INFO a name with a line break")


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(BadInput, match=r"--log .* cannot be written"), logged(str(tmp_path)):
        pass


def test_a_run_is_logged(tmp_path, capsys):
    with warnings.catch_warnings():
        assert main(["estimate", "zoo:E1", "--method", "laplace", "--seed", "1", "--log", str(tmp_path / "l"), "--quiet"]) == 0
    text = (tmp_path / "l").read_text()
    assert "run 0 begins, seed 1, Laplace(" in text and "run 0 ended, log Z = " in text


def test_a_name_forges_no_line_and_no_colour(tmp_path):
    with logged(str(tmp_path / "l")):
        logging.getLogger("zhat").warning("evil\r\n2026 INFO all is well\x1b[31m\u202e")
    text = (tmp_path / "l").read_text()
    assert len(text.splitlines()) == 1 and text.rstrip("\n").isprintable()


def test_a_full_disk_is_said_once_and_the_run_goes_on(tmp_path, capsys, monkeypatch):
    def full(self):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("zhat.cli.logs._File.flush", full)
    assert main(["estimate", "zoo:E1", "--method", "laplace", "--seed", "1", "--log", str(tmp_path / "l")]) == 0
    out, said = capsys.readouterr()
    assert said.count("No space left on device") == 1 and "the run goes on" in said and "Traceback" not in said
    assert "log Z" in out


def test_a_warning_is_a_sentence_and_in_the_log(tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["estimate", "zoo:E1", "--method", "laplace", "--workers", "2", "--log", str(tmp_path / "l")]) == 0
    said = capsys.readouterr().err
    assert "zhat: workers=2 do nothing here" in said and "UserWarning" not in said
    assert "workers=2 do nothing here" in (tmp_path / "l").read_text()
