"""A function as one list of operations: the same values and derivatives, without calls of compiled functions."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat.model.traced import flattened as module
from zhat.model.traced.flattened import flattened, n_operations

X = np.linspace(-1.0, 2.0, 5)


def by_calls(x, scale):
    """Nested compiled functions, one of them called twice."""
    inner = jax.jit(lambda x: jnp.where(x > 0.3, jnp.log1p(x**2), x))
    return inner(x).sum() / scale["s"], {"again": jnp.clip(inner(2.0 * x), -1.0, 1.0)}


def with_a_loop(x, scale):
    """A loop, a branch and a while loop, whose bodies are compiled functions."""
    total = jax.lax.scan(lambda c, a: (jax.nn.softplus(c + a), jnp.where(a > 0, c, a)), 0.0, x)
    branch = jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x)
    return total, branch, jax.lax.while_loop(lambda c: c < 10.0, lambda c: jnp.square(c) + 2.0, scale["s"])


def with_rules(x, scale):
    """Derivatives that the user or NumPyro gives; random numbers."""
    draws = jax.random.normal(jax.random.key(3), (5,))
    return jax.nn.relu(x) * jax.scipy.special.logsumexp(x), dist.BetaBinomial(2.0, scale["s"], 7).log_prob(3) + draws


@pytest.mark.parametrize("function", [by_calls, with_a_loop, with_rules])
def test_the_same_values_in_compiled_code(function):
    with jax.enable_x64(True):
        args = (jnp.asarray(X), {"s": jnp.asarray(1.7)})
        ours = flattened(function, *args)
        expected = jax.tree.leaves(jax.jit(function)(*args))
        got = jax.jit(lambda *a: ours(*jax.tree.leaves(a)))(*args)
    assert [part.dtype for part in got] == [part.dtype for part in expected]
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_the_same_derivatives_over_a_batch():
    with jax.enable_x64(True):
        args = (jnp.asarray(X), {"s": jnp.asarray(1.7)})
        ours = flattened(by_calls, *args)

        def second(value):
            return jax.jit(jax.vmap(jax.jacfwd(jax.grad(value))))(jnp.stack([args[0], args[0] + 0.1]))

        np.testing.assert_allclose(
            second(lambda x: ours(x, args[1]["s"])[0]), second(lambda x: by_calls(x, args[1])[0]), rtol=1e-13
        )


def test_no_call_is_left_and_a_long_program_keeps_its_calls(monkeypatch):
    args = (jnp.asarray(X), {"s": jnp.asarray(1.7)})

    def calls(program):
        traced = jax.make_jaxpr(lambda *leaves: program(*leaves))(*jax.tree.leaves(args))
        return [step for step in traced.eqns if step.primitive.name in module.CALLS], traced

    none, traced = calls(flattened(by_calls, *args))
    assert not none
    assert n_operations(traced) == len(traced.eqns) <= n_operations(jax.make_jaxpr(by_calls)(*args))
    monkeypatch.setattr(module, "MOST", 3)
    assert calls(flattened(by_calls, *args))[0]


def test_types_of_the_arguments_are_kept():
    with jax.enable_x64(True):
        weak = flattened(lambda x, s: x * s["s"], jnp.zeros(2, jnp.float32), {"s": 2.0})
        assert weak(jnp.ones(2, jnp.float32), 2.0)[0].dtype == jnp.float32  # a Python number does not widen
