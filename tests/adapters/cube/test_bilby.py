"""bilby: likelihood and priors as a model, against closed forms; what is refused."""

import numpy as np
import pytest
import scipy.stats as st

import zhat
from zhat import Model
from zhat.errors import BadInput, BadType

bilby = pytest.importorskip("bilby")
from bilby.core.prior import (  # noqa: E402
    ConditionalPriorDict,
    ConditionalUniform,
    Constraint,
    DeltaFunction,
    Gaussian,
    PriorDict,
    Uniform,
)

pytestmark = [pytest.mark.xdist_group("prior transform"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]

X, Y = np.linspace(0.0, 3.0, 10), np.array([0.1, 0.9, 0.8, 1.9, 1.8, 2.2, 2.0, 2.9, 2.9, 3.6])


class Line(bilby.Likelihood):
    def log_likelihood(self, parameters):
        mean = parameters["slope"] * X + parameters["intercept"]
        return float(-0.5 * np.sum((Y - mean) ** 2) / 0.25 - 5.0 * np.log(2 * np.pi * 0.25))


def gaussians():
    return PriorDict(
        {
            "slope": Gaussian(0.0, 2.0, name="slope", latex_label="$m$", unit="km/s"),
            "intercept": Gaussian(0.0, 3.0, name="intercept", latex_label="$c$"),
        }
    )


def truth(variances):
    basis = np.stack([X, np.ones_like(X)])
    return float(st.multivariate_normal(np.zeros(10), 0.25 * np.eye(10) + (basis.T * variances) @ basis).logpdf(Y))


def test_the_evidence_labels_and_draws():
    model = Model.from_bilby(Line(), gaussians(), name="line")
    assert model.labels == {"slope": "$m$", "intercept": "$c$"}
    assert model.units == {"slope": "km/s"}
    found = zhat.evidence(model, zhat.Importance(n_draws=4000), seed=1)
    assert abs(found.log_evidence - truth([4.0, 9.0])) < 4.5 * found.log_evidence_se
    assert set(found.record.parameters) == {"slope", "intercept"}
    assert found.label("slope") == "$m$ [km/s]"


def test_fixed_parameters_go_to_the_likelihood():
    priors = gaussians()
    priors["intercept"] = DeltaFunction(0.4)
    model = Model.from_bilby(Line(), priors)
    assert model.space.names == ("slope",)
    found = zhat.evidence(model, zhat.Importance(n_draws=2000), seed=1)
    exact = st.multivariate_normal(np.full(10, 0.4), 0.25 * np.eye(10) + 4.0 * np.outer(X, X)).logpdf(Y)
    assert abs(found.log_evidence - exact) < 4.5 * found.log_evidence_se


def test_a_constraint_normalises_the_prior():
    priors = PriorDict({"a": Uniform(0, 1), "b": Uniform(0, 1), "sum": Constraint(0, 1)}, conversion_function=add)

    class Flat(bilby.Likelihood):
        def log_likelihood(self, parameters):
            return 0.0

    found = zhat.evidence(Model.from_bilby(Flat(), priors), zhat.PriorMean(n_draws=20_000), seed=1)
    # Half of the square is left, and the prior on it is twice as high: Z = 1, where rescale alone would give 1/2.
    assert abs(found.log_evidence) < 4.5 / np.sqrt(20_000)


def add(parameters):
    return {**parameters, "sum": parameters["a"] + parameters["b"]}


def test_conditional_priors():
    def up_to_a(reference_params, a):
        return {"minimum": 0.0, "maximum": a}

    priors = ConditionalPriorDict(
        {"a": Uniform(0, 2), "b": ConditionalUniform(condition_func=up_to_a, minimum=0, maximum=2, name="b")}
    )

    class Power(bilby.Likelihood):
        def log_likelihood(self, parameters):
            return float(np.log(parameters["b"]))

    model = Model.from_bilby(Power(), priors)
    found = zhat.evidence(model, zhat.PriorMean(n_draws=4000), seed=3)  # E b = E a / 2 = 1/2
    assert abs(found.log_evidence - np.log(0.5)) < 4.5 * found.log_evidence_se
    assert (found.record.parameters["b"] <= found.record.parameters["a"]).all()


def test_posterior_draws_go_in():
    rng = np.random.default_rng(1)
    basis = np.stack([X, np.ones_like(X)])
    covariance = np.linalg.inv(np.diag([1 / 4.0, 1 / 9.0]) + basis @ basis.T / 0.25)
    draws = rng.multivariate_normal(covariance @ basis @ Y / 0.25, covariance, size=(4, 500))
    found = zhat.evidence(
        Model.from_bilby(Line(), gaussians()), draws={"slope": draws[..., 0], "intercept": draws[..., 1]}, seed=1
    )
    assert abs(found.log_evidence - truth([4.0, 9.0])) < 4.5 * found.log_evidence_se


def test_a_likelihood_that_keeps_its_parameters():
    class Old:
        parameters: dict = {}

        def log_likelihood(self):
            return Line().log_likelihood(self.parameters)

    a, b = (Model.from_bilby(likelihood, gaussians()) for likelihood in (Old(), Line()))
    runs = [zhat.evidence(model, zhat.PriorMean(n_draws=500), seed=1).log_evidence for model in (a, b)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("priors", "sentence"),
    [
        ([1.0], "priors is a list: give a bilby PriorDict"),
        ({"slope": DeltaFunction(1.0)}, "every prior is a DeltaFunction or a Constraint"),
        (
            PriorDict({"a": Uniform(0, 1), "b": Uniform(0, 1), "sum": Constraint(0, 1e-4)}, conversion_function=add),
            r"the constraints sum leave \S+ of the prior, known to .* Write them as conditional priors",
        ),
    ],
    ids=["no dictionary", "nothing free", "constraint"],
)
def test_priors_that_are_refused(priors, sentence):
    with pytest.raises((BadInput, BadType), match=sentence):
        Model.from_bilby(Line(), priors)


def test_a_joint_prior_is_refused():
    joint = bilby.core.prior.MultivariateGaussianDist(["slope", "intercept"], mus=[0.0, 0.0], covs=[[1.0, 0.3], [0.3, 1.0]])
    priors = PriorDict({name: bilby.core.prior.MultivariateGaussian(joint, name) for name in ("slope", "intercept")})
    with pytest.raises(BadInput, match=r"priors\['slope'\] is part of a joint prior"):
        Model.from_bilby(Line(), priors)


def test_swapped_arguments():
    with pytest.raises(BadType, match="give a bilby Likelihood first, then the priors"):
        Model.from_bilby(gaussians(), gaussians())
