"""Randomness as a value: the same key the same digits, whatever else was drawn, and no global state."""

import zlib
from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model
from zhat.sampling.mixing import Moves
from zhat.seeding import Key, check_seed

METHODS = {
    "prior-mean": zhat.PriorMean(n_draws=1000),
    "importance": zhat.Importance(n_draws=1000, n_pilot=500),
    "smc": zhat.SMC(n_particles=40, moves=Moves(0.3, 2, 8)),
}


@cache
def model():
    return Model(lambda p: -2.0 * jnp.sum((p["x"] - 0.3) ** 2), {"x": dist.Normal().expand([2]).to_event(1)})


def test_the_same_key_gives_the_same_stream():
    a, b = Key(7).child("repeat", 2), Key(7).child("repeat").child(2)
    assert a == b and hash(a) == hash(b)
    np.testing.assert_array_equal(a.generator().random(5), b.generator().random(5))
    assert str(a.jax()) == str(b.jax())


def test_purposes_seeds_and_depths_have_streams_of_their_own():
    keys = [Key(7), Key(8), Key(7).child("a"), Key(7).child("b"), Key(7).child("a", "b"), Key(7).child("b", "a")]
    keys += [Key(7).child(0), Key(7).child(1), Key(7).child(0, 0), Key(2**63)]
    firsts = [key.generator().random() for key in keys]
    assert len(set(firsts)) == len(keys)
    assert len({str(key.jax()) for key in keys}) == len(keys)


def test_a_stream_does_not_depend_on_what_was_drawn_before():
    key = Key(3)
    alone = key.child("moves").generator().random(4)
    key.child("other").generator().random(1000)
    key.generator().random(1000)
    np.testing.assert_array_equal(key.child("moves").generator().random(4), alone)


def test_labels_are_hashed_by_crc_and_not_by_pythons_salted_hash():
    key = Key(7).child("moves", 2)
    assert key.path == (zlib.crc32(b"moves"), 2)
    sequence = np.random.SeedSequence(7, spawn_key=key.path)
    assert key.generator().random() == np.random.Generator(np.random.SFC64(sequence)).random()


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_digits_whatever_ran_in_between(name):
    first = zhat.evidence(model(), METHODS[name], seed=5)
    np.random.default_rng().random()
    zhat.evidence(model(), METHODS["prior-mean"], seed=99)
    second = zhat.evidence(model(), METHODS[name], seed=5)
    assert second.log_evidence == first.log_evidence
    assert second.log_evidence_se == first.log_evidence_se
    assert zhat.evidence(model(), METHODS[name], seed=6).log_evidence != first.log_evidence


def test_a_repeat_is_the_same_run_alone_and_among_others():
    two = zhat.evidence(model(), METHODS["importance"], seed=5, repeats=2)
    three = zhat.evidence(model(), METHODS["importance"], seed=5, repeats=3)
    alone = zhat.evidence(model(), METHODS["importance"], seed=5)
    assert [r.log_evidence for r in two.repeats] == [r.log_evidence for r in three.repeats[:2]]
    assert alone.log_evidence == three.repeats[0].log_evidence
    assert len({r.log_evidence for r in three.repeats}) == 3


@pytest.mark.parametrize("name", METHODS)
def test_the_global_random_state_is_neither_read_nor_changed(name):
    np.random.seed(1)  # the legacy state is what must stay untouched
    before = np.random.get_state()
    first = zhat.evidence(model(), METHODS[name], seed=5)
    after = np.random.get_state()
    assert before[0] == after[0] and before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])
    np.random.seed(2)
    assert zhat.evidence(model(), METHODS[name], seed=5).log_evidence == first.log_evidence


def test_without_a_seed_one_is_drawn_and_stored():
    first = zhat.evidence(model(), METHODS["prior-mean"])
    assert isinstance(first.seed, int)
    again = zhat.evidence(model(), METHODS["prior-mean"], seed=first.seed)
    assert again.log_evidence == first.log_evidence
    assert len({check_seed(None) for _ in range(10)}) == 10


def test_numpy_integers_are_seeds():
    assert check_seed(np.int64(5)) == check_seed(np.uint64(5)) == 5
    assert check_seed(2**64 - 1) == 2**64 - 1
