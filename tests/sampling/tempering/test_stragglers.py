"""Stragglers: how surprisal is counted, which region they give the other islands, and that moves kept to it are fair."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.sampling.backend.evaluation import log_densities, state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.sweep import Rate, Swept
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering import stragglers
from zhat.sampling.tempering.stragglers import SHORT, SURPRISING, TIMES, above_frame, floors, move_stragglers, surprisal_after
from zhat.sampling.tuning import tuning_in_blocks
from zhat.seeding import Key

N, ISLANDS, BETA = 4000, 4, 0.5
VARIANCE = 1.0 / (1.0 + BETA / 0.5**2)  # of N(0, 1) x N(x; 0.6, 0.5^2)^BETA, in each of two dimensions
MEAN = VARIANCE * BETA * 0.6 / 0.5**2


def test_surprisal_is_the_improbability_of_standing_still():
    before = State(position=np.zeros((3, 2)), log_prior=np.zeros(3), log_likelihood=np.zeros(3))
    after = np.zeros((4, 3, 2))
    after[-1, 1, 0] = 0.1  # only the second particle moved in these four moves
    states = State(position=after, log_prior=np.zeros((4, 3)), log_likelihood=np.zeros((4, 3)))
    part = Swept(states, Rate(0.5, np.full(4, 0.5)), Rate(0.5, np.full(4, 0.5)))
    found = surprisal_after(np.array([1.0, 1.0, 0.0]), before, part)
    np.testing.assert_allclose(found, [1.0 + 4 * np.log(2.0), 0.0, 4 * np.log(2.0)])


def test_an_island_takes_its_floor_from_the_idle_of_the_others():
    height = np.array([[0.0, 1.0, 9.0], [0.0, 5.0, 6.0], [0.0, 2.0, 7.0]])
    straggling = height >= 5.0
    np.testing.assert_array_equal(floors(height.ravel(), straggling.ravel(), 3), [5.0, 7.0, 5.0])


def test_where_no_other_island_straggles_the_region_is_where_their_highest_few_stand():
    height, straggling = np.arange(2.0 * 10 * stragglers.BATCH), np.zeros(2 * 10 * stragglers.BATCH, bool)
    straggling[3] = True
    first, second = floors(height, straggling, 2)
    assert (height[len(height) // 2 :] >= first).sum() == 10
    assert second == len(height) // 2 - stragglers.MEMBERS_PER_STRAGGLER  # one straggler, and not too many others


def test_a_region_with_many_for_each_idle_one_is_made_smaller():
    height = np.arange(200.0)
    straggling = np.zeros(200, bool)
    straggling[[20, 120]] = True  # one in each island, low down
    first, second = floors(height, straggling, 2)
    assert (height[:100] >= second).sum() == (height[100:] >= first).sum() == stragglers.MEMBERS_PER_STRAGGLER


def tempered(kernel, tuning):
    return TunedKernel(kernel, Tempered(BETA), tuning)


def _model(black_box=False):
    xp = np if black_box else jnp

    def log_likelihood(params):
        return -0.5 * xp.sum(((params["x"] - 0.6) / 0.5) ** 2, axis=-1)

    prior = {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}
    if black_box:
        return Model.black_box(log_likelihood, prior, batched=True)
    return Model(log_likelihood, prior)


def _exact(model, seed):
    """Exact draws of the target, in a frame that is not its own, the highest above the frame called stragglers."""
    position = MEAN + np.sqrt(VARIANCE) * np.random.default_rng(seed).standard_normal((N, 2))
    state = state_at(model, position, Loop(progress=False))
    centres = np.tile([[0.0, 0.5]], (ISLANDS, 1))
    tuning = tuning_in_blocks(centres, np.tile(np.eye(2), (ISLANDS, 1, 1)), 1.0)
    height = above_frame(tuning, state, Tempered(BETA))
    surprisal = np.where(height > np.quantile(height, 0.9), 2.0 * SURPRISING, 0.0)
    return state, tuning, height, surprisal


@pytest.mark.parametrize(("kernel", "black_box"), [(CrankNicolson(), False), (CrankNicolson(), True), (HMC(), False)])
def test_moves_kept_to_the_region_leave_the_target_as_it_is(kernel, black_box):
    model, loop = _model(black_box), Loop(progress=False)
    z = []
    for seed in range(20):
        state, tuning, height, surprisal = _exact(model, seed)
        floor = np.repeat(floors(height, surprisal > SURPRISING, ISLANDS), N // ISLANDS)
        found = move_stragglers(model, tempered(kernel, tuning), state, surprisal, 0.2, Key(seed).generator(), loop)
        members = height >= floor
        changed = (found.state.position != state.position).any(axis=1)
        assert found.n_moves >= SHORT and changed[members].mean() > 0.5 and not changed[~members].any()
        assert (above_frame(tuning, found.state, Tempered(BETA))[members] >= floor[members] - 1e-9).all()
        again = log_densities(model, found.state.position, loop)
        np.testing.assert_allclose(found.state.log_prior, again[0])
        np.testing.assert_allclose(found.state.log_likelihood, again[1])
        # Before and after are draws of the same law: whatever the moves did to a mean is noise of those that moved.
        for of in (lambda s: s.position[:, 0], lambda s: s.position[:, 1], lambda s: s.log_likelihood, _squared):
            change = (of(found.state) - of(state))[changed]
            z.append(change.sum() / np.sqrt((change**2).sum()))
    z = np.array(z).reshape(-1, 4)
    assert (np.abs(z.mean(axis=0)) * np.sqrt(len(z)) < 4.5).all(), z.mean(axis=0)
    assert (np.abs(z) < 5.0).all()


def _squared(state):
    return ((state.position - MEAN) ** 2).sum(axis=1)


def test_only_the_region_is_paid_for_and_one_shape_compiled(monkeypatch):
    monkeypatch.setattr("zhat.sampling.kernels.sweep.MOVES_OF_FEW_ON_HOST", 0)  # a run that goes on compiled
    model, loop = _model(), Loop(progress=False)
    for seed in range(3):
        state, tuning, _, surprisal = _exact(model, seed)
        move_stragglers(model, tempered(CrankNicolson(), tuning), state, surprisal, 0.2, Key(seed).generator(), loop)
    assert model.core.traces[("sweep", CrankNicolson(), "AboveReference", True)] == 1
    assert loop.n_likelihood < 3 * N + 3 * TIMES * SHORT * 0.15 * N  # the draws themselves, and moves of a tenth of them


def test_few_idle_particles_and_kernels_without_a_scale_are_left_alone():
    model, loop = _model(), Loop(progress=False)
    state, tuning, _, surprisal = _exact(model, 0)
    alone = np.where(np.arange(N) == 7, 2.0 * SURPRISING, 0.0)
    for kernel, each in ((CrankNicolson(), alone), (Gibbs(()), surprisal)):
        found = move_stragglers(model, tempered(kernel, tuning), state, each, 0.2, Key(0).generator(), loop)
        assert found.n_moves == 0 and found.state is state
