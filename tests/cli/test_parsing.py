"""The help of every command: examples and exit codes."""

from __future__ import annotations

import pytest

from zhat.cli import main


@pytest.mark.parametrize("command", ["estimate", "compare", "average", "show", "cite", "demo"])
def test_help_has_examples_and_exit_codes(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert f"zhat {command}" in out.split("examples:")[1] and "130  interrupted" in out
