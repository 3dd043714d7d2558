"""Reversible jump: exact answers over several seeds, the likelihood switched off, moves of the user's, and its doubts."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.zoo.pima import COVARIATES, MODEL_1, MODEL_2

LINES = ("E8s-none", "E8s-intercept", "E8s-slope", "E8")
QUICK = {"n_chains": 16, "n_moves": 200, "progress": False}


@pytest.fixture(scope="module")
def lines():
    """The four lines through five points: models, pilot runs, exact log evidences."""
    examples = {name: zoo.example(name) for name in LINES}
    models = {name: example.model for name, example in examples.items()}
    pilots = {name: zhat.evidence(model, "importance", seed=1, progress=False) for name, model in models.items()}
    return models, pilots, {name: example.log_evidence for name, example in examples.items()}


def scores(lines, seeds, **more):
    models, pilots, exact = lines
    z = []
    for seed in seeds:
        result = zhat.jump(models, pilots=pilots, seed=seed, **{**QUICK, **more})
        assert result.status.is_ok, result
        for name in ("E8s-none", "E8s-intercept", "E8"):
            factor = result.log_bayes_factor(name, "E8s-slope")
            z.append((factor.value - (exact[name] - exact["E8s-slope"])) / factor.se)
    return np.array(z), result


def test_odds_of_four_models_against_exact_ones(lines):
    z, result = scores(lines, range(6))
    assert np.abs(z).max() < 4.5
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.6
    assert result.switches > 1000 and result.round_trips > 100
    assert result.probabilities.sum() == pytest.approx(1.0)
    assert result.best == "E8s-slope" and "round trips" in str(result)


@pytest.mark.slow
def test_errors_are_calibrated(lines):
    z, _ = scores(lines, range(60), n_chains=32)
    # t with 31 degrees of freedom has standard deviation 1.034. The three values of a run share its chains: at least 60 are
    # independent.
    assert abs(np.mean(z)) < 4.0 * 1.034 / np.sqrt(60)
    assert abs(np.std(z) / 1.034 - 1.0) < 4.0 / np.sqrt(2 * 60)


def test_other_kernels_and_more_moves_within(lines):
    z, _ = scores(lines, range(2), kernel=RandomWalk(), n_within=2)
    assert np.abs(z).max() < 4.5
    with pytest.raises(BadInput, match="without gradients"):
        zhat.jump(lines[0], kernel=HMC(), seed=1)


def test_the_likelihood_switched_off(lines):
    models, _, _ = lines
    chances = [zhat.jump(models, seed=seed, likelihood=False, **QUICK).null_test()[3] for seed in range(4)]
    assert min(chances) > 1e-3 and max(chances) > 0.02
    prior = {"E8s-none": 0.1, "E8s-intercept": 0.2, "E8s-slope": 0.3, "E8": 0.4}
    result = zhat.jump(models, seed=9, likelihood=False, prior=prior, **QUICK)
    assert result.status.is_ok and result.null_test()[3] > 1e-3
    assert "visits against the prior" in str(result)
    wrong = replace(result, prior=(0.15, 0.15, 0.3, 0.4))  # the same visits, held against another prior
    assert wrong.null_test()[3] < 1e-4
    with pytest.raises(BadInput, match="switched off"):
        replace(result, likelihood=True).null_test()


def slope_to_both():
    """From the slope alone to both terms: a new intercept, and a variance that moves along, so that the Jacobian is not one."""

    def there(params, noise):
        scale = jnp.exp(0.2 * noise[0])
        intercept = 0.1 + 0.3 * noise[0]
        slope = params["coefficients"] * scale
        return {"variance": params["variance"] * scale, "coefficients": jnp.concatenate([intercept[None], slope])}, ()

    def back(params, noise):
        drawn = (params["coefficients"][0] - 0.1) / 0.3
        scale = jnp.exp(0.2 * drawn)
        return {"variance": params["variance"] / scale, "coefficients": params["coefficients"][1:] / scale}, drawn[None]

    return zhat.Move("E8s-slope", "E8", there, back, n_there=1)


def test_a_move_of_the_users_with_its_jacobian(lines):
    models, pilots, exact = lines
    pair = {name: models[name] for name in ("E8s-slope", "E8")}
    z, moves = [], [slope_to_both()]
    for seed in range(4):
        result = zhat.jump(pair, pilots=pilots, moves=moves, seed=seed, **QUICK)
        factor = result.log_bayes_factor("E8", "E8s-slope")
        z.append((factor.value - (exact["E8"] - exact["E8s-slope"])) / factor.se)
    assert np.abs(z).max() < 4.5
    traces = models["E8s-slope"].core.traces
    # One program for each number of components that the fits to the pilots choose: 1, 2 or 4.
    assert all(n <= 3 for purpose, n in traces.items() if isinstance(purpose, tuple) and purpose[0] == "jumps")
    off = zhat.jump(pair, moves=moves, seed=1, likelihood=False, **QUICK)
    assert off.null_test()[3] > 1e-3


def test_moves_that_cannot_be_get_a_sentence(lines):
    models, pilots, _ = lines
    good = slope_to_both()
    with pytest.raises(BadInput, match="must be equal"):
        zhat.jump(models, pilots=pilots, moves=[replace(good, n_there=2)], seed=1)
    with pytest.raises(BadInput, match="does not undo"):
        forgetful = replace(good, back=lambda params, noise: (good.back(params, noise)[0], jnp.zeros(1)))
        zhat.jump(models, pilots=pilots, moves=[forgetful], seed=1)
    with pytest.raises(BadInput, match="no model 'E9'"):
        zhat.jump(models, pilots=pilots, moves=[replace(good, second="E9")], seed=1)


def normals(widths, nan_above=np.inf, n_black_boxes=0):
    """One observation at 0.5 with unit noise about a mean, whose prior is normal with these widths; log evidences are known."""

    def log_likelihood(params, data):
        value = -0.5 * (data - params["mu"]) ** 2 - 0.5 * jnp.log(2 * jnp.pi)
        return jnp.where(params["mu"] > nan_above, jnp.nan, value)

    def by_hand(params, data):
        return -0.5 * (data - params["mu"]) ** 2 - 0.5 * np.log(2 * np.pi)

    def prior(hyper):
        return {"mu": dist.Normal(0.0, hyper)}

    base = zhat.Model(log_likelihood, prior, data=np.float64(0.5), hyper=np.float64(1.0))
    models = {f"sd{sd:g}": base.with_hyper(np.float64(sd), name=f"sd{sd:g}") for sd in widths}
    for name, sd in list(zip(models, widths, strict=True))[:n_black_boxes]:
        models[name] = zhat.Model.black_box(by_hand, prior, batched=True, data=np.float64(0.5), hyper=np.float64(sd), name=name)
    return models


def known(sd):
    return -0.125 / (1 + sd**2) - 0.5 * np.log(2 * np.pi * (1 + sd**2))


@pytest.mark.parametrize("n_black_boxes", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_many_models_and_black_boxes(n_black_boxes):
    widths = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0) if n_black_boxes == 0 else (0.5, 1.0, 2.0)
    models = normals(widths, n_black_boxes=n_black_boxes)
    z = []
    for seed in range(3):
        result = zhat.jump(models, seed=seed, **QUICK)
        assert result.status.is_ok, result
        for sd in widths[1:]:
            factor = result.log_bayes_factor(f"sd{sd:g}", f"sd{widths[0]:g}")
            z.append((factor.value - known(sd) + known(widths[0])) / factor.se)
    assert np.abs(z).max() < 4.5


def test_a_nan_likelihood_met_by_a_jump_is_a_doubt():
    good, bad = normals((1.0, 2.0)), normals((1.0, 2.0), nan_above=0.8)
    pilots = {name: zhat.evidence(model, "importance", seed=1, progress=False) for name, model in good.items()}
    found = zhat.jump(bad, pilots=pilots, seed=1, **QUICK)
    assert any(reason.code == "nan-as-zero" for reason in found.status.reasons)


def test_few_switches_are_never_ok():
    result = zhat.jump(normals((1.0, 1e6)), even=0.0, seed=1, **QUICK)
    assert any(reason.code == "few-switches" for reason in result.status.reasons)
    assert result.log_bayes_factor("sd1", "sd1e+06").se is None


def test_a_pilot_that_lies_is_found_out(lines):
    models, pilots, _ = lines
    pair = {name: models[name] for name in ("E8s-slope", "E8")}
    lying = {**pilots, "E8": replace(pilots["E8"], log_evidence=pilots["E8"].log_evidence + 0.7)}
    result = zhat.jump(pair, pilots=lying, seed=1, **QUICK)
    assert any(reason.code == "pilots-disagree" for reason in result.status.reasons)
    doubtful = {**pilots, "E8": replace(pilots["E8"], status=zhat.Status.suspect("pareto-k", "it may be wrong."))}
    assert any(reason.code == "pilot" for reason in zhat.jump(pair, pilots=doubtful, seed=1, **QUICK).status.reasons)


def test_averages_take_the_joint_draws(lines):
    models, pilots, _ = lines
    result = zhat.jump(models, pilots=pilots, seed=1, progress=False, n_chains=16, n_moves=1000)
    compared = zhat.compare(pilots)
    ours, theirs = (zhat.average(source, "variance", seed=1) for source in (result, compared))
    assert ours.mean == pytest.approx(theirs.mean, abs=0.05)
    data = {name: models[name].data for name in LINES}
    first, second = zhat.predict(result, models, data), zhat.predict(compared, models, data)
    assert first.log_density == pytest.approx(second.log_density, abs=0.1)
    with pytest.raises(BadInput, match="family of subsets"):
        _ = result.inclusion


def test_a_family_of_subsets(linear_family, exact_answers):
    family, exact, slopes_given = linear_family(4)
    _, inclusion, slopes = exact_answers(4, exact, slopes_given)
    z = []
    for seed in range(4):
        result = zhat.jump(family, seed=seed, **QUICK)
        assert result.status.is_ok, result
        z.append((np.array(list(result.inclusion.values())) - inclusion) / np.array(list(result.inclusion_se.values())))
    assert np.abs(z).max() < 4.5
    assert result.averaged_coefficients == pytest.approx(slopes, abs=0.1)
    off = zhat.jump(family, seed=1, likelihood=False, prior=lambda mask: 0.5 ** mask.sum(), **QUICK)
    assert off.null_test()[3] > 1e-3
    with pytest.raises(BadInput, match="subset of a family"):
        result.draws_of(result.best)


@pytest.mark.slow
def test_pima_between_two_and_over_all():
    one, two = zoo.pima(MODEL_1, 0.01).model, zoo.pima(MODEL_2, 0.01).model
    result = zhat.jump({"one": one, "two": two}, seed=1, progress=False)
    factor = result.log_bayes_factor("one", "two")
    assert result.switches >= 10_000 and factor.se <= 0.03
    assert abs(factor.value - 2.626) < 3.0 * factor.se
    family = zhat.Subsets(zoo.pima_with_mask(0.01), COVARIATES)
    all_of_them, jumped = family.enumerate(seed=1, progress=False), zhat.jump(family, seed=1, progress=False)
    assert max(abs(jumped.inclusion[c] - all_of_them.inclusion[c]) for c in COVARIATES) < 0.02
    assert zhat.jump(family, seed=1, likelihood=False, progress=False).null_test()[3] > 1e-4


def test_the_same_seed_gives_the_same_digits(lines):
    models, pilots, _ = lines
    first, second = (zhat.jump(models, pilots=pilots, seed=4, **QUICK) for _ in range(2))
    assert np.array_equal(first.index, second.index)
    assert np.array_equal(first.draws.position, second.draws.position)


def test_bad_input_gets_a_sentence(lines):
    models, pilots, _ = lines
    with pytest.raises(BadType, match="dict of models"):
        zhat.jump([1, 2])
    with pytest.raises(BadInput, match="two or more"):
        zhat.jump({"E8": models["E8"]})
    with pytest.raises(BadInput, match="different data"):
        zhat.jump({"E8": models["E8"], "E1": zoo.example("E1").model})
    with pytest.raises(BadInput, match="sum to"):
        zhat.jump(models, prior=[0.5, 0.5, 0.5, 0.5])
    with pytest.raises(BadInput, match="from 0 to 1"):
        zhat.jump(models, even=2.0)
    with pytest.raises(BadType, match="their probabilities"):
        zhat.jump(models, prior=lambda mask: 1.0)
    with pytest.raises(BadInput, match="no model 'E9'"):
        zhat.jump(models, pilots=pilots, seed=1, **QUICK).log_bayes_factor("E9", "E8")
