"""Extra populations from the prior, where one would not meet a narrow mode."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Budget, Model, evidence, zoo
from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.extra_populations import extra_outliers, run_extra_populations, run_population
from zhat.missed_mass.outliers import Outliers
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key


def ball(d):
    return Model(lambda p: -50.0 * jnp.sum(p["x"] ** 2), {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)}, name=f"ball-{d}")


@pytest.mark.parametrize("d", [20, 51])
def test_there_are_none_where_one_population_suffices_or_each_is_expensive(d):
    loop = Loop(progress=False)
    assert extra_outliers(ball(d), EFFORT, Key(1), loop) is None
    assert loop.n_likelihood == 0


def test_extra_populations_temper_half_of_the_way_and_are_watched():
    model, loop = ball(25), Loop(progress=False)
    seen = []

    class Watching(Outliers):
        def watch(self, beta, rung, choice=None):
            seen.append(beta)
            super().watch(beta, rung, choice)

    outliers = Watching(model)
    first = run_population(model, outliers, EFFORT, Key(1), loop)
    assert first.complete
    here, spent = len(seen), loop.n_likelihood
    run_extra_populations(model, first, outliers, EFFORT, Key(2), loop)
    betas = np.array(seen[here:])
    half = first.betas[len(first.betas) // 2]
    assert (np.diff(betas) < 0).sum() == EFFORT.extra_populations - 1
    assert (
        betas.max() >= half and np.sort(betas)[-EFFORT.extra_populations - 1] < half
    )  # each stops at its first rung from there on
    assert loop.n_likelihood - spent < 0.83 * EFFORT.extra_populations * spent


def test_a_budget_spent_by_them_leaves_the_run_and_says_unchecked():
    model = ball(25)
    whole = evidence(model, "smc", seed=1, progress=False)
    assert whole.status.is_ok
    spent = whole.cost.n_likelihood + whole.cost.n_gradient
    cut = evidence(model, "smc", seed=1, progress=False, budget=Budget(likelihoods=spent - 20_000))
    assert cut.log_evidence == whole.log_evidence
    assert [reason.code for reason in cut.status.reasons] == ["unchecked"] and cut.log_evidence_se is None


def test_a_mode_that_one_population_never_meets_is_found():
    """In thirty dimensions the narrow mode has half of the posterior, and one part in twenty thousand half way."""
    example = zoo.example("unequal-modes-30")
    found = evidence(example.model, "smc", seed=1, progress=False)
    assert abs(found.log_evidence - example.log_evidence) > 0.5, "the mode was lost on the way"
    assert [reason.code for reason in found.status.reasons] == ["missed-peak"]
