"""Curvature: derivatives of the log posterior, automatic and by differences, and which precisions are those of a mode."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat import Model
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.curvature import curvature, definite, scaled

PRIOR = {"x": dist.Normal(0.0, 2.0).expand([2]).to_event(1)}
POINTS = np.array([[0.3, -0.2], [1.0, 0.5], [-0.7, 0.1]])


def correlated(params):
    x = params["x"]
    return -0.5 * (x[0] ** 2 + 4.0 * x[1] ** 2 + 2.0 * x[0] * x[1])


def test_a_gaussian_has_its_own_gradient_and_precision():
    loop = Loop(progress=False)
    value, gradient, precision = curvature(Model(correlated, PRIOR), POINTS, np.ones((3, 2)), 2, loop)
    exact = np.array([[1.25, 1.0], [1.0, 4.25]])
    np.testing.assert_allclose(precision, np.broadcast_to(exact, (3, 2, 2)), rtol=1e-12)
    np.testing.assert_allclose(gradient, -POINTS @ exact, rtol=1e-12)
    np.testing.assert_allclose(value - value[0], -0.5 * (_squares(exact) - _squares(exact)[0]), rtol=1e-10, atol=1e-12)
    assert (loop.n_gradient, loop.n_hessian) == (3, 3)  # points that pad a call are not counted


def _squares(precision):
    return np.einsum("ki,ij,kj->k", POINTS, precision, POINTS)


def test_differences_of_a_black_box_agree_with_derivatives():
    def box(params):
        x = np.asarray(params["x"])
        return float(-0.5 * (x[0] ** 2 + 4.0 * x[1] ** 2 + 2.0 * x[0] * x[1]))

    loop = Loop(progress=False)
    traced = curvature(Model(correlated, PRIOR), POINTS, np.ones((3, 2)), 3, loop)
    by_differences = curvature(Model.black_box(box, PRIOR), POINTS, np.ones((3, 2)), 3, loop)
    for exact, near in zip(traced, by_differences, strict=True):
        np.testing.assert_allclose(near, exact, rtol=1e-7, atol=1e-7)


def test_a_nan_in_a_trial_step_is_zero_likelihood():
    model = Model(lambda params: jnp.where(params["x"][0] > 0.9, jnp.nan, correlated(params)), PRIOR)
    value, _, _ = curvature(model, POINTS, np.ones((3, 2)), 3, Loop(progress=False), must_be_number=False)
    np.testing.assert_array_equal(np.isfinite(value), [True, False, True])


def test_definite_does_not_depend_on_units():
    precision = np.array([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]])
    units = np.diag([1e-8, 1e8])
    np.testing.assert_array_equal(definite(precision), [True, False, False])
    np.testing.assert_array_equal(definite(units @ precision @ units), [True, False, False])
    in_widths, width = scaled(precision[:1])
    np.testing.assert_allclose(np.einsum("kii->ki", in_widths), 1.0)
    np.testing.assert_allclose(in_widths * width[:, :, None] ** -1 * width[:, None, :] ** -1, precision[:1])
