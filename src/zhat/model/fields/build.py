"""A model from terms and observations: an ordinary `Model` that also declares its latent Gaussian structure.

    from zhat import latent
    model = latent.model(counts, [latent.RW1(name="x", sd=dist.Exponential(4.6), start=2.0)], latent.Poisson(), name="coal")

Two effects are coupled when the prior joins them or an observation depends on both. The reverse Cuthill-McKee order of
that graph makes the matrix of second derivatives banded; intercept and fixed effects are its dense border (`numerics.fields.arrow`).
Where no order makes a narrow band, the matrix is dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy  # its modules are imported when they are used

from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.data import fingerprint
from zhat.model.fields.declared import Latent
from zhat.model.fields.observations import Observation
from zhat.model.fields.terms import Term
from zhat.model.model import Model

# Latent values up to which a dense matrix of second derivatives is affordable: one takes 30 MB and a second then.
MOST_DENSE = 2000


def model(
    y: Any,
    terms: Sequence[Term],
    observed: Observation,
    *,
    offset: Any = None,
    name: str = "latent Gaussian",
    from_noise: bool = False,
) -> Model:
    """The model y_i ~ observed(eta_i), eta the sum of the terms and the offset.

    Parameters
    ----------
    y : array (n,)
    terms : sequence of Term
        Each with its own name: `Intercept`, `Fixed`, `IID`, `RW1`, `RW2`, `AR1`, `Seasonal`, `Besag`.
    observed : Observation
        `Gaussian`, `Poisson`, `Binomial`, `NegativeBinomial` or `StochasticVolatility`.
    offset : array (n,), optional
        A known part of the predictor.
    name : str
    from_noise : bool
        Write every effect as a function of standard noise, which is then the parameter (`NAME_noise`): the same evidence, without
        the funnel between effects and their scale. For a second opinion by `SMC`, whose moves mix better there; not for INLA.
    """
    values = np.asarray(y, np.float64)
    if values.ndim != 1 or not len(values):
        raise ShapeError(f"y has the shape {values.shape}: give a vector with one entry an observation.")
    _check(terms, observed)
    n, terms = len(values), tuple(terms)
    shift = np.zeros(n) if offset is None else np.asarray(offset, np.float64)
    if shift.shape != values.shape:
        raise ShapeError(f"offset has the shape {shift.shape}, y has {values.shape}.")
    seen = {"y": values, "offset": shift, **observed.data(values)}
    data = {**seen, "terms": {term.name: term.data(n) for term in terms}}

    def prior() -> None:
        observed.sample()
        for term in terms:
            term.sample(n, from_noise)

    def log_likelihood(params: Any, data: Any) -> Any:
        values = {term.name: term.value(n, params, from_noise) for term in terms}
        eta = data["offset"] + sum(term.predictor(values[term.name], data["terms"][term.name]) for term in terms)
        return jnp.sum(observed.log_density(eta, params, data))

    latent = None if from_noise else replace(structure(terms, n, data["terms"]), quadratic=observed.is_gaussian)
    return Model(log_likelihood, prior, data=data, name=name, data_id=fingerprint(seen), latent=latent)


def structure(terms: tuple[Term, ...], n: int, data: dict[str, Any]) -> Latent:
    """The order of the effects that makes their second derivatives banded, and the half-width of the band."""
    names = tuple(term.name for term in terms)
    lengths = [term.length(n) for term in terms]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    total = int(starts[-1])
    on_line = np.concatenate([np.full(k, not term.is_border) for term, k in zip(terms, lengths, strict=True)])
    edges = [(a + start, b + start) for term, start in zip(terms, starts, strict=False) for a, b in term.pairs(n)]
    effects = [(data[term.name] + start) for term, start in zip(terms, starts, strict=False) if not term.is_border]
    edges += [(effects[i], effects[j]) for i in range(len(effects)) for j in range(i)]
    line, border = np.flatnonzero(on_line), np.flatnonzero(~on_line)
    if not len(line):
        return Latent(names, (), 0, 0, True)
    order, half_width = _narrow(total, edges, line)
    if 2 * half_width + 1 >= len(line):
        if total > MOST_DENSE:
            raise BadInput(
                f"no order of the {total:,} effects makes their second derivatives banded, and a dense matrix is affordable up to "
                f"{MOST_DENSE:,}: leave out a term whose index crosses the others, or use fewer levels."
            )
        return Latent(names, (), 0, 0, True)
    return Latent(names, tuple(int(i) for i in (*line[order], *border)), len(line), half_width, True)


def _narrow(total: int, edges: list[Any], line: Any) -> tuple[Any, int]:
    """The reverse Cuthill-McKee order of the line, or its own order where that is narrower, and the half-width."""
    rows = np.concatenate([a for a, _ in edges]) if edges else np.zeros(0, np.int64)
    columns = np.concatenate([b for _, b in edges]) if edges else np.zeros(0, np.int64)
    graph = scipy.sparse.csr_array(scipy.sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(total, total)))[line][
        :, line
    ]
    best = np.arange(len(line))
    width = _half_width(graph, best)
    other = scipy.sparse.csgraph.reverse_cuthill_mckee(scipy.sparse.csr_array(graph + graph.T), symmetric_mode=True)
    if _half_width(graph, other) < width:
        best, width = other, _half_width(graph, other)
    return best, width


def _half_width(graph: Any, order: Any) -> int:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    entries = graph.tocoo()
    rows, columns = entries.coords
    return int(np.abs(place[rows] - place[columns]).max(initial=0))


def _check(terms: Any, observed: Any) -> None:
    if not isinstance(observed, Observation):
        raise BadType(f"observed is a {type(observed).__name__}: give a family such as zhat.latent.Poisson().")
    if isinstance(terms, Term) or not isinstance(terms, Sequence) or not terms:
        raise BadType("terms: give a list of terms, such as [zhat.latent.Intercept(sd=10.0)].")
    for term in terms:
        if not isinstance(term, Term):
            raise BadType(f"terms has a {type(term).__name__}: each must be a term such as zhat.latent.RW1(...).")
    names = [term.name for term in terms]
    if len(set(names)) < len(names):
        raise BadInput(f"terms are named {names}: give each its own name=...")
