"""`zhat completion`: scripts for shells, and what bash offers."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from zhat.cli import main


@pytest.mark.parametrize(("line", "offered"), [
    ("zhat est", {"estimate"}),
    ("zhat compare --h", {"--help", "--html"}),
    ("zhat estimate zoo:E1 --method stepp", {"stepping-stone"}),
    ("zhat estimate zoo:pine-adj", {"pine-adjusted"}),
    ("zhat completion f", {"fish"}),
])  # fmt: skip
def test_bash_completes(line, offered, tmp_path, capsys):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.sh"
    script.write_text(capsys.readouterr().out)
    words = line.split(" ")
    ask = f"""source {script}; COMP_LINE='{line}'; COMP_POINT={len(line)}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}
    _zhat; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert offered <= set(done.stdout.split()), done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(shell, capsys):
    assert main(["completion", shell]) == 0
    assert "stepping-stone" in capsys.readouterr().out
