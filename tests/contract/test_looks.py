"""Every method declares which check for missed mass it makes, or why none; and its runs make that one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.methods._base import method_named
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.missed_mass.look import Look, Origin

METHODS = {name: method for name, method in zhat.methods.registry().items() if method.evaluates}
MADE = (Progress.DONE, Progress.NO_MODE)
# The settings that leave a look out.
SWITCHES = {Origin.MODES: "mode_check", Origin.PRIOR: "coverage_check"}


@cache
def weak_data():
    """A prior tighter than the likelihood: the one kind of model on which the harmonic mean has a standard error."""
    prior = {"mu": dist.Normal(0.0, 1.0)}
    return zhat.Model(lambda p, y: jnp.sum(dist.Normal(p["mu"], 3.0).log_prob(y)), prior, data=np.array([0.4]), name="weak data")


def model_for(name):
    if name == "harmonic-mean":
        return weak_data()
    return zoo.example("E2").model


def found_by(name, **settings):
    result = zhat.evidence(model_for(name), method_named(name, settings), seed=3, progress=False)
    assert result.status.is_ok and result.error, result.explain()
    return Finding.read(result.diagnostics, Answer(result.log_evidence, result.error))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_declares_its_look_and_makes_it(name):
    look = METHODS[name].look
    assert isinstance(look, Look)
    finding = found_by(name)
    if look.origin is Origin.MODES:
        assert finding.mode_check in MADE and finding.coverage_check is Progress.NOT_MADE
        assert finding.at_modes is not None and finding.resolution < 0.5
    elif look.origin is Origin.PRIOR:
        assert finding.coverage_check is Progress.DONE
        assert finding.coverage is not None or finding.from_population is not None  # regions, or a second estimate
    else:
        assert look.reason, "say why there is none"
        assert finding == Finding(finding.answer), "no look is declared, and one was made"
    assert not finding.is_missed


@pytest.mark.parametrize("name", ["chib", "harmonic-mean", "importance", "prior-mean"])
def test_a_look_can_be_left_out(name):
    finding = found_by(name, **{SWITCHES[METHODS[name].look.origin]: False})
    assert replace(finding, basin_resolution=None) == Finding(finding.answer)  # the survey is a search, not a comparison


@pytest.mark.parametrize("name", ["chib", "chib-jeliazkov", "harmonic-mean"])
def test_answers_from_posterior_chains_are_compared_with_prior_draws_and_with_their_visits(name):
    finding = found_by(name)
    assert finding.from_prior_draws is not None and finding.unvisited_share == 0.0
