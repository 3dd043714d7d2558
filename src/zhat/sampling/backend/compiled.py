"""Compiled code: the backend that a kernel uses inside it, and the one way to call it.

`compiled` is the only place where a function is compiled together with a model. The function takes a backend first;
the model's data and hyperparameters reach it as traced arguments, so that one program serves every data set of a shape.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from zhat.model.model import Core, Model
from zhat.sampling.backend.journal import current, model_id
from zhat.sampling.state import State
from zhat.sampling.target import Target

# Points x data entries evaluated together: few enough to stay in cache (measured: 2,000 gradients of a logistic likelihood
# with 532 rows cost 5 ms in blocks of 256 to 1,000, 22 ms in one block of 2,000); and points where the size of the data is
# not known, because the likelihood has them in a closure.
BLOCK_NUMBERS = 1_400_000
BLOCK_POINTS = 512
MOST_POINTS = 8192
# Seconds that a quick program takes more for a number (points x entries of data and of matrices): 4e-9 to 15e-9 were measured; and
# the seconds by which it is compiled sooner: a map of the parameters, derivatives of the density, a sweep.
LOST = 5e-9
SAVED_BY_MAP, SAVED_BY_DERIVATIVES, SAVED_BY_SWEEP = 0.03, 0.25, 0.5
# Where data are so large that fewer points than this fit: as many points as make so many numbers of their own (a linear predictor each, say),
# while the data are read once for all of them. Measured, milliseconds a gradient alone and in such a block: logistic regression of
# 2,000 rows and 1,000 columns 0.42 and 0.09, of 100,000 rows and 20 columns 2.3 and 0.8.
# A hundred points gain nearly all of it, and a population of hundreds fills such blocks.
FEW_POINTS = 16
BLOCK_MADE, MOST_OF_LARGE = 800_000, 100
# Matrices from this many entries on that are factored at each point: so many numbers in all. Microseconds a gradient of a Gaussian process of 40
# rows: 51 in blocks of 512 points, 29 of 128, 26 of 32; of 100 rows: 359 of 128, 236 of 32, 181 of 8.
FACTORED, BLOCK_FACTORED = 1000, 60_000


def block_size(data_size: int) -> int:
    """How many points to evaluate together, given the size of the model's largest data array (0: not known)."""
    return max(1, min(BLOCK_NUMBERS // data_size, MOST_POINTS)) if data_size else BLOCK_POINTS


def is_short(n_numbers: int, saved: float) -> bool:
    """Whether computing with so many numbers loses less, without optimisation, than the seconds that were saved when compiling."""
    return n_numbers * LOST <= saved


def points_at_once(model: Model) -> int:
    """How many points of this model to evaluate together."""
    block = block_size(model.data_size)
    if model.core.sizes.factored >= FACTORED:
        return max(1, min(block, BLOCK_FACTORED // model.core.sizes.factored))
    if block >= FEW_POINTS:
        return block
    made = max(1, round(model.core.sizes.made_share * model.data_size))
    return max(block, min(BLOCK_MADE // made, MOST_OF_LARGE))


def over_points(fn: Callable[[Any], Any], points: Any, block: int) -> Any:
    """`fn` at every row (of every array, if there are several): vectorised in blocks of equal size, one after another."""
    n = jax.tree.leaves(points)[0].shape[0]
    if n <= block:
        return jax.vmap(fn)(points)
    # Equal blocks where the number allows: a remainder would be compiled as a second program.
    even = next((size for size in range(block, block // 2, -1) if n % size == 0), block)
    return jax.lax.map(fn, points, batch_size=even)


@contextmanager
def without_collection() -> Iterator[None]:
    """No search for cyclic garbage inside: for code that makes some hundred thousand objects that stay.

    Tracing and lowering a first answer's programs makes so many that Python searches all objects of the process, modules of JAX and all: 0.08 s
    in which it finds little. Afterwards the search is as it was before, and finds what was left.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compiled(model: Model, purpose: Any, body: Callable[..., Any], *args: Any, quick: bool = False) -> Any:
    """`body(backend, *args)` in one compiled call, which may still be running when this returns.

    The program is kept by the model's core under `purpose`: everything that `body` closes over must be part of `purpose`, and
    must not be the model's data. A `quick` program is compiled without optimisation. Whether it is must follow from the run alone, not
    from a clock nor from what was compiled before: its last digits are others (`is_short`).
    """
    core, block = model.core, points_at_once(model)

    def with_backend(data: Any, hyper: Any, *args: Any) -> Any:
        return body(JaxBackend(core, data, hyper, block), *args)

    def compute() -> Any:
        with jax.enable_x64(True), without_collection() if core.is_new(purpose, quick) else nullcontext():
            return core.compiled(purpose, lambda: with_backend, quick)(model.data_for_calls, model.hyper, *args)

    journal = current()
    return compute() if journal is None else journal.call((model_id(model), purpose, quick), args, compute)


def compiled_on(core: Core, purpose: Any, function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)` in one compiled call in double precision, its program kept by this core under `purpose`."""

    def compute() -> Any:
        with jax.enable_x64(True), without_collection() if core.is_new(purpose) else nullcontext():
            return core.compiled(purpose, lambda: function)(*args)

    journal = current()
    return compute() if journal is None else journal.call(("", purpose), args, compute)


@dataclass(frozen=True)
class JaxBackend:
    """The backend inside a compiled function, with the model's data and hyperparameters traced."""

    core: Core
    data: Any
    hyper: Any
    block: int
    xp: Any = jnp

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `Backend`."""
        return over_points(lambda u: self.core.log_densities(u, self.data, self.hyper), position, self.block)

    def gradient(self, position: Any, target: Target) -> State:
        """See `Backend`."""

        def value(u: Any) -> tuple[Any, Any]:
            log_prior, log_likelihood = self.core.log_densities(u, self.data, self.hyper)
            return target.smooth(log_prior, log_likelihood), (log_prior, log_likelihood)

        def one(u: Any) -> tuple[Any, Any, Any]:
            (_, (log_prior, log_likelihood)), slope = jax.value_and_grad(value, has_aux=True)(u)
            return log_prior, log_likelihood, slope

        log_prior, log_likelihood, slope = over_points(one, position, self.block)
        # A NaN gradient (an edge, an overflow) is replaced by zero, so that it affects only its own trajectory.
        slope = jnp.where(jnp.isfinite(slope), slope, 0.0)
        return State(position=position, log_prior=log_prior, log_likelihood=log_likelihood, gradient=slope)

    def put(self, array: Any, index: Any, values: Any) -> Any:
        """See `Backend`."""
        return array.at[index].set(values)

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """See `Backend`."""
        carry, ys = jax.lax.scan(step, carry, xs)
        return carry, ys

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """See `Backend`."""
        return jax.lax.while_loop(condition, body, carry)

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """See `Backend`."""
        return jax.lax.fori_loop(0, n, lambda _, c: body(c), carry)


def parameters_at(backend: Any, position: Any) -> dict[str, Any]:
    """The parameters of a batch of vectors, for a kernel that moves parameters; like the model's conditionals a JAX function."""
    assert isinstance(backend, JaxBackend)
    return jax.vmap(lambda u: backend.core.space.constrain(u, backend.data, backend.hyper)[0])(position)


def positions_of(backend: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    """The vectors of parameters with any leading axes, as (d, ...), and their log priors, as (...).

    The coordinate axis is first because compiled code writes, and NumPy reads as a view of shape (..., d), fastest in that order.
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
