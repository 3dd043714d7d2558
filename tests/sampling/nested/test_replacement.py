"""Draws from the prior above a threshold: the right distribution, strictly above, from the survivors, compiled once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import zhat
from zhat.errors import BadInput, BadType
from zhat.sampling.backend.evaluation import prior_positions, state_at
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.defaults import threshold_kernel
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.independent import Independent
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.sampling.kernels.slice import Slice
from zhat.sampling.mixing import Moves
from zhat.sampling.nested.replacement import N_BLOCKS, FromPrior, MarkovReplacement, Vacancies
from zhat.seeding import Key

LONG = Moves(correlation=0.001, at_once=200, at_most=200)
KERNELS = (RandomWalk(acceptance=0.25), Slice(), Slice(max_out=1), threshold_kernel())
MARKOV = [MarkovReplacement(kernel, LONG) for kernel in KERNELS]
ALL = [*MARKOV, MarkovReplacement(Independent(), LONG), FromPrior()]
THRESHOLD = -0.5


def disc(black_box=False):
    """A standard normal prior in the plane, and a likelihood that falls with the distance from the centre."""
    prior = {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}
    if black_box:
        return zhat.Model.black_box(lambda p: -0.5 * np.sum(p["x"] ** 2, axis=-1), prior, batched=True, name="disc")
    return zhat.Model(lambda p: -0.5 * jnp.sum(p["x"] ** 2), prior, name="disc")


def name_of(way):
    return repr(getattr(way, "kernel", way))


def points_at(model, position):
    with jax.enable_x64(True):
        return state_at(model, position, Loop(progress=False))


def replaced(model, way, survivors, n_new=1000, batch_size=1000, threshold=THRESHOLD, loop=None):
    loop = loop or Loop(progress=False)
    scale = way.first_scale(model.n_dimensions)
    with jax.enable_x64(True):
        return way.replace(model, Vacancies(survivors, threshold, n_new, batch_size), scale, Key(1), loop)


def crowded(model):
    """Survivors that all sit in one half: that the new points do not is the kernel's doing."""
    rng = np.random.default_rng(0)
    radius, angle = np.sqrt(rng.random(400)), np.pi * (rng.random(400) - 0.5)
    return points_at(model, radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def settled(model):
    """Survivors as they should be: prior draws above the threshold."""
    with jax.enable_x64(True):
        prior = points_at(model, prior_positions(model, 4000, Key(3)))
    return prior.take(prior.log_likelihood > THRESHOLD)


def check_distribution(points):
    assert (points.log_likelihood > THRESHOLD).all()
    # Half the squared radius of a standard normal in the plane is exponential; here it is cut off at 1/2.
    half = 0.5 * (points.position**2).sum(axis=1)
    assert stats.kstest(half, stats.truncexpon(0.5).cdf).pvalue > 1e-3
    angle = np.arctan2(points.position[:, 1], points.position[:, 0]) / (2 * np.pi) + 0.5
    assert stats.kstest(angle, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("kernel", ALL, ids=name_of)
def test_the_prior_above_the_threshold_is_kept(kernel):
    model = disc()
    new = replaced(model, kernel, settled(model))
    check_distribution(new.points)
    again = points_at(model, new.points.position)
    np.testing.assert_allclose(again.log_likelihood, new.points.log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(again.log_prior, new.points.log_prior, rtol=1e-12)


# Crank-Nicolson moves are left out: fitted to the wrong half, their frame has too light a tail on the other to be quick.
@pytest.mark.parametrize("kernel", [*MARKOV[:3], FromPrior()], ids=name_of)
def test_the_prior_above_the_threshold_is_found_from_elsewhere(kernel):
    model = disc()
    check_distribution(replaced(model, kernel, crowded(model)).points)


@pytest.mark.parametrize("kernel", ALL, ids=name_of)
def test_a_black_box_is_served_as_well_and_counts_its_calls(kernel):
    model = disc(black_box=True)
    loop = Loop(progress=False)
    new = replaced(model, kernel, settled(model), n_new=400, batch_size=400, loop=loop)
    check_distribution(new.points)
    assert loop.n_likelihood > 400


@pytest.mark.parametrize("kernel", MARKOV, ids=name_of)
def test_thresholds_and_batches_of_any_size_share_one_program(kernel, monkeypatch):
    monkeypatch.setattr("zhat.sampling.kernels.sweep.MOVES_ON_HOST", 0)  # a run that goes on compiled
    model = disc()
    survivors = crowded(model)
    for threshold, n_new in ((-0.9, 100), (THRESHOLD, 40), (-0.6, 130)):
        new = replaced(model, kernel, survivors, n_new, batch_size=100, threshold=threshold)
        assert len(new.points.log_prior) == len(new.parent) == n_new
        assert (new.points.log_likelihood > threshold).all()
    assert model.core.traces[("sweep", kernel.kernel, "AboveLikelihood", True)] == 1


def test_every_survivor_starts_as_many_points_as_any_other():
    model = disc()
    new = replaced(model, MarkovReplacement(), crowded(model), n_new=800, batch_size=800)
    assert (np.bincount(new.parent, minlength=400) == 2).all()


def test_few_survivors_are_enough_to_go_on_from():
    model = disc()
    few = crowded(model).take(slice(0, 3))
    new = replaced(model, MARKOV[1], few, n_new=200, batch_size=200)
    assert set(new.parent) == {0, 1, 2}
    assert len(few.log_prior) < N_BLOCKS
    assert (new.points.log_likelihood > THRESHOLD).all()


def test_what_is_left_of_the_start_is_measured():
    model = disc()
    with jax.enable_x64(True):
        prior = points_at(model, prior_positions(model, 4000, Key(3)))
    survivors = prior.take(prior.log_likelihood > THRESHOLD)
    hardly = replaced(model, MarkovReplacement(moves=Moves(0.9999, 1, 1)), survivors)
    well = replaced(model, MarkovReplacement(moves=Moves(0.05, 20, 100)), survivors)
    assert hardly.n_moves == 1 and well.n_moves >= 20
    assert hardly.memory > 0.3
    assert well.memory < 0.15


# Four looks at two replacements, each at a chance of one in a thousand.
def test_turns_in_many_dimensions_keep_the_prior_above_the_threshold_and_forget_sooner():
    """A ball about the centre of a normal prior: the squared radius is a chi-squared cut off, and all directions are alike."""
    d, limit = 60, 5.0
    prior = {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)}
    model = zhat.Model(lambda p: -0.5 * jnp.sum(p["x"] ** 2), prior, name="ball")
    rng = np.random.default_rng(5)
    whole = stats.chi2(d)
    square = whole.ppf(whole.cdf(limit) * rng.random(1000))
    direction = rng.standard_normal((1000, d))
    survivors = points_at(model, direction * np.sqrt(square / (direction**2).sum(axis=1))[:, None])
    n_moves = []
    for turns_above in (20, d):
        kernel = CrankNicolson(acceptance=0.25, first_share=0.9, turns_above=turns_above)
        way = MarkovReplacement(kernel, Moves(0.15, 4 if turns_above < d else 5, 1000))
        new = replaced(model, way, survivors, threshold=-0.5 * limit)
        square = (new.points.position**2).sum(axis=1)
        assert (square < limit).all()
        assert stats.kstest(whole.cdf(square) / whole.cdf(limit), "uniform").pvalue > 1e-3
        cosine = new.points.position @ np.ones(d) / np.sqrt(d * square)
        assert stats.kstest(0.5 + 0.5 * cosine, stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > 1e-3
        again = points_at(model, new.points.position)
        np.testing.assert_allclose(again.log_likelihood, new.points.log_likelihood, rtol=1e-9)
        n_moves.append(new.n_moves)
    assert n_moves[0] < 0.6 * n_moves[1]


def test_rejection_gives_up_with_a_way_out():
    with pytest.raises(Stopped, match="MarkovReplacement") as stop:
        replaced(disc(), FromPrior(at_most=2000), crowded(disc()), threshold=-1e-9)
    assert stop.value.code == "rejection"


@pytest.mark.parametrize("kernel", MARKOV, ids=name_of)
def test_a_likelihood_that_is_no_number_is_not_entered(kernel):
    model = zhat.Model(
        lambda p: jnp.where(p["x"][0] > 0.9, jnp.nan, -0.5 * jnp.sum(p["x"] ** 2)),
        {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)},
        name="hole",
    )
    start = crowded(disc())
    start = start.take(start.position[:, 0] < 0.85)
    new = replaced(model, kernel, start, n_new=100, batch_size=100)
    assert (new.points.position[:, 0] <= 0.9).all()


def test_a_gradient_kernel_moves_above_the_threshold_too():
    model = disc()
    check_distribution(replaced(model, MarkovReplacement(HMC(), Moves(0.001, 20, 40)), settled(model)).points)
    with pytest.raises(BadInput, match="black box"):
        replaced(disc(black_box=True), MarkovReplacement(HMC()), settled(disc()))


def test_bad_settings_are_refused():
    with pytest.raises(BadType, match="moves"):
        MarkovReplacement(moves=3)
    with pytest.raises(BadType, match="kernel"):
        MarkovReplacement(kernel=Slice)
    with pytest.raises(BadInput, match="threshold"):
        MarkovReplacement(kernel=Gibbs(()))
    with pytest.raises(BadInput, match="at_most"):
        FromPrior(at_most=1)
    with pytest.raises(BadType, match="whole"):
        FromPrior(at_most=1e6)
