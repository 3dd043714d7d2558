"""Mode finding: several modes, none, and those that run away."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model, zoo
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode, Search, find_modes
from zhat.seeding import Key

FEW = Search(n_starts=16)


def search(model, settings=FEW, seed=0, widths=1.0):
    """Modes from 500 starts to choose among, drawn around zero in the unconstrained space."""
    loop = Loop(progress=False)
    position = np.random.default_rng(seed).normal(size=(500, model.n_dimensions)) * widths
    log_prior, log_likelihood = log_densities(model, position, loop)
    draws = Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=500)
    return find_modes(model, draws, Key(seed).child("modes"), loop, settings), loop


def two_peaks(params):
    x = params["x"]
    left = -0.5 * jnp.sum((x + 2.0) ** 2) / 0.1
    right = -0.5 * jnp.sum((x - 2.0) ** 2) / 0.1 + jnp.log(3.0)
    return jnp.logaddexp(left, right)


@cache
def bimodal():
    return Model(two_peaks, {"x": dist.Normal(0.0, 2.0).expand([2]).to_event(1)})


def test_both_modes_of_a_bimodal_target_are_found_the_heavier_first():
    found, _ = search(bimodal(), widths=2.0)
    assert len(found.usable) == 2
    shrink = 4.0 / 4.1  # the normal prior pulls each peak to 4 / 4.1 of its place
    np.testing.assert_allclose(found.usable[0].position, 2.0 * shrink, atol=1e-6)
    np.testing.assert_allclose(found.usable[1].position, -2.0 * shrink, atol=1e-6)
    assert found.usable[0].log_mass - found.usable[1].log_mass == pytest.approx(np.log(3.0), abs=1e-6)
    assert found.usable[0].distance(found.usable[1]) > 10.0


def test_the_mode_of_a_gaussian_is_exact_in_position_curvature_and_mass():
    precision = np.array([[2.0, 0.9], [0.9, 1.0]])
    centre = np.array([0.5, -1.0])
    model = Model(
        lambda p: -0.5 * (p["x"] - centre) @ precision @ (p["x"] - centre),
        {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)},
    )
    found, loop = search(model)
    (mode,) = found.modes
    total = precision + np.eye(2)
    np.testing.assert_allclose(mode.position, np.linalg.solve(total, precision @ centre), atol=1e-5)
    np.testing.assert_allclose(mode.precision, total, atol=1e-10)
    np.testing.assert_allclose(mode.covariance, np.linalg.inv(total), atol=1e-10)
    marginal = np.linalg.inv(precision) + np.eye(2)
    exact = -0.5 * centre @ np.linalg.solve(marginal, centre)
    exact -= 0.5 * np.linalg.slogdet(marginal @ precision)[1]
    assert mode.log_mass == pytest.approx(exact, abs=1e-8)
    assert mode.is_usable and mode.decrement < 1e-8
    assert loop.n_gradient == loop.n_hessian > 0


def test_units_of_the_parameters_do_not_matter():
    scales = np.array([1e-9, 1.0, 1e9])
    model = Model(
        lambda p: -0.5 * jnp.sum((p["x"] / scales - 1.0) ** 2),
        {"x": dist.Normal(jnp.zeros(3), jnp.asarray(scales)).to_event(1)},
    )
    (mode,) = search(model, widths=scales)[0].usable
    np.testing.assert_allclose(mode.position / scales, 0.5, atol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(mode.covariance)) / scales, np.sqrt(0.5), rtol=1e-6)


def test_a_flat_direction_is_not_usable():
    model = Model(
        lambda p: -0.5 * (p["x"] - 1.0) ** 2 + 0.5 * p["flat"] ** 2,  # takes the prior of `flat` back
        {"x": dist.Normal(0.0, 1.0), "flat": dist.Normal(0.0, 1.0)},
    )
    found, _ = search(model)
    assert found.usable == ()
    assert found.modes and not found.modes[0].is_definite


def test_a_saddle_is_left_not_taken_for_a_peak():
    model = Model(lambda p: 4.0 * p["x"] ** 2 - p["x"] ** 4, {"x": dist.Normal(0.0, 1.0)})  # x = 0 is a minimum
    found, _ = search(model)
    positions = sorted(float(mode.position[0]) for mode in found.usable)
    np.testing.assert_allclose(positions, [-np.sqrt(3.5 / 2), np.sqrt(3.5 / 2)], atol=1e-6)


def test_a_mode_that_runs_away_is_not_converged():
    found, _ = search(zoo.example("E15").model, Search(n_starts=8, max_iterations=60), widths=3.0)
    best = max(found.modes, key=lambda mode: mode.log_density)
    print(best.log_density, best.decrement, best.position[:2])
    assert not best.converged
    assert all(not mode.is_usable or mode.log_density < best.log_density for mode in found.modes)


def test_a_search_stopped_by_a_wall_says_so():
    model = Model(lambda p: jnp.where(p["x"] > 1.0, -p["x"], -jnp.inf), {"x": dist.Normal(0.0, 1.0)})
    found, _ = search(model)
    assert found.usable == ()
    assert found.n_converged == 0


def test_modes_do_not_depend_on_the_number_of_climbers_that_are_left():
    search(bimodal(), seed=1)
    before = dict(bimodal().core.traces)
    search(bimodal(), seed=2)
    assert bimodal().core.traces == before


def test_more_climbers_than_go_up_at_once_end_where_few_do():
    few, _ = search(bimodal(), FEW, widths=2.0)
    many, _ = search(bimodal(), Search(n_starts=200), widths=2.0)
    assert sum(mode.hits for mode in many.usable) == 200
    for one, other in zip(few.usable, many.usable, strict=True):
        np.testing.assert_allclose(one.position, other.position, atol=1e-5)


def test_a_step_to_where_the_model_is_no_number_is_refused_and_the_climb_goes_on():
    def log_likelihood(p):  # a tent: where it is straight, Newton's step goes far beyond x = 30
        height = 20.0 * (p["x"] - 1.0)
        return jnp.where(jnp.abs(p["x"]) > 30.0, jnp.nan, -jnp.logaddexp(height, -height))

    (mode,) = search(Model(log_likelihood, {"x": dist.Normal(0.0, 100.0)}))[0].usable
    assert float(mode.position[0]) == pytest.approx(1.0, abs=1e-4)


def test_a_point_whose_square_no_float_holds_is_infinitely_far():
    mode = Mode(np.zeros(2), 0.0, np.array([[2.0, 1.0], [1.0, 4.0]]), 0.0, converged=True)
    found = mode.distances(np.array([[1.0, 1.0], [1e200, 0.0], [1e200, -1e200]]))
    np.testing.assert_allclose(found, [np.sqrt(8.0), np.inf, np.inf])
