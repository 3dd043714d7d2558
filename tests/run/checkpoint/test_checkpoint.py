"""Checkpoints: a run that ended early goes on with the same digits, and another run is refused with what differs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.run.checkpoint.checkpoint import TERMINATED

PRIOR = {"x": dist.Uniform(-5.0, 5.0).expand([2]).to_event(1)}
NESTED = zhat.NestedSampling(n_live=60)


class Killed(BaseException):
    """A process that ends."""


def box(stop_at=None, width=0.2, name="box"):
    calls = []

    def log_likelihood(p, data):
        calls.append(1)
        if stop is not None and len(calls) == stop[0]:
            raise Killed
        return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / width**2 + data[0])

    stop = None if stop_at is None else [stop_at]
    model = zhat.Model.black_box(log_likelihood, PRIOR, data=np.zeros(1), name=name)
    return model, calls, stop


def evidence(model, folder, **settings):
    return zhat.evidence(
        model, settings.pop("method", NESTED), seed=settings.pop("seed", 3), progress=False, checkpoint=folder, **settings
    )


@pytest.fixture(autouse=True)
def same_code(monkeypatch):
    """The stops of a test are in its likelihood, whose code is to count as the same."""
    monkeypatch.setattr("zhat.run.checkpoint.checkpoint.fingerprint_of", lambda value: repr(value)[:0] or "same")
    monkeypatch.setattr("zhat.sampling.backend.journal.SHORTEST", 0.0)
    monkeypatch.setattr("zhat.sampling.backend.journal.RATE", 1e12)
    monkeypatch.setattr("zhat.sampling.backend.journal.SHARE", 1e12)


def test_a_run_that_ended_goes_on_with_the_same_digits(tmp_path):
    model, calls, _ = box()
    undisturbed = evidence(model, None)
    n_all = len(calls)
    done = 0
    for stop in (100, 300, 50):
        model, calls, _ = box(stop)
        with pytest.raises(Killed):
            evidence(model, tmp_path / "ckpt")
        done += len(calls)
    model, calls, _ = box()
    resumed = evidence(model, tmp_path / "ckpt")
    assert resumed.log_evidence == undisturbed.log_evidence
    assert resumed.log_evidence_se == undisturbed.log_evidence_se
    assert resumed.cost.n_likelihood == undisturbed.cost.n_likelihood
    assert len(calls) + done < 1.6 * n_all  # pieces that were cut off, and first checks, are made again
    model, calls, _ = box()
    assert evidence(model, tmp_path / "ckpt").log_evidence == undisturbed.log_evidence
    assert not calls  # the whole run was kept
    assert evidence(model, tmp_path / "ckpt", seed=None).seed == 3  # and its seed


def test_a_budget_leaves_one_too(tmp_path):
    model, *_ = box()
    undisturbed = evidence(model, None)
    stopped = evidence(model, tmp_path / "ckpt", budget=zhat.Budget(likelihoods=200))
    assert not stopped.status.is_ok
    assert evidence(model, tmp_path / "ckpt").log_evidence == undisturbed.log_evidence


def test_a_comparison_goes_on(tmp_path):
    def compared(folder, stop=None):
        models = {"narrow": box(width=0.1)[0], "wide": box(stop, width=0.3)[0]}
        return zhat.compare(models, NESTED, seed=1, progress=False, checkpoint=folder)

    undisturbed = compared(None)
    with pytest.raises(Killed):
        compared(tmp_path / "ckpt", 100)
    again = compared(tmp_path / "ckpt")
    assert [e.log_evidence for e in again.evidences.values()] == [e.log_evidence for e in undisturbed.evidences.values()]


def test_what_differs_is_said(tmp_path, monkeypatch):
    monkeypatch.undo()
    model = zoo.example("E1").model
    folder = tmp_path / "ckpt"
    zhat.evidence(model, "laplace", seed=1, progress=False, checkpoint=folder)

    def refused(match, *args, **settings):
        with pytest.raises(BadInput, match=match):
            zhat.evidence(*args, progress=False, checkpoint=folder, **{"seed": 1, **settings})

    refused(r"these differ: the seed \(1, now 2\)", model, "laplace", seed=2)
    refused("these differ: the setting method", model, "importance")
    refused("these differ: the settings method, repeats, precision", model, "smc", repeats=2, precision=0.1)
    refused(
        "these differ: the settings method, draws", model, "bridge", draws={"theta": np.linspace(-1.0, 1.0, 400).reshape(2, 200)}
    )
    refused("these differ: the data of", model.with_data(np.asarray(model.data) + 1.0), "laplace")
    refused(
        r"the log likelihood of 'E1' \(its code, or a value that it uses\), the prior",
        zhat.Model(lambda p, d: -1.0 * p["mu"].sum(), {"mu": dist.Normal(0.0, 1.0)}, data=model.data, name=model.name),
        "laplace",
    )
    refused("the models' names", model.named("other"), "laplace")
    with pytest.raises(BadInput, match=r"the function \('evidence', now 'evidences'\)"):
        zhat.evidences({model.name: model}, "laplace", seed=1, progress=False, checkpoint=folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "versions": ["python 2.7", *manifest["versions"][1:]]}))
    refused(r"the version \(python 2.7, now python", model, "laplace")
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schema": 9}))
    refused("schema 9", model, "laplace")
    (folder / "manifest.json").write_text("{")
    refused("damaged", model, "laplace")


def test_bad_places_are_refused(tmp_path):
    model, *_ = box()
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    for place, match in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "full", "other files in it"),
        (tmp_path / "no" / "such", "cannot be made"),
        ("a\0b", "cannot be the name"),
        ("", "cannot be the name"),
    ):
        with pytest.raises(BadInput, match=match):
            evidence(model, place)
    with pytest.raises(BadType, match="name of a folder"):
        evidence(model, 7)


def test_a_disk_that_is_full_from_the_start_is_named(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    model, *_ = box()
    monkeypatch.setattr("zhat.run.checkpoint.checkpoint.write_file", full)
    with pytest.raises(BadInput, match=r"ckpt' cannot be written \(No space left on device\): free some space, or"):
        evidence(model, tmp_path / "ckpt")


def test_a_second_process_is_refused(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    model, *_ = box()
    (tmp_path / "ckpt").mkdir()
    with (tmp_path / "ckpt" / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match="in use by another run"):
            evidence(model, tmp_path / "ckpt")


def test_a_damaged_segment_is_left_out_with_a_sentence(tmp_path):
    model, *_ = box()
    undisturbed = evidence(model, tmp_path / "ckpt")
    for path in (tmp_path / "ckpt").glob("*.npz"):
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(UserWarning, match="is left out; what it held is computed again"):
        assert evidence(model, tmp_path / "ckpt").log_evidence == undisturbed.log_evidence


SCRIPT = """
import sys, time
import numpy as np, numpyro.distributions as dist
import zhat
from zhat import zoo

def slow(p):
    time.sleep(2e-3)
    return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)

if sys.argv[1] == "nested":
    model, method = zhat.Model.black_box(slow, {"x": dist.Uniform(-5.0, 5.0).expand([2]).to_event(1)}), zhat.NestedSampling(n_live=100)
else:
    model, method = zoo.example("E8").model, zhat.SMC()
found = zhat.evidence(model, method, seed=1, progress=False, checkpoint=sys.argv[2], repeats=3)
print(repr(found.log_evidence), repr(found.log_evidence_se), found.cost.n_likelihood)
"""


def process(tmp_path, *args):
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    env = {**os.environ, "PYTHONPATH": str(Path(zhat.__file__).parents[1])}
    command = [sys.executable, str(tmp_path / "script.py"), *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


# In a worker, which is forked in no time; written often, so that a run of a second has something to go on from.
QUICK = """
import time
from pathlib import Path
import numpy as np, numpyro.distributions as dist
import zhat
from zhat.sampling.backend import journal
journal.FIRST = 0.02

def box(p):
    time.sleep(2e-4)
    return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)

model = zhat.Model.black_box(box, {"x": dist.Uniform(-5.0, 5.0).expand([2]).to_event(1)})
method = {"nested": zhat.NestedSampling(n_live=60), "smc": zhat.SMC(n_particles=60, mode_check=False)}[METHOD]
found = zhat.evidence(model, method, seed=1, progress=False, checkpoint=FOLDER)
Path(OUT).write_text(repr((found.log_evidence, found.log_evidence_se, found.cost.n_likelihood)))
"""


@pytest.mark.parametrize("method", ["nested", "smc"])
def test_killed_twice(tmp_path, method):
    rng = np.random.default_rng(1)

    def run(pool, name):
        given = {"__name__": "script", "METHOD": method, "FOLDER": str(tmp_path / name), "OUT": str(tmp_path / f"{name}.txt")}
        return pool.submit(exec, QUICK, given)

    with zhat.LocalPool(1) as pool:
        run(pool, "one").result()
        task, n_killed, seen = run(pool, "two"), 0, 0
        while n_killed < 2 and not task.done():  # a worker that was killed is replaced, and its task is begun again
            time.sleep(0.005)
            n_files = len(list((tmp_path / "two").glob("*.npz")))
            if n_files > seen:
                time.sleep(rng.uniform(0.0, 0.1))
                seen = n_files
                os.kill(pool.process_ids[0], signal.SIGKILL)
                n_killed += 1
        task.result()
    assert n_killed == 2
    assert (tmp_path / "one.txt").read_text() == (tmp_path / "two.txt").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["nested", "smc"])
def test_killed_at_random_moments(tmp_path, method):
    begun = time.monotonic()
    undisturbed = process(tmp_path, method, tmp_path / "one").communicate()[0]
    seconds, rng = time.monotonic() - begun, np.random.default_rng(1)
    for _ in range(10):
        child = process(tmp_path, method, tmp_path / "two")
        time.sleep(rng.uniform(0.4, 0.9) * seconds)
        child.kill()
        child.communicate()
    assert process(tmp_path, method, tmp_path / "two").communicate()[0] == undisturbed != ""


@pytest.mark.slow
def test_sigterm_leaves_a_checkpoint_and_a_code(tmp_path):
    child = process(tmp_path, "nested", tmp_path / "ckpt")
    while not (tmp_path / "ckpt" / "manifest.json").exists() and child.poll() is None:
        time.sleep(0.1)
    time.sleep(2.0)
    os.kill(child.pid, signal.SIGTERM)
    assert "goes on from there" in child.communicate()[1]
    assert child.returncode == TERMINATED
    assert list((tmp_path / "ckpt").glob("*.npz"))
