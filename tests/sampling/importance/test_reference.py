"""Tempering from a normal near the posterior: the same evidence as from the prior."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from jax.scipy.special import gammaln as gammaln_of
from scipy.special import gammaln

import zhat
from zhat import zoo
from zhat.errors import BadType
from zhat.sampling.backend.compiled import points_at_once
from zhat.sampling.backend.evaluation import log_densities, prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Search, find_modes
from zhat.sampling.importance.quasi_newton import ascended
from zhat.sampling.importance.reference import fitted_normal, reference_at
from zhat.sampling.tuning import Moments, Tuning
from zhat.seeding import Key

pytestmark = pytest.mark.xdist_group("E12")


def test_a_reference_has_the_density_of_its_model() -> None:
    model, loop = zoo.example("E12").model, Loop(progress=False)
    mode = find_modes(model, prior_draws(model, 64, Key(1), loop), Key(2), loop, Search(n_starts=4)).usable[0]
    reference = reference_at(model, *fitted_normal(model, mode, Key(3), loop))
    z = prior_draws(reference.model, 16, Key(4), loop)
    log_prior, log_likelihood = log_densities(model, reference.centre + z.position @ reference.factor.T, loop)
    volume = np.log(np.abs(np.linalg.det(reference.factor)))
    assert z.log_prior + z.log_likelihood == pytest.approx(log_prior + log_likelihood + volume, abs=1e-9)
    assert z.log_likelihood.std() < 1.0
    start = np.zeros((1, model.n_dimensions))
    assert ascended(model, start, loop)[0] == pytest.approx(mode.position, abs=1e-2)


def counts(d: int) -> tuple[zhat.Model, float]:
    """Independent Poisson counts with gamma rates: skewed in the unconstrained coordinates; the evidence is exact."""
    y = 10.0 + np.arange(d) % 7

    def log_likelihood(params: Any, y: Any) -> Any:
        rate = params["rate"]
        return jnp.sum(y * jnp.log(rate) - rate - gammaln_of(y + 1.0))

    exact = gammaln(y + 2.0) - gammaln(2.0) - gammaln(y + 1.0) + 2.0 * np.log(0.1) - (y + 2.0) * np.log(1.1)
    return zhat.Model(log_likelihood, {"rate": dist.Gamma(2.0, 0.1).expand([d]).to_event(1)}, data=y), float(exact.sum())


@pytest.mark.parametrize("seed", [1, 2])
def test_smc_from_the_mode_finds_the_evidence(seed: int) -> None:
    model, truth = counts(30)
    method = zhat.SMC(n_particles=1000, start=zhat.settings.PathFromMode())
    result = zhat.evidence(model, method, seed=seed, progress=False)
    assert result.status.is_ok and result.log_evidence_se is not None and result.log_evidence_se < 0.03
    assert result.log_evidence == pytest.approx(truth, abs=4.5 * result.log_evidence_se)
    assert "from_population_log_evidence" in result.diagnostics


def test_smc_starts_at_the_mode_in_hundreds_of_dimensions() -> None:
    model, truth = counts(220)
    result = zhat.evidence(model, zhat.SMC(n_particles=1000), seed=1, progress=False)
    assert result.diagnostics["start"] == "mode" and "from_chains_log_evidence" in result.diagnostics
    assert result.status.is_ok and result.log_evidence_se is not None and result.log_evidence_se < 0.1
    assert result.log_evidence == pytest.approx(truth, abs=4.5 * result.log_evidence_se)


def test_importance_sampling_from_a_normal_in_hundreds_of_dimensions() -> None:
    from zhat.zoo.gaussian import gaussian

    example = gaussian(210, correlation=0.0)
    result = zhat.evidence(example.model, zhat.Importance(n_draws=1000), seed=1, progress=False)
    assert result.status.is_ok and "from_chains_log_evidence" in result.diagnostics
    assert result.log_evidence == pytest.approx(example.log_evidence, abs=1e-6)
    assert 0.0 < result.log_evidence_se < 1e-6, "equal weights are rounding, and no proof that nothing is missing"


def test_several_modes_are_refused() -> None:
    result = zhat.evidence(zoo.example("S2").model, zhat.SMC(start=zhat.settings.PathFromMode()), seed=1, progress=False)
    assert [reason.code for reason in result.status.reasons] == ["many-modes"]


def test_a_start_is_an_object() -> None:
    with pytest.raises(BadType, match="PathFromMode"):
        zhat.SMC(start="mode")  # type: ignore[arg-type]


def test_fewer_draws_than_dimensions_shape_steps_by_widths() -> None:
    draws = np.random.default_rng(1).standard_normal((2, 30, 120)) * np.linspace(1.0, 3.0, 120)
    tuning = Moments.of(draws, np.ones((2, 30)), np.zeros(120)).tuning(np.zeros(120), 1.0)
    assert tuning.factor.shape == (2, 120)
    full = Tuning(tuning.mean, tuning.factor[..., None] * np.eye(120), tuning.inverse[..., None] * np.eye(120), tuning.scale)
    points = draws.reshape(-1, 120)
    for name in ("whiten", "shape", "place", "pull"):
        assert getattr(tuning, name)(points) == pytest.approx(getattr(full, name)(points))
    assert tuning.log_frame(points, np) == pytest.approx(full.log_frame(points, np))


def test_points_of_large_data_are_evaluated_in_blocks_by_what_each_makes() -> None:
    x = np.ones((1000, 500))
    wide = zhat.Model(
        lambda params, x: -jnp.sum((x @ params["b"]) ** 2), {"b": dist.Normal(0.0, 1.0).expand([500]).to_event(1)}, data=x
    )
    assert wide.core.sizes.made_share * wide.data_size == 1000
    assert points_at_once(wide) == 100
