"""The catalogue: complete, cheap to import, clear when asked for what it has not."""

from __future__ import annotations

import subprocess
import sys

import jax
import numpy as np
import pytest

from zhat import zoo
from zhat.errors import BadInput


def test_ids_are_unique_and_complete():
    ids = zoo.catalogue()
    assert len(ids) == len(set(ids))
    assert set(zoo.E_IDS) | set(zoo.S_IDS) <= set(ids)
    assert not set(zoo.E_IDS) & set(zoo.S_IDS)


@pytest.mark.parametrize("id", zoo.catalogue())
def test_every_example_is_what_its_id_says(id):
    example = zoo.example(id)
    assert example is zoo.example(id)
    assert example.id == example.model.name == id
    assert example.title and example.formula and example.source
    assert example.log_evidence is not None and np.isfinite(example.log_evidence)
    d = example.model.n_dimensions
    size = {1: "one-dimensional", 2: "two-dimensional"}.get(d, "many-dimensional")
    assert [t for t in example.tags if t.endswith("-dimensional")] == [size]
    more = ("normal-gamma", "label-switching", "unequal-modes", "small-mode", "three-modes", "separated-classes")
    more += ("soft-spike", "flat-funnel", "unequal-widths", "tied-mixture", "mirrored-signs")
    assert ("stress" in example.tags) == (id in zoo.S_IDS or id.startswith(more))


# One of every kind of prior and of every likelihood that can be awkward: each costs a compilation of its sampler.
SAMPLED = (
    *("E1", "E6", "E7", "E8", "E9b", "E12", "E13", "E14b", "E15", "E15n", "E16a"),
    *(id for id in zoo.S_IDS if id not in ("S1-d5", "S4-d5")),
    *("running-example", "pine-density-friel_wyse-review", "pima-NP-PGC-BMI-DP-tau-0.01", "gaussian-100"),
)


def prior_densities(model, n):
    with jax.enable_x64(True):

        def at(key):
            u = model.space.sample_prior(key, model.data, model.hyper)
            return u, *model.core.log_densities(u, model.data, model.hyper)

        return [np.asarray(a) for a in jax.jit(jax.vmap(at))(jax.random.split(jax.random.key(0), n))]


@pytest.mark.parametrize("id", SAMPLED)
def test_prior_draws_have_a_log_likelihood_and_no_nan(id):
    _, log_prior, log_likelihood = prior_densities(zoo.example(id).model, 200)
    assert log_prior.dtype == log_likelihood.dtype == np.float64
    assert np.all(np.isfinite(log_prior))
    assert not np.any(np.isnan(log_likelihood))
    assert np.any(np.isfinite(log_likelihood))
    assert np.all(np.isfinite(log_likelihood)) or id == "S5"


def test_half_of_the_draws_of_the_reviews_gamma_prior_underflow():
    # Ga(0.001, 0.001) has half its mass below 1e-308; the docstring of normal_gamma warns of it.
    u, _, log_likelihood = prior_densities(zoo.example("normal-gamma-1").model, 1000)
    underflown = np.isneginf(u[:, 0])
    assert 0.4 < underflown.mean() < 0.6
    assert not np.any(np.isnan(log_likelihood))
    assert np.array_equal(np.isneginf(log_likelihood), underflown)


def test_importing_the_zoo_builds_nothing():
    code = "from zhat import zoo; print(zoo.example.cache_info().currsize)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "0"


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(BadInput, match="did you mean 'running-example'"):
        zoo.example("running_exampel")
    with pytest.raises(BadInput, match="did you mean"):
        zoo.example("")


def test_an_unknown_data_set_is_answered_with_the_nearest():
    with pytest.raises(BadInput, match="did you mean 'pima_indians'"):
        zoo.load("pima")


def test_loaded_columns_are_fresh_arrays():
    zoo.load("pima_indians")["NP"][:] = -1.0
    assert zoo.load("pima_indians")["NP"].min() >= 0.0


@pytest.mark.parametrize("id", ["E1", "E2", "E10", "pima-NP-PGC-BMI-DP-tau-1"])
def test_other_data_compile_nothing_new(id):
    model = zoo.example(id).model
    reordered = jax.tree.map(lambda a: a[::-1].copy(), model.data)
    point = {site.name: np.ones(site.shape) for site in model.space.sites}
    before = model.evaluate(**point)
    traced = dict(model.core.traces)
    assert model.with_data(reordered).evaluate(**point) == pytest.approx(before, rel=1e-12)
    assert model.core.traces == traced


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: zoo.running_example(nu=0.0), "nu=0.0"),
        (lambda: zoo.running_example(y=[]), "y has shape"),
        (lambda: zoo.running_example(n=0), "n=0"),
        (lambda: zoo.normal_gamma(-1.0), "tau0=-1.0"),
        (lambda: zoo.gaussian(0), "d=0"),
        (lambda: zoo.gaussian(2, 1.0), "correlation=1.0"),
        (lambda: zoo.gaussian(2, 0.5, -1.0), "prior_scale=-1.0"),
    ],
)
def test_bad_settings_are_named(build, words):
    with pytest.raises(BadInput, match=words):
        build()
