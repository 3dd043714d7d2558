"""The recursion over change points against enumeration of all sets of places."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb, log

import numpy as np
import pytest

from zhat.numerics.fields.change_points import change_points
from zhat.numerics.logspace import log_sum_exp


def some_segments(n, shortest=1):
    values = np.random.default_rng(5).normal(-2.0, 1.5, (n, n))
    rows, columns = np.indices((n, n))
    return np.where(columns - rows + 1 >= shortest, values, -np.inf)


def enumerated(segments, k):
    """Every set of starts of new segments, and the log evidence of its segments."""
    n = len(segments)
    out = {}
    for starts in combinations(range(1, n), k):
        edges = [0, *starts, n]
        value = sum(segments[a, b - 1] for a, b in pairwise(edges))
        if np.isfinite(value):
            out[starts] = value
    return out


@pytest.mark.parametrize("shortest", [1, 3])
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_evidence_and_places_are_those_of_enumeration(k, shortest):
    n = 12
    segments = some_segments(n, shortest)
    found, sets = change_points(segments, 3), enumerated(segments, k)
    total = log_sum_exp(np.array(list(sets.values())))
    assert found.log_evidence[k] == pytest.approx(total - log(len(sets)), abs=1e-12)
    assert np.exp(found.log_sets[k]) == pytest.approx(comb(n - (k + 1) * (shortest - 1) - 1, k), rel=1e-12)
    for j in range(k):
        exact = np.zeros(n)
        for starts, value in sets.items():
            exact[starts[j]] += np.exp(value - total)
        np.testing.assert_allclose(found.places[k][j], exact, atol=1e-12)


def test_more_change_points_than_fit_have_no_evidence():
    found = change_points(some_segments(8, 4), 3)
    assert found.log_evidence[2] == -np.inf and found.log_sets[2] == -np.inf
    assert found.places[2].sum() == 0.0
    assert found.probabilities()[2] == 0.0


def test_prior_probabilities_of_the_number():
    found = change_points(some_segments(9), 2)
    even = found.probabilities()
    assert even.sum() == pytest.approx(1.0)
    tilted = found.probabilities([0.5, 0.25, 0.25])
    assert tilted[0] / tilted[1] == pytest.approx(2.0 * even[0] / even[1])
    with pytest.raises(ValueError, match="one probability"):
        found.probabilities([1.0])


@pytest.mark.parametrize(
    ("segments", "most", "says"),
    [
        (np.zeros((2, 3)), 1, "square"),
        (np.full((2, 2), np.nan), 1, "NaN"),
        (np.zeros((3, 3)), 3, "0 to 2"),
        (np.zeros((3, 3)), -1, "0 to 2"),
    ],
)
def test_refused(segments, most, says):
    with pytest.raises(ValueError, match=says):
        change_points(segments, most)
