"""The data of Friel & Wyse (2012): each file as a dictionary from column name to a NumPy array.

There are two files of the radiata pine data, because two are in circulation: `radiata_pine_friel_wyse` is what the
paper's figures were computed from, `radiata_pine_williams1959` is the published table (they differ in row 9).
A user who compares with the paper and one who compares with the rest of the literature both get their number.
"""

from __future__ import annotations

import difflib
from importlib import resources

import numpy as np

from zhat.errors import BadInput

NAMES = ("radiata_pine_friel_wyse", "radiata_pine_williams1959", "pima_indians")


def load(name: str) -> dict[str, np.ndarray]:
    """The columns of a data set, by name, in file order; fresh float64 arrays at every call."""
    if name not in NAMES:
        nearest = difflib.get_close_matches(str(name), NAMES, n=1, cutoff=0.0)[0]
        raise BadInput(f"data set {name!r} is not shipped; did you mean {nearest!r}? There are {', '.join(NAMES)}.")
    with resources.files(__name__).joinpath(f"{name}.csv").open(encoding="utf-8") as file:
        columns = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", ndmin=2)
    return {column: np.array(table[:, j]) for j, column in enumerate(columns)}
