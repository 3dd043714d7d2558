"""The local pool: an executor whose workers may be killed."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from zhat.errors import BadInput, BadType, WorkerLost
from zhat.run.distribution.pool import LocalPool

pytestmark = pytest.mark.xdist_group("pool")  # one pool serves all


@pytest.fixture(scope="module")
def pool():
    with LocalPool(2) as made:
        yield made


def test_it_is_an_executor(pool):
    assert [f.result() for f in [pool.submit(operator.mul, i, i) for i in range(20)]] == [i * i for i in range(20)]
    assert list(pool.map(operator.neg, [1, 2, 3])) == [-1, -2, -3]
    assert len(pool.process_ids) == 2
    assert os.getpid() not in {pool.submit(os.getpid).result() for _ in range(4)}
    with pytest.raises(ZeroDivisionError):
        pool.submit(operator.truediv, 1, 0).result()


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal masks on this system")
def test_ctrl_c_is_not_for_the_workers(pool):
    """They are born deaf to it: one that imports still would write its traceback over the terminal."""
    assert signal.SIGINT in pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def both_started(pool):
    """The two process numbers; a worker starts only when there is a task for it, and takes a second or more."""
    tasks = [pool.submit(time.sleep, 0.01) for _ in range(2)]
    deadline = time.monotonic() + 120
    while len(pool.process_ids) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(task.result(timeout=120) is None for task in tasks)
    return pool.process_ids


def test_a_killed_worker_loses_nothing(pool):
    before = both_started(pool)
    futures = [pool.submit(time.sleep, 0.2) for _ in range(8)] + [pool.submit(operator.add, i, 1) for i in range(8)]
    while sum(future.running() for future in futures) < 2:  # each is in the middle of something
        time.sleep(0.01)
    os.kill(before[0], signal.SIGKILL)
    assert [f.result(timeout=120) for f in futures[8:]] == list(range(1, 9))
    assert all(f.result() is None for f in futures[:8])
    assert len(pool.process_ids) == 2 and pool.process_ids != before


def test_a_worker_that_dies_idle_is_not_held_against_the_next_task():
    with LocalPool(1) as pool:
        os.kill(pool.submit(os.getpid).result(timeout=120), signal.SIGKILL)
        while pool.process_ids:
            time.sleep(0.01)
        with pytest.raises(WorkerLost, match=r"same task .exit code 3; exit code 3; exit code 3"):
            pool.submit(os._exit, 3).result(timeout=120)


def test_a_task_that_kills_every_worker_is_given_up_and_the_others_are_not(pool):
    poison = pool.submit(os._exit, 3)
    others = [pool.submit(operator.add, i, 1) for i in range(6)]
    with pytest.raises(WorkerLost, match=r"3 workers died one after the other under the same task .exit code 3"):
        poison.result(timeout=120)
    assert [f.result() for f in others] == list(range(1, 7))


def test_what_cannot_be_sent_is_an_error_and_not_the_end(pool):
    with pytest.raises(Exception, match="pickle"):
        pool.submit(lambda: 1).result()
    with pytest.raises(RuntimeError, match="cannot be sent back"):
        pool.submit(threading.Lock).result()
    assert pool.submit(operator.add, 1, 1).result() == 2


def test_shutdown_finishes_kill_does_not():
    pool = LocalPool(1)
    last = pool.submit(operator.add, 1, 2)
    pool.shutdown()
    assert last.result(timeout=0) == 3
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(operator.add, 1, 2)
    pool = LocalPool(1)
    running, queued = pool.submit(time.sleep, 600), pool.submit(operator.add, 1, 2)
    while not pool.process_ids:
        time.sleep(0.01)
    time.sleep(0.5)
    pool.kill()
    with pytest.raises(WorkerLost):
        running.result(timeout=60)
    assert queued.cancelled()


@pytest.mark.parametrize(("workers", "error"), [(0, BadInput), (-1, BadInput), (2.0, BadType), (True, BadType), ("2", BadType)])
def test_bad_numbers_of_workers(workers, error):
    with pytest.raises(error, match="workers"):
        LocalPool(workers)


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        textwrap.dedent("""
        import operator
        from zhat.run.distribution.pool import LocalPool
        with LocalPool(1) as pool:
            print(pool.submit(operator.add, 1, 2).result())
        """)
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert ended.returncode != 0
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]
