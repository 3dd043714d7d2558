"""Annealing back from posterior chains that start at prior draws: the same evidence; and two modes make the chains disagree."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.missed_mass.chain_view import Way, view_from_chains
from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.finding import Answer, Finding
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.reference import reference_at
from zhat.seeding import Key


def skewed(d: int) -> tuple[zhat.Model, float]:
    """Independent counts 0, 1, 2, ... with gamma rates; the evidence is exact."""
    y = np.arange(d) % 5 + 3.0

    def log_likelihood(params: Any, y: Any) -> Any:
        rate = params["rate"]
        return jnp.sum(y * jnp.log(rate) - rate)

    from scipy.special import gammaln

    exact = gammaln(y + 2.0) - gammaln(2.0) + 2.0 * np.log(0.5) - (y + 2.0) * np.log(1.5)
    return zhat.Model(log_likelihood, {"rate": dist.Gamma(2.0, 0.5).expand([d]).to_event(1)}, data=y), float(exact.sum())


def test_the_way_back_gives_the_evidence() -> None:
    model, truth = skewed(12)
    # A normal near the posterior of each log rate.
    shape = np.arange(12) % 5 + 5.0
    reference = reference_at(model, np.log(shape / 1.5), np.diag(shape))
    view = view_from_chains(model, Way(reference, np.linspace(0.0, 1.0, 4), -50.0), EFFORT, Key(1), Loop(progress=False))
    assert view.r_hat < EFFORT.r_hat and view.estimate is not None
    assert 0.0 < view.estimate.se < 0.2
    assert view.estimate.log_evidence == pytest.approx(truth, abs=4.0 * view.estimate.se)


def test_chains_in_two_modes_disagree() -> None:
    def log_likelihood(params: Any) -> Any:
        x = params["x"]
        return jnp.logaddexp(-0.5 * jnp.sum((x - 4.0) ** 2), -0.5 * jnp.sum((x + 4.0) ** 2)) * 4.0

    model = zhat.Model(log_likelihood, {"x": dist.Normal(0.0, 5.0).expand([3]).to_event(1)})
    reference = reference_at(model, np.full(3, 4.0), 4.0 * np.eye(3))
    view = view_from_chains(model, Way(reference, np.array([0.0, 1.0]), -20.0), EFFORT, Key(1), Loop(progress=False))
    assert view.r_hat > EFFORT.r_hat and view.estimate is None


def test_a_slab_around_the_peak_keeps_its_chains() -> None:
    """In sixty dimensions neither moves nor a path from the normal at the peak lead to the slab, which holds half of the posterior."""
    d, narrow, wide = 60, 0.3, 5.0

    def log_likelihood(params: Any) -> Any:
        squared = jnp.sum(params["x"] ** 2)
        peak = -0.5 * squared / narrow**2 - d * np.log(narrow) - 0.5 * d * np.log(wide**2 + 1.0)
        slab = -0.5 * squared - 0.5 * d * np.log(wide**2 + narrow**2)
        return jnp.logaddexp(peak, slab)

    model = zhat.Model(log_likelihood, {"x": dist.Normal(0.0, wide).expand([d]).to_event(1)})
    of_each = 0.5 * d * (np.log(2.0 * np.pi) - np.log(2.0 * np.pi * (wide**2 + 1.0) * (wide**2 + narrow**2)))
    reference = reference_at(model, np.zeros(d), (1.0 / narrow**2 + 1.0 / wide**2) * np.eye(d))
    peak = -0.5 * d * np.log(wide**2 + 1.0) - d * np.log(narrow * wide) - d
    view = view_from_chains(model, Way(reference, np.array([0.0, 1.0]), peak), EFFORT, Key(1), Loop(progress=False))
    found = Finding(Answer(of_each, 0.01), EFFORT, from_chains=view.estimate)
    assert not found.chains_agree
