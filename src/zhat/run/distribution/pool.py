"""A pool of local processes that survives the loss of any of them.

Python's `ProcessPoolExecutor` fails as a whole when one worker is killed (most often for lack of memory), and its
`multiprocessing.Pool` waits for ever. Here every worker is a process with its own pipe and a thread that feeds it one task at a
time: when the process ends, exactly one task is lost, a new process replaces it and the task is repeated. A task that has lost
three processes fails with a sentence; the others continue. A call that exceeds its time limit loses its process in the same way.

Processes are not forked from this one: JAX has threads, and a fork would copy their locks in an undefined state. They are forked from a
server process that has imported the library and computed nothing, so that eight workers take one import instead of eight; where there
is no such server, they are spawned.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from zhat.errors import BadInput, BadType, WorkerLost

# Processes that one task may lose before it fails, and those of them that may exceed its time limit: a second wait of the same length
# tells a call that hangs from a machine that was busy.
MAX_DEATHS = 3
MAX_TIMEOUTS = 2
# Seconds that a worker has to end by itself.
PATIENCE = 5.0


@dataclass(frozen=True)
class _Job:
    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    limit: float | None = None  # seconds
    most_timeouts: int = 0


class LocalPool(Executor):
    """Processes on this machine; an executor like any other, for one call or for many.

        with LocalPool(4) as pool:
            compare(models, executor=pool)
            evidence(model, repeats=20, executor=pool)      # the same workers, with the models already compiled

    Workers start when there is work for them.

    Parameters
    ----------
    workers : int
    timeout : float, optional
        Seconds that one likelihood of a black box may take. A worker that takes longer is ended and replaced, the point is tried once
        more, and then the run ends with an error that names the parameters.
    """

    def __init__(self, workers: int, *, timeout: float | None = None) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int):
            raise BadType(f"workers is a {type(workers).__name__}: give the number of processes.")
        if workers < 1:
            raise BadInput(f"workers={workers}: give at least 1.")
        if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float)):
            raise BadType(f"timeout={timeout!r}: give the seconds that one likelihood may take, such as timeout=60.")
        if timeout is not None and not timeout > 0:
            raise BadInput(f"timeout={timeout}: give the seconds that one likelihood may take, above zero.")
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            print(f"zhat: {_GUARD}", file=sys.stderr)
            raise SystemExit(1)  # not an error with a traceback from every worker
        self.workers = workers
        self.timeout = timeout
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, Any] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._killed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a call; its function and arguments must be picklable."""
        return self._queue(_Job(Future(), fn, args, kwargs))

    def submit_within(
        self, seconds: float, fn: Callable[..., Any], /, *args: Any, most_timeouts: int | None = None
    ) -> Future[Any]:
        """The same; a worker that takes longer than this is ended and replaced, and so often that the call fails."""
        return self._queue(_Job(Future(), fn, args, {}, seconds, MAX_TIMEOUTS if most_timeouts is None else most_timeouts))

    def _queue(self, job: _Job) -> Future[Any]:
        with self._lock:
            if self._closed:
                raise RuntimeError("this pool of workers has been shut down.")
            self._jobs.put(job)
            if len(self._threads) < self.workers:
                thread = threading.Thread(target=self._serve, args=(len(self._threads),), daemon=True)
                self._threads.append(thread)
                thread.start()
        return job.future

    @property
    def process_ids(self) -> list[int]:
        """Process ids of the running workers."""
        return [process.pid for process in list(self._processes.values()) if process.is_alive()]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work; queued calls are finished, or cancelled with `cancel_futures`."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancel()
            for _ in self._threads:
                self._jobs.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End at once: queued work is cancelled, running work is lost."""
        self._killed = True
        self.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes.values()):
            process.kill()

    def _cancel(self) -> None:
        with contextlib.suppress(queue.Empty):
            while (job := self._jobs.get_nowait()) is not None:
                job.future.cancel()

    # -- one thread a worker -------------------------------------------------------------------------------------

    def _serve(self, place: int) -> None:
        worker: _Worker | None = None
        while (job := self._jobs.get()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            exits: list[str] = []
            n_timeouts = 0
            while True:
                try:
                    if (
                        worker is None or not worker.process.is_alive()
                    ):  # it ended between tasks, which does not count against this task
                        worker = _Worker()
                        self._processes[place] = worker.process
                        if self._killed:  # while this one was starting
                            worker.process.kill()
                    job.future.set_result(worker.call(job))
                except _Died as death:
                    worker = None
                    exits.append(str(death))
                    n_timeouts += death.is_timeout
                    if len(exits) < MAX_DEATHS and n_timeouts < max(job.most_timeouts, 1) and not self._killed:
                        continue
                    job.future.set_exception(WorkerLost(_given_up(exits, n_timeouts, job.most_timeouts)))
                except BaseException as error:  # every exception goes to the future, or its reader would wait for ever
                    job.future.set_exception(error)
                break
        if worker is not None:
            worker.end()


class _Died(Exception):
    """A worker process ended without a result; the message says how."""

    is_timeout = False


class _TimedOut(_Died):
    """It was ended, because it took too long."""

    is_timeout = True


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self) -> None:
        context = _context()
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_live, args=(theirs,), daemon=True)
        with _interrupts_blocked():
            self.process.start()
        theirs.close()
        self._receive(starting=True)

    def call(self, job: _Job) -> Any:
        try:
            self.connection.send((job.function, job.args, job.kwargs))
        except (BrokenPipeError, ConnectionResetError):
            raise self._death() from None
        good, value = self._receive(limit=job.limit)
        if not good:
            raise value
        return value

    def end(self) -> None:
        self.connection.close()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _receive(self, starting: bool = False, limit: float | None = None) -> Any:
        # Not the pipe alone: a process forked from this one meanwhile may hold its other end open.
        ready = wait([self.connection, self.process.sentinel], limit)
        if not ready:
            self.process.kill()
            self.process.join(PATIENCE)
            self.connection.close()
            raise _TimedOut(f"no answer within {limit:g} s")
        if self.connection in ready:
            with contextlib.suppress(EOFError, ConnectionResetError):
                return self.connection.recv()
        raise self._death(starting)

    def _death(self, starting: bool = False) -> _Died:
        self.process.join(PATIENCE)
        code = self.process.exitcode
        self.connection.close()
        how = "it stopped answering" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                how = f"killed by {signal.Signals(-code).name}"
        return _Died(f"{how} while starting" if starting else how)


# Set in the process that has started the server with this module in it.
_served_by: list[int] = []


def _context() -> Any:
    """How processes are started: by a server that has imported this module, or spawned where another library has started the server."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    with _starting:
        if os.getpid() not in _served_by:
            from multiprocessing import forkserver

            # A server of another library may have imported the user's script, and with it started JAX, before it forks.
            if getattr(forkserver._forkserver, "_forkserver_pid", 0) is not None:
                return multiprocessing.get_context("spawn")
            context.set_forkserver_preload([__name__])
            with _interrupts_blocked():
                forkserver.ensure_running()
            _served_by[:] = [os.getpid()]
    return context


_starting = threading.Lock()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal; workers are to ignore it.

    A process inherits the blocked signals, so a worker ignores interrupts from its start, while it is still importing. An
    interrupt that arrives meanwhile reaches this process afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows: `_live` alone ignores them there
        yield
        return
    resource_tracker.ensure_running()  # starting this helper of Python later would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _live(connection: Connection) -> None:
    """The loop of a worker: one call after the other, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    np.random.seed()  # a likelihood with noise from NumPy's global state: forked processes would share its stream
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        connection.send("ready")
    except (BrokenPipeError, OSError):  # the caller ended meanwhile
        return
    while True:
        try:
            function, args, kwargs = connection.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # the call itself cannot be unpacked here
            connection.send((False, error))
            continue
        try:
            answer = (True, function(*args, **kwargs))
        except Exception as error:  # of the called function; raised again where the result is read
            answer = (False, error)
        try:
            connection.send(answer)
        except (BrokenPipeError, OSError):
            return
        except Exception as error:  # a result that cannot be serialised is reported as an error
            connection.send((False, RuntimeError(f"a worker's answer cannot be sent back: {error}")))


def _end_with_parent() -> None:
    """End with the parent process: a worker inside a long likelihood does not read its pipe and would run on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


_GUARD = (
    "workers are being started while a worker starts: a worker reads the script anew, so put the part that computes under "
    "if __name__ == '__main__':."
)


def _given_up(exits: list[str], n_timeouts: int, most_timeouts: int) -> str:
    if n_timeouts and n_timeouts >= most_timeouts:
        times = "once" if n_timeouts == 1 else f"{n_timeouts} times"
        return f"a worker gave no answer within its time limit, {times} ({'; '.join(exits)})."
    if all(how.endswith("starting") for how in exits):
        return (
            f"no worker could be started ({'; '.join(exits)}): what it wrote to the terminal says why. A script that uses "
            "workers needs its computing part under if __name__ == '__main__':, since every worker reads it anew."
        )
    return (
        f"{len(exits)} workers died one after the other under the same task ({'; '.join(exits)}), so it is given up: most often "
        "memory has run out; use fewer workers, or less memory in the likelihood."
    )
