"""The command as a whole: its version, and the exit codes of its help."""

from __future__ import annotations

import pytest

import zhat
from zhat.cli import main
from zhat.cli.exits import Exit


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"zhat {zhat.__version__}\n"


def test_the_help_says_what_the_exit_codes_mean(capsys):
    assert main([]) == 2
    assert "0    every evidence is ok and the comparison is decided" in capsys.readouterr().err


def test_an_error_of_the_likelihood_shows_its_own_lines_alone(tmp_path, capsys):
    (tmp_path / "model.py").write_text(
        "import numpyro.distributions as dist\nimport zhat\n\n\ndef solve(p):\n    raise RuntimeError('the solver diverged')\n\n\n"
        "model = zhat.Model.black_box(solve, {'x': dist.Normal(0.0, 1.0)}, name='solver')\n"
    )
    assert main(["estimate", str(tmp_path / "model.py"), "--seed", "1"]) == Exit.FAILED
    said = capsys.readouterr().err
    assert (
        "in solve" in said
        and "RuntimeError: the solver diverged" in said
        and "raised by the log likelihood of 'solver' at x=" in said
    )
    assert "your log likelihood raised the error above" in said and "black_box.py" not in said and "bug of zhat" not in said
