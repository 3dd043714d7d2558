"""What of a PyMC model cannot be a likelihood and a normalised prior, each with a sentence and a way out. Nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zhat.errors import BadInput, BadType

# Distributions by the class of their operation.
IMPROPER = {"FlatRV": "pm.Flat", "HalfFlatRV": "pm.HalfFlat", "ICARRV": "pm.ICAR"}
WITH_POINT_MASS = {"CensoredRV": "pm.Censored", "DiracDeltaRV": "pm.DiracDelta"}


def refuse_what_cannot_be_carried(model: Any, potentials_are_likelihood: bool) -> None:
    """Raise for everything that is seen without evaluating the model."""
    import pymc

    if not isinstance(model, pymc.Model):
        raise BadType(
            f"Model.from_pymc takes a pymc.Model, not a {_shown(model)}: give the object of `with pymc.Model() as m:`, that is m."
        )
    if not model.free_RVs:
        raise BadInput("this PyMC model has no free variable: a model needs at least one parameter.")
    for variable in (*model.free_RVs, *model.observed_RVs):
        _check_type(variable)
    _check_free(model)
    _check_observed(model)
    if model.potentials and not potentials_are_likelihood:
        names = ", ".join(repr(p.name) for p in model.potentials)
        raise BadInput(
            f"this PyMC model has pm.Potential {names}, and nothing says whether it belongs to the prior or to the likelihood. If it is "
            "a log likelihood with all of its constants: zhat.Model.from_pymc(model, potentials_are_likelihood=True). A term of the "
            "prior must be written as a distribution that integrates to one."
        )
    if not model.observed_RVs and not model.potentials:
        raise BadInput("this PyMC model has no observed variable: give observed=... to the variable that the data are of.")


def _check_type(variable: Any) -> None:
    if not hasattr(variable.type, "broadcastable"):
        raise BadInput(
            f"{variable.name!r} is a variable with named dimensions (pymc.dims), which is not read: write the model with the "
            "distributions of pymc itself; their dims=... is kept."
        )
    if variable.type.dtype in ("float16", "float32"):
        raise BadInput(
            f"{variable.name!r} is of type {variable.type.dtype}: a log evidence needs double precision. Build the model with "
            'pytensor.config.floatX = "float64".'
        )


def _check_free(model: Any) -> None:
    for variable in model.free_RVs:
        name, kinds = variable.name, set(_operations(variable, model))
        if name.endswith("_unobserved") or type(variable.owner.op).__name__ == "PartialObservedRV":
            raise BadInput(
                f"{name!r} stands for missing values of {name.removesuffix('_unobserved')!r}, which PyMC imputes: drop the rows with "
                "missing values, or write the missing values as a parameter of their own."
            )
        for kind in kinds & IMPROPER.keys():
            raise BadInput(
                f"parameter {name!r} has the improper prior {IMPROPER[kind]}: the evidence is then undefined. Give a proper prior that "
                "states what is known of the parameter; its width changes the evidence."
            )
        if variable.type.dtype.startswith(("int", "uint", "bool")):
            raise BadInput(
                f"parameter {name!r} is discrete: sum it out first, for example by pymc_extras.marginalize(model, [{name!r}]) or with "
                "pm.Mixture."
            )
        for kind in kinds & WITH_POINT_MASS.keys():
            raise BadInput(
                f"parameter {name!r} has the prior {WITH_POINT_MASS[kind]}, which puts probability on single points: it has no density. "
                "Write the cases as models of their own and compare them, or use pm.Truncated."
            )


def _check_observed(model: Any) -> None:
    for variable in model.observed_RVs:
        name, kinds = variable.name, set(_operations(variable, model)) | set(_operations(model.rvs_to_values[variable], model))
        if kinds & {"MinibatchRandomVariable", "MinibatchOp"}:
            raise BadInput(
                f"observed variable {name!r} is of a minibatch (pm.Minibatch or total_size): its likelihood would be random or scaled. "
                "Give the full data, without total_size."
            )
        if "SimulatorRV" in kinds:
            raise BadInput(f"observed variable {name!r} is a pm.Simulator, which has no likelihood: write one.")


def _operations(variable: Any, model: Any) -> Iterator[str]:
    """The classes of the operations that make up a variable, down to the other variables of the model."""
    others, seen, left = set(model.basic_RVs) - {variable}, set(), [variable]
    while left:
        x = left.pop()
        if x in seen or x.owner is None or x in others:
            continue
        seen.add(x)
        yield from (kind.__name__ for kind in type(x.owner.op).__mro__)  # PyMC makes a subclass for each pm.Simulator
        inner = getattr(x.owner.op, "fgraph", None)
        if inner is not None:
            yield from (type(node.op).__name__ for node in inner.apply_nodes)
        left += x.owner.inputs


def _shown(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
