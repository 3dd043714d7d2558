"""Run the code of these pages, and put what it prints into the blocks that show it.

    python docs/renew_output.py            # all pages
    python docs/renew_output.py tutorial   # pages whose name contains this

`tests/docs` checks the words of the pages, and of the README every digit but the seconds.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

from zhat.cli import main as command

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Their code is run by tests of their own, or needs machines.
LEFT_OUT = {"add_a_kernel.md", "add_a_method.md", "add_a_plot.md", "add_an_adapter.md", "cluster.md"}


def renewed(text: str, name: str) -> str:
    """The page with the output of its code."""
    space: dict[str, object] = {"__name__": "page"}
    printed = ""

    def put(match: re.Match[str]) -> str:
        nonlocal printed
        kind, code = match.groups()
        if kind == "text":
            return f"```text\n{printed.rstrip()}\n```"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if kind == "python":
                exec(compile(code, name, "exec"), space)
            else:
                for line in code.splitlines():
                    command(line.removeprefix("$ zhat ").split())
        printed = out.getvalue()
        return match[0]

    return BLOCK.sub(put, text)


def main(wanted: str) -> None:
    pages = [page for page in sorted(HERE.rglob("*.md")) if "generated" not in page.parts and page.name not in LEFT_OUT]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if wanted in page.name and "```text" in text:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                new = renewed(text, page.name)
                os.chdir(HERE)
            print(f"{page.name}: {'renewed' if new != text else 'the same'}")
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
