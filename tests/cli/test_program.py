"""The command as a whole: its version, and the exit codes of its help."""

from __future__ import annotations

import pytest

import zhat
from zhat.cli import main


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"zhat {zhat.__version__}\n"


def test_the_help_says_what_the_exit_codes_mean(capsys):
    assert main([]) == 2
    assert "0    every evidence is ok and the comparison is decided" in capsys.readouterr().err
