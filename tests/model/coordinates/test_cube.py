"""Which parameters have coordinates in the unit cube by their distribution functions; the maps are tested in `sampling.nested`."""

from __future__ import annotations

import numpy as np
import numpyro.distributions as dist

from zhat.model.coordinates.cube import cube_map
from zhat.model.program import program_of, space_of


def exact(prior):
    space = space_of(program_of(prior, False), None, None)
    return cube_map(space, None, None).exact


def test_numbers_with_quantiles_are_exact():
    prior = {"a": dist.Uniform(0.0, 1.0).expand([2, 3]).to_event(2), "b": dist.LogNormal(0.0, 1.0), "c": dist.Normal(0.0, 1.0)}
    assert exact(prior) == {"a", "b", "c"}


def test_vectors_with_dependent_entries_are_not():
    prior = {
        "w": dist.Dirichlet(np.array([1.0, 2.0, 3.0])),
        "x": dist.MultivariateNormal(np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]])),
    }
    assert exact(prior) == frozenset()
