"""How strongly do the data support a model, and this one rather than that one? Model evidence with standard errors.

    zhat.evidence(model)            the evidence of one model
    zhat.compare({...})             several models side by side

Methods, models and results are names of this module. Settings of methods are in `zhat.kernels`, `zhat.schedules`,
`zhat.proposals` and `zhat.settings`; latent Gaussian models in `zhat.latent`; pictures in `zhat.plots`; what functions return in `zhat.types`; exceptions in
`zhat.errors`; examples with known evidence in `zhat.zoo`.

A first answer needs half of the modules; the others are imported when one of their names is used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from zhat import compile_cache as _compile_cache
from zhat import errors, kernels, methods, proposals, schedules
from zhat.methods._base import Method
from zhat.methods.bridge import Bridge
from zhat.methods.exact import Exact
from zhat.methods.importance import Importance
from zhat.methods.inla import INLA
from zhat.methods.nested import NestedSampling
from zhat.methods.smc import SMC
from zhat.model.model import Conditional, Model
from zhat.results.estimate import Evidence, Level, Status
from zhat.run.distribution.pool import LocalPool
from zhat.run.estimate import evidence, read
from zhat.run.from_draws import proposal_from_draws
from zhat.sampling.backend.loop import Budget

if _TYPE_CHECKING:
    from zhat import classical, families, latent, plots, priors, settings, types, zoo
    from zhat.adapters.formula.door import formula
    from zhat.comparing.averaging import average, predict
    from zhat.comparing.compare import compare
    from zhat.comparing.comparison import Comparison
    from zhat.comparing.savage_dickey import savage_dickey
    from zhat.comparing.sensitivity import sensitivity
    from zhat.methods.annealed import AIS
    from zhat.methods.chib import Chib
    from zhat.methods.chib_jeliazkov import ChibJeliazkov
    from zhat.methods.harmonic import HarmonicMean
    from zhat.methods.laplace import Laplace
    from zhat.methods.laplace_metropolis import LaplaceMetropolis
    from zhat.methods.power_posterior import PowerPosterior
    from zhat.methods.prior_mean import PriorMean
    from zhat.methods.reciprocal import Reciprocal
    from zhat.methods.stepping_stone import SteppingStone
    from zhat.methods.variational import Variational
    from zhat.run.crosscheck import Crosscheck, crosscheck
    from zhat.run.many_models import evidences
    from zhat.run.sandwich import Sandwich, sandwich
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

# Where names are that are imported when they are used; modules of this package are found without.
_LATER = {
    "AIS": "zhat.methods.annealed",
    "Chib": "zhat.methods.chib",
    "ChibJeliazkov": "zhat.methods.chib_jeliazkov",
    "Comparison": "zhat.comparing.comparison",
    "Crosscheck": "zhat.run.crosscheck",
    "HarmonicMean": "zhat.methods.harmonic",
    "Laplace": "zhat.methods.laplace",
    "LaplaceMetropolis": "zhat.methods.laplace_metropolis",
    "Move": "zhat.spaces.jump",
    "PowerPosterior": "zhat.methods.power_posterior",
    "PriorMean": "zhat.methods.prior_mean",
    "Reciprocal": "zhat.methods.reciprocal",
    "Sandwich": "zhat.run.sandwich",
    "SteppingStone": "zhat.methods.stepping_stone",
    "Subsets": "zhat.spaces.subsets",
    "Variational": "zhat.methods.variational",
    "average": "zhat.comparing.averaging",
    "compare": "zhat.comparing.compare",
    "crosscheck": "zhat.run.crosscheck",
    "evidences": "zhat.run.many_models",
    "formula": "zhat.adapters.formula.door",
    "jump": "zhat.spaces.jump",
    "predict": "zhat.comparing.averaging",
    "sandwich": "zhat.run.sandwich",
    "savage_dickey": "zhat.comparing.savage_dickey",
    "sensitivity": "zhat.comparing.sensitivity",
}


def __getattr__(name: str) -> _Any:
    """A public name or a module that was not imported yet."""
    if name.startswith("_"):
        raise AttributeError(f"module 'zhat' has no attribute {name!r}")
    if name in _LATER:
        value = getattr(_import_module(_LATER[name]), name)
    else:
        try:
            value = _import_module(f"zhat.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"zhat.{name}":
                raise
            raise AttributeError(f"module 'zhat' has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
