"""Fingerprints: the same for the same code and content, another for any change."""

from __future__ import annotations

import functools
import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import zhat
from zhat.run.checkpoint.fingerprints import fingerprint_of

SCALE = 2.0


def scaled(x):
    return SCALE * x


def made(n, array=None):
    return lambda x: n * x if array is None else array * x


def test_equal_things_are_equal():
    assert fingerprint_of(made(1)) == fingerprint_of(made(1))
    assert fingerprint_of({"a": 1, "b": np.ones(2)}) == fingerprint_of({"b": np.ones(2), "a": 1})
    assert fingerprint_of(dist.Normal(0.0, 1.0)) == fingerprint_of(dist.Normal(0.0, 1.0))


CALLS = 0
OUT = io.BytesIO()
LOG = logging.getLogger("a likelihood's")


def counted(x):
    global CALLS
    CALLS += 1
    OUT.write(b".")
    LOG.debug("called")
    return SCALE * x


def test_state_that_a_function_keeps_is_no_change(monkeypatch, tmp_path):
    """A run that its budget ended goes on in the same process, although its likelihood has counted its calls."""
    calls = 0

    def local(x):
        nonlocal calls
        calls += 1
        return x

    before, inner = fingerprint_of(counted), fingerprint_of(local)
    counted(1.0), local(1.0)
    assert CALLS and calls and fingerprint_of(counted) == before and fingerprint_of(local) == inner
    with (tmp_path / "one").open("w") as one, (tmp_path / "two").open("w") as two:
        assert fingerprint_of(made(1, one)) == fingerprint_of(made(1, two))
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert fingerprint_of(counted) != before


def test_any_change_shows(monkeypatch):
    things = [
        made(1),
        made(2),
        made(1, np.ones(3)),
        made(1, np.ones(4)),
        lambda x: x + 1,
        lambda x: x + 2,
        lambda x: x - 1,
        functools.partial(made, 1),
        functools.partial(made, 2),
        dist.Normal(0.0, 1.0),
        dist.Normal(0.0, 2.0),
        dist.Cauchy(0.0, 1.0),
        dist.Normal(0.0, 1.0).expand([3]),
        dist.Uniform(-5, 5),
        dist.Uniform(5, -5),
        1,
        1.0,
        "1",
        True,
        None,
        [1, 2],
        (1, 2),
        jnp.ones(2),
        np.ones(2),
        {1, 2},
        np.float64(1.0),
        "a".upper,
    ]
    assert len({fingerprint_of(thing) for thing in things}) == len(things)
    before = fingerprint_of(scaled)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    assert fingerprint_of(scaled) != before


def test_things_that_contain_themselves_end():
    loop = []
    loop.append(loop)
    assert fingerprint_of(loop)

    def recursive(n):
        return recursive(n - 1) if n else 0

    assert fingerprint_of(recursive)


def test_the_same_in_another_process():
    code = (
        "import numpyro.distributions as dist\nfrom zhat.run.checkpoint.fingerprints import fingerprint_of\n"
        "print(fingerprint_of({'x': dist.Uniform(-5, 5).expand([3]).to_event(1), 'f': {'a', 'b', 'c'}}))"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(zhat.__file__).parents[1])}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout.strip()
    assert found == fingerprint_of({"x": dist.Uniform(-5, 5).expand([3]).to_event(1), "f": {"a", "b", "c"}})
