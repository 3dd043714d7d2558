"""PyTensor graphs as functions that JAX traces: densities, transforms and prior draws of a PyMC model.

PyTensor gives small numbers small types: in ``pm.Normal("x", 0, 10)`` the logarithm of 10 is computed in single precision, which is off
by 3e-8 for each term of the log density. Here such constants are widened before anything is computed from them.

A parameter that a distribution does not admit, such as a standard deviation of zero, makes the density zero, as in PyMC's samplers.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from zhat.errors import BadInput

# PyTensor's rewriting of graphs changes shared state.
_ONE_GRAPH_AT_A_TIME = threading.RLock()


@dataclass(eq=False)
class Graph:
    """Outputs as a function of inputs, translated to JAX on first use. It is serialised as a PyTensor graph, without its translation."""

    inputs: list[Any]
    outputs: list[Any]

    def __call__(self, *values: Any) -> list[Any]:
        """The outputs at these values, JAX arrays or tracers."""
        if not hasattr(self, "_translated"):
            # Constants become JAX arrays: real ones, also where the first call is inside a function that JAX traces.
            with _ONE_GRAPH_AT_A_TIME, jax.enable_x64(True), jax.ensure_compile_time_eval():
                self._translated = _translate(self.inputs, self.outputs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of types that JAX narrows, and of checks that it cannot make
            return list(self._translated(*values))

    def __getstate__(self) -> dict[str, Any]:
        """What is serialised."""
        return {"inputs": self.inputs, "outputs": self.outputs}


@dataclass(frozen=True, eq=False)
class Statement:
    """What a model states: its log densities as graphs. Equal where PyTensor finds the same computations."""

    names: tuple[str, ...]
    inputs: list[Any]
    outputs: list[Any]

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Whether the names, the types of the inputs and all computations are equal."""
        from pytensor.graph.basic import equal_computations

        if not isinstance(other, Statement) or self.names != other.names or len(self.outputs) != len(other.outputs):
            return False
        if [x.type for x in self.inputs] != [x.type for x in other.inputs]:
            return False
        return bool(equal_computations(self.outputs, other.outputs, self.inputs, other.inputs))


def widened(outputs: Sequence[Any], replace: dict[Any, Any]) -> list[Any]:
    """The outputs with some variables replaced, and constants of narrow types made wide."""
    from pytensor.graph.replace import clone_replace
    from pytensor.graph.traversal import ancestors
    from pytensor.tensor import constant
    from pytensor.tensor.variable import TensorConstant

    wide = {
        x: constant(x.data.astype(np.float64 if x.data.dtype.kind == "f" else np.int64), name=x.name)
        for x in ancestors(outputs)
        if isinstance(x, TensorConstant) and x.data.dtype.kind in "fiu" and x.data.dtype.itemsize < 8
    }
    return list(clone_replace(list(outputs), {**wide, **replace}, rebuild_strict=False))


def draws_of(variables: Sequence[Any], replace: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Random variables as a graph of random states: the states, which are inputs, and the draws. PyMC has them as shared values."""
    from pytensor.graph.replace import clone_replace
    from pytensor.graph.traversal import graph_inputs
    from pytensor.tensor.random.type import RandomType

    shared = [x for x in graph_inputs(list(variables)) if isinstance(x.type, RandomType)]
    states = [x.type() for x in shared]
    return states, list(clone_replace(list(variables), {**replace, **dict(zip(shared, states, strict=True))}))


def _translate(inputs: list[Any], outputs: list[Any]) -> Any:
    from pymc.logprob.utils import local_check_parameter_to_ninf_switch
    from pytensor.compile import mode
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.fg import FunctionGraph
    from pytensor.graph.replace import clone_replace
    from pytensor.graph.rewriting.basic import in2out
    from pytensor.graph.traversal import graph_inputs
    from pytensor.link.jax.dispatch import jax_funcify
    from pytensor.tensor import constant

    fixed: dict[Any, Any] = {
        x: constant(x.get_value(borrow=True)) for x in graph_inputs(outputs) if isinstance(x, SharedVariable)
    }
    graph = FunctionGraph(inputs=inputs, outputs=clone_replace(outputs, fixed), clone=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in2out(local_check_parameter_to_ninf_switch).rewrite(graph)
        mode.JAX.optimizer.rewrite(graph)
        try:
            return jax_funcify(graph)
        except NotImplementedError as error:
            raise BadInput(
                f"this PyMC model cannot be translated to JAX: {str(error).splitlines()[0]}. Write that part with operations that JAX "
                "has, or give likelihood and prior to zhat.Model.black_box(...)."
            ) from error
