"""One way to write a kernel, two backends to run it on: the same noise gives the same numbers compiled and in NumPy."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import log_densities, state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Search, find_modes
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.independent import Independent
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.sampling.kernels.slice import Slice
from zhat.sampling.kernels.sweep import MOVES_OF_FEW_ON_HOST, sweep
from zhat.sampling.target import Tempered
from zhat.sampling.tuning import tuning_of
from zhat.seeding import Key

PRIOR = {"x": dist.Normal(0.0, 1.0), "s": dist.LogNormal(0.0, 0.5), "p": dist.Uniform(0.0, 2.0)}
KERNELS = {
    "random walk": (RandomWalk(), 1.0),
    "crank-nicolson": (CrankNicolson(), 0.6),
    "independent": (Independent(), 1.0),
    "slice": (Slice(), 2.0),
}


def value(xp, params):
    gap = (params["x"] - 0.5) ** 2 / params["s"] + xp.exp(-params["p"]) * 3.0
    return xp.where(params["x"] < -2.0, -xp.inf, -0.5 * gap - xp.log(params["s"]))


class Counted:
    """A batched NumPy likelihood that counts the points it was asked about."""

    def __init__(self):
        self.n = 0

    def __call__(self, params):
        self.n += len(params["x"])
        return value(np, params)


@cache
def models():
    counted = Counted()
    return Model(lambda p: value(jnp, p), PRIOR), Model.black_box(counted, PRIOR, batched=True), counted


def run(model, kernel, scale, seed=0, n=60):
    loop = Loop(progress=False)
    loop.moves_of(("sweep", kernel, "Tempered", True), MOVES_OF_FEW_ON_HOST)  # a run that goes on compiled
    position = np.random.default_rng(seed).normal(0.0, 0.7, (n, 3))
    start = state_at(model, position, loop)
    tuning = tuning_of(np.array([0.2, 0.1, 0.0]), np.diag([0.8, 0.3, 1.5]), scale)
    return sweep(model, TunedKernel(kernel, Tempered(0.6), tuning), start, 4, Key(seed).generator(), loop), loop


@pytest.mark.parametrize("name", KERNELS)
def test_a_black_box_and_a_compiled_model_move_alike(name):
    kernel, scale = KERNELS[name]
    compiled, black_box, _ = models()
    first, one = run(compiled, kernel, scale)
    second, two = run(black_box, kernel, scale)
    for field in ("position", "log_prior", "log_likelihood"):
        np.testing.assert_allclose(
            getattr(second.states, field), getattr(first.states, field), rtol=0.0, atol=1e-9, err_msg=field
        )
    assert second.acceptance.mean == pytest.approx(first.acceptance.mean, abs=1e-9)
    assert (one.n_gradient, two.n_gradient) == (0, 0)
    assert 0.1 < first.acceptance.mean <= 1.0


@pytest.mark.parametrize("name", ["random walk", "crank-nicolson", "independent"])
def test_moves_of_a_black_box_are_counted_exactly(name):
    kernel, scale = KERNELS[name]
    _, black_box, counted = models()
    before = counted.n
    _, loop = run(black_box, kernel, scale)
    assert loop.n_likelihood == counted.n - before


def test_slice_moves_of_a_black_box_are_counted_exactly():
    # BUG when written: every look counts all points, although only those still searching reach the function.
    kernel, scale = KERNELS["slice"]
    _, black_box, counted = models()
    before = counted.n
    _, loop = run(black_box, kernel, scale)
    assert loop.n_likelihood == counted.n - before


def test_gradient_moves_are_counted_as_gradients():
    compiled, _, _ = models()
    swept, loop = run(compiled, HMC(), 0.5)
    # 60 starting likelihoods; per move ceil(1.5 / 0.5) = 3 leaps of 60 points.
    assert (loop.n_likelihood, loop.n_gradient) == (60, 4 * 3 * 60)
    assert swept.acceptance.mean > 0.3


def test_a_sweep_is_traced_once_for_all_betas_tunings_and_seeds():
    compiled, _, _ = models()
    kernel, scale = KERNELS["random walk"]
    run(compiled, kernel, scale)
    before = compiled.core.traces[("sweep", kernel, "Tempered", True)]
    run(compiled, kernel, 0.5 * scale, seed=8)
    assert compiled.core.traces[("sweep", kernel, "Tempered", True)] == before


def test_modes_by_differences_are_the_modes_by_derivatives():
    compiled, black_box, _ = models()
    found = []
    position = np.random.default_rng(3).normal(size=(200, 3))
    for model in (compiled, black_box):
        loop = Loop(progress=False)
        log_prior, log_likelihood = log_densities(model, position, loop)
        draws = Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=200)
        found.append(find_modes(model, draws, Key(4), loop, Search(n_starts=4)).usable[0])
    exact, approximate = found
    width = np.sqrt(np.diag(exact.covariance))
    np.testing.assert_allclose((approximate.position - exact.position) / width, 0.0, atol=0.01)
    assert approximate.log_density == pytest.approx(exact.log_density, abs=1e-4)
    assert approximate.log_mass == pytest.approx(exact.log_mass, abs=0.01)


def nan_far_out(xp, params):
    return xp.where(params["x"] > 1.8, xp.nan, value(xp, params))


@cache
def broken():
    return (
        Model(lambda p: nan_far_out(jnp, p), PRIOR),
        Model.black_box(lambda p: nan_far_out(np, p), PRIOR, batched=True),
    )


@pytest.mark.parametrize("name", ["random walk", "slice"])
@pytest.mark.parametrize("backend", [0, 1], ids=["compiled", "black box"])
def test_a_nan_met_by_a_move_is_rejected_and_counted(name, backend):
    kernel, scale = KERNELS[name]
    model, position, loop = broken()[backend], np.zeros((40, 3)), Loop(progress=False)
    start = state_at(model, position, loop)
    tuning = tuning_of(np.zeros(3), np.diag([4.0, 0.3, 1.5]), scale)
    swept = sweep(model, TunedKernel(kernel, Tempered(0.6), tuning), start, 4, Key(1).generator(), loop)
    assert loop.n_nan > 0
    assert np.isfinite(swept.states.log_likelihood).all()
