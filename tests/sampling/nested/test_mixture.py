"""All evaluated points as one importance sample: weights by hand."""

from __future__ import annotations

import math

import numpy as np
import numpyro.distributions as dist

import zhat
from zhat.sampling.nested.ellipsoids import enclosing
from zhat.sampling.nested.mixture import measured_masses
from zhat.sampling.nested.region import Drawn, Region
from zhat.sampling.state import State


def test_weights_are_likelihood_over_the_density_of_the_mixture():
    model = zhat.Model.black_box(lambda params: 0.0, {"x": dist.Uniform(0.0, 1.0)})
    rng = np.random.default_rng(0)

    def state(at):
        u = (np.log(at) - np.log1p(-at))[:, None]
        return State(position=u, log_prior=np.zeros(len(at)), log_likelihood=-3.0 * at)

    shape = enclosing(rng.uniform(0.2, 0.4, (50, 1)), np.empty((0, 1)), math.log(0.2), rng)
    low, high = float(shape.centre[0, 0] - shape.factor[0, 0, 0]), float(shape.centre[0, 0] + shape.factor[0, 0, 0])
    region = Region(shape, math.log(high - low), 0.01, 0.0, np.arange(1000, 1050))
    first, second = rng.random(30), rng.uniform(low, high, 70)
    drawn = Drawn(region, second[:, None], np.zeros(70), state(second))
    measured = measured_masses(model, state(first), [drawn])
    at = np.concatenate([first, second])
    inside = (at > low) & (at < high)
    g = 0.3 + 0.7 * inside / (high - low)
    np.testing.assert_allclose(measured.log_weight, -3.0 * at - np.log(g), rtol=1e-9)
    np.testing.assert_array_equal(measured.stratum, np.repeat([0, 1], [30, 70]))
    weight = np.exp(-3.0 * at) / g
    share = (weight * (1 - 0.3 / g)).sum() / weight.sum()
    np.testing.assert_allclose(measured.mass_variance, (0.01 * share) ** 2, rtol=1e-9)
