"""What to cite: entries of `references.bib` by key, as BibTeX.

print(bibtex(evidence.cites))
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

_ENTRY = re.compile(r"^@\w+\{(?P<key>[^,\s]+),\n.*?^\}$", re.MULTILINE | re.DOTALL)


def bibtex(keys: Iterable[str]) -> str:
    """The entries of these keys, each once, in the order asked for; an unknown key raises KeyError."""
    known = entries()
    wanted = list(dict.fromkeys(keys))
    for key in wanted:
        if key not in known:
            nearest = difflib.get_close_matches(str(key), known, n=1, cutoff=0.0)[0]
            raise KeyError(f"references.bib has no entry {key!r}; did you mean {nearest!r}? Add it there to cite it.")
    return "\n\n".join(known[key] for key in wanted)


@cache
def entries() -> dict[str, str]:
    """Every entry of `references.bib` by its key, as it stands there."""
    text = resources.files("zhat").joinpath("references.bib").read_text(encoding="utf-8")
    return {match["key"]: match[0] for match in _ENTRY.finditer(text)}
