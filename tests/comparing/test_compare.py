"""compare(): models run with seeds of their own, loaded evidences, adaptive precision; the pine and Pima Bayes factors."""

from __future__ import annotations

import math

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
        zhat.compare({"a": model, "b": zoo.example("E4").model}, until="bored")
    with pytest.raises(BadInput, match="different data"):
        zhat.compare({"a": model, "b": zoo.example("E4").model}, "laplace", seed=1, progress=False)
    with pytest.raises(BadType, match="give a Model"):
        zhat.compare({"a": model, "b": 1})
