"""The line of progress: where it is shown, that it fits, what it says of the time left, what Ctrl-C answers."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from zhat.sampling.backend import progress
from zhat.sampling.backend.progress import ProgressLine, duration, fitted
from zhat.sampling.tempering.schedules import progress_of, rungs_in_all

RUN = """
import zhat, numpyro.distributions as dist, time
def slow(params):
    time.sleep(0.02)
    return -0.5 * (params["x"] ** 2).sum(axis=-1)
model = zhat.Model.black_box(slow, {"x": dist.Normal(0.0, 100.0).expand([3]).to_event(1)}, batched=True, name="slow\\x1b[31m")
print("begun", flush=True)
print(zhat.evidence(model, zhat.SMC(n_particles=200), seed=1).status)
"""


def in_a_terminal(code: str, interrupts: int) -> str:
    """What a program writes to a terminal of 80 columns, with so many Ctrl-C once it shows progress."""
    main, their = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80"}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=their, stderr=their, stdin=their, env=environment)
    os.close(their)
    seen, sent = b"", 0
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
        if sent < interrupts and b"of ~" in seen:
            process.send_signal(signal.SIGINT)
            sent += 1
            time.sleep(0.3)
    process.wait(60)
    os.close(main)
    return seen.decode()


def test_a_terminal_shows_it_within_its_width_and_ctrl_c_keeps_what_there_is():
    seen = in_a_terminal(RUN, interrupts=1)
    lines = [line for line in seen.split("begun")[1].replace("\n", "\r").split("\r") if "evaluations" in line or "rung" in line]
    assert lines and all(len(line) <= 77 for line in lines)
    assert any("of ~" in line and "log Z so far" in line for line in lines)
    assert "Ctrl-C again stops at once" in seen
    assert "failed (interrupted)" in seen
    assert "\x1b" not in seen


def test_a_pipe_sees_nothing():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = RUN.replace("slow(params):\n    time.sleep(0.02)", "slow(params):")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == "" and done.stdout.split() == ["begun", "ok"]


def test_parts_that_do_not_fit_are_left_out_whole():
    assert fitted(["x" * 77], 80) == "x" * 77  # three columns stay free: for ^C, and since terminals wrap at the last
    assert fitted(["x" * 78], 80) == "x" * 76 + "…"
    assert fitted(["rung 3", "12,345 evaluations", "7 s"], 20) == "rung 3  7 s"


def test_time_left_is_told_when_it_is_known(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    line = ProgressLine(True, "smc")
    assert line._left(0.0, 0.0) == ""
    assert line._left(0.5, 0.5) == ""  # too early to say
    assert line._left(2.0, 0.5) == "about 2 s left"
    assert line._left(3.0, 0.1) == ""  # another stage has begun
    assert line._left(6.0, 0.4) == "about 6 s left"
    assert line._left(7.0, None) == ""


@pytest.mark.parametrize(("seconds", "words"), [(5.2, "5 s"), (120.0, "2 min"), (7200.0, "2.0 h")])
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_a_notebook_is_told_apart(monkeypatch, capsys):
    class Shell:
        pass

    Shell.__name__ = "ZMQInteractiveShell"
    module = type(sys)("IPython")
    module.get_ipython = lambda: Shell()
    monkeypatch.setitem(sys.modules, "IPython", module)
    line = ProgressLine(None, "smc")
    line.show("rung 3", "", 10, 0.0, None)
    line.clear()
    out, err = capsys.readouterr()
    assert "smc  rung 3" in out and err == ""


def test_rungs_in_all_of_a_geometric_ladder():
    betas = [0.0, *(2.0**-k for k in range(10, 3, -1))]  # up to 1/16: four more doublings
    assert rungs_in_all(betas) == len(betas) - 1 + 4
    assert progress_of(betas) == ("rung 7 of ~11  beta 0.0625", 7 / 11)
    assert progress_of([0.0, 0.5]) == ("rung 1  beta 0.5", None)
