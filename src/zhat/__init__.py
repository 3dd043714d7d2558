"""How strongly do the data support a model, and this one rather than that one? Model evidence with standard errors.

    zhat.evidence(model)            the evidence of one model
    zhat.compare({...})             several models side by side

Methods, models and results are names of this module. Settings of methods are in `zhat.kernels`, `zhat.schedules`,
`zhat.proposals` and `zhat.settings`; latent Gaussian models in `zhat.latent`; pictures in `zhat.plots`; what functions return in `zhat.types`; exceptions in
`zhat.errors`; examples with known evidence in `zhat.zoo`.
"""

from zhat import classical, errors, families, kernels, latent, methods, plots, priors, proposals, schedules, settings, types, zoo
from zhat import compile_cache as _compile_cache
from zhat.adapters.formula.door import formula
from zhat.comparing.averaging import average, predict
from zhat.comparing.compare import compare
from zhat.comparing.comparison import Comparison
from zhat.comparing.savage_dickey import savage_dickey
from zhat.comparing.sensitivity import sensitivity
from zhat.methods._base import Method
from zhat.methods.annealed import AIS
from zhat.methods.bridge import Bridge
from zhat.methods.chib import Chib
from zhat.methods.chib_jeliazkov import ChibJeliazkov
from zhat.methods.exact import Exact
from zhat.methods.harmonic import HarmonicMean
from zhat.methods.importance import Importance
from zhat.methods.inla import INLA
from zhat.methods.laplace import Laplace
from zhat.methods.laplace_metropolis import LaplaceMetropolis
from zhat.methods.nested import NestedSampling
from zhat.methods.power_posterior import PowerPosterior
from zhat.methods.prior_mean import PriorMean
from zhat.methods.reciprocal import Reciprocal
from zhat.methods.smc import SMC
from zhat.methods.stepping_stone import SteppingStone
from zhat.methods.variational import Variational
from zhat.model.model import Conditional, Model
from zhat.results.estimate import Evidence, Level, Status
from zhat.run.crosscheck import Crosscheck, crosscheck
from zhat.run.distribution.pool import LocalPool
from zhat.run.estimate import evidence, read
from zhat.run.from_draws import proposal_from_draws
from zhat.run.many_models import evidences
from zhat.run.sandwich import Sandwich, sandwich
from zhat.sampling.backend.loop import Budget
from zhat.spaces.jump import Move, jump
from zhat.spaces.subsets import Subsets

_compile_cache.switch_on()

__version__ = "0.1.0"

__all__ = [
    "AIS",
    "INLA",
    "SMC",
    "Bridge",
    "Budget",
    "Chib",
    "ChibJeliazkov",
    "Comparison",
    "Conditional",
    "Crosscheck",
    "Evidence",
    "Exact",
    "HarmonicMean",
    "Importance",
    "Laplace",
    "LaplaceMetropolis",
    "Level",
    "LocalPool",
    "Method",
    "Model",
    "Move",
    "NestedSampling",
    "PowerPosterior",
    "PriorMean",
    "Reciprocal",
    "Sandwich",
    "Status",
    "SteppingStone",
    "Subsets",
    "Variational",
    "average",
    "classical",
    "compare",
    "crosscheck",
    "errors",
    "evidence",
    "evidences",
    "families",
    "formula",
    "jump",
    "kernels",
    "latent",
    "methods",
    "plots",
    "predict",
    "priors",
    "proposal_from_draws",
    "proposals",
    "read",
    "sandwich",
    "savage_dickey",
    "schedules",
    "sensitivity",
    "settings",
    "types",
    "zoo",
]
