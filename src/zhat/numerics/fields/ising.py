"""Ising models and Boltzmann machines: exact log partition functions, and two approximations of them.

For spins x_i = -1, +1 with couplings w_ij and fields b_i, log Z = log sum over x of exp(sum w_ij x_i x_j + sum b_i x_i) has 2^n terms.

* `log_partition_enumerated`: all of them, up to some twenty spins.
* `log_partition_lattice`: a lattice spin by spin (Reeves & Pettitt 2004). The sum over all spins before the current one is a function of
  the last row only: a vector over 2^columns states, to which each new spin is added and the spin above it summed out. A torus is
  the trace of a power of the matrix from row to row.
* `mean_field`: independent spins, log Z_MF = max over m of the negative free energy: *a lower bound* on log Z.
* `bethe`: belief propagation; exact on forests, no bound on graphs with cycles.

*When it lies.* A likelihood exp(theta T(x)) / Z(theta) with a lower bound in place of Z is too *large*: the evidence computed from it is
no lower bound, and nothing in the result says so. Mean field and Bethe have several fixed points at strong coupling; the best of
those reached from several starts is returned, which need not be the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from zhat.numerics._checks import FloatArray, IntArray

# Damping and iterations of the fixed-point searches, and the change at which they end.
DAMPING = 0.5
MAX_ITERATIONS = 5000
CHANGE = 1e-12
# Spins up to which 2^n terms are summed.
MOST_ENUMERATED = 22


@dataclass(frozen=True)
class Graph:
    """A pairwise model: n spins, m edges (m, 2), their couplings, and fields."""

    n: int
    edges: IntArray
    coupling: FloatArray
    field: FloatArray


@dataclass(frozen=True)
class Approximation:
    """An approximate log Z with its derivatives: mean spins, and mean products over the edges."""

    log_partition: float
    spins: FloatArray
    products: FloatArray


def lattice(rows: int, columns: int, coupling: float, field: float = 0.0, torus: bool = False) -> Graph:
    """A lattice with one coupling; spin (r, c) is number r columns + c."""
    place = np.arange(rows * columns).reshape(rows, columns)
    pairs = [
        np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1),
        np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1),
    ]
    if torus:
        pairs += [np.stack([place[:, -1], place[:, 0]], axis=1), np.stack([place[-1], place[0]], axis=1)]
    edges = np.concatenate(pairs)
    return Graph(rows * columns, edges, np.full(len(edges), coupling), np.full(rows * columns, field))


def log_partition_enumerated(graph: Graph) -> float:
    """The sum over all 2^n states."""
    if graph.n > MOST_ENUMERATED:
        raise ValueError(f"{graph.n} spins have 2^{graph.n} states; enumeration takes up to {MOST_ENUMERATED}.")
    states = all_states(graph.n)
    energy = states @ graph.field
    for (a, b), w in zip(graph.edges, graph.coupling, strict=True):
        energy = energy + w * states[:, a] * states[:, b]
    return float(logsumexp(energy))


def all_states(n: int) -> FloatArray:
    """Every state of n spins, one a row; the first spin changes fastest, -1 before +1."""
    codes = np.arange(1 << n)[:, None] >> np.arange(n)
    return np.asarray(2.0 * (codes & 1) - 1.0, np.float64)


def log_partition_lattice(rows: int, columns: int, across: float, down: float, field: float = 0.0, torus: bool = False) -> float:
    """Exact log Z of a lattice with couplings along rows (`across`) and along columns (`down`)."""
    if torus:
        return _torus(rows, columns, across, down, field)
    log_scale, value = 0.0, np.ones(1 << columns)
    for row in range(rows):
        for column in range(columns):
            value = _add_spin(value, row, column, columns, (across, down, field))
            top = float(value.max())
            value, log_scale = value / top, log_scale + math.log(top)
    # Before the first row every state of the row above was counted once.
    return log_scale + math.log(float(value.sum())) - columns * math.log(2.0)


def _add_spin(value: FloatArray, row: int, column: int, columns: int, strengths: tuple[float, float, float]) -> FloatArray:
    """Replace the spin of this column (that of the row above) by the new one, summing the old one out."""
    across, down, field = strengths
    shaped = value.reshape(1 << (columns - 1 - column), 2, 1 << column)  # (later columns, this spin, earlier columns)
    spin = np.array([-1.0, 1.0])
    to_new = np.exp(down * np.outer(spin, spin) + field * spin) if row else np.exp(np.outer(np.zeros(2), spin) + field * spin)
    new = np.einsum("aob,on->anb", shaped, to_new)
    if column:
        left = 2.0 * ((np.arange(1 << column) >> (column - 1)) & 1) - 1.0
        new = new * np.exp(across * np.outer(spin, left))[None]
    return np.asarray(new.reshape(-1))


def _torus(rows: int, columns: int, across: float, down: float, field: float) -> float:
    """The trace of the row-to-row matrix to the power of the rows, by its eigenvalues (it is similar to a symmetric one)."""
    states = all_states(columns)
    within = across * (states * np.roll(states, 1, axis=1)).sum(axis=1) + field * states.sum(axis=1)
    matrix = np.exp(0.5 * within[:, None] + down * states @ states.T + 0.5 * within[None, :] - _top(within, down, columns))
    values = np.linalg.eigvalsh(matrix)
    largest = float(values[-1])
    ratio = float(np.sum((values / largest) ** rows))
    return rows * (math.log(largest) + _top(within, down, columns)) + math.log(ratio)


def _top(within: FloatArray, down: float, columns: int) -> float:
    return float(within.max()) + abs(down) * columns


# -- approximations ------------------------------------------------------------------------------------------------------------


def mean_field(graph: Graph, starts: Sequence[float | FloatArray] = (0.0, 0.9, -0.9)) -> Approximation:
    """The largest mean-field bound on log Z over fixed points reached from these mean spins, one number for all or one for each."""
    return max((_mean_field_from(graph, start) for start in starts), key=lambda found: found.log_partition)


def _mean_field_from(graph: Graph, start: float | FloatArray) -> Approximation:
    a, b = graph.edges[:, 0], graph.edges[:, 1]
    m = np.array(np.broadcast_to(start, graph.n), dtype=np.float64)
    for _ in range(MAX_ITERATIONS):
        pull = graph.field.copy()
        np.add.at(pull, a, graph.coupling * m[b])
        np.add.at(pull, b, graph.coupling * m[a])
        new = DAMPING * m + (1.0 - DAMPING) * np.tanh(pull)
        change, m = float(np.abs(new - m).max()), new
        if change < CHANGE:
            break
    energy = float(np.sum(graph.coupling * m[a] * m[b]) + graph.field @ m)
    return Approximation(energy + float(_entropy((1.0 + m) / 2.0).sum()), m, m[a] * m[b])


def bethe(graph: Graph, starts: tuple[float, ...] = (0.0, 0.5)) -> Approximation:
    """The largest Bethe approximation of log Z over fixed points of belief propagation reached from these messages."""
    return max((_bethe_from(graph, start) for start in starts), key=lambda found: found.log_partition)


def _bethe_from(graph: Graph, start: float) -> Approximation:
    if not len(graph.edges):
        return Approximation(float(np.sum(np.log(2.0 * np.cosh(graph.field)))), np.tanh(graph.field), np.zeros(0))
    a, b = graph.edges[:, 0], graph.edges[:, 1]
    m = len(a)
    source, target = np.concatenate([a, b]), np.concatenate([b, a])
    strength = np.concatenate([graph.coupling] * 2)
    back = np.concatenate([np.arange(m, 2 * m), np.arange(m)])
    message = np.full(2 * m, start)  # half log odds that an edge sends to its target
    for _ in range(MAX_ITERATIONS):
        cavity = _inflow(graph, message, target)[source] - message[back]
        new = DAMPING * message + (1.0 - DAMPING) * np.arctanh(np.tanh(strength) * np.tanh(cavity))
        change, message = float(np.abs(new - message).max()), new
        if change < CHANGE:
            break
    total = _inflow(graph, message, target)
    one, other = total[a] - message[m:], total[b] - message[:m]  # cavity fields of each edge's ends
    spin = np.array([-1.0, 1.0])
    log_pair = (
        graph.coupling[:, None, None] * np.outer(spin, spin) + one[:, None, None] * spin[:, None] + other[:, None, None] * spin
    )
    pair = np.exp(log_pair - logsumexp(log_pair, axis=(1, 2), keepdims=True))
    spins, products = np.tanh(total), (pair * np.outer(spin, spin)).sum(axis=(1, 2))
    energy = float(graph.coupling @ products + graph.field @ spins)
    degree = np.bincount(graph.edges.ravel(), minlength=graph.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        pair_entropy = -np.where(pair > 0, pair * np.log(pair), 0.0).sum()
    entropy = float(pair_entropy - ((degree - 1) * _entropy((1.0 + spins) / 2.0)).sum())
    return Approximation(energy + entropy, spins, products)


def _inflow(graph: Graph, message: FloatArray, target: IntArray) -> FloatArray:
    return graph.field + np.bincount(target, weights=message, minlength=graph.n)


def _entropy(p: FloatArray) -> FloatArray:
    p = np.clip(p, 1e-300, 1.0)
    q = np.clip(1.0 - p, 1e-300, 1.0)
    return np.asarray(-p * np.log(p) - q * np.log(q))
