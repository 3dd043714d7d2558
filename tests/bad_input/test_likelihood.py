"""Log likelihoods that are wrong, odd or legal: rows 1 to 14 of the table of bad input, a sentence each."""

import re
from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model
from zhat.errors import BadInput, BadType, NonFiniteLikelihood, NoSupport, ShapeError
from zhat.results.estimate import Level

NORMAL = {"x": dist.Normal(0.0, 1.0)}
QUICK = zhat.PriorMean(n_draws=1000)
SMALL_SMC = zhat.SMC(n_particles=40)


def run(log_likelihood, method=QUICK, **options):
    return zhat.evidence(Model(log_likelihood, NORMAL, name="mine", **options), method, seed=0)


CURRENT = []


@cache
def box(batched, zero_where_nan):
    """One model for many tests: its likelihood is whatever `CURRENT` holds, so that its prior compiles once."""
    return Model.black_box(
        lambda params: CURRENT[-1](params), NORMAL, name="mine", batched=batched, zero_where_nan=zero_where_nan
    )


def run_black_box(log_likelihood, method=QUICK, batched=False, zero_where_nan=False):
    CURRENT.append(log_likelihood)
    return zhat.evidence(box(batched, zero_where_nan), method, seed=0)


def nan_on_the_left(params):
    return jnp.where(params["x"] < -0.5, jnp.nan, -params["x"])


# Row 1
def test_nan_at_every_prior_draw_stops_the_run():
    message = (
        r"the log likelihood of 'mine' is NaN at all of 1,024 draws from the prior, for example at x=-?[0-9.]+\. Check it there"
    )
    for method in (None, QUICK, SMALL_SMC):
        with pytest.raises(NonFiniteLikelihood, match=message):
            run(lambda p: p["x"] * jnp.nan, method)
    with pytest.raises(NonFiniteLikelihood, match=r"is NaN at all of 256 draws"):
        run_black_box(lambda p: float("nan"))


@pytest.mark.parametrize("method", [QUICK, SMALL_SMC], ids=["prior mean", "smc"])
def test_nan_near_the_posterior_is_a_doubt_that_names_a_point(method):
    for found in (run(nan_on_the_left, method), run_black_box(lambda p: nan_on_the_left(p), method, batched=True)):
        assert found.status.level is Level.SUSPECT
        assert "nan-as-zero" in [reason.code for reason in found.status.reasons]
        assert found.log_evidence_se is None
        assert re.search(r"is NaN at [\d.]+ % of [\d,]+ points near the posterior .*, for example at x=-", found.explain())


def test_nan_that_is_meant_as_zero_is_a_note():
    found = run(nan_on_the_left, QUICK, zero_where_nan=True)
    assert [note.code for note in found.status.notes] == ["nan-far"]
    assert "which counted as zero likelihood (zero_where_nan=True)" in found.explain()
    exact = np.log(np.exp(0.5) * 0.3085375)  # exp(-x) over x > -1/2: exp(1/2) Phi(-1/2)
    z = (found.log_evidence - exact) / found.log_evidence_se
    print(found, "z", z)
    assert abs(z) < 4.5
    assert str(found.status) == "ok (note: nan-far)"


def test_nan_far_from_the_posterior_is_a_note_with_the_share_of_the_prior():
    def log_likelihood(params):
        return jnp.where(params["x"] > 0.5, jnp.nan, -0.5 * ((params["x"] + 2.0) / 0.2) ** 2)

    found = run(log_likelihood, zhat.SMC(n_particles=400))
    exact = np.log(0.2 / np.sqrt(1.04)) - 0.5 * 4.0 / 1.04
    z = (found.log_evidence - exact) / found.log_evidence_se
    print(found.explain(), "z", z)
    assert abs(z) < 4.5
    assert re.search(
        r"NaN at [\d,]+ of [\d,]+ points \((2\d|3\d) % of the prior draws\), and at none of 4,096 points", found.explain()
    )


def test_nan_that_only_moves_meet_is_found_near_the_posterior():
    found = run(lambda p: jnp.where(p["x"] > 4.0, jnp.nan, 40.0 * p["x"]), zhat.SMC(n_particles=200))
    assert "nan-as-zero" in [reason.code for reason in found.status.reasons]
    assert re.search(r"for example at x=4\.", found.explain())


# Row 2
def test_plus_infinity_stops_the_run():
    message = r"is \+inf at x=.*the likelihood is unbounded there and the evidence may not exist"
    with pytest.raises(NonFiniteLikelihood, match=message):
        run(lambda p: jnp.where(p["x"] > 1.0, jnp.inf, 0.0))
    with pytest.raises(NonFiniteLikelihood, match=message):
        run_black_box(lambda p: np.where(p["x"] > 1.0, np.inf, 0.0), batched=True, zero_where_nan=True)


# Row 3
def test_minus_infinity_is_zero_likelihood():
    found = run_black_box(lambda p: np.where(p["x"] > 0.0, 0.0, -np.inf), batched=True)
    z = (found.log_evidence - np.log(0.5)) / found.log_evidence_se
    print(found, "z", z)
    assert abs(z) < 4.5
    assert found.status.is_ok
    assert found.diagnostics["zero_weights"] == pytest.approx(500, abs=80)


# Row 4
def test_no_support_says_how_little_of_the_prior_can_have_any():
    message = r"no draw in 262,144 from the prior of 'mine' has a likelihood above zero: less than 1e-05 of the prior's mass"
    model = Model(lambda p: jnp.where(p["x"] > 50.0, 0.0, -jnp.inf), NORMAL, name="mine")
    for method in (None, QUICK, SMALL_SMC, zhat.Laplace()):
        with pytest.raises(NoSupport, match=message):
            zhat.evidence(model, method, seed=0)


# Row 5
@pytest.mark.parametrize("method", [QUICK, SMALL_SMC], ids=["prior mean", "smc"])
def test_a_constant_likelihood_gives_the_constant_exactly(method):
    found = run_black_box(lambda p: 3.25, method)
    assert (found.log_evidence, found.log_evidence_se) == (3.25, 0.0)
    assert found.status.is_ok


def test_a_constant_likelihood_is_within_the_error_of_importance_sampling():
    found = run(lambda p: 3.25, zhat.Importance(n_draws=1000, n_pilot=500))
    z = (found.log_evidence - 3.25) / found.log_evidence_se
    print(found, "z", z)
    assert abs(z) < 4.5


# Row 6
def test_an_exception_of_the_likelihood_keeps_its_type():
    with pytest.raises(ZeroDivisionError):
        Model(lambda p: 1 / 0, NORMAL)
    with pytest.raises(KeyError, match="sigma"):
        Model(lambda p: p["sigma"], NORMAL)

    def crash(params):
        raise OSError("licence server not found")

    with pytest.raises(OSError, match=r"licence server not found\nraised by the log likelihood of 'mine' at x="):
        run_black_box(crash)


# Row 7
def test_an_array_of_one_value_is_one_value():
    plain = run(lambda p: -p["x"])
    assert run(lambda p: -p["x"][None]).log_evidence == plain.log_evidence
    for fn in (lambda p: -p["x"], lambda p: -p["x"][None], lambda p: -float(p["x"]), lambda p: np.float32(-p["x"])):
        assert run_black_box(fn).log_evidence == pytest.approx(plain.log_evidence, rel=1e-6)


# Row 8
def test_a_forgotten_sum_is_recognised():
    message = r"log_likelihood returned 5 values \(shape \(5,\)\) for one point; did you forget \.sum\(\)\?"
    with pytest.raises(ShapeError, match=message):
        Model(lambda p: -p["x"] * jnp.ones(5), NORMAL)
    with pytest.raises(ShapeError, match=message):
        run_black_box(lambda p: -p["x"] * np.ones(5))


# Row 9
def test_the_batched_flag_is_named_when_it_does_not_fit():
    with pytest.raises(ShapeError, match=r"\(batched=True\) and returned shape \(\).*or set batched=False"):
        run_black_box(lambda p: float(-np.sum(p["x"] ** 2)), batched=True)
    with pytest.raises(
        BadInput, match=r"batched=True, but three points together gave .* the values of one point depend on the other points"
    ):
        run_black_box(lambda p: -((p["x"] - p["x"].mean()) ** 2), batched=True)


# Row 10
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "log_likelihood returned None: is its return statement missing"),
        (1j, "returned values of type complex128: it must return a real number"),
        (True, "returned values of type bool: it must return a real number"),
    ],
    ids=["None", "complex", "bool"],
)
def test_what_is_no_real_number_is_refused(value, message):
    with pytest.raises(BadType, match=message):
        Model(lambda p: value, NORMAL)
    with pytest.raises(BadType, match=message):
        run_black_box(lambda p: value)


def test_text_is_refused():
    with pytest.raises(BadType, match=r"returned values of type <U1"):
        run_black_box(lambda p: "x")


def test_text_from_a_traced_likelihood_is_not_called_a_missing_return():
    # BUG when written: "log_likelihood returned None: is its return statement missing?" for a string.
    with pytest.raises(BadType) as caught:
        Model(lambda p: "x", NORMAL)
    assert "None" not in str(caught.value)


def test_a_dictionary_is_refused():
    with pytest.raises(BadType, match="returned a dict: it must return one number"):
        Model(lambda p: {"log_likelihood": p["x"]}, NORMAL)


# Row 11
def test_a_likelihood_that_is_not_a_logarithm_is_suspect():
    found = run_black_box(lambda p: np.exp(-(p["x"] ** 2)), batched=True)
    assert [reason.code for reason in found.status.reasons] == ["log-scale"]
    assert re.search(r"all log likelihoods of 256 prior draws lie between 0 and 1 .*the likelihood itself\?", found.explain())
    assert found.log_evidence_se is None


# Row 12
def test_single_precision_is_accepted_when_small_and_suspect_when_large():
    assert run_black_box(lambda p: np.float32(-p["x"])).status.is_ok
    found = run(lambda p: jnp.asarray(-1e7 - 100.0 * p["x"] ** 2, jnp.float32))
    assert found.status.level is Level.SUSPECT
    assert "carry only single precision (steps of 1)" in found.explain()


# Row 13
def noisy(rng):
    return lambda p: -(p["x"] ** 2) + 1e-3 * rng.standard_normal(np.shape(p["x"]))


def check_noise(found):
    assert found.status.level is Level.SUSPECT
    assert [reason.code for reason in found.status.reasons] == ["determinism"]
    assert "it is noisy. Fix the seed of its random numbers" in found.explain()
    assert found.log_evidence_se is None


def test_a_noisy_likelihood_is_suspect():
    check_noise(run_black_box(noisy(np.random.default_rng(0))))


def test_a_noisy_batch_is_called_noisy_not_mixed():
    # BUG when written: BadInput "the function mixes the points of a batch": the noise fails batch = single as well.
    check_noise(run_black_box(noisy(np.random.default_rng(0)), batched=True))


# Row 14
def test_a_likelihood_gets_copies():
    def spoil(params):
        value = -float(params["x"])
        params["x"][...] = np.nan
        return value

    assert run_black_box(spoil).log_evidence == run_black_box(lambda p: -float(p["x"])).log_evidence


# The signature, which every user gets wrong once
def test_the_arguments_that_are_passed_are_named():
    with pytest.raises(BadType, match=r"log_likelihood is called as log_likelihood\(params\) here"):
        Model(lambda p, y: -p["x"], NORMAL)
    with pytest.raises(BadType, match=r"log_likelihood is called as log_likelihood\(params, data\) here"):
        Model(lambda p: -p["x"], NORMAL, data=np.ones(3))
    with pytest.raises(BadType, match="log_likelihood is a float, not a function"):
        Model(3.0, NORMAL)
