"""Exceptions: every error that zhat raises on purpose; each is also a ValueError, TypeError or RuntimeError.

*Wrong input* raises one of these before a run, with the argument, its value, the reason and what to write instead.
*Numerical trouble* during a run becomes a `Status` in the result, and is raised only with ``strict=True``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zhat.results.estimate import Evidence


class ZhatError(Exception):
    """Base class of every exception that zhat raises on purpose."""


class BadInput(ZhatError, ValueError):
    """An argument that cannot be used; the message says which, why and what to do."""


class BadType(ZhatError, TypeError):
    """An argument of the wrong kind."""


class ShapeError(BadInput):
    """A function or an array of the wrong shape."""


class UnsupportedModel(BadInput):
    """The model does not offer what the method needs; the message names methods that can be used."""


class NonFiniteLikelihood(ZhatError, RuntimeError):
    """The log likelihood was NaN or +inf at a point, which the message prints."""


class NoSupport(ZhatError, RuntimeError):
    """No draw from the prior has a likelihood above zero, so the evidence cannot be estimated."""


class CorruptFile(BadInput):
    """A result file that is damaged, of another schema, or not written by zhat."""


class WorkerLost(ZhatError, RuntimeError):
    """Worker processes ended during a task, several times, or while starting; the message says how."""


class EvidenceFailed(ZhatError, RuntimeError):
    """Raised by ``evidence(..., strict=True)`` for a failed run; the attribute `evidence` is its result."""

    def __init__(self, message: str, evidence: Evidence) -> None:
        super().__init__(message)
        self.evidence = evidence
