"""Linear algebra has one thread inside a run, what it had afterwards, and what the user has set inside their own likelihood."""

from threading import Thread

import numpyro.distributions as dist
from threadpoolctl import threadpool_info

import zhat
from zhat.threads import one_thread, users_threads


def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_inside_and_as_many_as_before_afterwards():
    before = threads()
    with one_thread():
        assert set(threads()) == {1}
        with users_threads():
            assert threads() == before
        assert set(threads()) == {1}
    assert threads() == before
    with users_threads():
        assert threads() == before


def test_a_run_in_another_thread_that_ends_first_changes_nothing():
    before = threads()

    def run():
        with one_thread():
            pass

    with one_thread():
        other = Thread(target=run)
        other.start()
        other.join()
        assert set(threads()) == {1}
    assert threads() == before


def test_the_likelihood_of_a_black_box_keeps_its_threads():
    before, seen = threads(), []

    def log_likelihood(p):
        if len(seen) < 50:
            seen.append(threads())
        return -(float(p["x"]) ** 2)

    model = zhat.Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0)})
    zhat.evidence(model, "prior-mean", seed=1, progress=False)
    assert all(each == before for each in seen)
