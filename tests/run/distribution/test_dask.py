"""A Dask cluster of two local processes, one of which is killed on the way: the digits of the serial run."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import Executor

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as made:
        yield made


def test_sixty_evidences_with_a_worker_killed(cluster):
    from distributed import Client

    model = zoo.example("E4").model
    rng = np.random.default_rng(1)
    models = {f"data {i}": model.with_data(rng.poisson(2.0, len(model.data)).astype(float)) for i in range(60)}
    serial = zhat.evidences(models, "importance", seed=1, progress=False)
    with Client(cluster) as client:
        first, _ = client.run(os.getpid).values()
        killer = _KillAfter(client.get_executor(), n=20, pid=first)
        spread = zhat.evidences(models, "importance", seed=1, progress=False, executor=killer)
        deadline = time.monotonic() + 60
        while len(set(client.run(os.getpid).values()) - {first}) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert first not in client.run(os.getpid).values()
    assert killer.killed
    for name, result in serial.items():
        assert spread[name].log_evidence == result.log_evidence
        assert spread[name].log_evidence_se == result.log_evidence_se
        assert spread[name].record.position.tobytes() == result.record.position.tobytes()


def test_the_address_is_enough(cluster):
    model = zoo.example("E1").model
    address = cluster.scheduler_address.replace("tcp://", "dask://")
    elsewhere = zhat.evidence(model, "smc", seed=3, repeats=2, progress=False, executor=address)
    assert elsewhere.repeats == zhat.evidence(model, "smc", seed=3, repeats=2, progress=False).repeats


def test_nobody_at_the_address():
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(BadInput, match="no Dask scheduler answers"):
        zhat.evidence(zoo.example("E1").model, seed=1, executor="dask://127.0.0.1:9")


class _KillAfter(Executor):
    """Another executor that kills a process when so many tasks are done."""

    def __init__(self, inner, n: int, pid: int) -> None:
        self.inner, self.n, self.pid, self.done, self.killed = inner, n, pid, 0, False

    def submit(self, fn, /, *args, **kwargs):
        future = self.inner.submit(fn, *args, **kwargs)
        future.add_done_callback(self._count)
        return future

    def _count(self, _):
        self.done += 1
        if self.done >= self.n and not self.killed:
            self.killed = True
            os.kill(self.pid, signal.SIGKILL)
