"""The host loop: evaluations counted, budgets kept, interruptions heard."""

import os
import re
import signal
import threading
import time
from dataclasses import replace
from functools import cache

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model
from zhat.errors import BadInput, BadType
from zhat.results.estimate import Level
from zhat.results.records import PathRun
from zhat.sampling.backend.loop import Budget, Loop, Stopped
from zhat.sampling.importance.proposals import Gaussian
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.sampling.kernels.slice import Slice

PRIOR = {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}
INFINITELY = 10**9


class Counted:
    """A NumPy likelihood that counts its points, and can do something when it has seen so many."""

    def __init__(self, batched=True, after=INFINITELY, action=lambda: None):
        self.points = 0
        self.batched, self.after, self.action = batched, after, action

    def __call__(self, params):
        self.points += len(params["x"]) if self.batched else 1
        if self.points >= self.after:
            self.after = INFINITELY
            self.action()
        return -2.0 * ((params["x"] - 0.3) ** 2).sum(axis=-1)


@cache
def model(batched):
    """One model for all tests: its likelihood is whatever `CURRENT` holds, so that its prior compiles once."""
    return Model.black_box(lambda params: CURRENT[-1](params), PRIOR, batched=batched, name="counted")


CURRENT = []


def run(method, counted=None, **options):
    CURRENT.append(counted or Counted())
    return zhat.evidence(model(CURRENT[-1].batched), method, seed=1, **options), CURRENT[-1]


# -- counting -------------------------------------------------------------------------------------------------------

GIVEN = zhat.Importance(n_draws=1000, proposal=Gaussian(np.zeros(2), np.eye(2)), coverage_check=False)
METHODS = {
    "prior mean": zhat.PriorMean(n_draws=1000),
    "importance, proposal given": GIVEN,
    "importance": zhat.Importance(n_draws=1000, n_pilot=500),
    "laplace": zhat.Laplace(n_check=200),
    "smc": zhat.SMC(n_particles=40),
    "smc, random walk": zhat.SMC(n_particles=40, kernels=(RandomWalk(),)),
    "smc, slice": zhat.SMC(n_particles=40, kernels=(Slice(),)),
}


@pytest.mark.parametrize("batched", [True, False], ids=["batched", "one point"])
@pytest.mark.parametrize("name", METHODS)
def test_every_call_of_a_black_box_is_counted(name, batched):
    # BUG when written: the preflight's calls (determinism, batch = single) are not counted: 12 batched, 6 point by point.
    # BUG when written: slice moves count every point of every look (see test_sampling_worlds).
    found, counted = run(METHODS[name], Counted(batched))
    assert found.cost.n_likelihood + found.cost.n_gradient == counted.points


def test_what_is_counted_beyond_the_first_look_is_exact():
    # Two runs differ by their draws alone, whatever a run looks at first.
    few, one = run(GIVEN)
    many, two = run(replace(GIVEN, n_draws=1777))
    assert many.cost.n_likelihood - few.cost.n_likelihood == two.points - one.points == 777


def test_a_loop_adds_up():
    loop = Loop(progress=False)
    loop.count(n_likelihood=5)
    loop.count(n_likelihood=2, n_gradient=3, n_hessian=1)
    cost = loop.cost(compile_seconds=1e9)
    assert (cost.n_likelihood, cost.n_gradient, cost.n_hessian) == (7, 3, 1)
    assert cost.compile_seconds == cost.seconds > 0.0
    loop.tick("still going")


# A population without the look from the mode, so that half of its points are spent in the middle of its path.
POPULATION = zhat.SMC(n_particles=80, mode_check=False)


@cache
def half_of_a_population():
    return run(POPULATION)[1].points // 2


# -- budgets --------------------------------------------------------------------------------------------------------


def test_a_budget_of_likelihoods_stops_the_next_tick():
    loop = Loop(Budget(likelihoods=10), progress=False)
    loop.count(n_likelihood=6, n_gradient=3)
    loop.tick("nine")
    loop.count(n_gradient=1)
    with pytest.raises(Stopped, match=r"the budget of 10 likelihoods is spent \(ten\)") as caught:
        loop.tick("ten")
    assert caught.value.code == "budget"


def test_a_budget_of_seconds_stops_the_next_tick():
    loop = Loop(Budget(seconds=0.01), progress=False)
    time.sleep(0.02)
    with pytest.raises(Stopped, match=r"the budget of 0.01 s is spent"):
        loop.tick("late")


@pytest.mark.parametrize("limit", [0, -1, -0.5, float("nan")])
@pytest.mark.parametrize("name", ["likelihoods", "seconds"])
def test_a_budget_must_be_above_zero(name, limit):
    with pytest.raises(BadInput, match=rf"Budget\({name}={limit}\): a budget must be above zero"):
        Budget(**{name: limit})


def test_a_budget_must_be_a_number():
    with pytest.raises(BadType, match=r"Budget\(likelihoods='many'\): give a number"):
        Budget(likelihoods="many")
    with pytest.raises(BadType, match=r"budget is a int: give zhat\.Budget"):
        run(GIVEN, budget=1000)


def test_a_population_that_is_stopped_hands_over_its_finished_rungs():
    limit = half_of_a_population()
    found, counted = run(POPULATION, budget=Budget(likelihoods=limit))
    assert found.status.level is Level.FAILED
    assert np.isfinite(found.log_evidence) and found.log_evidence_se is None
    assert "that of the rungs up to inverse temperature" in found.explain()
    record = found.record
    assert isinstance(record, PathRun) and not record.complete
    assert len(record.log_likelihood) == len(record.betas) == len(record.n_moves) >= 1
    # It stops at the first tick beyond the limit: a call of two moves, and the first looks.
    assert limit <= counted.points <= limit + 2 * 80 + 12


def test_a_budget_holds_for_all_repeats_together():
    found, _ = run(GIVEN, budget=Budget(likelihoods=4900), repeats=10)
    assert found.status.level is Level.FAILED
    assert 4 <= len(found.repeats) <= 5  # 1,000 draws each, and the first looks
    assert all(repeat.status.is_ok for repeat in found.repeats[:-1])
    assert 4900 <= found.cost.n_likelihood <= 5200
    assert "the budget of 4,900 likelihoods is spent" in found.explain()


# -- interruption ---------------------------------------------------------------------------------------------------


def test_an_interrupt_raises_at_the_next_tick():
    loop = Loop(progress=False)
    loop.interrupted = True
    with pytest.raises(Stopped, match=r"interrupted by the user \(rung 3\)") as caught:
        loop.tick("rung 3")
    assert caught.value.code == "interrupted"


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_ctrl_c_ends_the_run_with_what_it_has():
    before = signal.getsignal(signal.SIGINT)
    limit = half_of_a_population()
    found, counted = run(POPULATION, Counted(after=limit, action=interrupt), repeats=3)
    assert found.status.level is Level.FAILED
    assert len(found.repeats) == 1
    assert isinstance(found.record, PathRun)
    assert counted.points <= limit + 2 * 80
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupted_population_says_that_it_was_interrupted():
    found, _ = run(POPULATION, Counted(after=half_of_a_population(), action=interrupt))
    assert found.status.reasons[0].code == "interrupted"
    # BUG when written: the sentence of an interrupted run still says "give a larger budget".
    assert "larger budget" not in found.explain()


def test_importance_sampling_says_that_it_was_interrupted():
    found, _ = run(METHODS["importance"], Counted(after=1400, action=interrupt))
    assert found.status.reasons[0].code == "interrupted"
    assert "interrupted by the user" in found.explain()


def test_the_second_ctrl_c_raises_at_once():
    def twice():
        interrupt()
        interrupt()
        time.sleep(0.2)  # the handler runs in the main thread before this returns

    with pytest.raises(KeyboardInterrupt):
        run(POPULATION, Counted(after=half_of_a_population(), action=twice))


def test_a_run_in_another_thread_leaves_signals_alone():
    before, results = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: results.append(run(GIVEN)[0]))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert results[0].log_evidence == run(GIVEN)[0].log_evidence


def test_progress_goes_to_stderr_and_is_cleared(capsys):
    run(GIVEN, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.search(r"\rcounted  importance  .* evaluations  \d+ s", captured.err)
    assert captured.err.endswith("\r")
    run(GIVEN, progress=False)
    assert capsys.readouterr().err == ""


def test_ctrl_c_ends_a_comparison_and_says_how_far_it_was():
    other = Model.black_box(lambda params: -0.5 * (params["x"] ** 2).sum(axis=-1), PRIOR, batched=True, name="other")
    CURRENT.append(Counted(after=1400, action=interrupt))
    seen = []
    last = Model.black_box(lambda params: seen.append(1) or np.zeros(len(params["x"])), PRIOR, batched=True, name="last")
    with pytest.raises(KeyboardInterrupt, match="while 'counted' was run; 1 of 3 models were done"):
        zhat.compare({"other": other, "counted": model(True), "last": last}, METHODS["importance"], seed=1)
    assert not seen
