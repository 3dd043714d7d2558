"""A survey of the modes: narrow basins are met, smooth posteriors cost no searches, and the resolution says what could be missed."""

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
import pytest

from zhat import Model, zoo
from zhat.missed_mass.effort import EFFORT
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.survey import Starts, Survey, survey_modes
from zhat.seeding import Key


def survey(model, seed=0, known=(), **settings):
    loop = Loop(progress=False)
    starts = Starts(**{"n_starts": 8192, "n_at_most": 32_768, "n_first": 64, "n_searches": 256, **settings})
    with jax.enable_x64(True):
        return survey_modes(model, starts, Key(seed), loop, known), loop


def test_a_narrow_basin_is_met():
    """The narrow mode's basin holds 2.4e-3 of the prior; 8,192 starts have twenty there, of which eight or more are recognised."""
    model = zoo.unequal_widths(5, 0.5, 0.125).model
    assert all(len(survey(model, seed)[0].modes.usable) == 2 for seed in range(6))


@pytest.mark.parametrize("id", ["unequal-modes-10", "unequal-modes-20"])
def test_modes_without_a_valley_between_are_met_above_the_normal_approximations(id):
    assert all(len(survey(zoo.example(id).model, seed, n_starts=16_384)[0].modes.usable) == 2 for seed in range(3))


def test_a_log_concave_posterior_needs_no_further_search():
    found, loop = survey(zoo.example("E9a").model)
    assert found.n_unexplained == 0 and found.modes.n_starts == 64 and len(found.modes.usable) == 1
    assert loop.n_hessian < 64 * 20
    assert found.resolution == pytest.approx(3.0 / (0.5 * 8192))


def test_known_modes_explain_starts_without_a_search():
    known = survey(zoo.example("E9a").model)[0].modes.usable
    again, loop = survey(zoo.example("E9a").model, seed=1, known=known)
    assert loop.n_hessian == 0 and again.modes.usable[0].hits >= 8192 // 16


def test_a_curved_posterior_leaves_starts_unexplained_and_the_resolution_says_so():
    found, _ = survey(zoo.example("S3").model, n_at_most=8192)
    assert len(found.modes.usable) == 2 and found.n_unexplained > 0
    assert found.resolution > 3.0 / 8192


def test_it_ends_where_there_are_too_many_modes():
    found, _ = survey(zoo.example("mirrored-signs-10").model)
    assert found.ended_early and found.resolution == 1.0


def test_modes_without_mass_are_not_counted():
    """A peak among some hundred ripples, each of less than a millionth of its mass: a periodogram with a clear line."""

    def log_likelihood(p):
        x = p["x"]
        return 30.0 * jnp.exp(-0.5 * ((x[0] - 0.3) / 0.002) ** 2) + 2.0 * jnp.cos(600.0 * x[0]) - 0.5 * x[1] ** 2

    found, _ = survey(Model(log_likelihood, {"x": dist.Uniform(0.0, 1.0).expand([2]).to_event(1)}))
    assert not found.ended_early and found.resolution < 0.01
    assert abs(float(jax.scipy.special.expit(found.modes.usable[0].position[0])) - 0.3) < 0.005


def test_a_mode_met_once_doubles_the_starts():
    model = zoo.unequal_widths(4, 0.5, 0.125).model  # 7e-3 of the prior: one or two of 256 starts
    met = [survey(model, seed, n_starts=256, n_at_most=1024)[0] for seed in range(12)]
    assert any(found.n_starts > 256 and len(found.modes.usable) == 2 for found in met)
    assert all(found.n_starts <= 1024 for found in met)


def test_several_modes_make_it_four_times_as_long():
    two, _ = survey(zoo.unequal_widths(2, 0.5, 0.4).model, n_starts=512, n_at_most=2048)
    one, _ = survey(zoo.example("E1").model, n_starts=512, n_at_most=2048)
    assert (len(two.modes.usable), two.n_starts) == (2, 2048)
    assert (len(one.modes.usable), one.n_starts) == (1, 512)


def test_without_a_mode_nothing_is_resolved():
    flat = Model(lambda p: jnp.zeros(()) * p["x"], {"x": dist.Uniform(0.0, 1.0)})
    found, _ = survey(flat)
    assert isinstance(found, Survey) and (found.modes.usable or found.resolution == 1.0)


def test_fewer_starts_and_searches_where_they_are_expensive():
    box = Model.black_box(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0)})
    assert EFFORT.survey(box).n_first == 4 and EFFORT.survey(box).n_starts == 10_240
    wide = Model(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0).expand([80]).to_event(1)})
    assert EFFORT.survey(wide).n_first == 16
