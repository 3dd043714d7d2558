"""Stan models: the methods of BridgeStan on a normal mean that is known exactly, and (slow) on a program that is compiled here."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import zhat
from zhat.errors import BadInput, BadType
from zhat.sampling.backend.backend import constrain_batch

STAN = Path(__file__).parent / "stan"
Y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])


class ByHand:
    """mu ~ N(0, 2), sd ~ Exponential(1), y ~ N(mu, sd); a 2 x 3 matrix of standard normals that the data do not depend on."""

    def __init__(self, likelihood=True, mass=1.0, names=None):
        self.likelihood, self.mass, self.names = likelihood, mass, names

    def param_names(self):
        return self.names or ["mu", "sd", *(f"m.{i}.{j}" for j in (1, 2, 3) for i in (1, 2))]

    def param_unc_names(self):
        return self.param_names()

    def param_unc_num(self):
        return 8

    def log_density(self, u, *, propto=True, jacobian=True):
        assert propto is False
        if np.exp(u[1]) > 1e8:
            raise RuntimeError("domain_error: sd is too large")
        value = (
            stats.norm.logpdf(u[0], 0, 2) - np.exp(u[1]) + jacobian * u[1] + stats.norm.logpdf(u[2:]).sum() + np.log(self.mass)
        )
        return value + self.likelihood * stats.norm.logpdf(Y, u[0], np.exp(u[1])).sum()

    def param_constrain(self, u):
        return np.array([u[0], np.exp(u[1]), *u[2:]])

    def param_unconstrain(self, x):
        with np.errstate(invalid="ignore"):
            return np.array([x[0], np.log(x[1]), *x[2:]])


def test_densities_names_and_shapes():
    matrix = np.arange(6.0).reshape(2, 3) / 10
    prior = stats.norm.logpdf(0.3, 0, 2) - 0.8 + stats.norm.logpdf(matrix).sum()
    likelihood = stats.norm.logpdf(Y, 0.3, 0.8).sum()
    joint = zhat.Model.from_stan(ByHand())
    assert [(site.name, site.shape) for site in joint.space.sites] == [("mu", ()), ("sd", ()), ("m", (2, 3))]
    np.testing.assert_allclose(joint.evaluate(mu=0.3, sd=0.8, m=matrix), (0.0, prior + likelihood), rtol=1e-12)
    split = zhat.Model.from_stan(ByHand(), prior_only=ByHand(likelihood=False))
    np.testing.assert_allclose(split.evaluate(mu=0.3, sd=0.8, m=matrix), (prior, likelihood), rtol=1e-12)
    u = np.random.default_rng(0).normal(size=(5, 8))
    for model in (joint, split):
        params, _ = constrain_batch(model, u)
        np.testing.assert_allclose(params["m"][2], u[2, 2:].reshape(3, 2).T, rtol=1e-14)  # Stan writes matrices by columns


def draws(model, n=1500):
    """Draws of the posterior by the importance weights of a wide normal; good enough to test the way in."""
    rng = np.random.default_rng(2)
    u = rng.standard_t(5, size=(80_000, 8)) * [0.7, 0.5, *np.ones(6)] + [0.7, 0.0, *np.zeros(6)]
    stan = ByHand()
    prior = stats.norm.logpdf(u[:, 0], 0, 2) - np.exp(u[:, 1]) + u[:, 1] + stats.norm.logpdf(u[:, 2:]).sum(axis=1)
    target = prior + stats.norm.logpdf(Y[:, None], u[:, 0], np.exp(u[:, 1])).sum(axis=0)
    proposal = stats.t.logpdf((u - [0.7, 0.0, *np.zeros(6)]) / [0.7, 0.5, *np.ones(6)], 5).sum(axis=1)
    weight = np.exp(target - proposal - (target - proposal).max())
    rows = np.unique(rng.choice(len(u), 4 * n, p=weight / weight.sum()))
    rows = rng.permutation(rows)[: 4 * (len(rows) // 4)].reshape(4, -1)
    kept = np.array([stan.param_constrain(x) for x in u[rows.ravel()]]).reshape(*rows.shape, 8)
    return {"mu": kept[..., 0], "sd": kept[..., 1], "m": kept[..., 2:].reshape(*rows.shape, 3, 2).swapaxes(-1, -2)}


@pytest.mark.slow
def test_the_evidence_comes_from_draws():
    from scipy import integrate

    def joint(s, mu):
        return np.exp(stats.norm.logpdf(mu, 0, 2) - s + stats.norm.logpdf(Y, mu, s).sum())

    truth = np.log(integrate.dblquad(joint, -8, 8, 1e-3, 30)[0])
    model = zhat.Model.from_stan(ByHand(), prior_only=ByHand(likelihood=False))
    result = zhat.evidence(model, draws=draws(model), seed=1, progress=False)
    assert abs(result.log_evidence - truth) < 0.05


def test_methods_from_the_prior_are_refused_with_the_way_out():
    with pytest.raises(BadInput, match="draws="):
        zhat.evidence(zhat.Model.from_stan(ByHand()), "smc", seed=1, progress=False)


@pytest.mark.parametrize("value", [None, "model.stan", object(), zhat.zoo.example("E1").model])
def test_what_lacks_the_methods_is_refused(value):
    with pytest.raises(BadType, match=r"has no param_names, .*: load the program with bridgestan.StanModel"):
        zhat.Model.from_stan(value)
    with pytest.raises(BadType, match=r"prior_only is an object with BridgeStan's methods, and this"):
        zhat.Model.from_stan(ByHand(), prior_only=value or 3)


def test_other_bad_objects_are_refused_with_a_sentence():
    class Broken(ByHand):
        def log_density(self, u, *, propto=True, jacobian=True):
            raise RuntimeError("Exception: normal_lpdf: Scale parameter is 0\n  in line 3")

    with pytest.raises(BadInput, match=r"the log density of the model is not finite at any of 20 points.*Scale parameter is 0"):
        zhat.Model.from_stan(Broken())
    with pytest.raises(BadInput, match=r"prior_only has the same density as the model"):
        zhat.Model.from_stan(ByHand(), prior_only=ByHand())
    with pytest.raises(BadInput, match=r"prior_only has other parameters"):
        zhat.Model.from_stan(ByHand(), prior_only=ByHand(names=["a", "b", *(f"c.{i}" for i in range(1, 7))]))
    with pytest.raises(BadInput, match=r"parameter 'z.real' of this Stan program is a tuple or a complex number"):
        zhat.Model.from_stan(ByHand(names=["z.real", "z.imag", *(f"c.{i}" for i in range(1, 7))]))
    with pytest.raises(BadInput, match=r"do not agree with its param_names"):
        zhat.Model.from_stan(ByHand(names=["a", "b"]))
    with pytest.raises(BadInput, match=r"no parameters: a model needs at least one"):
        ByHand.param_names, kept = (lambda self: []), ByHand.param_names
        try:
            zhat.Model.from_stan(ByHand())
        finally:
            ByHand.param_names = kept


# -- a program that is compiled --------------------------------------------------------------------------------------


def compiled_module():
    spec = importlib.util.spec_from_file_location("stan_compiled", STAN / "compiled.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCHOOLS = {
    "n": 8,
    "y": [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0],
    "se": [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0],
}
# log Z of eight schools, mu ~ N(0, 5), tau ~ HalfCauchy(5), with theta integrated out by quadrature; see `truth`.


def truth():
    from scipy import integrate

    y, se = np.array(SCHOOLS["y"]), np.array(SCHOOLS["se"])

    def joint(mu, tau):
        likelihood = stats.norm.logpdf(y, mu, np.hypot(se, tau)).sum()
        return np.exp(stats.norm.logpdf(mu, 0, 5) + stats.halfcauchy.logpdf(tau, scale=5) + likelihood + 31)

    return np.log(integrate.dblquad(joint, 0, np.inf, -40, 40)[0]) - 31


@pytest.fixture(scope="module")
def stan():
    module = compiled_module()
    if module.httpstan() is None:
        pytest.skip("httpstan, which has stanc and Stan's headers, is not installed")
    return lambda **flags: module.StanModel(STAN / "schools.stan", {**SCHOOLS, **flags})


def posterior(model, n_chains=4, n=3000):
    """Draws of a Stan density by NumPyro-free means: random-walk Metropolis with a fitted scale, long and thinned."""
    rng = np.random.default_rng(5)
    d = model.param_unc_num()
    factor = np.diag([3.0, 1.0, *np.ones(d - 2)])
    chains = []
    for _ in range(n_chains):
        u, kept = np.zeros(d), []
        u[1] = 1.0
        value = model.log_density(u, propto=False, jacobian=True)
        for step in range(40 * n):
            if step in (4 * n, 8 * n):
                factor = np.linalg.cholesky(np.cov(np.array(kept[-3 * n :]).T) + 1e-6 * np.eye(d))
            scale = 2.38 / np.sqrt(d) * rng.choice([0.3, 1.0])
            v = u + scale * factor @ rng.normal(size=d)
            new = model.log_density(v, propto=False, jacobian=True)
            if np.log(rng.random()) < new - value:
                u, value = v, new
            kept.append(u)
        chains.append(np.array([model.param_constrain(x) for x in kept[10 * n :: 30]]))
    values = np.stack(chains)
    return {"mu": values[..., 0], "tau": values[..., 1], "z": values[..., 2:]}


@pytest.mark.slow
def test_a_compiled_program_has_the_densities_of_scipy(stan):
    model = zhat.Model.from_stan(stan(prior_only=0, truncation=1), prior_only=stan(prior_only=1, truncation=1))
    z = np.linspace(-1, 1, 8)
    log_prior, log_likelihood = model.evaluate(mu=1.3, tau=2.4, z=z)
    exact = stats.norm.logpdf(1.3, 0, 5) + stats.halfcauchy.logpdf(2.4, scale=5) + stats.norm.logpdf(z).sum()
    np.testing.assert_allclose(log_prior, exact, rtol=1e-12)
    np.testing.assert_allclose(log_likelihood, stats.norm.logpdf(SCHOOLS["y"], 1.3 + 2.4 * z, SCHOOLS["se"]).sum(), rtol=1e-12)
    u = np.random.default_rng(0).normal(size=(4, 10))
    params, _ = constrain_batch(model, u)
    np.testing.assert_allclose(params["tau"], np.exp(u[:, 1]), rtol=1e-12)


@pytest.mark.slow
def test_a_compiled_program_has_the_right_evidence_and_the_trap_is_seen(stan):
    whole, prior = stan(prior_only=0, truncation=0), stan(prior_only=1, truncation=0)
    result = zhat.evidence(zhat.Model.from_stan(whole), draws=posterior(whole), seed=1, progress=False)
    assert result.status.level.value != "failed"
    # cauchy(0, 5) on tau > 0 without its truncation: half of the prior's mass is missing ...
    assert abs(result.log_evidence - (truth() - np.log(2))) < 5 * (result.log_evidence_se or 0.02)
    # ... and the evidence of the prior alone says so.
    mass = zhat.evidence(zhat.Model.from_stan(prior), draws=posterior(prior), seed=1, progress=False)
    assert abs(mass.log_evidence + np.log(2)) < 0.1
    print(result, mass, truth())


def test_compiled_module_is_importable():
    assert compiled_module().FLAGS and "stan_compiled" not in sys.modules
