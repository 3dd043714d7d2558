"""Settings of methods and budgets as words of the command line."""

from __future__ import annotations

import math

import pytest

from zhat.cli.options import budget_from, settings_from
from zhat.errors import BadInput


def test_settings_are_python_literals():
    assert settings_from(["a=1_000", "b=True", "c='x'", "d=[0.0, 1.0]", "e=None"]) == {
        "a": 1000,
        "b": True,
        "c": "x",
        "d": [0.0, 1.0],
        "e": None,
    }
    for word in ("a=f()", "a=x", "a=1;2", "a=", "a=(" * 300, "1a=2", "=2", "a=" + "-" * 100_000 + "1"):
        with pytest.raises(BadInput):
            settings_from([word])


def test_budgets_are_numbers_or_times():
    assert budget_from([]) is None
    both = budget_from(["1e6", "10m"])
    assert (both.likelihoods, both.seconds) == (1e6, 600.0)
    assert (budget_from(["2h"]).seconds, budget_from(["90s"]).likelihoods) == (7200.0, math.inf)
