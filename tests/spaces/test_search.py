"""Search over subsets: against exact answers, beyond what can be enumerated, and what it says of itself."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.errors import BadInput
from zhat.sampling.backend.loop import Loop

P = 6


@pytest.fixture(scope="module")
def small(linear_family, exact_answers):
    family, exact, slopes = linear_family(P)
    return family, exact, exact_answers(P, exact, slopes)


def test_enumeration_agrees_with_exact_answers(small):
    family, exact, (chance, inclusion, slopes) = small
    z, z_slopes = [], []
    for seed in range(3):
        found = family.enumerate(seed=seed, n_draws=2000, progress=False)
        assert found.status.is_ok
        errors = np.array([found.log_evidence[i] - exact(found.masks[i]) for i in range(2**P)])
        assert np.abs(errors / found.se).max() < 4.5
        z.append((np.array(list(found.inclusion.values())) - inclusion) / np.array(list(found.inclusion_se.values())))
        z_slopes.append((found.averaged_coefficients - slopes) / found.averaged_coefficients_se)
    assert np.abs(z).max() < 4.5 and np.abs(z_slopes).max() < 4.5
    assert 0.5 < np.std(z) < 1.7 and 0.4 < np.std(z_slopes) < 1.7
    assert (found.averaged_coefficients_sd > 0).all()
    assert abs(found.probabilities - chance).max() < 0.02


def test_search_agrees_with_exact_answers(small):
    family, exact, (chance, inclusion, slopes) = small
    z, z_slopes = [], []
    for seed in range(4):
        found = family.search(seed=seed, n_moves=600, n_draws=2000, progress=False)
        assert found.status.is_ok, found.status
        z.append((np.array(list(found.inclusion.values())) - inclusion) / np.array(list(found.inclusion_se.values())))
        z_slopes.append((found.averaged_coefficients - slopes) / found.averaged_coefficients_se)
        assert found.log_evidence[0] == pytest.approx(exact(found.masks[0]), abs=4.5 * found.se[0] + 1e-9)
        assert found.probabilities[0] == pytest.approx(chance.max(), abs=0.02)
    assert np.abs(z).max() < 4.5 and np.abs(z_slopes).max() < 4.5
    assert 0.5 < np.std(z) < 1.7


def test_a_prior_over_models_is_heeded(small):
    family, exact, _ = small
    masks = ((np.arange(2**P)[:, None] >> np.arange(P)) & 1).astype(float)
    log_p = np.array([exact(m) for m in masks]) + masks.sum(axis=1) * np.log(0.1)
    p = np.exp(log_p - log_p.max())
    inclusion = p @ masks / p.sum()
    found = family.search(seed=5, n_moves=600, n_draws=2000, prior=lambda mask: 0.1 ** mask.sum(), progress=False)
    z = (np.array(list(found.inclusion.values())) - inclusion) / np.array(list(found.inclusion_se.values()))
    assert np.abs(z).max() < 4.5
    with pytest.raises(BadInput, match="0 or above"):
        family.search(seed=1, prior=lambda mask: -1.0, progress=False)


def test_the_same_seed_gives_the_same_digits(small):
    family = small[0]
    first, second = (family.search(seed=7, n_moves=100, n_chains=8, n_draws=500, progress=False) for _ in range(2))
    assert first.inclusion == second.inclusion and np.array_equal(first.log_evidence, second.log_evidence)


class Killed(BaseException):
    """As SIGKILL: nothing of ours catches it."""


def test_a_search_that_was_ended_goes_on_with_the_same_digits(small, tmp_path, monkeypatch):
    settings = {"seed": 7, "n_moves": 100, "n_chains": 8, "n_draws": 500, "progress": False}
    undisturbed = small[0].search(**settings)
    tick, ticks = Loop.tick, []
    for stop in (3, 6):

        def counted(self, *args, stop=stop, **more):
            ticks.append(1)
            if len(ticks) == stop:
                raise Killed
            return tick(self, *args, **more)

        ticks.clear()
        monkeypatch.setattr(Loop, "tick", counted)
        with pytest.raises(Killed):
            small[0].search(**settings, checkpoint=tmp_path / "ckpt")
    monkeypatch.setattr(Loop, "tick", tick)
    resumed = small[0].search(**settings, checkpoint=tmp_path / "ckpt")
    assert resumed.inclusion == undisturbed.inclusion and np.array_equal(resumed.log_evidence, undisturbed.log_evidence)
    with pytest.raises(BadInput, match="these differ: the settings n_moves, prior"):
        small[0].search(**{**settings, "n_moves": 200}, prior=lambda mask: 1.0, checkpoint=tmp_path / "ckpt")


def test_a_family_too_large_to_enumerate_is_searched(linear_family):
    family, exact, _ = linear_family(18, slopes=(1.5, -1.2))
    with pytest.raises(BadInput, match=r"use search\(\)"):
        family.enumerate(seed=1)
    found = family.search(seed=1, n_chains=8, n_moves=300, n_refined=16, n_draws=1000, progress=False)
    assert found.inclusion["x0"] > 0.99 and found.inclusion["x1"] > 0.99
    assert found.top(1)[0][2] == pytest.approx(exact(found.masks[0]), abs=0.1)
    assert len(found.masks) < 2**14 and 0.0 < found.visited_share <= 1.0
    assert found.probabilities.sum() == pytest.approx(found.visited_share)
    assert "models evaluated" in str(found)


def test_walks_too_short_say_so(linear_family):
    family, _, _ = linear_family(18, slopes=(1.5, -1.2))
    found = family.search(seed=1, n_moves=40, n_chains=8, n_refined=8, n_draws=500, progress=False)
    assert not found.status.is_ok


def masked(log_likelihood, **more):
    data = {"mask": np.ones(2), "y": np.array([1.0])}
    prior = {"theta": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}
    return zhat.Subsets(zhat.Model(log_likelihood, prior, data=data, **more), ("a", "b"))


def test_a_nan_likelihood_is_a_doubt_unless_it_is_meant_as_zero():
    def log_likelihood(params, data):
        total = jnp.sum(params["theta"] * data["mask"])
        return jnp.where(total > 1.0, jnp.nan, -0.5 * (data["y"][0] - total) ** 2)

    found = masked(log_likelihood).enumerate(seed=1, n_draws=500, progress=False)
    assert any(reason.code == "nan-as-zero" for reason in found.status.reasons)
    found = masked(log_likelihood, zero_where_nan=True).enumerate(seed=1, n_draws=500, progress=False)
    assert not any(reason.code == "nan-as-zero" for reason in found.status.reasons)
    assert [note.code for note in found.status.notes] == ["nan-far"]


def test_a_second_mode_is_noticed():
    def log_likelihood(params, data):
        total = jnp.sum(params["theta"] * data["mask"]) + params["theta"][0] * (1.0 - data["mask"][0])
        return jnp.logaddexp(-50.0 * (total - 1.0) ** 2, -50.0 * (total + 1.2) ** 2)

    found = masked(log_likelihood).enumerate(seed=1, n_draws=500, progress=False)
    assert any(reason.code == "several-modes" for reason in found.status.reasons), found
