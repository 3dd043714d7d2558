"""Bambi models: formulas with group effects. `Model.from_bambi` is the door to `model`; the work is that of PyMC's door.

Bambi scales its default priors by the data. The evidence depends on them, so they are kept in words, `priors_of`, and reports show them.
"""

from __future__ import annotations

from typing import Any

from zhat.adapters import pymc
from zhat.errors import BadInput, BadType
from zhat.model.model import Model


def model(
    bambi_model: Any,
    *,
    name: str | None = None,
    zero_where_nan: bool = False,
    data_id: str | None = None,
) -> Model:
    """The model of a `bambi.Model`; see `Model.from_bambi`."""
    try:
        import bambi
    except ImportError as error:
        raise BadInput("Model.from_bambi needs Bambi: pip install 'zhat[bambi]'.") from error
    if not isinstance(bambi_model, bambi.Model):
        kind = type(bambi_model)
        shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        raise BadType(f'Model.from_bambi takes a bambi.Model, not a {shown}: bambi.Model("y ~ x", data).')
    if bambi_model.backend is None:
        bambi_model.build()
    return pymc.model(
        bambi_model.backend.model,
        name=name or str(bambi_model.formula.main),
        zero_where_nan=zero_where_nan,
        data_id=data_id,
        priors=priors_of(bambi_model),
    )


def priors_of(bambi_model: Any) -> dict[str, str]:
    """The prior of every term and of every auxiliary parameter, as Bambi writes it."""
    priors = {}
    for component, part in bambi_model.components.items():
        for term, value in getattr(part, "terms", {}).items():
            if getattr(value, "prior", None) is not None:
                priors[term if component == "mu" or len(bambi_model.components) == 1 else f"{component}: {term}"] = str(
                    value.prior
                )
    for parameter, part in bambi_model.constant_components.items():
        priors[parameter] = str(part.prior)
    return priors
