"""How much a check evaluates, by the model: starts, searches, particles."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat import Model
from zhat.missed_mass.effort import EFFORT, SHARP

BLACK_BOX = Model.black_box(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0)})


def of_dimension(d):
    return Model(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)})


def of_rows(n):
    return Model(lambda p, y: jnp.sum(y) * p["x"], {"x": dist.Normal(0.0, 1.0)}, data=np.zeros(n))


def test_fewer_particles_where_a_likelihood_evaluation_is_expensive():
    assert [EFFORT.population_size(of_dimension(d)) for d in (2, 10, 100)] == [2000, 2000, 2000]
    assert [EFFORT.population_size(of_rows(n)) for n in (50_000, 100_000, 1_000_000)] == [2000, 1000, 400]
    assert EFFORT.population_size(BLACK_BOX) == 400


def test_fewer_starts_for_many_data_and_fewer_searches_in_many_dimensions():
    assert [EFFORT.survey(of_rows(n)).n_starts for n in (5_000, 10_000, 1_000_000)] == [24_576, 12_288, 512]
    assert [EFFORT.survey(of_dimension(d)).n_first for d in (1, 20, 40, 100)] == [64, 64, 32, 16]
    assert (EFFORT.survey(BLACK_BOX).n_starts, EFFORT.survey(BLACK_BOX).n_first) == (10_240, 4)


def test_a_black_box_affords_no_coverage_check():
    assert not SHARP.affords_coverage(BLACK_BOX)
    assert SHARP.affords_coverage(of_dimension(30)) and not SHARP.affords_coverage(of_dimension(31))


def test_a_wider_search_makes_so_many_times_the_starts():
    wider = EFFORT.searched(4.0)
    for model in (BLACK_BOX, of_dimension(3), of_rows(1_000_000)):
        assert wider.survey(model).n_starts == 4 * EFFORT.survey(model).n_starts
        assert wider.survey(model).n_at_most == 4 * EFFORT.survey(model).n_at_most
    assert EFFORT.searched(1.0) is EFFORT


def test_a_less_precise_answer_about_a_black_box_has_enough_starts_to_meet_a_narrow_mode():
    """A basin of 3e-3 of the prior holds six of them; 256 starts missed two modes of unequal width in eight dimensions."""
    assert EFFORT.scaled(0.02).survey(BLACK_BOX).n_starts == 2048
    assert EFFORT.scaled(0.5).survey(BLACK_BOX).n_starts == 5120
