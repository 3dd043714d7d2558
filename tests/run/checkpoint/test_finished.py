"""Finished tasks are kept whole, those that a budget ended are not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.results.records import Cost
from zhat.run import repeats
from zhat.run.checkpoint.finished import finished, keep
from zhat.run.distribution.plans import carry_out
from zhat.run.distribution.travel import Task
from zhat.sampling.backend.journal import Journal, journaled
from zhat.sampling.backend.segments import Segments

MODEL = zoo.example("E1").model
NOTHING = Cost()


@dataclass(frozen=True)
class Result:
    value: float
    is_final: bool = True
    cost: Cost = NOTHING


def compute(model, value):
    return Result(value, value > 0)


def task(value):
    return Task(compute, MODEL, (value,), Result, (value,))


def test_only_what_is_final_is_kept(tmp_path):
    assert finished(task(1.0)) is None  # no checkpoint
    keep(task(1.0), Result(1.0))
    with journaled(Journal(Segments(tmp_path))):
        keep(task(1.0), Result(np.pi))
        keep(task(-1.0), Result(-1.0, False))
    with journaled(Journal(Segments(tmp_path))):
        assert finished(task(1.0)) == Result(np.pi)
        assert finished(task(-1.0)) is None
        assert finished(Task(compute, MODEL, (1.0,))) is None


def test_repeats_that_were_finished_are_not_run_again(tmp_path, monkeypatch):
    """The third of four runs ends the process: the first two are taken from the checkpoint, with what they cost."""
    made, run_one = [], repeats._one_run

    def one_run(*args, **kwargs):
        made.append(1)
        if len(made) == stop_at:
            raise KeyboardInterrupt
        return run_one(*args, **kwargs)

    monkeypatch.setattr(repeats, "_one_run", one_run)
    settings = {"seed": 5, "progress": False, "repeats": 4}
    stop_at = 0
    undisturbed = zhat.evidence(MODEL, zhat.PriorMean(n_draws=1000), **settings)
    made, stop_at = [], 3
    with pytest.raises(KeyboardInterrupt):
        zhat.evidence(MODEL, zhat.PriorMean(n_draws=1000), checkpoint=tmp_path / "ckpt", **settings)
    made, stop_at = [], 0
    resumed = zhat.evidence(MODEL, zhat.PriorMean(n_draws=1000), checkpoint=tmp_path / "ckpt", **settings)
    assert len(made) == 2
    assert repr(resumed.log_evidence) == repr(undisturbed.log_evidence)
    assert repr(resumed.log_evidence_se) == repr(undisturbed.log_evidence_se)
    assert resumed.cost.n_likelihood == undisturbed.cost.n_likelihood
    assert np.array_equal(resumed.record.log_likelihood, undisturbed.record.log_likelihood)


def plan():
    first = yield [task(1.0), task(2.0)]
    second = yield [task(3.0)]
    return [result.value for result in first + second]


def test_plans_take_them_in_this_process_and_on_workers(tmp_path, monkeypatch):
    with journaled(Journal(Segments(tmp_path))), ThreadPoolExecutor(2) as executor:
        assert carry_out([plan()], executor) == [[1.0, 2.0, 3.0]]
    monkeypatch.setitem(globals(), "compute", compute)
    with journaled(Journal(Segments(tmp_path))), ThreadPoolExecutor(2) as executor:
        monkeypatch.setattr(executor, "submit", None)  # nothing is left to do
        assert carry_out([plan()], executor) == [[1.0, 2.0, 3.0]]
        assert carry_out([plan()]) == [[1.0, 2.0, 3.0]]
