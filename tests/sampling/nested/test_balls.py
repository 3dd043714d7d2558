"""Balls around points: cover, groups, and modes with a single point."""

from __future__ import annotations

import numpy as np

from zhat.sampling.nested.balls import balls_around


def ring(n, rng, width=0.2):
    angle, radius = 2 * np.pi * rng.random(n), 2.0 + width * (rng.random(n) - 0.5)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def test_a_ring_is_covered_and_its_middle_is_not():
    rng = np.random.default_rng(0)
    found = balls_around(ring(400, rng), rng)
    assert (found.number_around(ring(5000, rng)) > 0).mean() > 0.998
    assert found.number_around(np.zeros((1, 2)))[0] == 0
    assert (found.number_around(found.draw(1000, rng)) > 0).all()


def test_a_mode_with_one_point_does_not_fill_the_space_between():
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.random((200, 2)), [[30.0, 30.0]]])
    found = balls_around(points, rng)
    assert found.number_around(np.array([[15.0, 15.0]]))[0] == 0
    groups = found.groups(points)
    assert (groups[:200] != groups[200]).all()


def test_a_centre_counts_as_inside_if_another_ball_has_it():
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.random((200, 2)), [[30.0, 30.0]]])
    found = balls_around(points, rng)
    inside = found.inside(points, np.arange(201))
    assert inside[:200].mean() > 0.98
    assert not inside[200]
    assert found.inside(points[200:], np.array([-1]))[0]


def test_points_on_a_line_have_no_balls():
    rng = np.random.default_rng(3)
    assert balls_around(np.column_stack([rng.random(50), np.full(50, 0.5)]), rng) is None
