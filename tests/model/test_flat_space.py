"""Models of which only the joint density is known: their parameters, their maps, and what they refuse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.distributions import constraints

import zhat
from zhat.errors import BadInput, BadType, UnsupportedModel
from zhat.model.flat_space import flat_space
from zhat.model.model import Offer


def normal(theta):
    return -0.5 * jnp.sum(theta**2)


def test_maps_invert_each_other_and_their_jacobian_is_that_of_the_map():
    space = flat_space({"a": (), "b": 2, "c": (3,)}, {"a": (0.0, None), "b": (-1.0, 2.0), "c": constraints.simplex})
    assert space.n_dimensions == 1 + 2 + 2 and not space.has_prior
    with jax.enable_x64(True):
        u = jnp.array([0.3, -0.7, 1.1, 0.2, -0.4])
        params, log_jacobian = space.constrain(u, None, None)
        np.testing.assert_allclose(space.unconstrain(params, None, None), u, atol=1e-12)

        def to_volume(u):
            p = space.constrain(u, None, None)[0]
            return jnp.concatenate([p["a"][None], p["b"], p["c"][:2]])

        expected = np.linalg.slogdet(np.asarray(jax.jacobian(to_volume)(u)))[1]
        parts = space.log_priors(u, None, None)
    np.testing.assert_allclose(np.asarray(log_jacobian), expected, atol=1e-12)
    np.testing.assert_allclose(np.asarray(parts).sum(), expected, atol=1e-12)


def test_bounds_on_one_side_or_the_other():
    space = flat_space({"low": (), "high": (), "free": ()}, {"low": (1.0, None), "high": (None, -1.0), "free": (None, None)})
    with jax.enable_x64(True):
        params, _ = jax.tree.map(float, space.constrain(jnp.zeros(3), None, None))
    assert params["low"] > 1.0 and params["high"] < -1.0 and params["free"] == 0.0


@pytest.mark.parametrize(
    ("parameters", "bounds", "says"),
    [
        ({}, None, "at least one"),
        (0, None, "1 at least"),
        (["mu"], None, "dict of names and shapes"),
        ({"mu": 1.5}, None, "give its shape"),
        ({"mu": ()}, {"sigma": (0, 1)}, "not among the parameters"),
        ({"mu": ()}, {"mu": (1.0, 0.0)}, "below the upper"),
        ({"mu": ()}, {"mu": 3.0}, "give (low, high)"),
        ({"mu": ()}, {"mu": constraints.positive_integer}, "discrete"),
        ({"mu": ()}, {"mu": constraints.simplex}, "does not fit"),
    ],
)
def test_bad_parameters_and_bounds_get_a_sentence(parameters, bounds, says):
    with pytest.raises((BadInput, BadType), match=says.replace("(", r"\(").replace(")", r"\)")):
        flat_space(parameters, bounds)


def test_the_model_offers_its_joint_density_and_no_more():
    traced = zhat.Model.from_log_density(normal, 3)
    assert traced.offers == {Offer.JOINT_DENSITY, Offer.GRADIENT}
    assert zhat.Model.from_log_density(lambda t: -0.5 * np.sum(t**2), 3, black_box=True).offers == {Offer.JOINT_DENSITY}
    assert traced.evaluate(theta=np.ones(3)) == (0.0, -1.5)
    assert Offer.JOINT_DENSITY in zhat.zoo.example("E1").model.offers


def test_data_are_an_argument():
    model = zhat.Model.from_log_density(lambda p, y: -0.5 * jnp.sum((y - p["mu"]) ** 2), {"mu": ()}, data=np.zeros(2))
    assert model.with_data(np.ones(3)).evaluate(mu=0.0)[1] == -1.5


def test_a_density_that_overflows_counts_as_nan():
    model = zhat.Model.from_log_density(lambda t: jnp.where(t[0] > 0, jnp.inf, 0.0), 1)
    assert np.isnan(model.evaluate(theta=np.ones(1))[1])


def test_wrong_functions_get_a_sentence():
    with pytest.raises(BadType, match="not a function"):
        zhat.Model.from_log_density(3.0, 1)
    with pytest.raises(BadInput, match="black_box"):
        zhat.Model.from_log_density(normal, 1, batched=True)
    with pytest.raises(BadType, match="cannot be traced"):
        zhat.Model.from_log_density(lambda t: float(np.sum(t)), 1)
    with pytest.raises(BadType, match="None"):
        zhat.Model.from_log_density(lambda t: None, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: zhat.evidence(m, seed=1),
        lambda m: zhat.evidence(m, "smc", seed=1),
        lambda m: zhat.evidence(m, "bridge", seed=1),
        lambda m: zhat.evidence(m, "harmonic-mean", draws={"theta": np.random.default_rng(1).normal(size=(2, 100, 1))}, seed=1),
        lambda m: zhat.crosscheck(m, seed=1),
        lambda m: zhat.sandwich(m, seed=1),
        lambda m: zhat.compare({"a": m, "b": zhat.zoo.example("E1").model}, seed=1),
        lambda m: m.check(),
        lambda m: zhat.savage_dickey(m, {"theta": np.zeros((2, 100, 1))}, "theta", at=[0.0], seed=1),
    ],
    ids=[
        "default",
        "smc",
        "bridge without draws",
        "harmonic mean",
        "crosscheck",
        "sandwich",
        "compare",
        "check",
        "savage-dickey",
    ],
)
def test_what_starts_from_the_prior_refuses_with_the_way_out(call):
    model = zhat.Model.from_log_density(normal, 1, data_id=zhat.zoo.example("E1").model.data_id)
    with pytest.raises(UnsupportedModel, match=r"joint density.*zhat\.Model\(log_likelihood, prior\)"):
        call(model)
