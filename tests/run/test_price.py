"""The price of a plan: evaluations within a factor of what runs take, seconds as measured, and hopeless plans said at once."""

import time

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput
from zhat.methods._base import Method
from zhat.run import price
from zhat.run.price import (
    COARSE,
    HOPELESS,
    SLOW,
    Price,
    affordable_factor,
    announce,
    check_memory,
    default_precision,
    machine_memory,
    measured_seconds,
    memory_of,
    price_of,
    price_of_plan,
)
from zhat.sampling.backend.loop import Loop

NORMAL = {"x": dist.Normal(0.0, 1.0)}


def slow(params):
    time.sleep(0.002)
    return -0.5 * float(params["x"]) ** 2


def test_what_a_likelihood_takes_is_measured_before_and_within_a_run():
    box = zhat.Model.black_box(slow, NORMAL)
    assert 0.002 < measured_seconds(box) < 0.05
    quick = zhat.Model(lambda p: -0.5 * p["x"] ** 2, NORMAL)
    assert measured_seconds(quick) < 1e-3
    batched = zhat.Model.black_box(lambda p: -0.5 * p["x"] ** 2, NORMAL, batched=True)
    assert measured_seconds(batched) < 1e-3
    found = zhat.evidence(box, zhat.PriorMean(n_draws=100, mode_check=False), seed=1, progress=False)
    assert 0.002 < found.cost.seconds_per_likelihood < 0.05


def test_the_price_of_inla_does_not_grow_with_the_latents():
    short, long = (zoo.example(id).model for id in ("coal-smooth", "tokyo"))
    assert long.n_dimensions > 3 * short.n_dimensions
    assert price_of(long, zhat.INLA(), 1e-4).n_evaluations == price_of(short, zhat.INLA(), 1e-4).n_evaluations < 50_000


@pytest.mark.parametrize("name", ["prior-mean", "importance", "smc"])
def test_evaluations_are_predicted_within_a_factor_of_four(name):
    method = zhat.methods.registry()[name]().sized(Method.first_share)
    for id in ("E1", "E2"):
        model = zoo.example(id).model
        found = zhat.evidence(model, method, seed=1, progress=False)
        predicted = price_of(model, method, 1e-6)
        print(id, predicted, found.cost.n_likelihood)
        assert predicted.n_evaluations == pytest.approx(found.cost.n_likelihood, rel=3.0)
        assert predicted.n_evaluations > found.cost.n_likelihood / 4


def test_a_price_in_words():
    assert str(Price("importance", 20_480, 180.0)) == "importance, about 20,000 likelihoods, about 3 min"
    price = Price("smc", 1_234_567, 2 * HOPELESS)
    assert price.is_hopeless
    for word in ("about 1,200,000 likelihoods, about 2.0 h", "precision=0.3", "zhat.Budget(seconds=600)"):
        assert word in price.warning()


def test_a_pause_of_the_machine_is_not_taken_for_a_slow_likelihood(monkeypatch, capsys):
    def paused(bench):
        bench.prior()
        bench.loop.seconds_per_likelihood = 1.5 / 1024

    monkeypatch.setattr("zhat.run.repeats._measure", paused)
    monkeypatch.setattr("zhat.run.repeats.densities_at", lambda model, position: None)
    found = zhat.evidence(zoo.example("E1").model, "smc", seed=1, progress=True)
    assert found.cost.seconds_per_likelihood < 1e-4
    assert "the plan" not in capsys.readouterr().err


def test_long_plans_are_said_and_hopeless_ones_where_no_progress_is_shown(capsys):
    announce(Price("smc", 100, 0.1), Loop(progress=True))
    assert capsys.readouterr().err == ""
    announce(Price("smc", 20_000, 60.0), Loop(progress=True, label="mine"))
    assert capsys.readouterr().err == "mine: smc, about 20,000 likelihoods, about 60 s\n"
    with pytest.warns(UserWarning, match="about 2.0 h"):
        announce(Price("smc", 20_000, 2 * HOPELESS), Loop(progress=False))


def test_slow_likelihoods_aim_at_less():
    assert default_precision(0.5 * SLOW) is None
    assert default_precision(SLOW) == COARSE
    model, method = zhat.Model.black_box(slow, NORMAL), zhat.Importance()
    assert affordable_factor(model, method, 1e-6) == 1.0
    assert affordable_factor(model, method, 10.0) == method.first_share
    between = affordable_factor(model, method, 1e-3)
    assert method.first_share < between < 1.0
    assert price_of(model, method.sized(between), 1e-3).seconds == pytest.approx(60.0, rel=0.3)
    factors = [affordable_factor(model, method, s) for s in np.geomspace(1e-4, 1e-1, 10)]
    assert factors == sorted(factors, reverse=True)


def test_a_traced_model_is_measured_without_its_compilation():
    model = zhat.Model(lambda p: -jnp.sum(jnp.cumsum(jnp.ones(1000) * p["x"]) ** 2), NORMAL)
    found = zhat.evidence(model, zhat.PriorMean(n_draws=100, mode_check=False), seed=1, progress=False)
    assert 0.0 < found.cost.seconds_per_likelihood < 1e-2


def test_the_plan_of_a_black_box_is_said_before_it_is_carried_out(capsys, monkeypatch):
    """Fifty milliseconds a likelihood: two views, their likelihoods and how long they take; hours are a warning."""
    calls = []
    box = zhat.Model.black_box(lambda p: calls.append(1) or -0.5 * float(p["x"]) ** 2, NORMAL, name="mine")
    monkeypatch.setattr("zhat.run.auto.measured_seconds", lambda model: 0.05)
    found = zhat.evidence(box, seed=1, progress=True, precision=0.1)
    said = capsys.readouterr().err
    assert "mine: importance, then nested, about" in said and found.status.is_ok
    predicted = price_of_plan(box, [zhat.Importance(coverage_check=False).sized(0.02), zhat.NestedSampling().sized(0.25)], 0.05)
    assert predicted.n_evaluations == pytest.approx(len(calls), rel=1.0)
    monkeypatch.setattr("zhat.run.auto.measured_seconds", lambda model: 5.0)
    with pytest.warns(UserWarning, match="importance, then nested, about .* h"):
        zhat.evidence(box, seed=1, progress=False, precision=0.1)


HARD = zoo.example("E8").model


def test_it_grows_with_draws_and_dimensions():
    one = memory_of(HARD, zhat.Importance(n_draws=10_000))
    assert memory_of(HARD, zhat.Importance(n_draws=40_000)) == pytest.approx(4 * one, rel=1e-3)
    assert memory_of(HARD, zhat.SMC(n_particles=10_000)) > one and memory_of(HARD, zhat.Exact()) == 0


def test_the_draws_of_all_chains_count_and_the_largest_setting_is_named():
    few, many = (memory_of(HARD, zhat.HarmonicMean(n_chains=n, n_draws=1000)) for n in (100, 1000))
    assert many == pytest.approx(10 * few, rel=1e-3)
    with pytest.raises(BadInput, match=r"HarmonicMean\(n_chains=...\) on .* needs about"):
        zhat.evidence(HARD, zhat.HarmonicMean(n_chains=10**9), seed=1, progress=False)
    with pytest.raises(BadInput, match=r"AIS\(n_pilot=...\) on .* needs about"):
        zhat.evidence(HARD, zhat.AIS(n_pilot=4 * 10**10), seed=1, progress=False)


def test_large_plans_say_it_and_hopeless_ones_are_refused(monkeypatch):
    assert machine_memory() is None or machine_memory() > 2**28
    assert check_memory(HARD, zhat.Importance()) == ""
    monkeypatch.setattr(price, "machine_memory", lambda: 2**40)
    assert "GB of memory" in check_memory(HARD, zhat.Importance(n_draws=10**8))
    with pytest.raises(BadInput, match=r"Importance\(n_draws=...\) on .* needs about .* GB of memory and this machine has"):
        zhat.evidence(HARD, zhat.Importance(n_draws=10**11), seed=1, progress=False)
