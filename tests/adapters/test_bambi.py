"""Bambi models: through PyMC's door, with the priors in words."""

import importlib.util

import numpy as np
import pytest

import zhat
from zhat.errors import BadType

pytestmark = [
    pytest.mark.xdist_group("pymc"),
    pytest.mark.filterwarnings("ignore"),  # of Bambi's and PyMC's own imports
    pytest.mark.skipif(importlib.util.find_spec("bambi") is None, reason="Bambi is not installed"),
]


@pytest.fixture(scope="module")
def bambi():
    """Bambi; the import of PyTensor's translation switches JAX to 64 bits for the process, which other tests must not see."""
    import jax

    before = jax.config.jax_enable_x64
    import bambi
    import pytensor.link.jax.dispatch  # noqa: F401

    jax.config.update("jax_enable_x64", before)
    return bambi


def frame():
    import pandas as pd

    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=24), "g": np.repeat(list("abcd"), 6)})
    return data.assign(y=1.0 + data.x + rng.normal(size=24))


def test_a_formula_with_group_effects(bambi):
    data = frame()
    model = zhat.Model.from_bambi(bambi.Model("y ~ x + (1|g)", data))
    assert model.name == "y ~ x + (1|g)"
    assert set(model.space.names) == {"sigma", "Intercept", "x", "1|g_sigma", "1|g_offset"}
    assert model.prior["x"].startswith("Normal(mu: 0.0, sigma: ") and model.prior["sigma"].startswith("HalfStudentT(")
    assert model.prior["1|g"].startswith("Normal(mu: 0.0, sigma: HalfNormal(")
    point = {"sigma": 1.2, "Intercept": 0.9, "x": 0.8, "1|g_sigma": 0.5, "1|g_offset": np.array([0.1, -0.2, 0.3, 0.0])}
    group = np.repeat(np.arange(4), 6)
    mean = 0.9 + 0.8 * (data.x - data.x.mean()) + 0.5 * point["1|g_offset"][group]
    exact = -0.5 * (((data.y - mean) / 1.2) ** 2 + np.log(2 * np.pi * 1.2**2)).sum()
    np.testing.assert_allclose(model.evaluate(**point)[1], exact, rtol=1e-12)
    # Formulas over the same outcome can be compared: the fingerprint is that of y.
    assert model.data_id == zhat.Model.from_bambi(bambi.Model("y ~ 1", data)).data_id


@pytest.mark.parametrize("value", [None, "y ~ x"])
def test_what_is_no_bambi_model_is_refused(bambi, value):
    with pytest.raises(BadType, match=r'takes a bambi.Model, not a \w+: bambi.Model\("y ~ x", data\)'):
        zhat.Model.from_bambi(value)
