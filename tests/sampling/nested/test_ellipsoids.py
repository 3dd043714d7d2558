"""Ellipsoids around points: volume, cover, division, draws, and fits without a point."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from zhat.sampling.nested.ellipsoids import _around, _connected, enclosing, log_unit_ball


def ball(n, d, rng):
    z = rng.standard_normal((n, d))
    return z / np.linalg.norm(z, axis=1)[:, None] * rng.random((n, 1)) ** (1 / d)


def around(points, rng, near=None, log_mass=0.0):
    near = points[:0] if near is None else near
    return enclosing(points, near, log_mass, rng)


@pytest.mark.parametrize(("d", "most"), [(2, 1.5), (6, 3.0)])
def test_a_ball_is_covered_by_little_more_than_itself(d, most):
    rng = np.random.default_rng(d)
    found = around(ball(400, d, rng), rng, log_mass=log_unit_ball(d))
    assert len(found.centre) == 1
    assert 1.0 < math.exp(found.log_volume[0] - log_unit_ball(d)) < most
    assert found.number_around(ball(5000, d, rng)).mean() > 0.998


def test_two_modes_are_two_ellipsoids_in_two_groups():
    rng = np.random.default_rng(1)
    points = np.concatenate([ball(100, 2, rng), [9.0, 0.0] + 0.5 * ball(100, 2, rng)])
    found = around(points, rng, log_mass=math.log(1.25 * math.pi))
    assert found.total < 3 * 1.25 * math.pi
    groups = found.groups(points)
    assert len(set(groups[:100])) == len(set(groups[100:])) == 1
    assert groups[0] != groups[-1]


def test_draws_fall_into_an_ellipsoid_in_proportion_to_its_volume():
    rng = np.random.default_rng(2)
    points = np.concatenate([ball(100, 2, rng), [9.0, 0.0] + 0.5 * ball(100, 2, rng)])
    found = around(points, rng, log_mass=math.log(1.25 * math.pi))
    drawn = found.draw(4000, rng)
    assert (found.number_around(drawn) >= 1).all()
    left = np.exp(found.log_volume)[found.centre[:, 0] < 5].sum() / found.total
    assert abs((drawn[:, 0] < 5).mean() - left) < 4.5 * math.sqrt(left * (1 - left) / 4000)


def test_the_distance_from_a_fit_without_a_point_is_that_of_a_new_fit():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((30, 3))
    found = around(points, rng, log_mass=10.0)
    i = int(np.argsort(found.squared(points)[0])[-3])  # not the farthest
    others = np.delete(points, i, axis=0)
    centred = others - others.mean(axis=0)
    gap = points[i] - others.mean(axis=0)
    away = gap @ np.linalg.solve(centred.T @ centred / 29, gap)
    used = found.squared(points)[0, i] * found.reach[0]
    assert 30 * used / (29 - used) == pytest.approx(away, rel=1e-10)
    expected = away <= found.reach[0]
    assert found.inside(points[i : i + 1], np.array([i]))[0] == expected


def test_points_near_may_tell_the_shape_and_need_not_be_inside():
    rng = np.random.default_rng(4)
    points, near = ball(40, 6, rng), 1.1 * ball(200, 6, rng)
    alone, helped = around(points, rng, log_mass=10.0), around(points, rng, near, log_mass=10.0)
    assert helped.log_volume[0] < alone.log_volume[0] - 0.5
    assert (helped.number_around(points) == 1).all()


def test_points_that_do_not_span_the_space_have_no_ellipsoid():
    rng = np.random.default_rng(5)
    flat = np.column_stack([rng.random(50), np.full(50, 0.3)])
    assert _around(flat, np.arange(50), np.arange(0), rng) is None
    assert around(rng.random((4, 2)), rng) is None


def test_connected_parts_are_numbered_in_the_order_of_their_first_members():
    rng = np.random.default_rng(5)
    for n, links in ((1, 0), (6, 3), (30, 20), (30, 60)):
        touch = np.eye(n, dtype=bool)
        i, j = rng.integers(n, size=(2, links))
        touch[i, j] = touch[j, i] = True
        expected = scipy.sparse.csgraph.connected_components(touch, directed=False)[1]
        np.testing.assert_array_equal(_connected(touch), expected)
