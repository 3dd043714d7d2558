"""Pictures in files: a check of the path before a long run, and the writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zhat.errors import BadInput

KINDS = (".svg", ".png", ".pdf")


def check_picture_path(path: str | Path) -> Path:
    """The path, if a picture can be written there."""
    path = Path(path)
    if path.suffix.lower() not in KINDS:
        raise BadInput(f"{str(path)!r}: a picture's name ends in {', '.join(KINDS)}.")
    if not path.parent.is_dir():
        raise BadInput(f"{str(path)!r}: there is no directory {str(path.parent)!r}; make it first.")
    new_figure()
    return path


def new_figure(width: float = 6.4, height: float = 4.0) -> Any:
    """A figure of its own, which touches nothing that matplotlib keeps globally."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BadInput("pictures need matplotlib: pip install 'zhat[plots]'.") from error
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: Path) -> Path:
    """Write it, without the date and with fixed names of parts: the same picture gives the same file."""
    from matplotlib import rc_context

    dated = {".svg": "Date", ".pdf": "CreationDate"}.get(path.suffix.lower())
    with rc_context({"svg.hashsalt": "zhat"}):
        figure.savefig(path, metadata=None if dated is None else {dated: None})
    return path
