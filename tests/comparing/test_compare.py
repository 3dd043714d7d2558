"""compare(): models run with seeds of their own, loaded evidences, adaptive precision; the pine and Pima Bayes factors."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.comparing.compare import seed_for
from zhat.errors import BadInput, BadType

PINE = [
    ("friel_wyse", "review", 4553.6455),
    ("williams1959", "review", 7024.138),
    ("williams1959", "green_ohagan", 4862.10),
]


@pytest.mark.parametrize(("data", "prior", "factor"), PINE)
def test_the_bayes_factor_of_the_pine_models(data, prior, factor):
    models = {name: zoo.pine(name, data, prior).model for name in ("density", "adjusted_density")}
    comparison = zhat.compare(models, "importance", seed=1, progress=False)
    found = comparison.log_bayes_factor("adjusted_density", "density")
    assert found.se is not None and found.se < 0.01
    assert abs(found.value - math.log(factor)) < 4.5 * found.se + 1e-6
    assert comparison.decided
    assert comparison.best == "adjusted_density"


@pytest.mark.parametrize(("tau", "log_factor"), [(0.01, math.log(13.82)), (1.0, math.log(1.296))])
def test_the_bayes_factor_of_the_pima_models(tau, log_factor):
    first = ("NP", "PGC", "BMI", "DP")
    models = {"1": zoo.pima(first, tau=tau).model, "2": zoo.pima((*first, "AGE"), tau=tau).model}
    found = zhat.compare(models, "importance", seed=2, progress=False).log_bayes_factor("1", "2")
    assert found.se is not None and found.se <= 0.02
    assert abs(found.value - log_factor) < 4.5 * found.se + 0.0005


def test_seeds_do_not_depend_on_the_company():
    models = {f"E8s-{k}": zoo.example(f"E8s-{k}").model for k in ("none", "slope", "intercept")}
    alone = zhat.compare({k: models[k] for k in ("E8s-none", "E8s-slope")}, "importance", seed=5, progress=False)
    together = zhat.compare(dict(reversed(models.items())), "importance", seed=5, progress=False)
    for name in ("E8s-none", "E8s-slope"):
        assert alone.evidences[name].log_evidence == together.evidences[name].log_evidence
    assert len({e.seed for e in together.evidences.values()}) == 3
    assert seed_for(1, "a", 0) != seed_for(1, "b", 0) != seed_for(1, "b", 1)


def test_models_and_loaded_evidences_mix(tmp_path):
    models = {k: zoo.example(k).model for k in ("E8s-none", "E8s-slope")}
    saved = zhat.evidence(models["E8s-none"], "laplace", seed=1, progress=False).save(tmp_path / "none.json")
    mixed = zhat.compare({"E8s-none": zhat.Evidence.load(saved), "E8s-slope": models["E8s-slope"]}, seed=1, progress=False)
    assert mixed.best == "E8s-slope"
    assert "≈" in str(mixed)


def test_more_is_spent_only_where_the_decision_is_not_clear():
    """Two models a hair apart and one far behind: the tied ones are run again, the third is not."""
    y = np.array([0.3, -0.2, 0.9, 0.4, -0.1])
    import jax.numpy as jnp
    import numpyro.distributions as dist

    def normal(scale):
        def log_likelihood(params, y):
            return jnp.sum(dist.Normal(params["mu"], scale).log_prob(y))

        return log_likelihood

    models = {
        name: zhat.Model(normal(s), {"mu": dist.Normal(0.0, w)}, data=y, name=name)
        for name, s, w in (("a", 0.5, 1.0), ("b", 0.5, 1.001), ("far", 3.0, 1.0))
    }
    method = zhat.Importance(n_draws=1000)
    comparison = zhat.compare(models, method, seed=1, until="decided", progress=False)
    runs = {name: len(e.repeats) for name, e in comparison.evidences.items()}
    assert runs["far"] == 1
    assert runs["a"] == runs["b"] > 1
    once = zhat.compare(models, method, seed=1, progress=False)
    assert comparison.log_bayes_factor("a", "b").se < once.log_bayes_factor("a", "b").se


def test_bad_calls_get_a_sentence():
    model = zoo.example("E1").model
    with pytest.raises(BadType, match="a dict of models"):
        zhat.compare([model, model])
    with pytest.raises(BadInput, match="same model"):
        zhat.compare({"a": model, "b": model})
    with pytest.raises(BadInput, match="until"):
        zhat.compare({k: zoo.example(k).model for k in ("E8s-none", "E8s-slope")}, until="bored")
    with pytest.raises(BadInput, match="different data"):
        zhat.compare({"a": model, "b": zoo.example("E4").model}, "laplace", seed=1, progress=False)
    with pytest.raises(BadType, match="give a Model"):
        zhat.compare({"a": model, "b": 1})


def test_a_second_opinion_is_part_of_the_comparison(tmp_path):
    models = {k: zoo.example(k).model for k in ("E8s-none", "E8s-slope")}
    found = zhat.compare(models, seed=1, check="smc", progress=False)
    assert {e.method for e in found.checks.values()} == {"smc"} and set(found.checks) == set(models)
    assert found.disagreements == ()
    assert found.sentence().endswith("A second method (smc) agrees on both models.")
    assert found.explain().count("second opinion on ") == 2
    checks = json.loads(found.to_json())["checks"]
    assert [check["agrees"] for check in checks] == [True, True]
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("they agree (within 2).") == 2
    # A method object does the same as its name, and so does the command line's order of seeds: from the label alone.
    again = zhat.compare(dict(reversed(models.items())), seed=1, check=zhat.SMC(), progress=False)
    assert {k: e.log_evidence for k, e in again.checks.items()} == {k: e.log_evidence for k, e in found.checks.items()}


def test_methods_that_disagree_are_said_not_to_be_trusted():
    models = {k: zoo.example(k).model for k in ("E8s-none", "E8s-slope")}
    found = zhat.compare(models, "importance", seed=1, progress=False)
    second = {name: replace(e, log_evidence=e.log_evidence + 5.0, method="smc") for name, e in found.evidences.items()}
    wrong = replace(found, checks={"E8s-none": second["E8s-none"]})
    assert wrong.disagreements == ("E8s-none",)
    assert wrong.sentence().endswith("Not to be trusted: a second method (smc) disagrees on E8s-none.")
    dumb = replace(second["E8s-none"], log_evidence_se=None)
    assert "cannot be judged on E8s-none" in replace(found, checks={"E8s-none": dumb}).sentence()
    some = replace(found, checks={"E8s-none": found.evidences["E8s-none"]})
    assert some.sentence().endswith("agrees on 1 of 2 models.")


def test_prior_curves_are_part_of_the_comparison(tmp_path):
    models = {"1": zoo.pima(("NP", "PGC", "BMI", "DP")).model, "2": zoo.pima(("NP", "PGC", "BMI", "DP", "AGE")).model}
    found = zhat.compare(models, "importance", seed=1, vary={"tau": [1.0, 0.01]}, progress=False)
    assert [(curve.model, curve.hyperparameter, curve.values.tolist()) for curve in found.curves] == [
        ("1", "tau", [0.01, 1.0]),
        ("2", "tau", [0.01, 1.0]),
    ]
    factor, error = found.curves[0].against(found.curves[1])
    known = np.array([math.log(13.82), math.log(1.296)])
    assert (np.abs(factor - known) / np.hypot(error, 0.0005)).max() < 4.5
    assert "1: for tau from 0.01 to 1 the log evidence moves by" in found.explain()
    assert [curve["model"] for curve in json.loads(found.to_json())["curves"]] == ["1", "2"]
    assert "Log evidence of 2 over tau" in found.report(tmp_path / "page.html").read_text(encoding="utf-8")
