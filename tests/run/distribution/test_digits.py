"""The same digits in this process, over threads, over any number of local workers, and with a worker killed on the way."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.results.estimate import Evidence
from zhat.run.distribution.travel import Task, opened, parcels, work
from zhat.sampling.backend.compiled import points_at_once


@pytest.fixture(scope="module")
def pool():
    with zhat.LocalPool(2) as made:
        yield made


def numbers(result: Evidence) -> list[object]:
    """All digits of a result but the time it took."""
    draws = result.record if hasattr(result.record, "position") else getattr(result.record, "final", None)
    arrays = [] if draws is None else [draws.position.tobytes(), draws.log_likelihood.tobytes()]
    cost = (result.cost.n_likelihood, result.cost.n_gradient)
    kept = {k: v for k, v in result.diagnostics.items() if "second" not in k}
    said = [result.log_evidence, result.log_evidence_se, result.repeats, str(result.status), result.seed]
    return [repr(value) for value in (*said, cost, kept)] + arrays


def closure_model(scale: float = 2.0, name: str = "closure") -> zhat.Model:
    """Lambdas and a closed-over array: what plain pickling refuses."""
    offset = jnp.asarray(0.25)
    return zhat.Model(
        lambda params, data: -0.5 * jnp.sum((data - params["x"] - offset) ** 2),
        lambda hyper: {"x": dist.Normal(0.0, hyper["scale"])},
        data=np.arange(4.0),
        hyper={"scale": scale},
        name=name,
    )


@pytest.mark.parametrize("method", ["importance", "smc", None])
def test_repeats_over_workers_are_the_serial_ones(pool, method):
    model = closure_model()
    serial = zhat.evidence(model, method, seed=5, repeats=5, progress=False)
    assert numbers(zhat.evidence(model, method, seed=5, repeats=5, progress=False, executor=pool)) == numbers(serial)
    with ThreadPoolExecutor(3) as threads:
        assert numbers(zhat.evidence(model, method, seed=5, repeats=5, progress=False, executor=threads)) == numbers(serial)


def test_a_repeat_does_not_depend_on_the_moves_of_those_before_it(monkeypatch):
    """Every run of some length changes to compiled moves half way, and not where the moves of all runs together would."""
    monkeypatch.setattr("zhat.sampling.kernels.sweep.MOVES_ON_HOST", 60)
    model, method = zoo.example("E8").model, zhat.SMC(n_particles=400)
    serial = zhat.evidence(model, method, seed=5, repeats=3, progress=False)
    with ThreadPoolExecutor(1) as thread:
        assert numbers(zhat.evidence(model, method, seed=5, repeats=3, progress=False, executor=thread)) == numbers(serial)


def test_the_number_of_workers_is_nobodys_business():
    model = zoo.example("E4").model
    serial = zhat.evidence(model, "smc", seed=2, repeats=3, progress=False)
    assert numbers(zhat.evidence(model, "smc", seed=2, repeats=3, progress=False, workers=1)) == numbers(serial)


def test_the_default_goes_on_to_smc_elsewhere_too(pool):
    model = zoo.example("mirrored-signs-10").model  # more modes than importance sampling takes
    serial = zhat.evidence(model, seed=1, progress=False)
    elsewhere = zhat.evidence(model, seed=1, progress=False, executor=pool)
    assert serial.method == "smc" and numbers(elsewhere) == numbers(serial)
    assert elsewhere.why_this_method == serial.why_this_method


def test_models_compared_over_workers(pool):
    models = {name: zoo.example(f"E8s-{name}").model for name in ("none", "slope", "intercept")}
    serial = zhat.compare(models, "importance", seed=1, repeats=2, progress=False)
    spread = zhat.compare(models, "importance", seed=1, repeats=2, progress=False, executor=pool)
    assert spread.names == serial.names
    assert all(numbers(spread.evidences[name]) == numbers(serial.evidences[name]) for name in serial.names)
    again = zhat.evidences(dict(reversed(models.items())), "importance", seed=1, repeats=2, progress=False, executor=pool)
    assert all(again[name].log_evidence == serial.evidences[name].log_evidence for name in models)


def test_compare_until_decided_over_workers(pool):
    twins = {"a": closure_model(2.0, "a"), "b": closure_model(2.02, "b")}
    serial = zhat.compare(twins, "prior-mean", seed=3, until="decided", progress=False)
    spread = zhat.compare(twins, "prior-mean", seed=3, until="decided", progress=False, executor=pool)
    assert [spread.evidences[n].repeats for n in twins] == [serial.evidences[n].repeats for n in twins]


def test_a_worker_killed_in_the_middle(tmp_path):
    marker = tmp_path / "killed"

    def log_likelihood(params: dict, data: np.ndarray) -> float:
        try:
            marker.touch(exist_ok=False)  # the first call of all
        except FileExistsError:
            return -0.5 * float(np.sum((data - params["x"]) ** 2))
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    model = zhat.Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0)}, data=np.arange(3.0))
    spread = zhat.evidence(model, "prior-mean", seed=1, repeats=4, progress=False, workers=2)
    assert marker.exists()
    assert numbers(zhat.evidence(model, "prior-mean", seed=1, repeats=4, progress=False)) == numbers(spread)


def test_runs_that_share_a_budget_are_one_task(pool):
    model = zoo.example("E1").model
    budget = zhat.Budget(likelihoods=30_000)
    serial = zhat.evidence(model, "importance", seed=1, repeats=4, progress=False, budget=budget)
    spread = zhat.evidence(model, "importance", seed=1, repeats=4, progress=False, budget=budget, executor=pool)
    assert numbers(spread) == numbers(serial)


def test_a_worker_keeps_what_is_compiled(pool):
    """Models that share their functions share what is compiled for them, on arrival as at home."""
    model = closure_model()
    tasks = [Task(_traces, model.with_data(np.arange(4.0) + i)) for i in range(3)]
    assert [opened(work(parcel)) for parcel in parcels(tasks)] == [1, 1, 1]


def _traces(model: zhat.Model) -> int:
    model.core.compiled("test", lambda: model.core.log_likelihood)({"x": 1.0}, model.data, model.hyper)
    return model.core.traces["test"]


def test_a_worker_evaluates_as_many_points_together_as_at_home():
    """The last digits depend on it, and the memory where the data are in a closure."""
    rows = np.ones((20_000, 20))
    model = zhat.Model(lambda p: -jnp.sum((rows @ p["x"]) ** 2), {"x": dist.Normal(0.0, 1.0).expand([20]).to_event(1)})
    parcel = parcels([Task(_points_at_once, model)])[0]
    assert opened(work(parcel)) == _points_at_once(model) < 100


def _points_at_once(model: zhat.Model) -> int:
    return points_at_once(model)


def test_precision_survives_the_way():
    third = np.float64(1.0) / 3.0

    def holder() -> zhat.Model:
        import jax

        with jax.enable_x64(True):
            inside = jnp.asarray(third)
        return zhat.Model(lambda p: -inside * p["x"] ** 2, {"x": dist.Normal(0.0, 1.0)})

    parcel = parcels([Task(_value_at_one, holder())])[0]
    assert opened(work(parcel)) == -third


def _value_at_one(model: zhat.Model) -> float:
    return model.evaluate(x=1.0)[1]


# -- what cannot be done, in a sentence ------------------------------------------------------------------------------


def test_a_model_that_cannot_travel(pool):
    lock = threading.Lock()

    def log_likelihood(params: dict) -> float:
        with lock:
            return -float(params["x"] ** 2)

    model = zhat.Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0)}, name="locked")
    with pytest.raises(BadInput, match=r"'locked' cannot be sent to a worker: .*lock"):
        zhat.evidence(model, "prior-mean", seed=1, executor=pool)


def test_a_model_of_a_module_that_the_worker_does_not_have(pool, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text('def log_likelihood(params):\n    return -params["x"] ** 2\n')
    with monkeypatch.context() as path:
        path.syspath_prepend(str(tmp_path))
        import only_here
    model = zhat.Model(only_here.log_likelihood, {"x": dist.Normal(0.0, 1.0)})
    with pytest.raises(BadInput, match=r"cannot be built on a worker: .*install it there"):
        zhat.evidence(model, "prior-mean", seed=1, executor=pool)


def test_an_error_of_the_likelihood_comes_home(pool):
    class Surprise(Exception):
        def __init__(self, a: int, b: int) -> None:
            super().__init__(f"{a} and {b}")

    def log_likelihood(params: dict) -> float:
        raise Surprise(1, 2)

    model = zhat.Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0)})
    with pytest.raises(ev_error(), match="Surprise on a worker: 1 and 2"):
        zhat.evidence(model, "prior-mean", seed=1, executor=pool)
    nan = zhat.Model(lambda p: p["x"] * jnp.nan, {"x": dist.Normal(0.0, 1.0)})
    from zhat.errors import NonFiniteLikelihood

    with pytest.raises(NonFiniteLikelihood, match="NaN"):
        zhat.evidence(nan, "prior-mean", seed=1, executor=pool)


def ev_error() -> type[Exception]:
    from zhat.errors import ZhatError

    return ZhatError


def test_other_versions_are_refused():
    from dataclasses import replace

    parcel = parcels([Task(_value_at_one, closure_model())])[0]
    other = replace(parcel, packed_by=("python 2.7", *parcel.packed_by[1:]))
    with pytest.raises(BadInput, match=r"other versions than the sender.*python 2.7 \(here python 3"):
        opened(work(other))


def test_bad_executors_get_a_sentence(pool):
    model = zoo.example("E1").model
    with pytest.raises(BadInput, match="not both"):
        zhat.evidence(model, executor=pool, workers=2)
    with pytest.raises(BadType, match="executor is a int"):
        zhat.evidence(model, executor=4)
    with pytest.raises(BadInput, match="dask://host:port"):
        zhat.compare({k: zoo.example(k).model for k in ("E8s-none", "E8s-slope")}, executor="ray://here")
    with pytest.raises(BadInput, match="workers=0"):
        zhat.evidences({"a": model}, workers=0)
    with pytest.raises(BadType, match="takes a dict of models"):
        zhat.evidences([model])
    with pytest.raises(BadType, match="give a Model"):
        zhat.evidences({"a": 3})


def test_pythons_own_process_pool_will_do():
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    model = closure_model()
    serial = zhat.evidence(model, "prior-mean", seed=4, repeats=2, progress=False)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert numbers(zhat.evidence(model, "prior-mean", seed=4, repeats=2, progress=False, executor=executor)) == numbers(
            serial
        )
