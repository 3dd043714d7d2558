"""What kernels leave invariant: the density of each target, and where it has no mass."""

import jax.numpy as jnp
import numpy as np
import pytest

from zhat.sampling.state import State
from zhat.sampling.target import AboveLikelihood, AboveReference, Tempered, tempered
from zhat.sampling.tuning import tuning_in_blocks

STATE = State(
    position=np.array([[0.0], [1.0], [5.0], [2.0]]),
    log_prior=np.array([-1.0, -2.0, -3.0, -4.0]),
    log_likelihood=np.array([-10.0, -20.0, -np.inf, 5.0]),
)


@pytest.mark.parametrize("xp", [np, jnp])
def test_tempered_is_prior_times_a_power_of_the_likelihood(xp):
    np.testing.assert_allclose(Tempered(0.5).log_density(STATE, xp), [-6.0, -12.0, -np.inf, -1.5])
    assert Tempered(0.5).smooth(-1.0, -10.0) == -6.0
    assert tempered(-1.0, -np.inf, 0.0, np) == -np.inf


def test_above_a_threshold_is_the_prior_strictly_above_it():
    np.testing.assert_array_equal(AboveLikelihood(-10.0).log_density(STATE, np), [-np.inf, -np.inf, -np.inf, -4.0])
    np.testing.assert_array_equal(AboveLikelihood(-10.5).log_density(STATE, np), [-1.0, -np.inf, -np.inf, -4.0])
    assert AboveLikelihood(0.0).smooth(-1.0, -10.0) == -1.0


def test_above_a_reference_each_block_has_its_own_floor():
    frame = tuning_in_blocks(np.zeros((2, 1)), np.ones((2, 1, 1)), 1.0)
    height = Tempered(0.5).log_density(STATE, np) - frame.log_frame(STATE.position, np)
    target = AboveReference(beta=0.5, floor=np.array([height[1], height[3] + 0.1]), frame=frame)
    np.testing.assert_allclose(target.log_density(STATE, np), [-6.0, -12.0, -np.inf, -np.inf])
    assert target.smooth(-1.0, -10.0) == -6.0
