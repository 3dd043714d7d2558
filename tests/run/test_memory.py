"""Memory of a run: said with its plan, and refused where the machine does not have it."""

from __future__ import annotations

import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput
from zhat.run import memory
from zhat.run.memory import check_memory, machine_memory, memory_of

MODEL = zoo.example("E8").model


def test_it_grows_with_draws_and_dimensions():
    one = memory_of(MODEL, zhat.Importance(n_draws=1000))
    assert memory_of(MODEL, zhat.Importance(n_draws=4000)) == pytest.approx(4 * one, rel=1e-3)
    assert memory_of(MODEL, zhat.SMC(n_particles=1000)) > one and memory_of(MODEL, zhat.Exact()) == 0


def test_large_plans_say_it_and_hopeless_ones_are_refused(monkeypatch):
    assert machine_memory() is None or machine_memory() > 2**28
    assert check_memory(MODEL, zhat.Importance()) == ""
    monkeypatch.setattr(memory, "machine_memory", lambda: 2**40)
    assert "GB of memory" in check_memory(MODEL, zhat.Importance(n_draws=10**8))
    with pytest.raises(BadInput, match=r"Importance\(n_draws=...\) on .* needs about .* GB of memory and this machine has"):
        zhat.evidence(MODEL, zhat.Importance(n_draws=10**11), seed=1, progress=False)
