"""Constants that PyMC's densities lack: those of Lewandowski, Kurowicka & Joe (2009) for correlation matrices.

PyMC up to 6.2 *adds* the logarithm of the integral of det(R)^(eta - 1) where it must be subtracted. A posterior does not change by it;
for ``pm.LKJCholeskyCov(n=3, eta=2)`` an evidence would be 1.23 too high. The difference is found by evaluating PyMC's density at the
identity matrix, beside NumPyro's, so that it vanishes with a version of PyMC in which the sign is right.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.adapters.pymc_model.graphs import Graph, widened
from zhat.errors import BadInput


def missing_constant(variable: Any, shape: tuple[int, ...]) -> float:
    """What is to be added to PyMC's log density of this variable, of this shape, so that it integrates to one."""
    kind = type(variable.owner.op).__name__
    if kind == "_LKJCholeskyCovRV":
        n, eta = (_number(variable, x) for x in variable.owner.inputs[1:3])
        return _exact(n, eta) - _cholesky(n, eta)
    if kind == "LKJCorrRV":
        n, eta = (_number(variable, x) for x in variable.owner.inputs[2:4])
        n_matrices = int(np.prod(shape)) // (int(n) * (int(n) - 1) // 2)
        return n_matrices * (_exact(n, eta) - _correlations(n, eta))
    return 0.0


def _exact(n: float, eta: float) -> float:
    """The log density of the identity matrix."""
    with jax.enable_x64(True):
        return float(dist.LKJCholesky(int(n), jnp.float64(eta)).log_prob(jnp.eye(int(n))))


def _cholesky(n: float, eta: float) -> float:
    """The same by PyMC's density of a covariance matrix, whose standard deviations are one."""
    import pymc
    from pymc.distributions.multivariate import _LKJCholeskyCov

    of_one = -1.0  # log density of Exponential(1) at one
    factor = _LKJCholeskyCov.dist(n=int(n), eta=float(eta), sd_dist=pymc.Exponential.dist(1.0))
    identity = np.eye(int(n))[np.tril_indices(int(n))]
    return _value(pymc.logp(factor, identity)) - n * of_one


def _correlations(n: float, eta: float) -> float:
    """The same by PyMC's density of a correlation matrix."""
    import pymc
    from pymc.distributions.multivariate import _LKJCorr

    return _value(pymc.logp(_LKJCorr.dist(n=int(n), eta=float(eta)), np.zeros(int(n) * (int(n) - 1) // 2)))


def _value(expression: Any) -> float:
    with jax.enable_x64(True):
        return float(np.sum(Graph([], widened([expression], {}))()[0]))


def _number(variable: Any, argument: Any) -> float:
    from pytensor.graph.traversal import graph_inputs

    if not all(hasattr(x, "data") for x in graph_inputs([argument])):
        raise BadInput(
            f"{variable.name!r} has an LKJ prior whose eta is not a number: PyMC's density lacks a factor that depends on it. Give eta a value."
        )
    return _value(argument)
