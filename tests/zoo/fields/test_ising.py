"""Ising models and Boltzmann machines as ordinary models, against values computed independently."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.numerics.fields.ising import log_partition_lattice
from zhat.zoo.fields import ising


def test_the_picture_has_its_statistics():
    np.testing.assert_array_equal(ising.picture_statistics(), [18.0, 34.0, -4.0])


def test_the_likelihood_is_that_of_the_exact_partition_function():
    model = zoo.example("ising-lattice-two-couplings").model
    for across, down in ((0.2, 0.35), (-0.4, 0.1)):
        _, found = model.evaluate(theta=np.array([across, down]))
        assert found == pytest.approx(18 * across + 34 * down - log_partition_lattice(10, 10, across, down), abs=1e-9)


def test_the_table_has_1841_men_and_its_margins():
    statistics, counts = ising.boltzmann_design(ising.ALL)
    assert counts.sum() == 1841 and statistics.shape == (64, 21)
    assert statistics[0].tolist() == [1.0] * 21  # the first cell: yes to all six


LAPLACE = {"none": -7087.71432, "pairs": -6746.15021, "five": -6727.5411, "all": -6742.6035}


@pytest.mark.parametrize("edges", LAPLACE)
def test_boltzmann_machines(edges):
    example = zoo.example(f"boltzmann-{edges}")
    result = zhat.evidence(example.model, "inla", seed=1, progress=False)
    assert result.diagnostics["nested_laplace"] == pytest.approx(LAPLACE[edges], abs=2e-4)
    assert abs(result.log_evidence - example.log_evidence) < 3.5 * np.hypot(result.error, 0.0011)


@pytest.mark.slow
@pytest.mark.parametrize("which", ising.LATTICE)
def test_lattices(which):
    example = zoo.example(f"ising-lattice-{which}")
    result = zhat.evidence(example.model, "inla", seed=1, progress=False)
    assert abs(result.log_evidence - example.log_evidence) < 3.5 * result.error + 1e-6
