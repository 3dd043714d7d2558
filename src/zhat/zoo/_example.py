"""Example: a model together with what is known about its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from zhat.model.model import Model

TAGS = frozenset(
    {
        "one-dimensional",
        "two-dimensional",
        "many-dimensional",
        "skewed",
        "bounded",
        "correlated",
        "hierarchical",
        "multimodal",
        "plateau",
        "stress",
        "conditionals",
        "friel-wyse",
    }
)


@dataclass(frozen=True)
class Example:
    """A model of the zoo.

    Attributes
    ----------
    id : str
        What `example(id)` is called with.
    title : str
    model : Model
    log_evidence : float or None
        The exact log evidence (the text of `formula` says to how many digits); None where it is not known.
        It belongs to this model's data and hyperparameters, not to `with_data` and `with_hyper` copies.
    formula : str
        Where the number comes from, in words.
    source : str
        Whose model this is.
    tags : tuple of str
        What makes it easy or hard; words of `TAGS`.
    """

    id: str
    title: str
    model: Model
    log_evidence: float | None
    formula: str
    source: str
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Our own tables must use our own words."""
        unknown = set(self.tags) - TAGS
        assert not unknown, f"example {self.id!r} has tags {sorted(unknown)} that are not in TAGS"
