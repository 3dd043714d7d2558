"""A traced function as one list of operations, without the functions that NumPy-like code is made of.

A line such as ``jnp.where(x > 0, y, z)`` is traced as a call of a compiled function, which JAX differentiates, batches and lowers
each as a program of its own. In a density of eighty operations these calls are most of the time that its programs take to be traced, and the compiler
dissolves them in any case. So they are dissolved once, when the density is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

# How JAX names the call of a compiled function.
CALLS = ("jit", "pjit")
# Operations beyond which calls stay calls: a function that is called a hundred times is then better traced once.
MOST = 1000


def flattened(function: Callable[..., Any], *args: Any) -> Callable[..., list[Any]]:
    """`function` traced at the types of these arguments: a function of their leaves that returns the leaves of the result."""
    program: ClosedJaxpr = jax.make_jaxpr(function)(*args)
    if n_operations(program) <= MOST:
        program = jax.make_jaxpr(lambda *leaves: _dissolved(program, leaves))(*jax.tree.leaves(args))
    return jaxpr_as_fun(program)


def n_operations(program: Any) -> int:
    """Operations of a program when its calls of compiled functions are dissolved."""
    called = (n_operations(step.params["jaxpr"]) if step.primitive.name in CALLS else 1 for step in program.eqns)
    return sum(called)


def _dissolved(program: Any, given: Sequence[Any]) -> list[Any]:
    """The outputs of a program, with every operation applied by itself."""
    inner = program.jaxpr
    values = dict(zip([*inner.constvars, *inner.invars], [*program.consts, *given], strict=True))

    def value(name: Any) -> Any:
        return name.val if hasattr(name, "val") else values[name]

    for step in inner.eqns:
        inputs = [value(name) for name in step.invars]
        if step.primitive.name in CALLS:
            made: Sequence[Any] = _dissolved(step.params["jaxpr"], inputs)
        else:
            with step.ctx.manager:
                made = _applied(step, inputs)
        values.update(zip(step.outvars, made, strict=True))
    return [value(name) for name in inner.outvars]


def _applied(step: Any, inputs: list[Any]) -> Sequence[Any]:
    """The outputs of one operation."""
    settings = step.primitive.get_bind_params(step.params)
    functions, settings = settings if isinstance(settings, tuple) else ((), settings)  # two forms of it in JAX
    made = step.primitive.bind(*functions, *inputs, **settings)
    return made if step.primitive.multiple_results else [made]
