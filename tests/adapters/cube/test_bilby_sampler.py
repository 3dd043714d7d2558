"""zhat as a sampler of bilby: the numbers of its result, and the entry point by which bilby finds it."""

import importlib
import tomllib
from pathlib import Path

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat

bilby = pytest.importorskip("bilby")

pytestmark = [pytest.mark.xdist_group("prior transform"), pytest.mark.filterwarnings("ignore")]


class One(bilby.Likelihood):
    def log_likelihood(self, parameters):
        return float(-0.5 * (1.0 - parameters["x"]) ** 2 - 0.5 * np.log(2 * np.pi))


def sampler_class():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    module, name = project["project"]["entry-points"]["bilby.samplers"]["zhat"].split(":")
    return getattr(importlib.import_module(module), name)


def test_a_run_through_bilby(tmp_path):
    priors = bilby.core.prior.PriorDict({"x": bilby.core.prior.Gaussian(0.0, 2.0)})
    sampler = sampler_class()(
        One(), priors, outdir=str(tmp_path), label="one", use_ratio=False, method="importance", seed=3, precision=0.05
    )
    result = bilby.run_sampler(One(), priors, sampler=sampler, outdir=str(tmp_path), label="one", save=False)
    exact = -0.5 * np.log(2 * np.pi * 5.0) - 0.1
    assert abs(result.log_evidence - exact) < 4.5 * result.log_evidence_err
    assert abs(result.posterior["x"].mean() - 0.8) < 4.5 * np.sqrt(0.8 / 200)
    assert len(result.posterior) == len(result.log_likelihood_evaluations) > 200
    assert result.num_likelihood_evaluations > 1000
    assert result.meta_data["zhat"]["status"] == "ok"
    assert result.meta_data["zhat"]["method"] == "importance"


def in_doubt():
    model = zhat.Model(lambda p: -(p["x"] ** 2), {"x": dist.Normal(0.0, 1.0)})
    found = zhat.evidence(model, zhat.PriorMean(n_draws=500), seed=1)
    return found.doubted(zhat.Status.suspect("log-scale", "doubtful."))


def test_a_result_in_doubt_has_no_standard_error(tmp_path):
    priors = bilby.core.prior.PriorDict({"x": bilby.core.prior.Gaussian(0.0, 2.0)})
    sampler = sampler_class()(One(), priors, outdir=str(tmp_path), label="one", use_ratio=False, method="laplace", seed=3)
    sampler._fill(in_doubt(), ["x"], 0.0)
    result = sampler.result
    assert np.isnan(result.log_evidence_err)
    assert result.meta_data["zhat"]["status"] != "ok"
    assert result.meta_data["zhat"]["reasons"]
