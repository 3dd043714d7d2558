"""A sweep on the host moves as the compiled one does, and compiles nothing but densities and gradients."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.sampling.backend.evaluation import state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.slice import Slice
from zhat.sampling.kernels.sweep import MOVES_OF_FEW_ON_HOST, sweep
from zhat.sampling.target import Tempered
from zhat.sampling.tuning import tuning_of
from zhat.seeding import Key


def likelihood(params):
    gap = (params["x"] - 0.5) ** 2 / params["s"]
    return jnp.where(params["x"] < -2.0, -jnp.inf, -0.5 * gap - jnp.log(params["s"]))


def model():
    return Model(likelihood, {"x": dist.Normal(0.0, 1.0), "s": dist.LogNormal(0.0, 0.5)})


def swept(model, kernel, scale, fused):
    loop = Loop(progress=False)
    if fused:
        loop.moves_of(("sweep", kernel, "Tempered", True), MOVES_OF_FEW_ON_HOST)
    start = state_at(model, np.random.default_rng(0).normal(0.0, 0.7, (60, 2)), loop)
    moving = TunedKernel(kernel, Tempered(0.6), tuning_of(np.array([0.2, 0.1]), np.diag([0.8, 0.3]), scale))
    return sweep(model, moving, start, 4, Key(1).generator(), loop), loop


@pytest.mark.parametrize(("kernel", "scale"), [(CrankNicolson(), 0.6), (HMC(), 0.5), (Slice(), 2.0)], ids=["pcn", "hmc", "slice"])
def test_moves_are_those_of_compiled_code(kernel, scale):
    both = model()
    assert ("sweep", kernel, "Tempered", True) not in both.core.traces
    (first, one), (second, two) = (swept(both, kernel, scale, fused) for fused in (True, False))
    assert both.core.traces["sweep", kernel, "Tempered", True] == 1
    for field in ("position", "log_prior", "log_likelihood"):
        np.testing.assert_allclose(getattr(second.states, field), getattr(first.states, field), rtol=0.0, atol=1e-9)
    assert second.acceptance.mean == pytest.approx(first.acceptance.mean, abs=1e-9)
    assert (two.n_likelihood, two.n_gradient) == (one.n_likelihood, one.n_gradient)


def test_only_densities_and_gradients_are_compiled():
    new = model()
    for kernel, scale in ((CrankNicolson(), 0.6), (CrankNicolson(acceptance=0.5), 0.6), (HMC(), 0.5)):
        swept(new, kernel, scale, fused=False)
    assert set(new.core.traces) == {"densities", ("gradients", "Tempered")}
    assert all(n == 1 for n in new.core.traces.values())
