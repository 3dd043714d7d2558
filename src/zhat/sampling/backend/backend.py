"""Two worlds, one way to write a kernel: compiled JAX for models that can be traced, NumPy for black boxes.

A kernel is written once, for a batch of points, with `world.xp` as its array module and the loops below. For a JAX
model the whole sweep is then compiled; for a black box the same lines run in NumPy, each density call going to the
user's function as one batch (measured: no slower than a callback out of compiled code, and exceptions, Ctrl-C and
evaluation counts stay plain Python).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Core, Model, black_box_values

# Points x data entries evaluated together: few enough to stay in cache (measured: 2,000 gradients of a logistic likelihood
# with 532 rows cost 5 ms in blocks of 256 to 1,000, 22 ms in one block of 2,000); and points where the size of the data is
# not known, because the likelihood has them in a closure.
BLOCK_NUMBERS = 1_400_000
BLOCK_POINTS = 512
MOST_POINTS = 8192


class Backend(Protocol):
    """What a kernel may use."""

    @property
    def xp(self) -> Any:
        """The array module."""
        ...

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """Log prior and log likelihood of a batch; rows that are not `active` may be answered with anything."""
        ...

    def gradient(self, position: Any, beta: Any) -> tuple[Any, Any, Any]:
        """Log prior, log likelihood, and the gradient of the tempered log density."""
        ...

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """Like `jax.lax.scan`."""
        ...

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """Like `jax.lax.while_loop`."""
        ...

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """Apply `body` n times; n may be traced."""
        ...


class Counter(Protocol):
    """Whoever keeps the books of evaluations (the loop)."""

    def count(self, n_likelihood: int = 0) -> None:
        """Add evaluations made."""
        ...


def block_size(data_size: int) -> int:
    """How many points to evaluate together, given the size of the model's largest data array (0: not known)."""
    return max(1, min(BLOCK_NUMBERS // data_size, MOST_POINTS)) if data_size else BLOCK_POINTS


def over_points(fn: Callable[[Any], Any], points: Any, block: int) -> Any:
    """`fn` at every row (of every array, if there are several): vectorised in blocks of equal size, one after another."""
    n = jax.tree.leaves(points)[0].shape[0]
    if n <= block:
        return jax.vmap(fn)(points)
    # Equal blocks where the number allows: a remainder would be compiled as a second program.
    even = next((size for size in range(block, block // 2, -1) if n % size == 0), block)
    return jax.lax.map(fn, points, batch_size=even)


@dataclass(frozen=True)
class JaxBackend:
    """Inside a compiled function, with the model's data and hyperparameters traced."""

    core: Core
    data: Any
    hyper: Any
    block: int
    xp: Any = jnp

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `World`."""
        return over_points(lambda u: self.core.log_densities(u, self.data, self.hyper), position, self.block)

    def gradient(self, position: Any, beta: Any) -> tuple[Any, Any, Any]:
        """See `World`."""

        def value(u: Any) -> tuple[Any, Any]:
            log_prior, log_likelihood = self.core.log_densities(u, self.data, self.hyper)
            return log_prior + beta * log_likelihood, (log_prior, log_likelihood)

        def one(u: Any) -> tuple[Any, Any, Any]:
            (_, (log_prior, log_likelihood)), slope = jax.value_and_grad(value, has_aux=True)(u)
            return log_prior, log_likelihood, slope

        log_prior, log_likelihood, slope = over_points(one, position, self.block)
        # A slope of NaN (an edge, an overflow) must only spoil its own trajectory: without it the leap goes straight.
        return log_prior, log_likelihood, jnp.where(jnp.isfinite(slope), slope, 0.0)

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """See `World`."""
        carry, ys = jax.lax.scan(step, carry, xs)
        return carry, ys

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """See `World`."""
        return jax.lax.while_loop(condition, body, carry)

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """See `World`."""
        return jax.lax.fori_loop(0, n, lambda _, c: body(c), carry)


def parameters_at(backend: Backend, position: Any) -> dict[str, Any]:
    """The parameters of a batch of vectors, for a kernel that moves those; its conditionals are JAX functions, so is this."""
    assert isinstance(backend, JaxBackend)
    return jax.vmap(lambda u: backend.core.space.constrain(u, backend.data, backend.hyper)[0])(position)


def positions_of(backend: Backend, params: dict[str, Any]) -> tuple[Any, Any]:
    """The vectors of parameters with any leading axes, as (d, ...), and their log priors, as (...).

    Coordinate by coordinate is how compiled code writes fastest, and how NumPy reads a view of shape (..., d) fastest.
    """
    assert isinstance(backend, JaxBackend)
    space, data, hyper = backend.core.space, backend.data, backend.hyper

    def one(params: dict[str, Any]) -> tuple[Any, Any]:
        parts = space.coordinates(params, data, hyper)
        log_prior = space.constrain(jnp.concatenate(parts), data, hyper)[1]
        return parts, jnp.where(jnp.isfinite(log_prior), log_prior, -jnp.inf)

    site = space.sites[0]
    for _ in range(params[site.name].ndim - len(site.shape)):
        one = jax.vmap(one)
    parts, log_prior = one(params)
    return jnp.concatenate([jnp.moveaxis(part, -1, 0) for part in parts]), log_prior


@dataclass(frozen=True)
class NumpyBackend:
    """Plain NumPy around a black-box likelihood; it counts the points that it really asks about."""

    model: Model
    counter: Counter
    xp: Any = np

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `World`; only active rows inside the prior's support reach the user's function."""
        params, log_prior = constrain_batch(self.model, position)
        inside = np.isfinite(log_prior)
        ask = inside if active is None else inside & np.asarray(active)
        log_likelihood = np.full(len(position), -np.inf)
        if ask.any():
            self.counter.count(n_likelihood=int(ask.sum()))
            log_likelihood[ask] = black_box_values(self.model, {k: v[ask] for k, v in params.items()})
        return np.where(inside, log_prior, -np.inf), log_likelihood

    def gradient(self, position: Any, beta: Any) -> tuple[Any, Any, Any]:
        """Black boxes have none; the door checks `needs_gradient` before any kernel asks."""
        raise TypeError("a black-box model has no gradient")

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """See `World`."""
        outputs = []
        for i in range(len(jax.tree.leaves(xs)[0])):
            carry, y = step(carry, jax.tree.map(lambda x, i=i: x[i], xs))
            outputs.append(y)
        return carry, jax.tree.map(lambda *rows: np.stack(rows), *outputs)

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """See `World`."""
        while condition(carry):
            carry = body(carry)
        return carry

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """See `World`."""
        for _ in range(int(n)):
            carry = body(carry)
        return carry


def constrain_batch(model: Model, position: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Named parameters (leading axis n) and log prior densities at a batch of unconstrained points.

    Rows are padded to a power of two so that a black box that is asked about any number of points compiles a
    handful of shapes, not one for each number.
    """
    position = np.asarray(position)
    n, padded = len(position), 1 << max(int(len(position) - 1).bit_length(), 3)
    core = model.core

    def build() -> Callable[..., Any]:
        def constrain(points: Any, data: Any, hyper: Any) -> Any:
            return jax.vmap(lambda u: core.space.constrain(u, data, hyper))(points)

        return constrain

    filled = np.concatenate([position, np.broadcast_to(position[:1], (padded - n, position.shape[1]))])
    with jax.enable_x64(True):
        params, log_prior = core.compiled("constrain", build)(filled, model.data, model.hyper)
    return {k: np.asarray(v)[:n] for k, v in params.items()}, np.asarray(log_prior)[:n]


def log_prior_at(model: Model, position: Any) -> np.ndarray:
    """Log prior densities at a batch of unconstrained points, -inf where there is none."""
    log_prior = constrain_batch(model, position)[1]
    return np.where(np.isfinite(log_prior), log_prior, -np.inf)
