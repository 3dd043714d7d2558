"""Default priors of regressions, for `zhat.formula`; each has its name in the literature.

    zhat.formula("strength ~ density", data=df, prior=zhat.priors.UnitInformation())

What belongs here: every class that the argument `prior` takes.
"""

from zhat.model.regression.priors import JZS, NormalGamma, Prior, Reference, ScaledNormal, UnitInformation, ZellnerSiow

__all__ = ["JZS", "NormalGamma", "Prior", "Reference", "ScaledNormal", "UnitInformation", "ZellnerSiow"]
