"""Partition functions against enumeration, Kaufman's formula for the torus, and values computed independently."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from zhat.numerics.fields.ising import Graph, bethe, lattice, log_partition_enumerated, log_partition_lattice, mean_field

CRITICAL = 0.5 * math.log(1.0 + math.sqrt(2.0))
# rows, coupling, field, torus: exact log Z, mean field, Bethe.
REFERENCE = {
    (4, 0.3, 0.0, True): (12.785523325714, 11.475949, 12.509260),
    (4, 0.6, 0.0, True): (20.056532884347, 19.336699, 19.360059),
    (4, 0.3, 0.2, False): (13.128186638626, 12.646396, 13.099070),
    (10, 0.3, 0.0, True): (79.060017121491, 71.724679, 78.182872),
    (10, CRITICAL, 0.0, True): (93.610300510222, 91.404729, 92.521390),
    (10, 0.1, 0.0, False): (70.221358760741, 69.314718, 70.213222),
    (10, 0.3, 0.0, False): (77.983670451576, 70.294949, 77.296057),
    (10, CRITICAL, 0.0, False): (89.692348600002, 84.914196, 87.710138),
    (10, 0.6, 0.0, False): (111.498259859230, 109.885542, 110.592453),
    (10, 0.3, 0.2, False): (85.800634225150, 83.595058, 85.659380),
}


@pytest.mark.parametrize("case", REFERENCE, ids=str)
def test_reference_values(case):
    n, coupling, field, torus = case
    exact, by_mean_field, by_bethe = REFERENCE[case]
    graph = lattice(n, n, coupling, field, torus)
    assert log_partition_lattice(n, n, coupling, coupling, field, torus) == pytest.approx(exact, abs=1e-9)
    assert mean_field(graph).log_partition == pytest.approx(by_mean_field, abs=2e-6)
    assert bethe(graph).log_partition == pytest.approx(by_bethe, abs=2e-6)
    assert mean_field(graph).log_partition < exact


@pytest.mark.parametrize("torus", [False, True])
def test_the_recursion_is_enumeration(torus):
    rows, columns, across, down, field = 3, 4, 0.31, -0.17, 0.12
    graph = lattice(rows, columns, 0.0, field, torus)
    is_across = np.abs(graph.edges[:, 0] // columns - graph.edges[:, 1] // columns) == 0
    graph = Graph(graph.n, graph.edges, np.where(is_across, across, down), graph.field)
    exact = log_partition_enumerated(graph)
    assert log_partition_lattice(rows, columns, across, down, field, torus) == pytest.approx(exact, abs=1e-10)


def test_bethe_is_exact_on_a_forest_and_without_edges():
    edges = np.array([[0, 1], [1, 2], [1, 3], [4, 5]])
    forest = Graph(6, edges, np.array([0.7, -0.4, 1.1, 0.3]), np.array([0.2, -0.5, 0.1, 0.0, 0.9, -0.3]))
    assert bethe(forest).log_partition == pytest.approx(log_partition_enumerated(forest), abs=1e-9)
    alone = Graph(6, edges[:0], np.zeros(0), forest.field)
    exact = np.log(2.0 * np.cosh(forest.field)).sum()
    assert log_partition_enumerated(alone) == pytest.approx(exact, abs=1e-10)
    for approximation in (bethe, mean_field):
        assert approximation(alone).log_partition == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("approximation", [mean_field, bethe])
def test_mean_spins_and_products_are_the_derivatives(approximation):
    graph = lattice(3, 3, 0.2, 0.1)
    found, step = approximation(graph), 1e-5
    for change, exact in (("field", found.spins.sum()), ("coupling", found.products.sum())):
        ends = [approximation(replace(graph, **{change: getattr(graph, change) + by})).log_partition for by in (step, -step)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(exact, abs=1e-7)


def test_too_many_spins_are_refused():
    with pytest.raises(ValueError, match="2\\^30"):
        log_partition_enumerated(lattice(5, 6, 0.1))
