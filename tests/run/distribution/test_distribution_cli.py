"""``--workers`` and ``--executor`` on the command line: the digits of the serial run, for models of a file too."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from zhat.cli import main
from zhat.cli.exits import Exit

MODELS = """
    import jax.numpy as jnp
    import numpy as np
    import numpyro.distributions as dist
    from zhat import Model

    Y = np.array([0.3, -0.2, 1.1])

    def normal(params, data):
        return jnp.sum(-0.5 * (data - helper(params)) ** 2)

    def helper(params):
        return params["x"]

    narrow = Model(normal, {"x": dist.Normal(0.0, 1.0)}, data=Y, name="narrow")
    wide = Model(normal, {"x": dist.Normal(0.0, 9.0)}, data=Y, name="wide")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "models.py"
    path.write_text(textwrap.dedent(MODELS))
    return path


def test_estimate_and_compare_over_workers(file, capsys):
    common = ["--seed", "1", "--repeats", "2", "--quiet", "--json", "--method", "importance"]
    estimate = ["estimate", f"{file}:narrow", *common]
    compare = ["compare", f"{file}:narrow", f"{file}:wide", *common]
    found = []
    for words in (estimate, compare):
        for more in ([], ["--workers", "2"]):
            assert main([*words, *more]) == Exit.OK
            found.append(json.loads(capsys.readouterr().out))
    assert found[0]["evidence"]["repeats"] == found[1]["evidence"]["repeats"]
    assert [m["log_evidence"] for m in found[2]["models"]] == [m["log_evidence"] for m in found[3]["models"]]


@pytest.mark.parametrize(("words", "message"), [
    (("--workers", "0"), "workers=0"),
    (("--executor", "ray://here"), "dask://host:port"),
    (("--executor", "dask://"), "dask://host:port"),
    (("--workers", "2", "--executor", "dask://here:1"), "not both"),
])  # fmt: skip
def test_bad_input_gets_a_sentence(words, message, capsys):
    assert main(["estimate", "zoo:E1", *words]) == Exit.BAD_INPUT
    assert message in capsys.readouterr().err


# Every worker leaves a file when it begins to evaluate.
SLOW = """
    import os
    import time
    from pathlib import Path
    import numpyro.distributions as dist
    from zhat import Model

    def log_likelihood(params):
        Path(__file__).with_name(f"began-{os.getpid()}").touch()
        time.sleep(0.05)
        return -float(params["x"] ** 2)

    model = Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0)})
"""


def children_of(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rsplit(")", 1)[1].split()
            if int(words[1]) == pid and words[0] != "Z":
                found.append(int(path.parent.name))
    return found


def alive(pids: list[int]) -> list[int]:
    """Those that still run; a zombie does not."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(pid)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_one_who_started_them(how, tmp_path):
    path = tmp_path / "slow.py"
    path.write_text(textwrap.dedent(SLOW))
    command = [sys.executable, "-m", "zhat.cli", "estimate", str(path), "--method", "prior-mean", "--repeats", "2"]
    # A job that a shell starts in the background ignores Ctrl-C, and its children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([*command, "--workers", "2"], start_new_session=True, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("began-*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        workers = children_of(process.pid)  # two workers, and Python's resource tracker
        assert len(workers) >= 2
        if how is signal.SIGINT:
            os.killpg(process.pid, how)  # as a terminal does
        else:
            process.kill()
        _, said = process.communicate(timeout=60)
        if how is signal.SIGINT:
            assert process.returncode == Exit.INTERRUPTED and "interrupted" in said
    finally:
        process.kill()
    deadline = time.monotonic() + 30
    while alive(workers) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not alive(workers)
