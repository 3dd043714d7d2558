"""What can go wrong, in few classes; each is also a ValueError, TypeError or RuntimeError.

Two channels, kept apart: *wrong input* raises one of these at the door, naming the argument, its value, the
reason and the way out; *numerical trouble* during a run becomes a `Status` in the result, and is raised only
when the caller asks for it (`strict=True`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zhat.results.estimate import Evidence


class ZhatError(Exception):
    """Whatever this library raises on purpose."""


class BadInput(ZhatError, ValueError):
    """An argument that cannot be used; the message says which, why and what to do."""


class BadType(ZhatError, TypeError):
    """An argument of the wrong kind."""


class ShapeError(BadInput):
    """A function or an array of the wrong shape."""


class UnsupportedModel(BadInput):
    """The model does not offer what the method needs; the message names methods that would do."""


class NonFiniteLikelihood(ZhatError, RuntimeError):
    """The log likelihood was NaN or +inf at a point, which the message prints."""


class NoSupport(ZhatError, RuntimeError):
    """No draw from the prior has a likelihood above zero, so there is nothing to estimate."""


class CorruptFile(BadInput):
    """A result file that is damaged, of another schema, or not ours."""


class WorkerLost(ZhatError, RuntimeError):
    """Worker processes died under a task, several times or while starting; the message says how."""


class EvidenceFailed(ZhatError, RuntimeError):
    """Raised by ``evidence(..., strict=True)`` for a failed run; `evidence` keeps what the run had."""

    def __init__(self, message: str, evidence: Evidence) -> None:
        super().__init__(message)
        self.evidence = evidence
