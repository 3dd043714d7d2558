"""Described: what a model that was built for the user says of itself in reports: its formula, its priors, what to cite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Described:
    """Sentences on a model, and the keys of what to cite for its priors.

    Attributes
    ----------
    model, prior : str
    cites : tuple of str
    columns : tuple of str
        Names of the columns of the design, in the order of the coefficients.
    warning : str
        What the reader should know of the data, such as separated classes; empty if nothing.
    """

    model: str
    prior: str
    cites: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    warning: str = ""
