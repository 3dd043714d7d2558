"""Points of a black box are evaluated in batches that keep all workers busy."""

from __future__ import annotations

import numpy as np
import numpyro.distributions as dist
import pytest

from zhat.model.model import Model
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.likelihoods import evaluated_by
from zhat.sampling.backend.loop import Loop


class Counting:
    def __init__(self, n_workers):
        self.n_workers, self.sizes = n_workers, []

    def __call__(self, model, params, take):
        self.sizes.append(len(params["x"]))
        take(slice(None), params["x"].reshape(len(params["x"]), -1)[:, 0])

    def expect(self, model, params):
        raise AssertionError


@pytest.mark.parametrize(
    ("n_workers", "sizes"), [(1, [256, 256, 256, 232]), (4, [256, 256, 256, 232]), (8, [512, 488]), (64, [1000])]
)
def test_batches_grow_with_the_workers(n_workers, sizes):
    model = Model.black_box(lambda p: float(p["x"]), {"x": dist.Normal(0.0, 1.0)}, name="box")
    x = np.linspace(-1.0, 1.0, 1000)[:, None]
    with evaluated_by(counting := Counting(n_workers)):
        _, log_likelihood = log_densities(model, x, Loop(None, False, "box"))
    assert counting.sizes == sizes
    assert log_likelihood.tolist() == x[:, 0].tolist()


def test_the_prior_is_rounded_alike_whatever_the_workers():
    """Programs for 256 and for 4,096 points may round differently."""
    model = Model.black_box(lambda p: float(p["x"][0]), {"x": dist.Uniform(-5.0, 5.0).expand([6]).to_event(1)}, name="box")
    x = np.random.default_rng(1).normal(size=(1000, 6))
    alone, _ = log_densities(model, x, Loop(None, False, "box"))
    with evaluated_by(Counting(64)):
        assert log_densities(model, x, Loop(None, False, "box"))[0].tolist() == alone.tolist()
