"""Priors of scipy.stats: equal log densities, and a sentence for what has no counterpart."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
import scipy.stats as st

import zhat
from zhat import Model
from zhat.errors import BadInput, BadType
from zhat.model.scipy_priors import as_numpyro

FROZEN = {
    "norm": st.norm(1.3, 2.1),
    "norm by name": st.norm(scale=2.1, loc=-1.0),
    "standard": st.norm(),
    "cauchy": st.cauchy(0.4, 2.0),
    "laplace": st.laplace(-0.4, 0.3),
    "logistic": st.logistic(0.7, 1.9),
    "gumbel_r": st.gumbel_r(0.7, 1.9),
    "t": st.t(4.3, 0.2, 1.7),
    "uniform": st.uniform(-3.0, 7.0),
    "truncnorm": st.truncnorm(-0.5, 2.0, 1.0, 3.0),
    "truncnorm above": st.truncnorm(-0.5, np.inf, 1.0, 3.0),
    "truncnorm below": st.truncnorm(-np.inf, 0.1, 1.0, 3.0),
    "gamma": st.gamma(2.3, scale=0.7),
    "gamma moved": st.gamma(2.3, 1.5, 0.7),
    "erlang": st.erlang(3, scale=0.7),
    "chi2": st.chi2(5, scale=2.0),
    "invgamma": st.invgamma(3.1, scale=2.0),
    "invgamma moved": st.invgamma(3.1, -4.0, 2.0),
    "expon": st.expon(scale=3.0),
    "expon moved": st.expon(2.0, 3.0),
    "halfnorm": st.halfnorm(scale=2.0),
    "halfcauchy": st.halfcauchy(scale=5.0),
    "halfcauchy moved": st.halfcauchy(-1.0, 5.0),
    "lognorm": st.lognorm(0.8, scale=3.0),
    "lognorm moved": st.lognorm(0.8, 1.0, 3.0),
    "weibull_min": st.weibull_min(1.7, scale=2.0),
    "pareto": st.pareto(2.5, scale=2.0),
    "pareto moved": st.pareto(2.5, -1.0, 2.0),
    "loguniform": st.loguniform(0.01, 100.0),
    "loguniform moved": st.loguniform(0.01, 100.0, 5.0, 2.0),
    "beta": st.beta(2.0, 3.5),
    "beta moved": st.beta(2.0, 3.5, -1.0, 4.0),
    "several": st.norm(np.array([0.0, 1.1]), np.array([1.0, 2.3])),
    "several gammas": st.gamma(2.0, scale=np.array([0.1, 2.3])),
}


@pytest.mark.parametrize("name", FROZEN)
def test_log_densities_are_equal(name):
    frozen = FROZEN[name]
    translated = as_numpyro("x", frozen)
    for q in (0.003, 0.2, 0.5, 0.9, 0.9995):
        x = frozen.ppf(q)
        with jax.enable_x64(True):
            ours = np.asarray(translated.log_prob(jnp.asarray(x)))
            assert bool(jnp.all(translated.support(jnp.asarray(x))))
        np.testing.assert_allclose(ours, frozen.logpdf(x), rtol=1e-12, atol=1e-12)


def test_distributions_of_several_numbers():
    x = np.array([0.2, -0.4])
    frozen = st.multivariate_normal([0.1, 0.3], [[2.0, 0.3], [0.3, 1.0]])
    with jax.enable_x64(True):
        assert float(as_numpyro("x", frozen).log_prob(x)) == pytest.approx(frozen.logpdf(x), abs=1e-12)
        share, weights = np.array([0.2, 0.3, 0.5]), st.dirichlet([1.0, 2.0, 3.5])
        assert float(as_numpyro("x", weights).log_prob(share)) == pytest.approx(weights.logpdf(share), abs=1e-12)


@pytest.mark.skipif(not hasattr(st, "Normal"), reason="an older SciPy")
def test_distributions_made_of_classes():
    with jax.enable_x64(True):
        for made in (st.Normal(mu=1.0, sigma=2.0), st.Normal(), st.Uniform(a=-1.0, b=3.0)):
            assert float(as_numpyro("x", made).log_prob(0.3)) == pytest.approx(float(made.logpdf(0.3)), abs=1e-12)
    with pytest.raises(BadInput, match=r"prior\['x'\] is scipy\.stats\.\w+, which has no counterpart"):
        as_numpyro("x", 2.0 * st.Normal() + 1.0)


def log_likelihood(p):
    return -0.5 * (p["mu"] - 1.0) ** 2 - p["tau"]


def test_a_model_with_them_is_the_model_of_their_counterparts():
    ours = Model(log_likelihood, {"mu": st.norm(0, 2), "tau": dist.Gamma(2.0, 1.0)})
    theirs = Model(log_likelihood, {"mu": dist.Normal(0.0, 2.0), "tau": dist.Gamma(2.0, 1.0)})
    runs = [zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=1) for model in (ours, theirs)]
    assert runs[0].log_evidence == runs[1].log_evidence
    by_function = Model(log_likelihood, lambda: {"mu": st.norm(0, 2), "tau": st.gamma(2.0)})
    assert by_function.evaluate(mu=0.3, tau=1.0) == pytest.approx(ours.evaluate(mu=0.3, tau=1.0), abs=1e-12)
    box = Model.black_box(log_likelihood, {"mu": st.norm(0, 2), "tau": st.gamma(2.0)})
    assert box.evaluate(mu=0.3, tau=1.0) == pytest.approx(ours.evaluate(mu=0.3, tau=1.0), abs=1e-12)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (st.triang(0.3), r"scipy\.stats\.triang, which has no counterpart .*from_prior_transform\("),
        (st.norm, r"is the family scipy\.stats\.norm, not one distribution of it: give its arguments"),
        (st.poisson(3.0), r"parameter 'x' is discrete \(scipy\.stats\.poisson\)"),
        (st.norm(0.0, -1.0), r"scipy\.stats\.norm with arguments that make no distribution .* scale is positive"),
        (st.gamma(np.nan), r"scipy\.stats\.gamma with arguments that make no distribution"),
        (st.wishart(3, np.eye(2)), r"scipy\.stats\.wishart_frozen, which has no counterpart"),
    ],
    ids=["triangular", "family", "discrete", "negative scale", "NaN shape", "Wishart"],
)
def test_what_has_no_counterpart_is_refused(bad, sentence):
    with pytest.raises((BadInput, BadType), match=sentence):
        Model(lambda p: -p["x"], {"x": bad})
