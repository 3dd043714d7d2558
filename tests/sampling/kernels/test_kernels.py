"""Every kernel leaves the tempered target invariant.

Exact draws of the target go in, moves are made, and the moments of what comes out are compared with the exact ones: the
points stay independent of each other, so every standard error is a formula. Two targets, at beta = 0.3: a correlated
Gaussian in three dimensions, and the normal-gamma model, whose log precision is skewed and whose mean has t tails. The
tuning is deliberately off (shifted, too wide), so that a kernel which forgot its acceptance step would drift.

False-alarm budget: about 100 two-sided z-tests at 5 standard errors, 6e-7 each, so 6e-5 for a fresh seed.
"""

import importlib
import pkgutil
from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy.special import polygamma, psi

from zhat import Model, zoo
from zhat.sampling import kernels
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import State
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.independent import Independent
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.sampling.kernels.slice import Slice
from zhat.sampling.kernels.tuning import tuning_in_blocks, tuning_of
from zhat.sampling.tempering.sweep import sweep
from zhat.seeding import Key

BETA = 0.3
N = 4000
N_MOVES = 5
KERNELS = {
    "random walk": (RandomWalk(), 1.2),
    "independent": (Independent(), 1.0),
    "crank-nicolson": (CrankNicolson(), 0.7),
    "crank-nicolson, short": (CrankNicolson(), 0.3),
    "hmc": (HMC(), 0.7),
    "hmc, one long leap": (HMC(), 1.5),
    "slice": (Slice(), 2.0),
    "slice, narrow": (Slice(), 0.3),
}

COVARIANCE = np.array([[1.0, 0.8, -0.3], [0.8, 2.0, 0.1], [-0.3, 0.1, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)
OBSERVED = np.array([1.0, -0.5, 2.0])
PRIOR_SD = 2.0


def others_of_the_room():
    """Kernels that are not listed above and can be made without arguments: a new file of the room is tested from the start."""
    listed = {type(kernel) for kernel, _ in KERNELS.values()} | {Gibbs}  # Gibbs needs a model's conditionals
    for info in pkgutil.iter_modules(kernels.__path__):
        module = importlib.import_module(f"{kernels.__name__}.{info.name}")
        for name, value in vars(module).items():
            ours = isinstance(value, type) and value.__module__ == module.__name__ and not info.name.startswith("_")
            if ours and hasattr(value, "noise") and hasattr(value, "step") and value not in listed:
                yield name, value


KERNELS |= {name: (cls(), cls().first_scale(3)) for name, cls in others_of_the_room()}


@cache
def gaussian_model():
    def log_likelihood(params, data):
        gap = params["x"] - data["observed"]
        return -0.5 * gap @ data["precision"] @ gap

    prior = {"x": dist.Normal(0.0, PRIOR_SD).expand([3]).to_event(1)}
    return Model(log_likelihood, prior, data={"observed": OBSERVED, "precision": PRECISION}, name="gaussian")


def gaussian_target():
    covariance = np.linalg.inv(np.eye(3) / PRIOR_SD**2 + BETA * PRECISION)
    return covariance @ (BETA * PRECISION @ OBSERVED), covariance


def moved(model, kernel, scale, position, mean, covariance, seed):
    loop = Loop(progress=False)
    log_prior, log_likelihood = log_densities(model, position, loop)
    start = State(position, log_prior, log_likelihood, None)
    # Two blocks of points with tunings of their own, as two islands would have.
    tuning = tuning_in_blocks(np.stack([mean, mean - 0.3]), np.stack([covariance, 0.7 * covariance]), scale)
    swept = sweep(model, kernel, start, N_MOVES, BETA, tuning, Key(seed).generator(), loop)
    assert swept.position.shape == (N_MOVES, *position.shape)
    again = log_densities(model, swept.position[-1], loop)
    np.testing.assert_allclose(swept.log_prior[-1], again[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(swept.log_likelihood[-1], again[1], rtol=1e-9, atol=1e-9)
    stayed = float(np.mean((swept.position[-1] == position).all(axis=1)))
    print(f"acceptance {swept.acceptance:.3f}, {stayed:.1%} never moved")
    assert swept.acceptance > 0.15 and stayed < 0.5, "a kernel that does not move proves nothing"
    return swept.position[-1]


def check_z(label, estimate, exact, se):
    z = (estimate - exact) / se
    print(f"{label}: {estimate:.5f} exact {exact:.5f} se {se:.5f} z {z:+.2f}")
    assert abs(z) < 5.0, label


@pytest.mark.parametrize("name", KERNELS)
def test_a_correlated_gaussian_stays_itself(name):
    kernel, scale = KERNELS[name]
    mean, covariance = gaussian_target()
    factor = np.linalg.cholesky(covariance)
    position = mean + np.random.default_rng(11).standard_normal((N, 3)) @ factor.T
    off = 1.4 * covariance + 0.2 * np.diag(np.diag(covariance))
    after = moved(gaussian_model(), kernel, scale, position, mean + 0.3, off, seed=1)
    z = np.linalg.solve(factor, (after - mean).T).T  # standard normal if the target was kept
    for i in range(3):
        check_z(f"mean {i}", z[:, i].mean(), 0.0, 1.0 / np.sqrt(N))
        check_z(f"third moment {i}", (z[:, i] ** 3).mean(), 0.0, np.sqrt(15.0 / N))
        check_z(f"fourth moment {i}", (z[:, i] ** 4).mean(), 3.0, np.sqrt(96.0 / N))
        for j in range(i + 1):
            exact, variance = (1.0, 2.0) if i == j else (0.0, 1.0)
            check_z(f"product {i}{j}", (z[:, i] * z[:, j]).mean(), exact, np.sqrt(variance / N))


@cache
def skewed():
    """The normal-gamma model E2 and its tempered posterior: a_n, b_n of the precision; mean and weight of mu."""
    model = zoo.example("E2").model
    y, hyper = model.data, {name: float(value) for name, value in model.hyper.items()}
    n, weight = BETA * len(y), hyper["tau0"] + BETA * len(y)
    centre = (BETA * y.sum() + hyper["tau0"] * hyper["mu0"]) / weight
    shape = hyper["a0"] + 0.5 * n
    squares = BETA * ((y - y.mean()) ** 2).sum() + hyper["tau0"] * n * (y.mean() - hyper["mu0"]) ** 2 / weight
    return model, shape, hyper["b0"] + 0.5 * squares, centre, weight


@pytest.mark.parametrize("name", [*KERNELS, "gibbs"])
def test_a_skewed_target_stays_itself(name):
    model, shape, rate, centre, weight = skewed()
    kernel, scale = KERNELS[name] if name != "gibbs" else (Gibbs(model.conditionals), 1.0)
    assert model.space.names == ("tau", "mu")
    rng = np.random.default_rng(12)
    tau = rng.gamma(shape, 1.0 / rate, N)
    position = np.column_stack([np.log(tau), centre + rng.standard_normal(N) / np.sqrt(weight * tau)])
    tuning = np.cov(position.T) * 1.5
    after = moved(model, kernel, scale, position, position.mean(axis=0) + 0.2, tuning, seed=2)
    # log of a gamma: its cumulants are polygammas
    k2, k3, k4, k6 = (float(polygamma(r - 1, shape)) for r in (2, 3, 4, 6))
    gap = after[:, 0] - (psi(shape) - np.log(rate))
    fourth = k4 + 3 * k2**2
    sixth = k6 + 15 * k4 * k2 + 10 * k3**2 + 15 * k2**3
    check_z("log tau", gap.mean(), 0.0, np.sqrt(k2 / N))
    check_z("log tau, squares", (gap**2).mean(), k2, np.sqrt((fourth - k2**2) / N))
    check_z("log tau, cubes", (gap**3).mean(), k3, np.sqrt((sixth - k3**2) / N))
    standard = (after[:, 1] - centre) * np.sqrt(weight * np.exp(after[:, 0]))  # standard normal, independent of tau
    check_z("mu", standard.mean(), 0.0, 1.0 / np.sqrt(N))
    check_z("mu, squares", (standard**2).mean(), 1.0, np.sqrt(2.0 / N))
    check_z("mu with tau", (standard**2 * gap).mean(), 0.0, np.sqrt(3.0 * k2 / N))


@cache
def walled():
    """Uniform on a triangle, cut out of a normal by a likelihood of zero elsewhere: walls not along the coordinates."""

    def log_likelihood(params):
        x = params["x"]
        inside = (x[0] > 0.0) & (x[1] > 0.0) & (x[0] + x[1] < 1.0)
        return jnp.where(inside, 0.5 * jnp.sum(x**2) / BETA, -jnp.inf)

    return Model(log_likelihood, {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}, name="triangle")


@pytest.mark.parametrize("name", ["random walk", "crank-nicolson", "hmc", "slice"])
def test_walls_of_zero_likelihood_are_kept(name):
    kernel, scale = KERNELS[name]
    position = np.random.default_rng(13).dirichlet(np.ones(3), N)[:, :2]  # uniform on the triangle
    after = moved(walled(), kernel, scale, position, np.full(2, 1 / 3), np.diag([0.06, 0.06]), seed=3)
    assert (after > 0).all() and (after.sum(axis=1) < 1).all()
    for i in range(2):  # each coordinate is Beta(1, 2)
        check_z(f"mean {i}", after[:, i].mean(), 1 / 3, np.sqrt(1 / 18 / N))
        check_z(f"squares {i}", (after[:, i] ** 2).mean(), 1 / 6, np.sqrt((1 / 15 - 1 / 36) / N))
    check_z("product", (after[:, 0] * after[:, 1]).mean(), 1 / 12, np.sqrt((1 / 90 - 1 / 144) / N))


def test_no_move_leads_out_of_an_impossible_starting_point_unless_it_is_possible():
    position = np.full((200, 2), -1.0)
    loop = Loop(progress=False)
    log_prior, log_likelihood = log_densities(walled(), position, loop)
    assert (log_likelihood == -np.inf).all()
    start = State(position, log_prior, log_likelihood, None)
    tuning = tuning_of(np.full(2, 1 / 3), np.diag([0.06, 0.06]), 1.0)
    swept = sweep(walled(), Independent(), start, 3, BETA, tuning, Key(4).generator(), loop)
    inside = np.isfinite(swept.log_likelihood[-1])
    assert inside.any()
    assert (swept.position[-1][~inside] == -1.0).all()
