"""The view from the prior: an estimate without modes, and whether an answer agrees with it."""

import jax

from zhat import Budget, zoo
from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.prior_view import view_from_prior
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key


def test_its_estimate_is_right_within_its_standard_error():
    example = zoo.example("E8")
    z = []
    with jax.enable_x64(True):
        for seed in range(8):
            second = view_from_prior(example.model, EFFORT, Key(seed), Loop(progress=False)).estimate
            z.append((second.log_evidence - example.log_evidence) / second.se)
    assert max(map(abs, z)) < 4.5 and sum(v * v for v in z) / 8 < 3.3  # chance: below one in a thousand each


def test_a_population_that_was_stopped_has_no_estimate():
    with jax.enable_x64(True):
        view = view_from_prior(zoo.example("E8").model, EFFORT, Key(1), Loop(Budget(likelihoods=2500), progress=False))
    assert view.draws is None and view.estimate is None
