"""One record of points: rows taken, chosen between two batches, joined."""

import numpy as np

from zhat.results.records import Draws
from zhat.sampling.state import State


def batch(first, gradient=None):
    values = np.arange(first, first + 4.0)
    return State(position=np.stack([values, -values], axis=1), log_prior=values, log_likelihood=10 * values, gradient=gradient)


def test_rows_are_taken_from_every_field_that_is_known():
    some = batch(0.0)._replace(log_prior=None).take([3, 1])
    np.testing.assert_array_equal(some.position, [[3.0, -3.0], [1.0, -1.0]])
    np.testing.assert_array_equal(some.log_likelihood, [30.0, 10.0])
    assert some.log_prior is None and some.gradient is None


def test_a_mask_chooses_between_two_batches():
    mask = np.array([True, False, True, False])
    merged = batch(100.0, np.ones((4, 2))).chosen(mask, batch(0.0, np.zeros((4, 2))), np)
    np.testing.assert_array_equal(merged.log_prior, [100.0, 1.0, 102.0, 3.0])
    np.testing.assert_array_equal(merged.position[:, 1], [-100.0, -1.0, -102.0, -3.0])
    np.testing.assert_array_equal(merged.gradient[:, 0], [1.0, 0.0, 1.0, 0.0])


def test_batches_are_joined_and_what_one_does_not_know_is_not_known():
    whole = State.joined([batch(0.0), batch(4.0)])
    np.testing.assert_array_equal(whole.log_prior, np.arange(8.0))
    assert State.joined([batch(0.0), batch(4.0)._replace(log_prior=None)]).log_prior is None
    assert State.joined([whole]) is whole


def test_draws_become_states_of_moves():
    points = batch(0.0)
    draws = Draws(position=points.position, log_prior=points.log_prior, log_likelihood=points.log_likelihood, n_drawn=4)
    states = State.of_draws(draws).with_moves(2)
    assert states.position.shape == (2, 2, 2)
    np.testing.assert_array_equal(states.log_likelihood, [[0.0, 10.0], [20.0, 30.0]])
