"""Batches of black-box likelihoods go to whatever is set around a run."""

from __future__ import annotations

import numpy as np
import numpyro.distributions as dist

from zhat.model.model import Model
from zhat.sampling.backend.likelihoods import InThisProcess, evaluated_by, evaluator, likelihoods

MODEL = Model.black_box(lambda p: float(p["x"]), {"x": dist.Normal(0.0, 1.0)})


class Backwards:
    n_workers = 2

    def __call__(self, model, params, take):
        for i in reversed(range(len(params["x"]))):
            take(slice(i, i + 1), 10.0 * params["x"][i : i + 1])

    def expect(self, model, params):
        raise AssertionError


def test_in_this_process_unless_something_else_is_set():
    x = np.arange(5.0)
    assert likelihoods(MODEL, {"x": x}).tolist() == x.tolist()
    with evaluated_by(Backwards()):
        assert likelihoods(MODEL, {"x": x}).tolist() == (10.0 * x).tolist()
        assert evaluator().n_workers == 2
    assert isinstance(evaluator(), InThisProcess)
    evaluator().expect(MODEL, {"x": x})
