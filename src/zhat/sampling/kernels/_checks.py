"""Checks of settings that several kernels share."""

from __future__ import annotations

from zhat.errors import BadInput, BadType


def check_acceptance(owner: str, acceptance: object) -> None:
    """Refuse a goal acceptance that is not a rate."""
    if isinstance(acceptance, bool) or not isinstance(acceptance, int | float):
        raise BadType(f"{owner}(acceptance={acceptance!r}): give a number between 0 and 1.")
    if not 0.0 < acceptance < 1.0:
        raise BadInput(f"{owner}(acceptance={acceptance}): give a rate between 0 and 1.")


def check_whole(owner: str, name: str, value: object, minimum: int) -> None:
    """Refuse a setting that is not a whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadType(f"{owner}({name}={value!r}): give a whole number.")
    if value < minimum:
        raise BadInput(f"{owner}({name}={value}): give at least {minimum}.")
