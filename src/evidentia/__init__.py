"""How strongly do my data support this model against that one? Model evidence with honest errors."""

from evidentia import compile_cache as _compile_cache
from evidentia import plots, zoo
from evidentia.average import average, predict
from evidentia.compare import compare
from evidentia.comparison import Comparison
from evidentia.estimate import evidence, read
from evidentia.evidences import evidences
from evidentia.methods._base import Method
from evidentia.methods._base import registry as methods
from evidentia.methods.annealed import AIS
from evidentia.methods.chib import Chib
from evidentia.methods.chib_jeliazkov import ChibJeliazkov
from evidentia.methods.harmonic import HarmonicMean
from evidentia.methods.importance import Importance
from evidentia.methods.laplace import Laplace
from evidentia.methods.laplace_metropolis import LaplaceMetropolis
from evidentia.methods.nested import NestedSampling
from evidentia.methods.power_posterior import PowerPosterior
from evidentia.methods.prior_mean import PriorMean
from evidentia.methods.smc import SMC
from evidentia.methods.stepping_stone import SteppingStone
from evidentia.model import Conditional, Model
from evidentia.result import Evidence, Level, Status
from evidentia.sampling.loop import Budget
from evidentia.sampling.own_draws import proposal_from_draws
from evidentia.sandwich import Sandwich, sandwich
from evidentia.sensitivity import sensitivity
from evidentia.spaces.jump import Move, jump
from evidentia.spaces.subsets import Subsets
from evidentia.spread.pool import LocalPool

_compile_cache.switch_on()

__version__ = "0.1.0"

__all__ = [
    "AIS",
    "SMC",
    "Budget",
    "Chib",
    "ChibJeliazkov",
    "Comparison",
    "Conditional",
    "Evidence",
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
    "Sandwich",
    "Status",
    "SteppingStone",
    "Subsets",
    "average",
    "compare",
    "evidence",
    "evidences",
    "jump",
    "methods",
    "plots",
    "predict",
    "proposal_from_draws",
    "read",
    "sandwich",
    "sensitivity",
    "zoo",
]
