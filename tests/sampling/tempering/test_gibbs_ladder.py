"""Several rungs in one compiled call: the digits of the rungs one by one, and what is out of the ordinary left to them."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Budget
from zhat.errors import NonFiniteLikelihood
from zhat.model.model import Conditional, Model
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.mixing import Moves
from zhat.sampling.tempering import gibbs_ladder as gibbs_rungs
from zhat.sampling.tempering import ladder
from zhat.sampling.tempering.ladder import run_ladder
from zhat.sampling.tempering.ladder_settings import Ladder, LadderChains
from zhat.sampling.tempering.schedules import AdaptiveESS, FixedLadder, PowerLadder
from zhat.seeding import Key
from zhat.zoo import pine

ONE_BURN_IN = Moves(0.3, 5, 5)


def run_chains_of(model, chains, schedule, seed=1, loop=None):
    ladder = Ladder(chains, schedule, (Gibbs(model.conditionals),))
    return run_ladder(model, ladder, Key(seed), loop or Loop(progress=False))


@pytest.fixture
def rung_by_rung(monkeypatch):
    """A climb that never takes several rungs together."""

    def climb(*args, **kwargs):
        with monkeypatch.context() as patch:
            patch.setattr(ladder, "_several", lambda *args: iter(()))
            return run_chains_of(*args, **kwargs)

    return climb


def assert_same(one, two):
    assert np.array_equal(one.betas, two.betas)
    assert np.array_equal(one.n_moves, two.n_moves)
    assert np.array_equal(np.asarray(one.ancestors), np.asarray(two.ancestors))
    np.testing.assert_allclose(np.asarray(one.log_likelihood), np.asarray(two.log_likelihood), rtol=1e-10)
    for name in ("correlation", "memory", "acceptance", "idle"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-8, atol=1e-12, err_msg=name)
    for name in ("position", "log_likelihood", "log_prior", "chain"):
        np.testing.assert_allclose(getattr(one.final, name), getattr(two.final, name), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("chains", "schedule"),
    [
        (
            LadderChains(200, 6, Moves(0.3, 5, 60), 4),
            PowerLadder(7, 5.0),
        ),  # states kept are no multiple of the burn-in; a prime ladder
        (LadderChains(60, 5, ONE_BURN_IN, 60), PowerLadder(10, 5.0)),  # no chain ever meets another
        (LadderChains(30, 3, Moves(0.3, 2, 2), 1), FixedLadder((0.0, 1e-6, 0.1, 0.5, 1.0))),  # all do
        (LadderChains(40, 4, ONE_BURN_IN, 4), PowerLadder(1, 1.0)),
    ],
)
def test_the_digits_are_those_of_the_rungs_one_by_one(chains, schedule, rung_by_rung):
    model = pine().model
    together = run_chains_of(model, chains, schedule)
    assert ("rungs together", Gibbs(model.conditionals), chains.burn_in.at_once) in model.core.traces
    assert not any(purpose[0].startswith("sweep") for purpose in model.core.traces if isinstance(purpose, tuple))
    assert_same(together, rung_by_rung(model, chains, schedule))


def test_noise_of_any_form_is_drawn_in_the_order_of_the_rungs():
    """Blocks that cannot fill memory, and one whose noise is several arrays."""
    model = pine().model
    first, *others = model.conditionals

    def pair(rng, shape, beta, data, hyper):
        return {"half": 0.5 * first.noise(rng, shape, beta, data, hyper), "rest": np.zeros((*shape, 2))}

    def draw(noise, params, beta, data, hyper):
        return first.draw(2.0 * noise["half"] + noise["rest"].sum(), params, beta, data, hyper)

    blocks = (Conditional(first.block, pair, draw, first.log_density), *(replace(other, noise_into=None) for other in others))
    chains, schedule = LadderChains(80, 7, ONE_BURN_IN, 8), PowerLadder(6, 5.0)
    plain = run_chains_of(model, chains, schedule)
    assert_same(run_chains_of(replace(model, conditionals=blocks), chains, schedule), plain)


def test_a_rung_that_must_be_burnt_in_longer_is_left_to_the_ladder(rung_by_rung):
    model, chains = pine().model, LadderChains(400, 4, Moves(0.05, 3, 60), 1)
    together, alone = (run(model, chains, PowerLadder(9, 3.0)) for run in (run_chains_of, rung_by_rung))
    assert together.n_moves.max() > 9, "some rung was burnt in longer"
    assert_same(together, alone)


def half_possible(log_likelihood):
    """mu ~ N(0, 1) and its conditional, which pays no heed to the likelihood."""

    def noise(rng, shape, beta, data, hyper):
        return rng.standard_normal(shape)

    def log_density(params, beta, data, hyper):
        return dist.Normal(0.0, 1.0).log_prob(params["mu"])

    block = Conditional(("mu",), noise, lambda noise, params, beta, data, hyper: {"mu": noise}, log_density)
    return Model(log_likelihood, {"mu": dist.Normal(0.0, 1.0)}, name="half", conditionals=(block,))


def test_an_island_where_nothing_is_possible_is_left_to_the_ladder(rung_by_rung):
    model = half_possible(lambda p: jnp.where(p["mu"] > 1.0, -0.1 * p["mu"], -jnp.inf))
    chains = LadderChains(30, 2, Moves(0.9, 2, 2), 10)  # six states an island: all impossible in a third of them
    together, alone = (run(model, chains, PowerLadder(3, 2.0)) for run in (run_chains_of, rung_by_rung))
    assert_same(together, alone)


def test_plus_infinity_met_on_the_way_is_raised_with_its_point():
    loop = Loop(progress=False)
    first = prior_draws(half_possible(lambda p: 0.1 * p["mu"]), 40, Key(1), loop)
    model = half_possible(lambda p: jnp.where(p["mu"] > 2.5, jnp.inf, 0.1 * p["mu"]))
    with pytest.raises(NonFiniteLikelihood, match=r"is \+inf at mu=(2\.[5-9]|[3-9])"):
        ladder = Ladder(LadderChains(20, 2, ONE_BURN_IN, 2), PowerLadder(20, 1.0), (Gibbs(model.conditionals),))
        run_ladder(model, ladder, Key(1), loop, first=first)


def test_a_spent_budget_leaves_the_rungs_of_the_calls_before():
    model, chains = pine().model, LadderChains(40, 5, ONE_BURN_IN, 4)
    loop = Loop(Budget(likelihoods=1200), progress=False)
    run = run_chains_of(model, chains, PowerLadder(10, 5.0), loop=loop)
    assert loop.stopped is not None and loop.stopped.code == "budget"
    assert len(run.betas) == 6 and run.final.position.shape == (200, 3)
    assert np.isfinite(run.final.log_prior).all()


def test_only_gibbs_sweeps_on_known_rungs_go_together():
    model, chains = pine().model, LadderChains(40, 5, ONE_BURN_IN, 4)
    run_chains_of(model, chains, AdaptiveESS(0.8))
    assert not any("rungs together" in purpose for purpose in model.core.traces)


@pytest.mark.parametrize("n_rungs", [1, 2, 7, 10, 40])
def test_calls_are_equal_parts_of_the_ladder(n_rungs):
    model = pine().model
    size = gibbs_rungs._at_once(model, n_rungs, 1000)
    assert n_rungs % size == 0 and (size <= n_rungs / 2 or n_rungs == 1)
    assert gibbs_rungs._at_once(model, n_rungs, 10**9) == 0, "too much for one call"
