"""A family of subsets whose evidences are known: linear regression with known variance and normal coefficients."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat

N_ROWS = 40


def _family(p, seed=0, slopes=(0.7, -0.5)):
    """y = 1 a + X b + e, with a, b ~ N(0, 1) and e ~ N(0, 1); and the exact log evidence of any mask."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(N_ROWS), rng.standard_normal((N_ROWS, p))])
    truth = np.zeros(p + 1)
    truth[1 : 1 + len(slopes)] = slopes
    y = x @ truth + rng.standard_normal(N_ROWS)

    def log_likelihood(params, data):
        mask = jnp.concatenate([jnp.ones(1), data["mask"]])
        return dist.Normal(data["x"] @ (params["theta"] * mask), 1.0).log_prob(data["y"]).sum()

    model = zhat.Model(
        log_likelihood,
        {"theta": dist.Normal(0.0, 1.0).expand([p + 1]).to_event(1)},
        data={"x": x, "y": y, "mask": np.ones(p)},
        name="linear",
    )

    def exact(mask):
        inside = x[:, np.concatenate([[True], np.asarray(mask) > 0.5])]
        covariance = np.eye(N_ROWS) + inside @ inside.T
        return -0.5 * (np.linalg.slogdet(2 * np.pi * covariance)[1] + y @ np.linalg.solve(covariance, y))

    def slopes_given(mask):
        on = np.concatenate([[True], np.asarray(mask) > 0.5])
        found = np.zeros(p + 1)
        found[on] = np.linalg.solve(np.eye(on.sum()) + x[:, on].T @ x[:, on], x[:, on].T @ y)
        return found

    return zhat.Subsets(model, tuple(f"x{j}" for j in range(p))), exact, slopes_given


def _answers(p, exact, slopes_given):
    """Probabilities of all masks, inclusion of every covariate, averaged coefficients."""
    masks = ((np.arange(2**p)[:, None] >> np.arange(p)) & 1).astype(float)
    log_z = np.array([exact(mask) for mask in masks])
    chance = np.exp(log_z - log_z.max())
    chance /= chance.sum()
    return chance, chance @ masks, chance @ np.array([slopes_given(mask) for mask in masks])


@pytest.fixture(scope="session")
def linear_family():
    """The function that builds such a family."""
    return _family


@pytest.fixture(scope="session")
def exact_answers():
    """The function that sums over all of its models."""
    return _answers
