"""Linear algebra has one thread inside a compiled model's run, what it had afterwards, and what the user has set for a black box."""

import numpy as np
import numpyro.distributions as dist
from threadpoolctl import threadpool_info

import zhat
from zhat.sampling.backend.threads import one_thread

PRIOR = {"x": dist.Normal(0.0, 1.0)}


def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_inside_and_as_many_as_before_afterwards():
    before = threads()
    with one_thread(zhat.Model(lambda p: -(p["x"] ** 2), PRIOR)):
        assert set(threads()) == {1}
    assert threads() == before


def test_the_likelihood_of_a_black_box_keeps_its_threads():
    before, seen = threads(), []

    def log_likelihood(p):
        if not seen:
            seen.append(threads())
        return -(float(p["x"]) ** 2)

    zhat.evidence(zhat.Model.black_box(log_likelihood, PRIOR), "prior-mean", seed=1, progress=False)
    assert np.array_equal(seen[0], before)
