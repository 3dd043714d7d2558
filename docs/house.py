"""The tables of files in design.md, made from the first sentence of every module: `make docs` renews them, or run this file."""

from __future__ import annotations

import ast
from pathlib import Path

BEGIN, END = "<!-- every file -->", "<!-- end of files -->"
SOURCE = Path(__file__).parents[1] / "src" / "zhat"


def tables(source: Path = SOURCE) -> str:
    """A table for every room: its files, and what each of them is."""
    folders = sorted({path.parent for path in source.rglob("*.py")}, key=lambda folder: folder.relative_to(source).parts)
    parts = []
    for folder in folders:
        files = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py" or folder == source]
        if not files:
            continue
        name = "zhat" if folder == source else str(folder.relative_to(source))
        about = "" if folder == source else f"{sentence(folder / '__init__.py')}\n\n"
        rows = [f"| `{path.name}` | {sentence(path)} |" for path in files]
        parts.append("\n".join([f"### {name}/\n\n{about}| file | what it is |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def sentence(path: Path) -> str:
    """The first sentence of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return first.replace("|", "\\|").replace("<", "&lt;")


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.partition(END)[2]}"


def write(path: Path) -> None:
    """Renew the page where it has changed."""
    page = path.read_text(encoding="utf-8")
    if renewed(page) != page:
        path.write_text(renewed(page), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent / "design.md")
