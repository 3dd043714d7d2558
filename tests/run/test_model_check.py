"""model.check(): each finding seen both ways, fine and not, and abstaining where it cannot tell."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model, zoo
from zhat.errors import BadInput
from zhat.run.model_check import Verdict

NAMES = ["shapes", "support", "log scale", "determinism", "batch", "prior", "precision"]


@cache
def good():
    prior = {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1), "s": dist.LogNormal(0.0, 1.0)}
    return Model(lambda p: -0.5 * jnp.sum(p["x"] ** 2) / p["s"], prior, name="good").check(n_draws=2000)


def finding(log_likelihood, check, prior=None, n_draws=400, **options):
    model = Model(log_likelihood, prior or {"x": dist.Normal()}, **options)
    report = model.check(n_draws=n_draws)
    print(report)
    return report, report[check]


def test_a_good_model_passes_every_check():
    report = good()
    assert [f.check for f in report.findings] == NAMES
    assert report.ok
    assert all(f.verdict is Verdict.FINE for f in report.findings)
    assert "3 free coordinates: x[2], s[]" in report["shapes"].sentence
    assert "100.0% of 2,000 prior draws" in report["support"].sentence


def test_the_report_prints_a_line_a_finding():
    lines = str(good()).splitlines()
    assert lines[0] == "model 'good'"
    assert [line.split("  ")[0].strip() for line in lines[1:]] == NAMES


def test_a_likelihood_that_is_almost_nowhere_above_zero_is_doubtful():
    report, found = finding(lambda p: jnp.where(p["x"] > 2.6, 0.0, -jnp.inf), "support", n_draws=1000)
    assert found.verdict is Verdict.DOUBTFUL
    assert "of 1,000 prior draws have a likelihood above zero" in found.sentence
    assert report.ok


def test_a_likelihood_instead_of_its_logarithm_is_noticed():
    _, found = finding(lambda p: jnp.exp(-0.5 * p["x"] ** 2), "log scale")
    assert found.verdict is Verdict.DOUBTFUL
    assert "is this the likelihood itself? Return its logarithm." in found.sentence


def black_box_finding(fn, check, batched=False):
    report = Model.black_box(fn, {"x": dist.Normal()}, batched=batched).check(n_draws=200)
    print(report)
    return report, report[check]


def test_a_noisy_black_box_is_noticed():
    rng = np.random.default_rng(0)
    _, found = black_box_finding(lambda p: -(float(p["x"]) ** 2) + 1e-3 * rng.standard_normal(), "determinism")
    assert found.verdict is Verdict.DOUBTFUL
    assert "it is noisy. Fix the seed of its random numbers; the evidence of a noisy likelihood is biased." in found.sentence
    _, quiet = black_box_finding(lambda p: -(float(p["x"]) ** 2), "determinism")
    assert quiet.verdict is Verdict.FINE


def test_a_batch_that_mixes_its_points_is_wrong():
    report, found = black_box_finding(lambda p: -((p["x"] - p["x"].mean()) ** 2), "batch", batched=True)
    assert found.verdict is Verdict.WRONG and not report.ok
    assert "the values of one point depend on the other points of the batch" in found.sentence
    _, right = black_box_finding(lambda p: -(p["x"] ** 2), "batch", batched=True)
    assert right.verdict is Verdict.FINE


class OffByTwo(dist.Normal):
    """A normal whose density forgot a factor of two."""

    def log_prob(self, value):
        return super().log_prob(value) - jnp.log(2.0)


class OtherSampler(dist.Normal):
    """A normal whose draws are too narrow."""

    def sample(self, key, sample_shape=()):
        return 0.7 * super().sample(key, sample_shape)


def test_a_prior_with_a_wrong_constant_is_wrong():
    report, found = finding(lambda p: -(p["x"] ** 2), "prior", {"x": OffByTwo(0.0, 1.0)}, n_draws=4000)
    assert found.verdict is Verdict.WRONG and not report.ok
    assert "the prior integrates to 0.5" in found.sentence or "the prior integrates to 0.49" in found.sentence
    assert "a constant, a truncation or a Jacobian is missing" in found.sentence


def test_a_prior_whose_sampler_draws_from_another_density_is_wrong():
    _, found = finding(lambda p: -(p["x"] ** 2), "prior", {"x": OtherSampler(0.0, 1.0)}, n_draws=4000)
    assert found.verdict is Verdict.WRONG


def test_the_prior_check_abstains_on_a_heavy_tail_instead_of_guessing():
    prior = {"x": dist.Cauchy(0.0, 1.0).expand([4]).to_event(1)}
    _, found = finding(lambda p: -jnp.sum(jnp.abs(p["x"])), "prior", prior, n_draws=1000)
    assert found.verdict is Verdict.CANNOT_TELL


def test_the_prior_check_abstains_on_few_draws():
    _, found = finding(lambda p: -(p["x"] ** 2), "prior", n_draws=100)
    assert found.verdict is Verdict.CANNOT_TELL
    assert "too few usable prior draws" in found.sentence


NORMAL = Model(lambda p: 0.0, lambda h: {"x": dist.Normal(h["mean"], h["sd"])}, hyper={"mean": 0.0, "sd": 1.0})
RIGHT_PRIORS = {
    "narrow": NORMAL.with_hyper({"mean": 3.0, "sd": 0.1}),
    "tiny": NORMAL.with_hyper({"mean": 0.0, "sd": 1e-8}),
    "huge": NORMAL.with_hyper({"mean": 0.0, "sd": 1e8}),
    "far": NORMAL.with_hyper({"mean": 1e6, "sd": 1.0}),
    "uniform": Model(lambda p: 0.0, {"x": dist.Uniform(-1.0, 5.0)}),
    "half-normal": Model(lambda p: 0.0, {"x": dist.HalfNormal(2.0)}),
    "ten dimensions": Model(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0).expand([10]).to_event(1)}),
}


@pytest.mark.parametrize("prior", RIGHT_PRIORS)
def test_right_priors_are_not_accused(prior):
    # Seven priors, three seeds; the check alarms at 4 errors, so 21 x 6e-5 = 1.3e-3 for fresh seeds.
    for seed in range(3):
        found = RIGHT_PRIORS[prior].check(n_draws=1000, seed=seed)["prior"]
        print(found)
        assert found.verdict in (Verdict.FINE, Verdict.CANNOT_TELL)


def test_values_too_large_for_their_digits_are_doubtful():
    _, found = finding(lambda p: 1e16 - p["x"] ** 2, "precision")
    assert found.verdict is Verdict.DOUBTFUL
    assert "cannot differ by less than 2 in double precision: subtract a constant" in found.sentence


def test_single_precision_values_are_doubtful_when_large():
    _, found = finding(lambda p: jnp.asarray(-1e7 - 100.0 * p["x"] ** 2, jnp.float32), "precision")
    assert found.verdict is Verdict.DOUBTFUL
    assert "carry only single precision (steps of 1): compute the log likelihood in float64" in found.sentence
    _, small = finding(lambda p: jnp.asarray(-10.0 - p["x"] ** 2, jnp.float32), "precision")
    assert small.verdict is Verdict.FINE


def test_a_check_needs_draws():
    with pytest.raises(BadInput, match="n_draws=3: a check needs at least 10 prior draws"):
        Model(lambda p: 0.0, {"x": dist.Normal()}).check(n_draws=3)


def test_a_prior_too_vague_for_numbers_is_named():
    found = zoo.example("normal-gamma-0.01").model.check()["support"]
    assert found.verdict is Verdict.DOUBTFUL
    assert "a parameter (tau, mu) overflows floating point" in found.sentence


def test_a_likelihood_that_is_nan_at_some_prior_draws_is_doubtful():
    model = Model(lambda p: jnp.where(p["x"] < -1.0, jnp.nan, -(p["x"] ** 2)), {"x": dist.Normal(0.0, 1.0)})
    finding = model.check(n_draws=200)["support"]
    assert finding.verdict is Verdict.DOUBTFUL
    assert "of them it is NaN, which counts as zero likelihood" in finding.sentence
