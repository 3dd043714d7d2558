"""Where compiled programs are kept: the variable decides, then the system's folder for caches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from zhat import compile_cache

SCRIPT = """
import numpy as np
import numpyro.distributions as dist
import zhat
y = np.array([1.2, 0.8, 1.9, 1.4, 0.9, 1.6])
prior = {"mu": dist.Normal(0.0, 10.0), "sigma": dist.HalfNormal(5.0)}
def f(p, y):
    return dist.Normal(p["mu"], p["sigma"]).log_prob(y).sum()
zhat.evidence(zhat.Model(f, prior, data=y), "importance", seed=4, progress=False)
"""
EDITED = """
# Another script: comments, names, lines and data are others; what is computed is the same.
import numpy as np
import numpyro.distributions as dist

import zhat

observed = np.array([2.2, 0.8, 1.9, 1.1, 0.9, 3.6])


def log_likelihood(params, data):
    # How likely the data are.
    normal = dist.Normal(params["mu"], params["sigma"])
    return normal.log_prob(data).sum()


prior = {"mu": dist.Normal(0.0, 10.0), "sigma": dist.HalfNormal(5.0)}
model = zhat.Model(log_likelihood, prior, data=observed, name="edited")
zhat.evidence(model, "importance", seed=4, progress=False)
"""


@pytest.mark.slow
def test_other_comments_names_and_data_compile_nothing(tmp_path):
    plain = {key: value for key, value in os.environ.items() if not key.startswith("JAX_")}

    def programs_after(name: str, text: str) -> set[str]:
        (tmp_path / name).write_text(text)
        environment = {**plain, "JAX_PLATFORMS": "cpu", compile_cache.VARIABLE: str(tmp_path / "cache")}
        subprocess.run([sys.executable, str(tmp_path / name)], env=environment, check=True)
        return {path.name for path in (tmp_path / "cache").iterdir() if path.name.endswith(compile_cache.PROGRAM)}

    first = programs_after("first.py", SCRIPT)
    assert first
    assert programs_after("second.py", EDITED) == first


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no", "false"])
def test_it_can_be_turned_off(monkeypatch, word):
    monkeypatch.setenv(compile_cache.VARIABLE, word)
    assert compile_cache.cache_folder() is None


def test_another_value_is_the_folder(monkeypatch):
    monkeypatch.setenv(compile_cache.VARIABLE, "/somewhere/else")
    assert compile_cache.cache_folder() == Path("/somewhere/else")


@pytest.mark.parametrize(("platform", "end"), [("linux", "caches/zhat"), ("darwin", "Library/Caches/zhat")])
def test_otherwise_the_folder_is_the_system_s(monkeypatch, platform, end):
    monkeypatch.delenv(compile_cache.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/my/caches")
    monkeypatch.setattr(compile_cache.sys, "platform", platform)
    assert compile_cache.cache_folder().as_posix().endswith(end)


def test_a_folder_that_cannot_be_made_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(compile_cache.VARIABLE, str(tmp_path / "file" / "below"))
    config = SimpleNamespace(update=lambda *a: pytest.fail("no setting is changed"), jax_compilation_cache_dir=None)
    monkeypatch.setattr(compile_cache, "jax", SimpleNamespace(config=config))
    compile_cache.switch_on()


def test_programs_used_longest_ago_are_deleted_beyond_the_limit(tmp_path):
    for age, name in enumerate(["new-cache", "used-cache", "old-cache", "older-cache"]):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / "thesis.tex").write_bytes(bytes(1000))
    compile_cache.trim(tmp_path, limit=250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new-cache", "thesis.tex", "used-cache"]
    compile_cache.trim(tmp_path / "is not there", limit=250)


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(compile_cache.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert compile_cache.cache_folder() is None
    compile_cache.switch_on()
