"""A proposal around given draws: pooled with weighted draws, it improves; it follows tails and modes; singular draws give none."""

import numpy as np
import pytest

from zhat.numerics.weights import Weights
from zhat.results.records import Draws
from zhat.sampling.importance.proposals import Gaussian, Mixture, StudentT, fitted
from zhat.sampling.importance.refitted import Refitted, _weighted, is_better


def around(position):
    rng = np.random.default_rng(0)
    return Refitted(fitted(position, np.ones(len(position)), 1, 3.0, rng), position)


def weighted(proposal, target, n, rng):
    position = proposal.draw(rng, n)
    log_weight = target.log_density(position) - proposal.log_density(position)
    zeros = np.zeros(n)
    return Draws(position=position, log_prior=zeros, log_likelihood=zeros, n_drawn=n, log_weight=log_weight)


def correlated(d, n, rng):
    """Draws of a standard normal in d dimensions whose first coordinate is a slow chain, worth about n / 40 draws."""
    position = rng.standard_normal((n, d))
    slow = np.empty(n)
    slow[0], phi = rng.standard_normal(), 0.95
    for i in range(1, n):
        slow[i] = phi * slow[i - 1] + np.sqrt(1.0 - phi**2) * rng.standard_normal()
    position[:, 0] = slow
    return position


def test_rounds_of_weighted_draws_improve_the_fit_to_slow_chains():
    rng = np.random.default_rng(1)
    target = Gaussian(np.zeros(50), np.eye(50))
    start = around(correlated(50, 1000, rng))
    rounds = [weighted(start, target, 10_000, rng)]
    sizes = [float(Weights.of(rounds[0].log_weight).ess)]
    for _ in range(3):
        proposal = start.after(rounds, rng)
        rounds.append(weighted(proposal, target, 10_000, rng))
        sizes.append(float(Weights.of(rounds[-1].log_weight).ess))
    print(np.round(sizes))
    assert sizes == sorted(sizes) and sizes[-1] > 2 * sizes[1] > 4 * sizes[0]
    final = Weights.of(rounds[-1].log_weight)
    assert final.pareto_k < 0.5 and abs(final.log_mean) < 4.5 * final.log_mean_se


@pytest.mark.parametrize(("degrees_of_freedom", "wanted"), [(4.0, 5.0), (200.0, 100.0)])
def test_the_tails_are_those_of_the_draws(degrees_of_freedom, wanted):
    rng = np.random.default_rng(2)
    position = StudentT(np.zeros(40), np.eye(40), degrees_of_freedom).draw(rng, 4000)
    fit = around(position).after([], rng)
    assert isinstance(fit, Mixture) and isinstance(fit.components[0], StudentT)
    assert fit.components[0].degrees_of_freedom == wanted


def test_two_modes_get_components_of_their_own():
    rng = np.random.default_rng(3)
    position = rng.standard_normal((2000, 2)) + 10.0 * rng.choice([-1.0, 1.0], (2000, 1))
    fit = around(position).after([], rng)
    assert isinstance(fit.components[0], Mixture)


def test_a_round_counts_as_its_effective_sample_size():
    rng = np.random.default_rng(4)
    log_weight = np.zeros(1000)
    log_weight[7] = 50.0
    zeros = np.zeros(1000)
    _, weight = _weighted(
        Draws(position=rng.standard_normal((1000, 2)), log_prior=zeros, log_likelihood=zeros, n_drawn=1000, log_weight=log_weight)
    )
    assert np.isclose(weight.sum(), 1.0)


def test_draws_on_a_line_give_no_proposal():
    line = np.linspace(-1.0, 1.0, 500)[:, None]
    wide = StudentT(np.zeros(2), np.eye(2), 3.0)
    assert Refitted(wide, np.hstack([line, line])).after([], np.random.default_rng(5)) is None


def test_a_round_is_better_by_a_fifth():
    even, uneven = Weights.of(np.zeros(1000)), Weights.of(np.concatenate([np.zeros(100), np.full(900, -50.0)]))
    assert is_better(even, uneven) and not is_better(even, even)
