"""Latent: which parameters of a model are Gaussian given the others, and which of them are coupled.

A model that declares its latent Gaussian parameters offers `Offer.LATENT_GAUSSIAN`, and `INLA` integrates them by Laplace's
method inside a quadrature over the other parameters. Names alone are enough: ``Model(..., latent=("alpha", "b"))``; the
second derivatives are then a dense matrix. A model from the vocabulary (`zhat.latent`) also declares an order of the coordinates
in which the second derivatives are banded, with a dense border for fixed effects, so that the cost is linear in the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.model.space import Space


@dataclass(frozen=True)
class Latent:
    """Parameters whose joint prior, given the other parameters, is Gaussian.

    Attributes
    ----------
    names : tuple of str
    order : tuple of int
        Permutation of the latent coordinates (those of `names`, in the order of the model's space): the line first, then the
        border. Empty: as they are.
    line : int
        How many of them are the line, whose second derivatives are banded; the others are the border.
    half_width : int
        Of the band.
    log_concave : bool
        Whether the likelihood is known to be log-concave in the latents, so that the inner mode is the only one.
    quadratic : bool
        Whether the log likelihood is known to be quadratic in the latents, so that one Newton step ends at the inner mode.
    """

    names: tuple[str, ...]
    order: tuple[int, ...] = ()
    line: int = 0
    half_width: int = 0
    log_concave: bool = False
    quadratic: bool = False


def latent_of(declared: Any, space: Space) -> Latent | None:
    """The declaration of a model, checked against its space; from names or a `Latent`."""
    if declared is None:
        return None
    latent = declared if isinstance(declared, Latent) else Latent(_names(declared))
    sites = {site.name: site for site in space.sites}
    for name in latent.names:
        if name not in sites:
            raise BadInput(f"latent={latent.names}: {name!r} is no parameter of this model; it has {', '.join(sites)}.")
        if sites[name].shape != sites[name].free_shape or not sites[name].support.startswith(
            ("Real", "IndependentConstraint(Real")
        ):
            raise BadInput(
                f"latent={latent.names}: {name!r} has the support {sites[name].support}. A latent Gaussian parameter takes every real "
                "value; leave it out of latent=(...)."
            )
    n = sum(sites[name].size for name in latent.names)
    if latent.order and sorted(latent.order) != list(range(n)):
        raise BadInput(f"latent: order is not a permutation of the {n} latent coordinates; build the model anew for other data.")
    return latent


def _names(declared: Any) -> tuple[str, ...]:
    names = (declared,) if isinstance(declared, str) else declared
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise BadType(f"latent={declared!r}: give the names of the latent Gaussian parameters, such as latent=('alpha', 'b').")
    if len(set(names)) < len(names):
        raise BadInput(f"latent={tuple(names)}: a name occurs twice.")
    return tuple(names)
