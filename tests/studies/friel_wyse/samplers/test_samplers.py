"""The review's samplers on models whose evidence is known: z-scores over independent chains and seeds."""

from __future__ import annotations

import numpy as np
import pytest

from zhat import zoo
from zhat.methods.laplace_metropolis import laplace_at
from zhat.numerics.nested import log_evidence, log_volumes
from zhat.sampling.backend.evaluation import state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import peaks_at
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.nested.run import LivePoints, run_nested
from zhat.sampling.nested.stopping import SmallContribution
from zhat.sampling.state import State
from zhat.sampling.tempering.path_survey import untuned_plan
from zhat.seeding import Key
from zhat.studies.friel_wyse.samplers.component_ordinates import ordinates_by_component
from zhat.studies.friel_wyse.samplers.component_walk import ComponentWalk, exponent_for
from zhat.studies.friel_wyse.samplers.long_chains import (
    Length,
    PowerLength,
    annealed_runs,
    posterior_chains,
    power_chains,
    sweeps,
    untuned,
)
from zhat.studies.friel_wyse.samplers.parameter_laplace import laplace_at_points, newton
from zhat.studies.friel_wyse.samplers.threshold_moves import FixedSweeps, PriorGibbs

LADDER = (np.arange(41) / 40) ** 5


@pytest.fixture(scope="module")
def logit():
    return zoo.example("E12")


def z_of(values, truth) -> float:
    values = np.asarray(values)
    return float((values.mean() - truth) / (values.std(ddof=1) / np.sqrt(values.size)))


def at_zero(model, n: int) -> State:
    return state_at(model, np.zeros((n, model.n_dimensions)), Loop(None, False))


def test_held_coordinates_stand_still_and_are_not_paid_for(logit):
    loop = Loop(None, False)
    start = at_zero(logit.model, 4)
    before = loop.n_likelihood
    (part,) = list(sweeps(logit.model, untuned(logit.model, ComponentWalk(), scale=2.0), start, 50, Key(1).generator(), loop))
    position = part.states.position
    assert (position[:, :, 0] == 0.0).all() and position[:, :, 1].std() > 0
    assert loop.n_likelihood - before == 250 * 4  # all sweeps of a call, one coordinate each


def test_steps_are_as_wide_as_the_prior_at_the_first_rung():
    alpha = exponent_for(0.01, 0.2**5)
    assert (0.2**5) ** alpha * 2.0 == pytest.approx(0.01)
    assert exponent_for(1.0, 0.1) > 0


def test_ordinates_by_component_give_the_evidence(logit):
    values = ordinates_by_component(logit.model, 2.0, at_zero(logit.model, 64), Length(250, 1000), Key(2), Loop(None, False))
    assert values.std() < 0.3
    # Logarithms of means lie low by half their variance, which here is far below the error.
    assert abs(z_of(values, logit.log_evidence)) < 4.5


def test_power_posteriors_by_long_chains(logit):
    walk = ComponentWalk(2.0, exponent_for(1.0, LADDER[1]))
    found = power_chains(logit.model, lambda beta: walk, PowerLength(LADDER, 32, 500, 0.2), Key(3), Loop(None, False))
    assert found.means.shape == (41, 32)
    assert abs(z_of(found.corrected, logit.log_evidence)) < 4.5
    assert (found.plain < found.corrected).all()  # the curve is convex down where it is steep: straight lines lie below


def test_annealing_is_unbiased(logit):
    walk = ComponentWalk(2.0, exponent_for(1.0, LADDER[1]))
    found = annealed_runs(logit.model, untuned_plan(LADDER, walk, 2), 32, 100, Key(4), Loop(None, False))
    assert abs(z_of(np.exp(found.log_evidence - logit.log_evidence), 1.0)) < 4.5


def test_nested_sampling_with_enough_moves_is_right_and_with_few_scatters_more(logit):
    few, many = (
        [_nested(logit.model, FixedSweeps(ComponentWalk(2.0), n), 100, Key(5).child(n, seed)) for seed in range(10)]
        for n in (1, 20)
    )
    assert abs(z_of(many, logit.log_evidence)) < 4.5
    assert np.std(few) > 0.8 * np.std(many)


def test_nested_sampling_by_constrained_gibbs_sweeps():
    example = zoo.pine("density")
    moves = FixedSweeps(PriorGibbs(example.model.conditionals), 10)
    values = [_nested(example.model, moves, 100, Key(6).child(seed)) for seed in range(8)]
    assert abs(z_of(values, example.log_evidence)) < 4.5


def _nested(model, moves, n: int, key: Key) -> float:
    run = run_nested(model, LivePoints(n, n // 20, moves, SmallContribution(1e-8)), key, Loop(None, False))
    return log_evidence(run.log_likelihood, log_volumes(run.n_alive))


def test_long_chains_leave_the_harmonic_mean_and_the_best_draw():
    example = zoo.pine("density")
    model, loop = example.model, Loop(None, False)
    mode = newton(model, {"intercept": 2990.0, "slope": 184.0, "tau": 1.0 / 330.0**2}, loop)
    exact_mode = laplace_at_points(model, mode, loop)[0]
    assert exact_mode == pytest.approx(example.log_evidence, abs=0.05)

    start = state_at(model, _at(model, mode, 8), loop)
    place = model.space.names.index("tau")
    kernel = Gibbs(model.conditionals)
    found = posterior_chains(model, kernel, start, Length(100, 3000), Key(7).generator(), loop, lambda u: u[..., place])
    assert (found.harmonic > found.lowest).all() and (found.harmonic < found.highest).all()
    # In the unconstrained coordinates the formula has another value, and it is the library's.
    plain = posterior_chains(model, kernel, start, Length(100, 3000), Key(7).generator(), loop)
    peaks = peaks_at(model, plain.best, plain.widths, loop)
    unconstrained = laplace_at(plain.density, np.stack([peak.covariance for peak in peaks]))
    assert unconstrained == pytest.approx(np.full(8, example.log_evidence), abs=0.3)


def _at(model, point, n: int) -> np.ndarray:
    from zhat.sampling.backend.evaluation import unconstrained

    return np.repeat(unconstrained(model, {name: np.asarray(value) for name, value in point.items()}), n, axis=0)
