"""The state of a loop is kept to the last bit, and a loop that was ended goes on from it with the same digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.sampling.backend import journal
from zhat.sampling.backend.journal import Journal, journaled
from zhat.sampling.backend.loop import Loop
from zhat.sampling.backend.segments import Entry, Segments
from zhat.sampling.backend.standing import Standing, put_together, taken_apart
from zhat.sampling.nested import run as nested
from zhat.sampling.state import State
from zhat.sampling.tempering import ladder, population
from zhat.seeding import Key

MODEL = zoo.example("E8").model
KINDS = {"State": State}


@pytest.fixture(autouse=True)
def at_every_step(monkeypatch):
    """States are kept after every step, and what calls return is not."""
    monkeypatch.setattr(journal, "EVERY", -1.0)
    monkeypatch.setattr(journal, "SHORTEST", math.inf)
    monkeypatch.setattr(Journal, "_rate", math.inf)


def test_a_state_comes_back_with_the_order_of_its_axes():
    cube = np.arange(24.0).reshape(2, 3, 4)
    state = State(position=np.moveaxis(cube, 0, -1), log_prior=None, log_likelihood=np.array([-np.inf, np.nan]))
    value = [1, 2.5, math.inf, "a", None, True, np.float64(0.1), (state, [np.arange(3)]), {0: 1.5, "b": (2,)}]
    arrays: list[np.ndarray] = []
    plain = taken_apart(value, arrays, KINDS)
    back = put_together(plain, tuple(np.array(array, order="C") for array in arrays), KINDS)
    assert back[:7] == value[:7] and type(back[6]) is np.float64 and back[8] == value[8]
    there = back[7][0]
    assert np.array_equal(there.position, state.position) and there.position.strides == state.position.strides
    assert np.array_equal(there.log_likelihood, state.log_likelihood, equal_nan=True) and there.log_prior is None


def test_other_objects_are_no_state():
    with pytest.raises(TypeError, match="Key is no part of a state"):
        taken_apart([Key(1)], [], KINDS)


def test_a_loop_whose_state_cannot_be_kept_goes_on_without(tmp_path):
    with journaled(Journal(Segments(tmp_path))):
        place = Standing("test", MODEL, None, Key(1), (State,))
        place.note(Loop(progress=False), object())
        place.note(Loop(progress=False), 1)
    assert not list(tmp_path.glob("*.npz"))


def stood(folder, note):
    with journaled(Journal(Segments(folder))):
        place = Standing("test", MODEL, None, Key(1), (State,))
        found = place.found(Loop(progress=False))
        if note is not None:
            place.note(Loop(progress=False), *note)
        return found


def test_the_last_state_takes_the_place_of_those_before(tmp_path):
    assert stood(tmp_path, [1, np.arange(4.0)]) is None
    assert stood(tmp_path, [2, np.arange(5.0)])[0] == 1
    assert stood(tmp_path, None)[0] == 2
    assert len(list(tmp_path.glob("*.npz"))) == 1
    assert Standing("test", MODEL, None, Key(1), ()).found(Loop(progress=False)) is None  # without a checkpoint


@pytest.mark.parametrize("plain", [5, [], [1, 2], [{"array": 7}, None], [[0, 0, 0, 0, {}], {"of": "os.system", "fields": {}}]])
def test_a_state_that_no_loop_left_is_not_used(tmp_path, plain):
    with journaled(Journal(Segments(tmp_path))):
        journal.current().stand(Standing("test", MODEL, None, Key(1), ())._key, Entry(plain, (np.arange(3.0),)))
    assert len(list(tmp_path.glob("*.npz"))) == 1
    assert stood(tmp_path, None) is None


def test_a_loop_that_is_made_twice_goes_on_once(tmp_path):
    stood(tmp_path, [1])
    with journaled(Journal(Segments(tmp_path))):
        place = Standing("test", MODEL, None, Key(1), (State,))
        assert place.found(Loop(progress=False)) == (1,)
        place.note(Loop(progress=False), 2)
        assert place.found(Loop(progress=False)) is None


class Ended(BaseException):
    """A process that ends."""


RUNS = {
    "smc": (zhat.SMC(n_particles=400), population, "move_until_decorrelated", 6),
    "ais": (zhat.AIS(n_particles=400, n_pilot=200), population, "move_until_decorrelated", 3),
    "power posterior": (
        zhat.PowerPosterior(zhat.settings.LadderChains(n_chains=40, n_kept=5)),
        ladder,
        "move_until_decorrelated",
        6,
    ),
    "nested": (zhat.NestedSampling(n_live=100), nested, "_threshold", 12),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_loop_goes_on_with_the_same_digits(name, tmp_path, monkeypatch):
    method, module, step, end = RUNS[name]
    made, original, ends = [], getattr(module, step), [0]

    def one(*args, **kwargs):
        made.append(1)
        if len(made) == ends[0]:
            raise Ended
        return original(*args, **kwargs)

    monkeypatch.setattr(module, step, one)
    call = {"seed": 3, "progress": False}
    undisturbed, n_all = zhat.evidence(MODEL, method, **call), len(made)
    made.clear()
    ends[0] = end
    with pytest.raises(Ended):
        zhat.evidence(MODEL, method, checkpoint=tmp_path / "c", **call)
    made.clear()
    ends[0] = 0
    resumed = zhat.evidence(MODEL, method, checkpoint=tmp_path / "c", **call)
    assert len(made) == n_all - end + 1 or name == "ais"
    assert repr(resumed.log_evidence) == repr(undisturbed.log_evidence)
    assert repr(resumed.log_evidence_se) == repr(undisturbed.log_evidence_se)
    assert repr(resumed.diagnostics) == repr(undisturbed.diagnostics)
    assert resumed.cost.n_likelihood == undisturbed.cost.n_likelihood
