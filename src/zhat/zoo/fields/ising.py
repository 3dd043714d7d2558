"""Ising models of one picture and Boltzmann machines of a table, with exact partition functions: ordinary models for every method.

p(x | theta) = exp(theta . T(x)) / Z(theta) has a normalising constant inside the likelihood, a sum over 2^n states. Here it is exact:
the lattice spin by spin over the 2^columns states of the last row (Reeves & Pettitt 2004), written for JAX so that it has
gradients; six spins by enumeration. All parameters are N(0, 1). `zhat study ising` sets approximations of Z beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import logsumexp

from zhat.model.model import Model
from zhat.numerics._checks import FloatArray
from zhat.numerics.fields.ising import all_states
from zhat.zoo._example import Example
from zhat.zoo.fields import series

# Which of (coupling along rows, coupling along columns, field) each parameter moves; and the log evidence.
LATTICE: dict[str, tuple[FloatArray, float]] = {
    "field": (np.array([[0.0, 0.0, 1.0]]), -71.539818),
    "coupling": (np.array([[1.0, 1.0, 0.0]]), -64.973999),
    "coupling-field": (np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), -67.867243),
    "two-couplings": (np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), -65.965674),
}
FAIR_COIN = -69.314718  # no parameter at all: 100 log(1/2)

PAIRS = (("smoke", "protein"), ("mental", "phys"), ("systol", "family"))
FIVE = (("mental", "phys"), ("smoke", "phys"), ("smoke", "systol"), ("smoke", "protein"), ("systol", "protein"))
ALL = tuple((a, b) for i, a in enumerate(series.RISK_FACTORS) for b in series.RISK_FACTORS[i + 1 :])
BOLTZMANN: dict[str, tuple[tuple[tuple[str, str], ...], float, str]] = {
    "none": ((), -7087.71330, "one-dimensional quadratures"),
    "pairs": (PAIRS, -6746.14687, "three-dimensional quadratures"),
    "five": (FIVE, -6727.5376, "importance sampling with two proposals, +- 0.0007"),
    "all": (ALL, -6742.5846, "importance sampling with two proposals, +- 0.0011"),
}


def picture_statistics() -> FloatArray:
    """Sums of products along rows and along columns, and of spins, of the picture."""
    x = series.ISING_PICTURE
    return np.array([(x[:, 1:] * x[:, :-1]).sum(), (x[1:] * x[:-1]).sum(), x.sum()])


def log_partition(strengths: Any, states: Any, rows: int) -> Any:
    """Exact log Z of a lattice with free edges, given (coupling along rows, along columns, field) and the states of a row; for JAX.

    The vector has a value for every state of the last `columns` spins, the newest changing fastest; a step sums the oldest out.
    """
    across, down, field = strengths
    columns = states.shape[1]
    newest, left = states[:4, 0], states[:4, 1]  # all four pairs of the two spins that change fastest

    def add_spin(carry: Any, place: Any) -> Any:
        value, log_scale = carry
        # Nothing stands above the first row or to the left of the first column.
        above = jnp.where(place < columns, 0.0, down)
        beside = jnp.where(place % columns == 0, 0.0, across)
        low, high = value[: len(states) // 2], value[len(states) // 2 :]
        same, other = jnp.exp(above), jnp.exp(-above)
        summed = jnp.stack([same * low + other * high, other * low + same * high], axis=-1).reshape(-1)
        value = (summed.reshape(-1, 4) * jnp.exp(beside * left * newest + field * newest)).reshape(-1)
        total = jnp.sum(value)
        return (value / total, log_scale + jnp.log(total)), None

    first = (jnp.ones(len(states)), jnp.asarray(0.0))
    (_, log_scale), _ = jax.lax.scan(add_spin, first, jnp.arange(rows * columns))
    # Each spin above the first row was counted twice.
    return log_scale - columns * jnp.log(2.0)


def forward_mode(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of few parameters and constants that is differentiated forwards: the recursion keeps a vector of 2^columns numbers a
    spin for backward differentiation, which takes several times as long as a pass for each parameter."""

    @jax.custom_jvp
    def differentiable(theta: Any, constants: Any) -> Any:
        return function(theta, constants)

    @differentiable.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        theta, constants = primals

        def along(direction: Any) -> Any:
            return jax.jvp(lambda t: function(t, constants), (theta,), (direction,))

        value, slope = jax.vmap(along, out_axes=(None, 0))(jnp.eye(len(theta)))
        return value, slope @ tangents[0]

    return differentiable


def ising_lattice(parameters: str) -> Example:
    """One 10 x 10 picture with free edges, and these parameters."""
    moves, log_evidence = LATTICE[parameters]
    rows, columns = series.ISING_PICTURE.shape

    @forward_mode
    def log_normaliser(theta: Any, states: Any) -> Any:
        return log_partition(theta @ jnp.asarray(moves), states, rows)

    def log_likelihood(params: Any, data: Any) -> Any:
        theta = params["theta"]
        return theta @ jnp.asarray(moves) @ data["statistics"] - log_normaliser(theta, data["states"])

    def prior() -> Any:
        return {"theta": dist.Normal(0.0, 1.0).expand([len(moves)]).to_event(1)}

    id = f"ising-lattice-{parameters}"
    data = {"statistics": picture_statistics(), "states": all_states(columns)}
    return Example(
        id=id,
        title=f"Ising model of a 10 x 10 picture, {parameters.replace('-', ' and ' if parameters.startswith('coupling-') else ' ')}",
        model=Model(log_likelihood, prior, data=data, name=id, latent=("theta",)),
        log_evidence=log_evidence,
        formula="exact recursion for the partition function and quadrature, two grids",
        source="simulated for zhat",
        tags=("one-dimensional" if len(moves) == 1 else "two-dimensional",),
    )


def boltzmann_design(edges: tuple[tuple[str, str], ...]) -> tuple[FloatArray, FloatArray]:
    """Statistics (64, parameters) of all states, and the counts of men; fields first, then couplings."""
    states = -all_states(len(series.RISK_FACTORS))  # "yes" before "no": +1 before -1
    place = {name: i for i, name in enumerate(series.RISK_FACTORS)}
    products = [states[:, place[a]] * states[:, place[b]] for a, b in edges]
    return np.stack([*states.T, *products], axis=1), series.RISK_COUNTS


def boltzmann(edges: str) -> Example:
    """Six coronary risk factors of 1841 men as a Boltzmann machine with these edges; the records in their order."""
    chosen, log_evidence, formula = BOLTZMANN[edges]
    statistics, counts = boltzmann_design(chosen)

    def log_likelihood(params: Any, data: Any) -> Any:
        energy = data["statistics"] @ params["theta"]
        return data["counts"] @ energy - jnp.sum(data["counts"]) * logsumexp(energy)

    def prior() -> Any:
        return {"theta": dist.Normal(0.0, 1.0).expand([statistics.shape[1]]).to_event(1)}

    id = f"boltzmann-{edges}"
    return Example(
        id=id,
        title=f"Boltzmann machine of coronary risk factors, edges: {edges}",
        model=Model(log_likelihood, prior, data={"statistics": statistics, "counts": counts}, name=id, latent=("theta",)),
        log_evidence=log_evidence,
        formula=f"exact partition function; {formula}",
        source="Edwards & Havranek (1985)",
        tags=("many-dimensional",),
    )
