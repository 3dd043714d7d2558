"""Two backends, one way to write a kernel: compiled JAX for models that can be traced, NumPy for black boxes.

A kernel is written once, for a batch of points, with `backend.xp` as its array module and the loops below. For a JAX model the
whole sweep is compiled; for a black box the same lines run in NumPy, and each density call hands one batch to the user's function
(measured: no slower than a callback out of compiled code, and exceptions, Ctrl-C and evaluation counts stay plain Python).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.compiled import SAVED_BY_MAP, JaxBackend, compiled, is_short
from zhat.sampling.backend.likelihoods import evaluator, likelihoods
from zhat.sampling.backend.loop import Stopped
from zhat.sampling.state import State

# Points of a black box between two looks at the budget of likelihoods, in one process.
CHECKED = 256
# Points that are constrained together.
CONSTRAINED = (16, 256, 4096)


class Backend(Protocol):
    """What a kernel may use."""

    @property
    def xp(self) -> Any:
        """The array module."""
        ...

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """Log prior and log likelihood of a batch; in rows that are not `active` they may be anything."""
        ...

    def gradient(self, position: Any, target: Any) -> State:
        """A state at these points, with the gradient of the target's smooth log density."""
        ...

    def put(self, array: Any, index: Any, values: Any) -> Any:
        """The array with these values at this index."""
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
    """An object that counts evaluations, and knows when they must end: the loop."""

    def count(self, n_likelihood: int = 0) -> None:
        """Add evaluations made."""
        ...

    def check(self) -> None:
        """Raise if the run must end."""
        ...

    def check_clock(self) -> None:
        """Raise if the run must end for another reason than its evaluations."""
        ...


@dataclass(frozen=True)
class NumpyBackend:
    """Plain NumPy around a black-box likelihood; it counts the points at which the function is called."""

    model: Model
    counter: Counter
    xp: Any = np
    constrained: int | None = None  # points that are constrained together, where the size of a batch depends on the workers

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `Backend`; only active rows inside the prior's support reach the user's function."""
        params, log_prior = _in_blocks(self.model, position, self.constrained or max(len(position), 1))
        inside = np.isfinite(log_prior)
        evaluated = inside if active is None else inside & np.asarray(active)
        log_likelihood = np.full(len(position), -np.inf)
        rows = np.flatnonzero(evaluated)
        # In parts, between which a budget ends a run; a function that takes batches gets all of one, on which its rounding may depend.
        size = CHECKED if evaluator().n_workers == 1 and not self.model.core.batched else max(len(rows), 1)
        for start in range(0, len(rows), size):
            self.counter.check()
            part = rows[start : start + size]
            self.counter.count(n_likelihood=len(part))
            some = {k: v[part] for k, v in params.items()}
            values = np.full(len(part), np.nan)
            try:
                log_likelihood[part] = likelihoods(self.model, some, self.counter.check_clock, values)
            except Stopped as stop:
                known = np.concatenate([rows[:start], part[~np.isnan(values)]])
                log_likelihood[part] = values
                self.counter.count(n_likelihood=-int(np.isnan(values).sum()))  # those that were not made
                stop.evaluated = position[known], log_prior[known], log_likelihood[known]
                raise
        return np.where(inside, log_prior, -np.inf), log_likelihood

    def put(self, array: Any, index: Any, values: Any) -> Any:
        """See `Backend`."""
        array[index] = values
        return array

    def gradient(self, position: Any, target: Any) -> State:
        """Black boxes have none; `check_kernels` refuses kernels that need one before they run."""
        raise TypeError("a black-box model has no gradient")

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """See `Backend`."""
        leaves, kind = jax.tree.flatten(xs)
        outputs = []
        for parts in zip(*leaves, strict=True):
            carry, y = step(carry, jax.tree.unflatten(kind, parts))
            outputs.append(y)
        kind = jax.tree.structure(outputs[0])
        columns = zip(*(jax.tree.leaves(y) for y in outputs), strict=True)
        return carry, jax.tree.unflatten(kind, [np.stack(rows) for rows in columns])

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """See `Backend`."""
        while condition(carry):
            carry = body(carry)
        return carry

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """See `Backend`."""
        for _ in range(int(n)):
            carry = body(carry)
        return carry


def run(model: Model, counter: Counter, purpose: Any, body: Callable[..., Any], *args: Any, quick: bool = False) -> Any:
    """`body(backend, *args)` on the backend of the model: compiled under `purpose` (see `compiled`), or in NumPy."""
    if not model.is_black_box:
        return compiled(model, purpose, body, *args, quick=quick)
    return on_host(NumpyBackend(model, counter), body, *args)


def on_host(backend: NumpyBackend, body: Callable[..., Any], *args: Any) -> Any:
    """`body(backend, *args)` in NumPy, where infinities and NaN are results like any other."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return body(backend, *args)


def constrain_batch(model: Model, position: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Named parameters (leading axis n) and log prior densities at a batch of unconstrained points.

    Rows are padded to one of a few sizes, so that calls with any number of points compile few programs.
    """
    position = np.asarray(position)
    n, quick = len(position), is_short(position.size, SAVED_BY_MAP)
    size = next((size for size in CONSTRAINED if n <= size), CONSTRAINED[-1])
    filled = np.concatenate([position, np.broadcast_to(position[:1], (-n % size, position.shape[1]))])
    parts = [compiled(model, "constrain", _constrained, filled[i : i + size], quick=quick) for i in range(0, len(filled), size)]
    params = {name: np.concatenate([np.asarray(part[name]) for part, _ in parts])[:n] for name in parts[0][0]}
    return params, np.concatenate([np.asarray(log_prior) for _, log_prior in parts])[:n]


def _in_blocks(model: Model, position: Any, size: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The same, block by block, so that the rounding does not depend on how many points there are."""
    parts = [constrain_batch(model, position[i : i + size]) for i in range(0, max(len(position), 1), size)]
    params = {name: np.concatenate([part[name] for part, _ in parts]) for name in parts[0][0]}
    return params, np.concatenate([log_prior for _, log_prior in parts])


def expect(model: Model, position: Any) -> None:
    """Announce points of a black box that will probably be evaluated soon: idle workers may evaluate them now."""
    if len(position):
        params, log_prior = constrain_batch(model, position)
        inside = np.isfinite(log_prior)
        evaluator().expect(model, {k: v[inside] for k, v in params.items()})


def _constrained(backend: JaxBackend, points: Any) -> Any:
    return jax.vmap(lambda u: backend.core.space.constrain(u, backend.data, backend.hyper))(points)


def shown_parameters(model: Model, position: Any) -> dict[str, np.ndarray]:
    """The user's parameters at a batch of unconstrained points, for results and messages."""
    return model.core.outward(constrain_batch(model, position)[0])


def log_prior_at(model: Model, position: Any) -> np.ndarray:
    """Log prior densities at a batch of unconstrained points, -inf where there is none."""
    log_prior = constrain_batch(model, position)[1]
    return np.where(np.isfinite(log_prior), log_prior, -np.inf)
