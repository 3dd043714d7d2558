"""The NumPyro adapter: its own door, fixed arguments, and a fingerprint of one's own. (Densities: tests/model.)"""

from __future__ import annotations

import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat import Model
from zhat.adapters import numpyro as adapter

Y = np.array([0.3, -0.2, 0.9])


def program(y, effects=True):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(mu if effects else 0.0, 1.0), obs=y)


def test_both_doors_lead_to_the_same_model():
    a, b = adapter.model(program, Y, effects=False), Model.from_numpyro(program, Y, effects=False)
    assert a.name == b.name == "program" and a.data_id == b.data_id
    assert a.evaluate(mu=0.4) == b.evaluate(mu=0.4)


def test_a_fingerprint_can_be_given():
    assert Model.from_numpyro(program, Y, data_id="pines").data_id == "pines"
    assert Model.from_numpyro(program, Y).data_id not in (None, "pines")
    assert Model.from_numpyro(program, Y, data_id="pines").with_data(((Y + 1.0,), {})).data_id != "pines"
