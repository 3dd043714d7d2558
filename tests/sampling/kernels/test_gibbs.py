"""Gibbs sweeps: from parameters to parameters, without a prior where none is asked for, with noise drawn ahead.

That they leave their target invariant is tested with the other kernels; here is what they share with those who call them. The
false-alarm budget of the z-tests is that of five normals beyond 5 standard errors: 3e-6.
"""

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model, zoo
from zhat.errors import NonFiniteLikelihood
from zhat.model.model import Conditional
from zhat.numerics.weights import Weights
from zhat.sampling.backend.buffers import ALIGNMENT, Buffers
from zhat.sampling.backend.evaluation import log_densities, prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.ladder import run_ladder
from zhat.sampling.tempering.ladder_settings import Ladder, LadderChains
from zhat.sampling.tempering.lineages import anneal
from zhat.sampling.tempering.path_survey import untuned_plan
from zhat.sampling.tempering.schedules import PowerLadder
from zhat.sampling.tuning import fit_tuning
from zhat.seeding import Key

N = 400
LADDER = np.linspace(0.0, 1.0, 52) ** 5


@cache
def pine():
    return zoo.pine()


def start_of(model, seed, n=N):
    draws = prior_draws(model, n, Key(seed).child("prior"), Loop(progress=False))
    return draws, State.of_draws(draws)


def test_without_priors_the_same_states_and_no_log_prior():
    model = pine().model
    draws, state = start_of(model, 1)
    tuning = fit_tuning(draws.position, np.ones(N), 0.5)
    loop = Loop(progress=False)
    with_, without = (
        sweep(model, TunedKernel(Gibbs(model.conditionals), Tempered(0.4), tuning), state, 3, Key(2).generator(), loop, priors)
        for priors in (True, False)
    )
    assert without.states.log_prior is None and without.last.log_prior is None
    np.testing.assert_allclose(without.states.position, with_.states.position, rtol=1e-13)
    np.testing.assert_allclose(without.states.log_likelihood, with_.states.log_likelihood, rtol=1e-13)
    for part in (with_.states.position[1], with_.states.log_prior[1], with_.states.log_likelihood[1]):
        assert part.shape[0] == N
    again = log_densities(model, np.ascontiguousarray(with_.states.position[1]), loop)
    np.testing.assert_allclose(with_.states.log_prior[1], again[0], rtol=1e-10)
    # A kernel that reads the prior works it out where Gibbs sweeps left none.
    after = [
        sweep(model, TunedKernel(CrankNicolson(), Tempered(0.4), tuning), part.last, 3, Key(3).generator(), loop, priors=False)
        for part in (with_, without)
    ]
    np.testing.assert_allclose(after[0].states.position, after[1].states.position, rtol=1e-9)
    np.testing.assert_allclose(after[0].states.log_prior, after[1].states.log_prior, rtol=1e-9)


def annealed(model, seed, n=N):
    kernel = Gibbs(model.conditionals)
    start, _ = start_of(model, seed, n)
    return anneal(model, untuned_plan(LADDER, kernel, 1), start, n // 2, Key(seed).child("walk"), Loop(progress=False))


def test_a_walk_repeats_itself_and_knows_its_end():
    model = pine().model
    one, two = annealed(model, 7), annealed(model, 7)
    for name in ("position", "log_likelihood", "log_prior"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    log_prior, log_likelihood = log_densities(model, one.position, Loop(progress=False))
    np.testing.assert_allclose(one.log_prior, log_prior, rtol=1e-9)
    np.testing.assert_allclose(one.log_likelihood[-1], log_likelihood, rtol=1e-9)


def stacked(model):
    """The same model without noise drawn into place."""
    return replace(model, conditionals=tuple(replace(block, noise_into=None) for block in model.conditionals))


def test_noise_on_a_shelf_is_read_before_it_is_overwritten():
    """Noise drawn into memory that is used again, while a call may still run, gives the digits of noise in memory of its own."""
    model = pine().model
    for seed in (1, 2, 3):
        one, two = annealed(model, seed), annealed(stacked(model), seed)
        assert np.array_equal(one.log_likelihood, two.log_likelihood)
        assert np.array_equal(one.position, two.position)


def test_annealed_sweeps_give_the_exact_evidence():
    example = pine()
    for seed in range(1, 6):
        weights = Weights.of(annealed(example.model, seed, 2000).log_weights)
        z = (weights.log_mean - example.log_evidence) / weights.log_mean_se
        print(f"seed {seed}: {weights.log_mean:.4f} exact {example.log_evidence:.4f} z {z:+.2f}")
        assert abs(z) < 5.0


def test_noise_along_has_the_law_of_each_beta():
    model = pine().model
    kernel, buffers, betas = Gibbs(model.conditionals), Buffers(), np.array([0.0, 0.2, 1.0])
    noise = kernel.noise_along(Key(9).generator(), 2, 4000, model, betas, buffers)
    assert {part.shape for part in noise.values()} == {(3, 2, 4000)}
    shapes = model.hyper["shape"] + 1.0 + 0.5 * betas * len(model.data[1])
    for name, means, sds in (("0", np.zeros(3), np.ones(3)), ("1", np.zeros(3), np.ones(3)), ("2", shapes, np.sqrt(shapes))):
        z = (noise[name].mean(axis=(1, 2)) - means) / (sds / np.sqrt(8000))
        assert (np.abs(z) < 5.0).all(), (name, z)
    assert all(part.ctypes.data % ALIGNMENT == 0 for part in noise.values())
    again = kernel.noise_along(Key(9).generator(), 2, 4000, model, betas, buffers)
    assert all(again[name] is noise[name] for name in noise), "the same memory is used again"


def normal_mean(log_likelihood, **more):
    """mu ~ N(0, 1) given one observation of 0.5, its conditional with a draw of an odd shape and type."""

    def noise(rng, shape, beta, data, hyper):
        return rng.standard_normal(shape)

    def draw(noise, params, beta, data, hyper):
        return {"mu": jnp.asarray([0.5 * beta / (1.0 + beta) + noise / jnp.sqrt(1.0 + beta)], jnp.float32)}

    def log_density(params, beta, data, hyper):
        return dist.Normal(0.5 * beta / (1.0 + beta), 1.0 / jnp.sqrt(1.0 + beta)).log_prob(params["mu"])

    block = Conditional(("mu",), noise, draw, log_density)
    return Model(log_likelihood, {"mu": dist.Normal(0.0, 1.0)}, name="mean", conditionals=(block,), **more)


def test_draws_of_another_shape_and_type_become_the_parameter_s():
    model = normal_mean(lambda p: -0.5 * (p["mu"] - 0.5) ** 2)
    result = annealed(model, 3)
    assert result.position.dtype == np.float64 and result.position.shape == (N, 1)
    log_z = Weights.of(result.log_weights)
    exact = -0.5 * np.log(2.0) - 0.25 * 0.5**2
    assert abs(log_z.log_mean - exact) < 5.0 * log_z.log_mean_se


def holed(params):
    """NaN above 1.2, which a normal prior and its tempered posteriors reach."""
    return jnp.where(params["mu"] > 1.2, jnp.nan, -0.5 * (params["mu"] - 0.5) ** 2)


@pytest.mark.parametrize("how", ["walk", "sweep"])
def test_a_nan_met_by_a_sweep_is_zero_likelihood_and_counted(how):
    def run(model, loop):
        kernel = Gibbs(model.conditionals)
        position = np.full((N, 1), 0.1)
        log_prior, log_likelihood = log_densities(model, position, loop)
        if how == "sweep":
            start = State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)
            moving = TunedKernel(kernel, Tempered(0.5), None)
            return sweep(model, moving, start, 4, Key(1).generator(), loop).states.log_likelihood
        draws = replace(prior_draws(normal_mean(lambda p: 0.0 * p["mu"]), N, Key(1), loop), position=position)
        draws = replace(draws, log_prior=log_prior, log_likelihood=log_likelihood)
        return anneal(model, untuned_plan(LADDER, kernel, 1), draws, N, Key(1), loop).log_likelihood

    with pytest.raises(NonFiniteLikelihood, match=r"is \+inf at mu=(1\.[2-9]|[2-9])"):
        run(normal_mean(lambda p: jnp.where(p["mu"] > 1.2, jnp.inf, holed(p))), Loop(progress=False))
    loop = Loop(progress=False)
    values = run(normal_mean(holed), loop)
    assert loop.n_nan == (values == -np.inf).sum() > 0
    assert not np.isnan(values).any()


def test_a_ladder_of_gibbs_chains_ends_with_the_log_prior_of_its_draws():
    model = pine().model
    chains = LadderChains(n_chains=40, n_kept=4, n_islands=4)
    ladder = Ladder(chains, PowerLadder(6, 5.0), (Gibbs(model.conditionals),))
    run = run_ladder(model, ladder, Key(1), Loop(progress=False))
    log_prior, log_likelihood = log_densities(model, np.ascontiguousarray(run.final.position), Loop(progress=False))
    np.testing.assert_allclose(run.final.log_prior, log_prior, rtol=1e-9)
    np.testing.assert_allclose(run.final.log_likelihood, log_likelihood, rtol=1e-9)
    assert run.final.log_prior.shape == (160,)


def test_a_shelf_keeps_memory_by_name_and_shape():
    buffers = Buffers()
    one = buffers.place("a", (3, 5), np.float64)
    assert one.ctypes.data % ALIGNMENT == 0 and one.flags.c_contiguous and one.shape == (3, 5)
    assert buffers.place("a", (3, 5), np.float64) is one
    assert buffers.place("b", (3, 5), np.float64) is not one
    assert buffers.place("a", (3, 5), np.int64).dtype == np.int64
