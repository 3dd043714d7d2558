"""From a formula and a table to an evidence: known numbers, R's BayesFactor, sampled against exact, priors that are shared."""

from __future__ import annotations

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import zhat
from zhat import zoo

pd = pytest.importorskip("pandas")
pytest.importorskip("formulaic")


@pytest.fixture(scope="module")
def pine():
    return pd.DataFrame(zoo.load("radiata_pine_friel_wyse"))


@pytest.fixture(scope="module")
def women():
    """The first 120 women of the Pima data, with three factors."""
    d = pd.DataFrame(zoo.load("pima_indians")).iloc[:120].copy()
    d["sick"] = np.where(d.diabetes == 1, "yes", "no")
    d["band"] = np.where(d.AGE < 25, "young", np.where(d.AGE < 35, "middle", "old"))
    d["fat"] = np.where(d.TST > 30, "high", "low")
    return d


# -- the same numbers as R ------------------------------------------------------------------------------------------------

# R 4.2.2, BayesFactor 0.9.12-4.4: log(lmBF(formula, data)) on the table of `women`; the second number is R's proportional error of the
# Bayes factor, with 2e5 iterations where it samples.
BAYES_FACTOR = [
    ("BMI ~ AGE", {}, -1.1562933596, 0.0),
    ("BMI ~ AGE + BP + TST", {}, 37.0972221426, 0.0),
    ("BMI ~ AGE + BP", {"slopes": 1.0}, -2.4921519785, 0.0),
    ("BMI ~ AGE*BP", {}, -1.7071437712, 0.0),
    ("BMI ~ sick", {}, 2.4668801322, 0.0),
    ("BMI ~ band", {}, -1.2326593527, 0.0003),
    ("BMI ~ sick + band", {}, 0.5388028213, 0.00284),
    ("BMI ~ sick*AGE", {}, -0.0818079112, 0.00858),
]


@pytest.mark.parametrize(("formula", "scales", "log_bf", "error"), BAYES_FACTOR)
def test_linear_models_have_the_bayes_factors_of_r(women, formula, scales, log_bf, error):
    result = zhat.evidence(zhat.formula(formula, data=women, prior=zhat.priors.JZS(**scales)))
    assert result.method == "exact"
    assert result.status.is_ok
    assert abs(result.log_evidence - log_bf) < max(1e-8, 4 * error)


# -- known evidences --------------------------------------------------------------------------------------------------------


def test_pine_with_the_conjugate_prior_of_the_review(pine):
    columns = {"density": 185.0, "adjusted_density": 185.0, "Intercept": 3000.0}
    precision = {"density": 6.0, "adjusted_density": 6.0, "Intercept": 0.06}
    prior = zhat.priors.NormalGamma(3.0, 180_000.0, precision=precision, mean=columns)
    models = {c: zhat.formula(f"strength ~ {c}", data=pine, prior=prior) for c in ("density", "adjusted_density")}
    comparison = zhat.compare(models)
    assert comparison.evidences["density"].log_evidence == pytest.approx(-310.12829, abs=1e-5)
    assert comparison.evidences["adjusted_density"].log_evidence == pytest.approx(-301.70460, abs=1e-5)
    assert np.exp(comparison.log_bayes_factor("adjusted_density", "density").value) == pytest.approx(4553.6455, abs=1e-3)


def test_pine_with_independent_priors(pine):
    priors = {"Intercept": dist.Normal(3000.0, 1000.0), "precision": dist.Gamma(3.0, 180_000.0)}
    model = zhat.formula("strength ~ density", data=pine, priors={**priors, "density": dist.Normal(185.0, 100.0)})
    exact = zhat.evidence(model)
    assert exact.method == "exact"
    assert exact.log_evidence == pytest.approx(zoo.pine("density", "friel_wyse", "green_ohagan").log_evidence, abs=1e-9)


def test_pima_has_the_known_evidence():
    table = pd.DataFrame(zoo.load("pima_indians"))
    prior = zhat.priors.ScaledNormal(slopes=10.0, intercept=10.0)  # the review's tau = 0.01 on standardised columns
    model = zhat.formula("diabetes ~ NP + PGC + BMI + DP", data=table, family="bernoulli", prior=prior)
    result = zhat.evidence(model, "importance", seed=1)
    assert result.status.is_ok
    assert abs(result.log_evidence + 257.2323) < 4.5 * np.hypot(result.log_evidence_se, 0.0003)


# -- sampled and exact are one model ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "prior"),
    [
        ("BMI ~ AGE", zhat.priors.JZS()),
        pytest.param("BMI ~ AGE + TST", zhat.priors.JZS(), marks=pytest.mark.slow),
        pytest.param("BMI ~ sick*band", zhat.priors.JZS(), marks=pytest.mark.slow),
        pytest.param("BMI ~ sick + AGE", zhat.priors.JZS(), marks=pytest.mark.slow),
        pytest.param("BMI ~ sick + AGE", zhat.priors.ZellnerSiow(), marks=pytest.mark.slow),
        pytest.param("BMI ~ sick*AGE", zhat.priors.UnitInformation(), marks=pytest.mark.slow),
        pytest.param("BMI ~ 0 + AGE + TST", zhat.priors.JZS(), marks=pytest.mark.slow),
        pytest.param("BMI ~ AGE", zhat.priors.ScaledNormal(), marks=pytest.mark.slow),
        pytest.param("BMI ~ AGE", zhat.priors.NormalGamma(2.0, 30.0, precision=0.1, mean=1.0), marks=pytest.mark.slow),
    ],
)
def test_a_sampled_answer_agrees_with_the_exact_one(women, formula, prior):
    model = zhat.formula(formula, data=women, prior=prior)
    exact, sampled = zhat.evidence(model), zhat.evidence(model, zhat.SMC(n_particles=1000), seed=2)
    assert exact.method == "exact"
    assert sampled.status.is_ok
    assert abs(sampled.log_evidence - exact.log_evidence) < 4.5 * sampled.log_evidence_se


def test_the_likelihood_is_the_density_of_the_data(women):
    """The sums that the model works with give the same as one row at a time."""
    model = zhat.formula("BMI ~ AGE", data=women, prior=zhat.priors.ScaledNormal())
    at = {"sigma": 6.0, "Intercept": 32.0, "AGE": 0.1}
    _, log_likelihood = model.evaluate(**at)
    fitted = 32.0 + 0.1 * (women.AGE - women.AGE.mean())
    by_rows = stats.norm.logpdf(women.BMI, fitted, 6.0).sum()
    assert log_likelihood == pytest.approx(by_rows, rel=1e-12)
    relative = zhat.formula("BMI ~ AGE", data=women)
    _, ratio = relative.evaluate(**at, g=1.0)
    assert ratio == pytest.approx(by_rows - stats.norm.logpdf(women.BMI, 32.0, 6.0).sum(), rel=1e-9)


# -- families -----------------------------------------------------------------------------------------------------------------


def test_counts_with_an_offset_and_a_factor(women):
    model = zhat.formula("NP ~ sick + offset(log(AGE))", data=women, family="poisson")
    assert model.space.names == ("Intercept", "sick[T.yes]")
    _, found = model.evaluate(**{"Intercept": -2.0, "sick[T.yes]": 0.3})
    yes = (women.sick == "yes").to_numpy(float)
    mean = np.exp(-2.0 + 0.3 * (yes - yes.mean())) * women.AGE.to_numpy()
    assert found == pytest.approx(stats.poisson.logpmf(women.NP, mean).sum(), rel=1e-9)
    wider = zhat.formula("NP ~ sick + offset(log(AGE))", data=women, family="negative binomial")
    _, found = wider.evaluate(**{"Intercept": -2.0, "sick[T.yes]": 0.3, "size": 1.7})
    assert found == pytest.approx(stats.nbinom.logpmf(women.NP, 1.7, 1.7 / (1.7 + mean)).sum(), rel=1e-9)


def test_successes_out_of_a_column_of_trials():
    table = {"k": [3, 5, 9, 2], "n": [10, 9, 12, 6], "dose": [0.0, 1.0, 2.0, 3.0]}
    model = zhat.formula("k ~ dose", data=table, family=zhat.families.Binomial(trials="n"))
    _, found = model.evaluate(Intercept=0.2, dose=-0.5)
    chance = 1 / (1 + np.exp(-(0.2 - 0.5 * (np.arange(4.0) - 1.5))))
    assert found == pytest.approx(stats.binom.logpmf(table["k"], table["n"], chance).sum(), rel=1e-9)


def test_splines_and_names(women):
    model = zhat.formula("BMI ~ bs(AGE, df=4) + C(sick)", data=women, prior=zhat.priors.UnitInformation())
    assert model.described.columns[:2] == ("bs(AGE, df=4)[1]", "bs(AGE, df=4)[2]")
    assert zhat.evidence(model).status.is_ok


# -- comparing ----------------------------------------------------------------------------------------------------------------


def test_common_coefficients_share_their_priors(women):
    small = zhat.formula("diabetes ~ AGE", data=women, family="bernoulli")
    large = zhat.formula("diabetes ~ AGE + BMI", data=women, family="bernoulli")
    for name in ("Intercept", "AGE"):
        assert float(small.prior[name].scale) == float(large.prior[name].scale)
        assert float(small.prior[name].loc) == float(large.prior[name].loc)


def test_conventions_are_not_mixed(women):
    relative = zhat.formula("BMI ~ AGE", data=women)
    absolute = zhat.formula("BMI ~ AGE + TST", data=women, prior=zhat.priors.ScaledNormal())
    with pytest.raises(zhat.errors.BadInput, match=r"relative to the model with the intercept alone.*density"):
        zhat.compare({"a": relative, "b": absolute})
    kept = {"a": zhat.evidence(relative), "b": zhat.evidence(absolute)}
    with pytest.raises(zhat.errors.BadInput, match="different kinds"):
        zhat.compare(kept)
    without = zhat.formula("BMI ~ 0 + AGE", data=women)
    with pytest.raises(zhat.errors.BadInput, match="pure noise around zero"):
        zhat.compare({"a": relative, "b": without})
    counts = zhat.formula("NP ~ AGE", data=women, family="poisson")
    with pytest.raises(zhat.errors.BadInput, match="a probability of the response"):
        zhat.compare({"a": counts, "b": zhat.formula("NP ~ AGE", data=women, prior=zhat.priors.ScaledNormal())})


def test_the_same_formula_twice_is_one_model(women):
    with pytest.raises(zhat.errors.BadInput, match="same model"):
        zhat.compare({"a": zhat.formula("BMI ~ AGE", data=women), "b": zhat.formula("BMI ~ AGE", data=women)})


def test_the_scale_of_the_prior_is_a_hyperparameter(women):
    model = zhat.formula("BMI ~ AGE", data=women)
    curve = zhat.sensitivity(model, "slopes", [0.1, 0.35, 1.0], seed=1)
    by_hand = zhat.evidence(zhat.formula("BMI ~ AGE", data=women, prior=zhat.priors.JZS(slopes=1.0)))
    assert curve.log_evidence[-1] == pytest.approx(by_hand.log_evidence, abs=1e-9)


def test_priors_are_told(women):
    text = zhat.evidence(zhat.formula("BMI ~ AGE", data=women)).explain()
    assert "JZS" in text
    assert "Rouder & Morey 2012" in text
    result = zhat.evidence(
        zhat.formula("diabetes ~ AGE", data=women, family="bernoulli", priors={"AGE": dist.Normal(0, 2)}), "laplace"
    )
    assert "AGE ~ Normal(0, 2)" in result.explain()
    assert "gelman2008" in result.cites


# -- many rows ------------------------------------------------------------------------------------------------------------


def test_one_mode_is_known_from_family_and_priors(women):
    logistic = zhat.formula("diabetes ~ AGE + BP", data=women, family="bernoulli")
    assert "log-concave" in logistic.one_mode
    assert not zhat.formula("diabetes ~ AGE", data=women, family="bernoulli", priors={"AGE": dist.StudentT(3.0)}).one_mode
    assert not zhat.formula("AGE ~ BP", data=women, family="negative binomial").one_mode


def test_a_large_logistic_regression_searches_for_one_mode_and_is_less_precise():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(170_000, 3))
    chance = 1.0 / (1.0 + np.exp(-0.4 - x @ [0.5, -0.2, 0.0]))
    table = pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=(rng.random(len(x)) < chance).astype(float))
    model = zhat.formula("y ~ a + b + c", data=table, family="bernoulli")
    result = zhat.evidence(model, seed=1)
    assert result.status.is_ok
    assert result.cost.n_likelihood < 5000
    assert result.cost.n_hessian < 20
    assert "no other mode" in result.why_this_method
    assert "one mode" in result.explain()
    laplace = zhat.evidence(model, "laplace", seed=1)  # exact to thousandths with so many rows
    assert abs(result.log_evidence - laplace.log_evidence) < 4 * result.log_evidence_se + 0.005
