"""One run over many workers: the digits of a run without any, and every failure told apart."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType, WorkerLost
from zhat.run.distribution import spread
from zhat.run.distribution.pool import LocalPool
from zhat.run.distribution.spread import Spread, evaluated, workers_of
from zhat.sampling.backend.likelihoods import evaluated_by, likelihoods

pytestmark = pytest.mark.xdist_group("pool")
PRIOR = {"x": dist.Uniform(-5.0, 5.0).expand([2]).to_event(1)}


def gaussian(p):
    time.sleep(1e-4)
    return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)


@pytest.fixture(scope="module")
def pool():
    with LocalPool(2, timeout=1.0) as made:
        yield made


def values(executor, function, x, batched=False):
    model = zhat.Model.black_box(function, PRIOR, batched=batched, name="box")
    with evaluated_by(Spread(executor, 4)):
        return likelihoods(model, {"x": x})


@pytest.mark.parametrize(
    "method", [zhat.NestedSampling(n_live=60), pytest.param(zhat.SMC(n_particles=100), marks=pytest.mark.slow)]
)
def test_digits_do_not_depend_on_the_workers(method, monkeypatch):
    model = zhat.Model.black_box(gaussian, PRIOR, name="box")
    alone = zhat.evidence(model, method, seed=3, progress=False)
    monkeypatch.setattr(spread, "WORTH_SENDING", 0.0)
    for n, from_seconds in ((2, 1.0), (7, 0.0)):  # as a local executor, and as one with a scheduler
        monkeypatch.setattr(spread, "SCHEDULED_PIECE_SECONDS", from_seconds)
        with ThreadPoolExecutor(n) as executor:
            spread_out = zhat.evidence(model, method, seed=3, progress=False, executor=executor)
        assert spread_out.log_evidence == alone.log_evidence
        assert spread_out.log_evidence_se == alone.log_evidence_se
        assert spread_out.cost.n_likelihood == alone.cost.n_likelihood


def test_values_come_back_in_order_though_calls_differ_in_time(pool):
    x = np.arange(120.0).reshape(-1, 2)

    def uneven(p):
        time.sleep(0.01 * (p["x"][0] % 7 == 0))
        return float(p["x"][0])

    assert values(pool, uneven, x).tolist() == x[:, 0].tolist()


def test_batches_are_cut_alike_whatever_the_workers(pool):
    x = np.arange(100.0).reshape(-1, 2)
    sizes = values(pool, lambda p: np.full(len(p["x"]), float(len(p["x"]))), x, batched=True)
    assert sizes.tolist() == [16.0] * 48 + [2.0] * 2


def test_a_worker_that_dies_is_replaced(pool):
    def slow(p):
        time.sleep(0.01)
        return float(p["x"].sum())

    x = np.arange(120.0).reshape(-1, 2)
    values(pool, slow, x[:4])  # workers are up
    killing = threading.Timer(0.1, lambda: os.kill(pool.process_ids[0], signal.SIGKILL))
    killing.start()
    assert values(pool, slow, x).tolist() == x.sum(axis=1).tolist()
    killing.join()


def test_a_point_that_kills_hangs_or_raises_is_named(pool, monkeypatch):
    monkeypatch.setattr("zhat.run.distribution.pool.MAX_DEATHS", 1)  # a new worker costs seconds
    monkeypatch.setattr("zhat.run.distribution.pool.MAX_TIMEOUTS", 1)
    x = np.arange(20.0).reshape(-1, 2)

    def deadly(p):
        if p["x"][0] == 6.0:
            os._exit(7)
        return 0.0

    def hanging(p):
        if p["x"][0] == 6.0:
            time.sleep(60.0)
        return 0.0

    def raising(p):
        return 1.0 / float(p["x"][0] - 6.0)

    with pytest.raises(WorkerLost, match=r"'box' was lost with its workers at x=\[6. 7.\].*exit code 7"):
        values(pool, deadly, x)
    with pytest.raises(WorkerLost, match=r"x=\[6. 7.\]: a worker gave no answer within its time limit, once"):
        values(pool, hanging, x)
    with pytest.raises(ZeroDivisionError) as raised:
        values(pool, raising, x)
    assert any("x=[6. 7.]" in note for note in raised.value.__notes__)
    assert values(pool, lambda p: float(p["x"][0]), x).tolist() == x[:, 0].tolist()  # and the pool goes on


class Noting(LocalPool):
    """A pool that only notes how long each piece may take, and how often."""

    def submit_within(self, seconds, fn, /, *args, most_timeouts=None):
        self.noted = (seconds, most_timeouts)
        return Future()


@pytest.mark.parametrize(
    ("n", "batched", "usual", "noted"),
    [
        (1, False, 0.002, (60.0, None)),  # a single point: tried twice
        (20, False, 0.002, (60.0 + 19 * 0.04, 1)),  # one of them may hang, and then they are tried one by one
        (20, False, 10.0, (60.0 * 20, 1)),  # never more than as many single points may take
        (20, False, np.nan, (60.0 * 20, None)),
        (16, True, 0.002, (60.0 * 16, None)),  # whose pieces cannot be cut
    ],
)
def test_a_piece_with_a_point_that_hangs_costs_the_time_limit_of_one(n, batched, usual, noted):
    made = Spread(pool := Noting(2, timeout=60.0), 2)
    made.seconds = usual
    box = spread.BlackBox.of(zhat.Model.black_box(gaussian, PRIOR, batched=batched, name="box"))
    made.submit(box, [({"x": np.zeros((n, 2))}, True)])
    assert pool.noted == (pytest.approx(noted[0]), noted[1])


def test_calls_of_equal_time_are_cut_into_one_piece_for_each_worker(monkeypatch):
    monkeypatch.setattr(spread, "SCHEDULED_PIECE_SECONDS", 0.0)
    found = Spread(ThreadPoolExecutor(1), 8)
    assert found.equal_pieces(200) is None  # nothing is known yet
    found.piece_seconds = 1.0
    found.note(0.2, 10)
    assert (found.equal_pieces(200), found.equal_pieces(100), found.equal_pieces(3)) == (25, 13, 1)
    assert found.equal_pieces(4000) == 50  # ten rounds of a second
    assert found.early_piece() == 3
    for seconds in (0.1, 0.4, 0.1):
        found.note(seconds, 10)
    assert found.equal_pieces(200) is None  # they differ


def test_after_a_late_batch_pieces_are_cut_for_the_workers_that_are_there(monkeypatch):
    alive = [7]
    monkeypatch.setattr(spread, "workers_of", lambda executor: alive[0])
    found = Spread(ThreadPoolExecutor(1), 8)
    found.piece_seconds = 1.0
    found.note(0.2, 10)
    found.note_batch(0.6, 200)  # half a second is what it should take
    assert found.equal_pieces(210) == 27
    found.note_batch(1.2, 200)
    assert found.equal_pieces(210) == 30
    alive[0] = 9
    found.note_batch(0.5, 200)
    assert found.equal_pieces(210) == 27


def test_a_point_that_was_sent_early_in_vain_may_raise(monkeypatch, tmp_path):
    monkeypatch.setattr(spread, "SCHEDULED_PIECE_SECONDS", 0.0)
    monkeypatch.setattr(spread, "WORTH_SENDING", 0.0)
    begun = tmp_path / "an early point has begun"  # a file, because an event cannot travel to a worker

    def picky(p):
        if p["x"][0] >= 80.0:
            begun.touch()
        while (
            p["x"][0] == 7.0 and not begun.exists()
        ):  # the first batch ends after an idle worker has begun with an expected point
            time.sleep(1e-3)
        if p["x"][0] > 90.0:
            raise ZeroDivisionError
        return float(p["x"][0])

    model = zhat.Model.black_box(picky, PRIOR, name="box")
    x = np.stack([np.arange(100.0), np.zeros(100)], axis=1)
    with ThreadPoolExecutor(4) as executor, evaluated_by(made := Spread(executor, 4)):
        made.expect(model, {"x": x[80:]})
        assert likelihoods(model, {"x": x[:8]}).tolist() == list(range(8))
        assert made.early
        assert likelihoods(model, {"x": x[78:90]}).tolist() == list(range(78, 90))
        with pytest.raises(ZeroDivisionError):
            likelihoods(model, {"x": x[88:93]})


def test_the_model_travels_once():
    large = np.zeros(100_000)
    sent = []

    class Counting(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            sent.append(args[1] is not None)
            return super().submit(fn, *args, **kwargs)

    with Counting(1) as executor:
        values(executor, lambda p: float(p["x"][0] + large[0]), np.zeros((300, 2)))
    assert sum(sent) <= 8 < len(sent)  # as many as were under way before the first answer


def test_a_broken_executor_is_named():
    class Broken(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(int)
            future.result()
            future = type(future)()
            future.set_exception(BrokenProcessPool("a child process terminated"))
            return future

    with Broken(1) as executor, pytest.raises(WorkerLost, match=r"broken.*give workers="):
        values(executor, gaussian, np.zeros((3, 2)))


class Silent(ThreadPoolExecutor):
    """A cluster whose workers are all gone."""

    _client = SimpleNamespace(nthreads=dict)

    def submit(self, fn, /, *args, **kwargs):
        return Future()


def test_a_cluster_without_workers_is_waited_for_and_given_up(monkeypatch):
    monkeypatch.setattr(spread, "SILENT", 0.0)
    monkeypatch.setattr(spread, "DESERTED", 1.0)
    with (
        Silent(1) as executor,
        pytest.warns(UserWarning, match="no worker is left on the cluster"),
        pytest.raises(WorkerLost, match=r"no worker for .* minutes.*checkpoint="),
    ):
        values(executor, gaussian, np.zeros((3, 2)))


def test_a_budget_ends_a_run_whose_workers_are_silent():
    model = zhat.Model.black_box(gaussian, PRIOR, name="box")
    with Silent(2) as executor:
        found = zhat.evidence(model, seed=1, progress=False, executor=executor, budget=zhat.Budget(seconds=0.5))
    assert "budget" in [reason.code for reason in found.status.reasons] and found.cost.n_likelihood == 0


def test_other_versions_are_refused():
    kind, error, _ = evaluated("0" * 64, b"", {"x": np.zeros((1, 2))}, tuple(f"{v}9" for v in spread.versions()))
    assert kind == "raised" and b"other versions" in error


def test_numbers_of_workers():
    with ThreadPoolExecutor(3) as executor:
        assert workers_of(executor) == 3
    assert workers_of(LocalPool(5)) == 5


def test_workers_that_would_do_nothing_say_so():
    with pytest.warns(UserWarning, match="workers=2 do nothing here"):
        zhat.evidence(zoo.example("E1").model, "laplace", seed=1, workers=2, progress=False)


def test_time_limits_are_checked():
    with pytest.raises(BadInput, match="above zero"):
        LocalPool(2, timeout=0.0)
    with pytest.raises(BadType, match="seconds that one likelihood may take"):
        LocalPool(2, timeout="long")


def test_an_executor_that_was_shut_down_is_refused():
    model = zhat.Model.black_box(gaussian, PRIOR, name="box")
    with ThreadPoolExecutor(2) as executor:
        pass
    with pytest.raises(BadInput, match="it takes no more work"):
        zhat.evidence(model, zhat.Importance(n_draws=1000), seed=1, progress=False, executor=executor)
    with pytest.raises(BadInput, match="it takes no more work"):
        zhat.evidence(model, zhat.Importance(n_draws=1000), seed=1, progress=False, executor=executor, repeats=4)
