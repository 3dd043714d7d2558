"""Refusals before anything is run: same model, different data, missing hyperparameters; and what is no reason to refuse."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model, zoo
from zhat.errors import BadInput, BadType, UnsupportedModel

Y = np.array([0.3, -0.2, 0.9, 0.4, -0.1])
SMALL = zhat.Importance(n_draws=2000)


def log_likelihood(params, y):
    return jnp.sum(dist.Normal(params["mu"], 1.0).log_prob(y))


def prior(hyper):
    return {"mu": dist.Normal(0.0, hyper["scale"])}


def program(y, effects):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(mu if effects else 0.0, 1.0), obs=y)


def varied(scale=1.0, **other):
    return Model(log_likelihood, prior, data=Y, hyper={"scale": scale}, **other)


@pytest.fixture
def nothing_runs(monkeypatch):
    def run(*_, **__):
        raise AssertionError("a model was run")

    monkeypatch.setattr("zhat.comparing.compare.run_models", run)


@pytest.mark.usefixtures("nothing_runs")
class TestRefused:
    def test_one_model_twice(self):
        with pytest.raises(BadInput, match=r"'a' and 'b' are the same model \(likelihood, prior, data and hyperparameters"):
            zhat.compare({"a": varied(), "b": varied(name="other")})

    def test_different_data(self):
        with pytest.raises(BadInput, match="'a' and 'b' have different data"):
            zhat.compare({"a": varied(), "b": varied(2.0).with_data(Y + 1.0)})
        named = [Model.black_box(lambda p: -0.5 * float(p["x"]) ** 2, {"x": dist.Normal()}, data_id=i) for i in ("1959", "2012")]
        with pytest.raises(BadInput, match=r"different data .*1959 and 2012"):
            zhat.compare(dict(zip("ab", named, strict=True)))

    def test_a_hyperparameter_that_one_model_lacks(self):
        fixed = Model(log_likelihood, {"mu": dist.Normal(0.0, 3.0)}, data=Y)
        with pytest.raises(BadInput, match=r"vary: model 'b' has no hyperparameter 'scale'; it has none by name"):
            zhat.compare({"a": varied(), "b": fixed}, vary={"scale": [0.5, 1.0]})
        with pytest.raises(BadInput, match="has no hyperparameter 'rate'; it has scale"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, vary={"rate": [0.5, 1.0]})

    def test_values_that_are_none(self):
        with pytest.raises(BadType, match="vary is a list"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, vary=["scale"])
        with pytest.raises(BadType, match=r"vary\['scale'\] is a float"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, vary={"scale": 1.0})
        with pytest.raises(BadInput, match="at least two different finite values"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, vary={"scale": [1.0]})

    def test_a_second_method_that_a_model_does_not_support(self):
        with pytest.raises(UnsupportedModel, match="Chib needs tempered full conditionals, which model 'a'"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, check="chib")
        with pytest.raises(BadInput, match="there is no method 'smcc'"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, check="smcc")

    def test_priors_that_do_not_fit(self):
        with pytest.raises(BadInput, match="not to one"):
            zhat.compare({"a": varied(), "b": varied(2.0)}, prior=[0.5, 0.6])

    def test_one_model_alone_and_a_failed_evidence(self):
        with pytest.raises(BadInput, match="two or more"):
            zhat.compare({"a": varied()})
        run = zhat.evidence(varied(), SMALL, seed=1, progress=False)
        failed = replace(run, log_evidence_se=None, status=zhat.Status.failed("budget", "stopped."))
        with pytest.raises(BadInput, match="'a' failed and cannot be compared"):
            zhat.compare({"a": failed, "b": varied(2.0)})

    def test_an_evidence_and_its_model(self):
        run = zhat.evidence(varied(name="line"), SMALL, seed=1, progress=False)
        with pytest.raises(BadInput, match="the same model as far as an evidence can tell"):
            zhat.compare({"kept": run, "new": varied(name="line")})


def test_models_that_share_a_function_are_compared():
    models = {
        "with effects": Model.from_numpyro(program, Y, effects=True),
        "without": Model.from_numpyro(program, Y, effects=False),
    }
    found = zhat.compare(models, SMALL, seed=1, progress=False)
    assert {name: e.model for name, e in found.evidences.items()} == {"with effects": "with effects", "without": "without"}


def test_two_values_of_a_hyperparameter_are_compared():
    model = varied()
    found = zhat.compare({"narrow": model, "wide": model.with_hyper({"scale": 10.0})}, SMALL, seed=1, progress=False)
    assert found.best == "narrow"


def test_evidences_are_told_apart_by_what_they_carry():
    run = zhat.evidence(varied(), SMALL, seed=1, progress=False)
    with pytest.raises(BadInput, match="the same model as far as an evidence can tell"):
        zhat.compare({"a": run, "b": replace(run, seed=2)})
    assert zhat.compare({"a": run, "b": replace(run, n_dimensions=2)}).names == ("a", "b")
    # Results of a comparison carry the labels, so they can be compared again.
    again = zhat.compare({"a": varied(), "b": varied(2.0)}, SMALL, seed=1, progress=False)
    assert zhat.compare(dict(again.evidences)).probabilities.tolist() == again.probabilities.tolist()


def test_messages_carry_the_label():
    from zhat.errors import NonFiniteLikelihood

    bad = Model(lambda p, y: jnp.sqrt(-1.0 - p["mu"] ** 2) + jnp.sum(y), {"mu": dist.Normal()}, data=Y)
    with pytest.raises(NonFiniteLikelihood, match="'the broken one'"):
        zhat.compare({"the broken one": bad, "fine": varied()}, "prior-mean", seed=1, progress=False)


def test_evidences_carry_the_label():
    found = zhat.evidences({"first": zoo.example("E1").model}, "laplace", seed=1, progress=False)
    assert found["first"].model == "first"
