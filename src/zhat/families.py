"""Families of responses, for `zhat.formula`.

    zhat.formula("diabetes ~ age + bmi", data=df, family=zhat.families.Bernoulli())

What belongs here: every class that the argument `family` takes.
"""

from zhat.model.regression.families import Bernoulli, Binomial, Family, Gaussian, NegativeBinomial, Poisson

__all__ = ["Bernoulli", "Binomial", "Family", "Gaussian", "NegativeBinomial", "Poisson"]
