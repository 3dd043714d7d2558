"""Bad input and the sentence that it gets, in one table: arguments of the front doors, places, models, settings, files."""

from __future__ import annotations

import math
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model, kernels, schedules, zoo
from zhat.errors import ZhatError

NORMAL = {"x": dist.Normal(0.0, 1.0)}
QUICK = zhat.PriorMean(n_draws=1000)
MINE = Model(lambda p: -(p["x"] ** 2), NORMAL, name="mine")


def run(*args, **settings):
    return zhat.evidence(*(args or (MINE, QUICK)), **{"progress": False, "seed": 1, **settings})


def model(log_likelihood, prior=NORMAL, **more):
    return lambda at: Model(log_likelihood, prior, **more)


def answer(log_likelihood):
    return lambda at: run(Model(log_likelihood, NORMAL), QUICK)


def answer_of_box(log_likelihood, **more):
    return lambda at: run(Model.black_box(log_likelihood, NORMAL, **more), QUICK)


def zero(p, data):
    return 0.0


# What is given (`at` is a folder with a file, a folder that is full, and damaged results), and a part of the sentence.
TABLE = {
    # the model
    "no model": (
        lambda at: run(None),
        "evidence() takes a zhat.Model first, not a NoneType: give zhat.Model(log_likelihood, prior",
    ),
    "a text as model": (lambda at: run("model"), "takes a zhat.Model first, not a str"),
    "a function as model": (lambda at: run(zero), "takes a zhat.Model first, not a function"),
    "a list of models": (lambda at: run([MINE]), "takes a zhat.Model first, not a list"),
    "no likelihood": (model(None), "log_likelihood is a NoneType, not a function"),
    "swapped": (model(NORMAL, zero), "The log likelihood comes first, then the prior"),
    "a number as name": (model(zero, name=3), "name=3: a model's name is a non-empty string"),
    # the prior
    "no parameter": (model(zero, {}), "prior is an empty dictionary: a model needs at least one parameter"),
    "one distribution": (
        model(zero, dist.Normal()),
        "prior is a Normal: give a dictionary of NumPyro distributions by the names",
    ),
    "a number as prior": (model(zero, {"x": 1.0}), "prior['x'] is a float, not a NumPyro distribution; for example"),
    "improper": (model(zero, {"x": dist.ImproperUniform(dist.constraints.real, (), ())}), "'x' has an improper prior"),
    "discrete": (model(zero, {"x": dist.Poisson(3.0)}), "parameter 'x' is discrete (Poisson): sum it out"),
    "a constant": (model(zero, {"x": dist.Delta(0.0)}), "'x' has a Delta prior, all of whose mass is at one value"),
    "a number as parameter": (model(zero, {1: dist.Normal()}), "the parameter name 1: names must be non-empty strings"),
    # data
    "a text as data": (model(zero, data="file.csv"), "only numbers can be data; encode text and dates as numbers first"),
    "objects as data": (model(zero, data=np.array([object()])), "data holds values of type object"),
    "complex data": (model(zero, data=np.array([1j])), "data holds values of type complex128"),
    "masked data": (model(zero, data=np.ma.array([1.0, 2.0], mask=[True, False])), "a masked array with 1 of 2 values masked"),
    # what the likelihood returns
    "nothing": (answer(lambda p: None), "log_likelihood returned None: is its return statement missing?"),
    "a vector": (answer(lambda p: jnp.ones(3) * p["x"]), "returned 3 values (shape (3,)) for one point; did you forget .sum()?"),
    "complex": (answer(lambda p: 1j * p["x"]), "returned values of type complex128: it must return a real number"),
    "a text": (answer_of_box(lambda p: "a"), "it must return a real number, the log likelihood"),
    "a vector of a black box": (answer_of_box(lambda p: np.ones(3)), "did you forget .sum()?"),
    "a batch of another length": (answer_of_box(lambda p: np.ones(3), batched=True), "return one value per point"),
    "NaN everywhere": (answer(lambda p: jnp.nan * p["x"]), "is NaN at all of 1,024 draws from the prior, for example at x="),
    "infinity": (answer(lambda p: jnp.inf + 0.0 * p["x"]), "is +inf at x="),
    # the method
    "a misspelt method": (lambda at: run(MINE, "smcc"), "there is no method 'smcc'; did you mean 'smc'?"),
    "no method": (lambda at: run(MINE, ""), "there is no method ''. Known: ais"),
    "a class as method": (lambda at: run(MINE, zhat.SMC), "give a method such as zhat.SMC(), or its name"),
    "draws as method": (lambda at: run(MINE, SimpleNamespace(posterior=1)), "which holds draws: zhat.evidence(model, draws=...)"),
    "a number as method": (lambda at: run(MINE, 3), "method is a int: give a method such as zhat.SMC()"),
    "a method that the model cannot take": (lambda at: run(MINE, "chib"), "Chib needs tempered full conditionals"),
    "more memory than there is": (lambda at: run(MINE, zhat.SMC(n_particles=4 * 10**11)), "GB of memory and this machine has"),
    # settings
    "a text as kernels": (lambda at: zhat.SMC(kernels="hmc"), "SMC(kernels='hmc'): give a tuple of kernels, such as"),
    "a number as schedule": (lambda at: zhat.SMC(schedule=0.5), "give a schedule such as zhat.schedules.AdaptiveESS(0.9)"),
    "a falling ladder": (lambda at: schedules.FixedLadder((0.0, 0.5, 0.4, 1.0)), "the powers must increase strictly"),
    "a ladder without end": (lambda at: schedules.FixedLadder((0.0, 0.5)), "make the last rung exactly 1.0"),
    "a share of two": (lambda at: schedules.AdaptiveESS(2.0), "give a share between 0 and 1, for example 0.5"),
    "no step": (lambda at: kernels.HMC(acceptance=0.0), "HMC(acceptance=0.0)"),
    "few live points": (
        lambda at: zhat.NestedSampling(n_live=3),
        "fewer live points give no usable covariance; give at least 40",
    ),
    "all replaced": (lambda at: zhat.NestedSampling(share_replaced=2.0), "give a share above 0 and at most 0.8"),
    "few particles": (lambda at: zhat.SMC(n_particles=8), "give at least 40"),
    # the other arguments
    "a negative seed": (lambda at: run(seed=-1), "seed=-1: give an integer from 0 to 2**64 - 1"),
    "a large seed": (lambda at: run(seed=2**64), "give an integer from 0 to 2**64 - 1"),
    "a text as seed": (lambda at: run(seed="1"), "seed is a str: give a non-negative integer, or None"),
    "a fraction as seed": (lambda at: run(seed=1.5), "seed is a float: give a non-negative integer, or None"),
    "a truth as seed": (lambda at: run(seed=True), "seed is a bool: give a non-negative integer, or None"),
    "no repeat": (lambda at: run(repeats=0), "evidence(repeats=0): there must be a run; give at least 1"),
    "a text as repeats": (lambda at: run(repeats="4"), "evidence(repeats='4'): give a whole number"),
    "precision zero": (lambda at: run(precision=0.0), "give a standard error above zero, such as precision=0.05"),
    "precision NaN": (lambda at: run(precision=math.nan), "precision=nan: give a standard error above zero"),
    "a text as precision": (lambda at: run(precision="0.1"), "precision='0.1': give the standard error of log Z that is wanted"),
    "a number as budget": (lambda at: run(budget=60), "give zhat.Budget(likelihoods=100_000) or zhat.Budget(seconds=60)"),
    "an empty budget": (lambda at: zhat.Budget(seconds=0), "Budget(seconds=0): a budget must be above zero"),
    "a text as budget": (lambda at: zhat.Budget(likelihoods="many"), "Budget(likelihoods='many'): give a number"),
    "a text as progress": (lambda at: run(progress="yes"), "progress='yes': give True, False, or None"),
    # workers
    "no worker": (lambda at: run(workers=0), "workers=0: give at least 1"),
    "a text as workers": (lambda at: run(workers="2"), "workers is a str: give the number of processes"),
    "workers and an executor": (lambda at: run(workers=2, executor="dask://a:1"), "give executor=... or workers=..., not both"),
    "another address": (lambda at: run(executor="tcp://a:1"), "write dask://host:port, the address of a Dask scheduler"),
    "no address": (lambda at: run(executor="dask://"), "write dask://host:port"),
    "a number as executor": (lambda at: run(executor=3), "give a concurrent.futures.Executor, such as client.get_executor()"),
    "no time": (lambda at: zhat.LocalPool(2, timeout=0), "timeout=0: give the seconds that one likelihood may take"),
    # checkpoints
    "a number as checkpoint": (lambda at: run(checkpoint=7), "give the name of a folder, such as checkpoint='run.ckpt'"),
    "no name": (lambda at: run(checkpoint=""), "checkpoint='' cannot be the name of a folder"),
    "a zero byte": (lambda at: run(checkpoint="a\0b"), "cannot be the name of a folder"),
    "a file as checkpoint": (lambda at: run(checkpoint=at / "file"), "is a file; a checkpoint is a folder of its own"),
    "a full folder": (lambda at: run(checkpoint=at / "full"), "is a folder with other files in it; give the name of a new one"),
    "no parent": (lambda at: run(checkpoint=at / "no" / "such"), "cannot be made: No such file or directory"),
    "a long name": (lambda at: run(checkpoint=at / ("x" * 300)), "cannot be made: File name too long"),
    # comparisons, files, the zoo
    "one model": (lambda at: zhat.compare({"a": MINE}, QUICK), "there are 1 models: a comparison needs two or more"),
    "a list to compare": (lambda at: zhat.compare([MINE, MINE], QUICK), "compare() takes a dict of models or evidences by name"),
    "one model twice": (lambda at: zhat.compare({"a": MINE, "b": MINE}, QUICK), "'a' and 'b' are the same model"),
    "no file": (lambda at: zhat.Evidence.load(at / "none.json"), "none.json"),
    "a damaged file": (lambda at: zhat.Evidence.load(at / "bad.json"), "bad.json"),
    "a text file": (lambda at: zhat.Evidence.load(at / "file"), "file"),
    "an unknown example": (lambda at: zoo.example("E99"), "no example 'E99' in the zoo; did you mean"),
}


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "file").write_text("text")
    (folder / "bad.json").write_text("{")
    (folder / "full").mkdir()
    (folder / "full" / "thesis.tex").write_text("")
    return folder


@pytest.mark.filterwarnings("ignore:.*do nothing here")
@pytest.mark.parametrize(("given", "sentence"), TABLE.values(), ids=TABLE)
def test_the_sentence(given, sentence, at):
    before = sorted(path.name for path in at.iterdir())
    with pytest.raises((ZhatError, FileNotFoundError)) as found:
        given(at)
    assert sentence in str(found.value)
    assert sorted(path.name for path in at.iterdir()) == before


def test_there_are_sixty():
    assert len(TABLE) >= 60
