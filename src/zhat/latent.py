"""Latent Gaussian models: effects and observations in words, `model` puts them together, `INLA` integrates them.

    from zhat import latent
    model = latent.model(counts, [latent.RW1(name="x", sd=dist.Exponential(4.6), start=2.0)], latent.Poisson())
    zhat.evidence(model, "inla")

* Effects: `Intercept`, `Fixed` (covariates), `IID`, `RW1`, `RW2`, `AR1`, `Seasonal`, `Besag`.
* Observations: `Gaussian`, `Poisson`, `Binomial`, `NegativeBinomial`, `StochasticVolatility`.
* `marginals(result)`: posterior means, standard deviations and intervals of every latent value and of the others.
* `Latent`: what such a model declares; ``Model(..., latent=("alpha", "b"))`` declares names alone.
"""

from zhat.model.fields.build import model
from zhat.model.fields.declared import Latent
from zhat.model.fields.observations import Binomial, Gaussian, NegativeBinomial, Observation, Poisson, StochasticVolatility
from zhat.model.fields.terms import AR1, IID, RW1, RW2, Besag, Effects, Fixed, Intercept, Seasonal, Term
from zhat.results.marginals import Marginals, marginals

__all__ = [
    "AR1",
    "IID",
    "RW1",
    "RW2",
    "Besag",
    "Binomial",
    "Effects",
    "Fixed",
    "Gaussian",
    "Intercept",
    "Latent",
    "Marginals",
    "NegativeBinomial",
    "Observation",
    "Poisson",
    "Seasonal",
    "StochasticVolatility",
    "Term",
    "marginals",
    "model",
]
