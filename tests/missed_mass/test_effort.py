"""How hard to look, by the model: starts of searches, particles, extra populations."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model, zoo
from zhat.missed_mass.effort import EFFORT, SHARP

BLACK_BOX = Model.black_box(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0)})


def of_dimension(d):
    return Model(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)})


def of_rows(n):
    return Model(lambda p, y: jnp.sum(y) * p["x"], {"x": dist.Normal(0.0, 1.0)}, data=np.zeros(n))


def test_fewer_particles_where_a_likelihood_evaluation_is_expensive():
    assert EFFORT.population_size(zoo.example("E8").model) == 2000
    assert [EFFORT.population_size(of_dimension(d)) for d in (10, 20, 30, 50, 100)] == [2000, 4000, 6000, 4000, 2000]
    assert [EFFORT.population_size(of_rows(n)) for n in (50_000, 100_000, 1_000_000)] == [2000, 1000, 400]
    assert EFFORT.population_size(BLACK_BOX) == 400


def test_fewer_starts_in_many_dimensions_and_for_many_data():
    assert [EFFORT.search_starts(of_dimension(d)) for d in (1, 10, 40, 100)] == [1024, 1024, 128, 32]
    assert [EFFORT.search_starts(of_rows(n)) for n in (5_000, 10_000, 1_000_000)] == [1024, 512, 16]
    assert EFFORT.search_starts(BLACK_BOX) == EFFORT.check_starts(BLACK_BOX) == 4


def test_a_check_makes_more_starts_than_a_first_search_where_they_are_cheap():
    assert EFFORT.check_starts(of_rows(10)) == 3 * EFFORT.search_starts(of_rows(10))
    assert EFFORT.check_starts(of_rows(3000)) == EFFORT.search_starts(of_rows(3000))


@pytest.mark.parametrize(("d", "usual", "sharp"), [(9, 0, 0), (10, 0, 3), (20, 0, 3), (21, 7, 7), (50, 7, 7), (51, 0, 0)])
def test_extra_populations_by_dimension_and_sharpness(d, usual, sharp):
    assert (EFFORT.n_extra_populations(of_dimension(d)), SHARP.n_extra_populations(of_dimension(d))) == (usual, sharp)


def test_a_black_box_affords_neither_extra_populations_nor_a_coverage_check():
    assert SHARP.n_extra_populations(BLACK_BOX) == 0 and not SHARP.affords_coverage(BLACK_BOX)
    assert SHARP.affords_coverage(of_dimension(30)) and not SHARP.affords_coverage(of_dimension(31))
