"""Copy the output of ``zhat reproduce friel-wyse --out DIR`` into these pages: ``python docs/take_friel_wyse.py DIR``.

Tables are replaced where they stand in friel_wyse.md; the words around them have numbers of their own, to be read again by hand.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
COPIED = {
    "friel_wyse.html": "static/friel_wyse.html",
    "figure_1.svg": "pictures/friel_wyse_figure_1.svg",
    "table_1_ten_samples.svg": "pictures/friel_wyse_ten_samples.svg",
}
TABLE = re.compile(r"\*\*(Table[^\n]*)\*\*\n\n((?:\|[^\n]*\n)+)")


def main(folder: Path) -> None:
    for name, place in COPIED.items():
        (HERE / place).write_bytes((folder / name).read_bytes())
    new = dict(TABLE.findall((folder / "tables.md").read_text(encoding="utf-8")))
    page = HERE / "friel_wyse.md"
    text = page.read_text(encoding="utf-8")
    old = [title for title, _ in TABLE.findall(text)]
    if missing := set(new) ^ set(old):
        raise SystemExit(f"tables on one side only: {sorted(missing)}")
    page.write_text(TABLE.sub(lambda found: f"**{found[1]}**\n\n{new[found[1]]}", text), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
