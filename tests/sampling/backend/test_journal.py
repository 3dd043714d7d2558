"""The journal: calls that it knows are not made, and everything else is."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat.model.model import Model
from zhat.sampling.backend.compiled import compiled
from zhat.sampling.backend.journal import MEASURED, TRIED, Journal, _digest, _Now, current, journaled, remembered
from zhat.sampling.backend.likelihoods import likelihoods
from zhat.sampling.backend.segments import Segments
from zhat.sampling.state import State

MODEL = Model(lambda p: -jnp.sum(p["x"] ** 2), {"x": dist.Normal(0.0, 1.0)}, name="normal")


@pytest.fixture(autouse=True)
def everything_is_kept(monkeypatch):
    monkeypatch.setattr("zhat.sampling.backend.journal.SHORTEST", 0.0)
    monkeypatch.setattr("zhat.sampling.backend.journal.RATE", 1e12)
    monkeypatch.setattr("zhat.sampling.backend.journal.SHARE", 1e12)


def twice(backend, x):
    return {"state": State(position=2.0 * x, log_prior=x.sum(), log_likelihood=None), "both": (x, [x + 1.0])}


def test_known_calls_are_not_made(tmp_path):
    x = np.arange(3.0)
    with journaled(Journal(Segments(tmp_path))):
        first = compiled(MODEL, "twice", twice, x)
        chained = compiled(MODEL, "twice", twice, first["both"][0])
    journal = Journal(Segments(tmp_path))
    with journaled(journal):
        again = compiled(MODEL, "twice", lambda backend, x: 1 / 0, x)
        assert isinstance(again["state"], State) and isinstance(again["both"][1], list)
        assert again["state"].log_likelihood is None
        assert np.asarray(again["state"].position).tolist() == [0.0, 2.0, 4.0]
        assert str(again["both"][0].dtype) == "float64"
        repeated = compiled(MODEL, "twice", twice, again["both"][0])  # also from the output of a call
        assert np.asarray(repeated["state"].position).tolist() == np.asarray(chained["state"].position).tolist()
        assert journal.n_replayed == 2
        other = compiled(MODEL, "twice", twice, x + 1.0)  # other arguments are computed
        assert np.asarray(other["state"].position).tolist() == [2.0, 4.0, 6.0]
        assert journal.n_replayed == 2
    assert current() is None


def test_a_program_without_optimisation_is_another(tmp_path):
    with journaled(Journal(Segments(tmp_path))):
        compiled(MODEL, "twice", twice, np.arange(3.0), quick=True)
    journal = Journal(Segments(tmp_path))
    with journaled(journal):
        compiled(MODEL, "twice", twice, np.arange(3.0))
        assert journal.n_replayed == 0
        compiled(MODEL, "twice", twice, np.arange(3.0), quick=True)
        assert journal.n_replayed == 1


def test_large_arguments_differ_by_any_value(tmp_path):
    journal = Journal(Segments(tmp_path))
    x = np.zeros(100_000)

    def content(*args):
        return journal._content(*jax.tree.flatten(args))

    keys = {content(x)}
    for i in (0, 7, 12_345, 99_999):
        y = x.copy()
        y[i] = 1.0
        keys.add(content(y))
    keys.add(content(x.reshape(2, -1)))
    assert len(keys) == 6


def test_batches_go_on_where_they_ended(tmp_path):
    calls = []

    def slow(p):
        if len(calls) == 5:
            calls.append("stop")
            raise KeyboardInterrupt
        calls.append(float(p["x"]))
        return 10.0 * float(p["x"])

    model = Model.black_box(slow, {"x": dist.Normal(0.0, 1.0)}, name="box")
    x = {"x": np.arange(10.0)}
    with pytest.raises(KeyboardInterrupt), journaled(Journal(Segments(tmp_path))):
        likelihoods(model, x)
    n_done = 3  # pieces of 1, 2, 4 points: the third was not finished
    with journaled(Journal(Segments(tmp_path))):
        calls.append("again")
        assert likelihoods(model, x).tolist() == [10.0 * i for i in range(10)]
    assert calls[calls.index("again") + 1 :] == [float(i) for i in range(n_done, 10)]


def test_a_run_may_go_on_with_another_number_of_workers(tmp_path):
    calls = []

    def counted(p):
        calls.append(float(p["x"]))
        return 10.0 * float(p["x"])

    model = Model.black_box(counted, {"x": dist.Normal(0.0, 1.0)}, name="box")
    x = np.arange(600.0)
    with journaled(Journal(Segments(tmp_path))):
        likelihoods(model, {"x": x})
    assert len(calls) == 600
    with journaled(Journal(Segments(tmp_path))):  # one process evaluates 256 points together, and many workers more
        values = [likelihoods(model, {"x": x[i : i + 256]}) for i in range(0, 600, 256)]
    assert np.concatenate(values).tolist() == (10.0 * x).tolist()
    assert len(calls) == 600


def test_measured_numbers_are_remembered(tmp_path):
    assert remembered("seconds", 1.0) == 1.0
    with journaled(Journal(Segments(tmp_path))):
        assert [remembered("seconds", value) for value in (1.0, 2.0)] == [1.0, 2.0]
    with journaled(Journal(Segments(tmp_path))):
        assert [remembered("seconds", value) for value in (3.0, 4.0, 5.0)] == [1.0, 2.0, 5.0]


def test_large_outputs_of_short_calls_are_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("zhat.sampling.backend.journal.RATE", 1.0)
    with journaled(Journal(Segments(tmp_path))):
        compiled(MODEL, "twice", twice, np.arange(3.0))
    assert not list(tmp_path.iterdir())


def test_no_large_arguments_are_read_for_calls_that_are_not_worth_it(tmp_path, monkeypatch):
    read, content = [], Journal._content
    monkeypatch.setattr(Journal, "_content", lambda *args: read.append(1) or content(*args))
    large = np.arange(2.0**18)  # two megabytes
    monkeypatch.setattr("zhat.sampling.backend.journal.SHARE", 1e-12)  # nothing is worth its key
    with journaled(Journal(Segments(tmp_path))):
        for i in range(TRIED + MEASURED):
            compiled(MODEL, "twice", twice, large + i)
    assert not read and not list(tmp_path.glob("*.npz"))
    monkeypatch.setattr("zhat.sampling.backend.journal.SHARE", 1e12)
    with journaled(Journal(Segments(tmp_path))):
        first = compiled(MODEL, "twice", twice, large)
    journal = Journal(Segments(tmp_path))
    with journaled(journal):
        again = compiled(MODEL, "twice", lambda backend, x: 1 / 0, large)
    assert journal.n_replayed == 1
    assert np.asarray(again["state"].position).tolist() == np.asarray(first["state"].position).tolist()


def test_seconds_are_those_that_the_process_computed():
    begun = _Now()
    time.sleep(0.05)
    assert _Now().since(begun) < 0.03  # others had the machine, as far as it knows


def test_a_full_disk_leaves_what_there_is(tmp_path, monkeypatch):
    journal = Journal(Segments(tmp_path))
    with journaled(journal):
        remembered("a", 1.0)
        journal.write()

        def full(*args, **kwargs):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        remembered("b", 2.0)
    assert journal.failed.errno == 28
    assert len(Segments(tmp_path)) == 1 and len(list(tmp_path.iterdir())) == 1


def test_it_is_written_after_a_second(tmp_path, monkeypatch):
    journal = Journal(Segments(tmp_path))
    now = time.monotonic()
    with journaled(journal):
        compiled(MODEL, "twice", twice, np.arange(3.0))
        assert not list(tmp_path.iterdir())
        monkeypatch.setattr(time, "monotonic", lambda: now + 3.0)
        compiled(MODEL, "twice", twice, np.arange(4.0))
        assert list(tmp_path.iterdir())


def test_large_arrays_that_agree_in_the_sums_of_rows_and_columns_are_told_apart():
    one = np.zeros((1024, 1024))
    other = one.copy()
    one[[0, 1], [0, 1]] = other[[0, 1], [1, 0]] = 1.0
    assert _digest(one) != _digest(other)


def test_calls_that_are_never_kept_get_no_keys(tmp_path, monkeypatch):
    monkeypatch.setattr("zhat.sampling.backend.journal.SHORTEST", 1e3)
    made = []
    journal = Journal(Segments(tmp_path))
    content = journal._content
    monkeypatch.setattr(journal, "_content", lambda *args: made.append(1) or content(*args))
    with journaled(journal):
        found = [np.asarray(compiled(MODEL, "twice", twice, x + np.arange(3.0))["both"][0])[0] for x in range(70)]
    assert found == list(range(70))
    assert not made and not list(tmp_path.iterdir())


def test_calls_that_are_dispatched_together_are_not_taken_for_long_ones(tmp_path, monkeypatch):
    def slow(backend, x):
        return jax.lax.fori_loop(0, 20_000, lambda _, x: jnp.sin(x), x)

    def now():
        return [compiled(MODEL, "slow", slow, x + np.arange(1000.0)) for x in range(MEASURED)]

    jax.block_until_ready(now())  # compiles
    begun = time.perf_counter()
    jax.block_until_ready(now())
    monkeypatch.setattr("zhat.sampling.backend.journal.SHORTEST", 8 * (time.perf_counter() - begun) / MEASURED)
    journal = Journal(Segments(tmp_path))
    with journaled(journal):
        for _ in range(4):
            jax.block_until_ready(now())
    (purpose,) = journal._purposes.values()
    assert purpose.is_doubtful and not list(tmp_path.iterdir())


def test_entries_of_an_earlier_run_are_looked_for_though_calls_are_short_now(tmp_path, monkeypatch):
    with journaled(Journal(Segments(tmp_path))):
        for x in range(20):
            compiled(MODEL, "twice", twice, x + np.arange(3.0))
    monkeypatch.setattr("zhat.sampling.backend.journal.SHORTEST", 1e3)
    journal = Journal(Segments(tmp_path))
    with journaled(journal):
        for x in [*range(-10, 0), *range(20)]:
            compiled(MODEL, "twice", twice, x + np.arange(3.0))
    assert journal.n_replayed == 20
