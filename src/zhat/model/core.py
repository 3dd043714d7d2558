"""Core: the functions of a model, its space, and what was compiled for them; shared by `with_data` and `with_hyper`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import UnsupportedModel
from zhat.model.space import Params, Space
from zhat.model.traced.flattened import flattened

# Compiler options of programs that run for a short time: no optimisation, and loops that are emitted directly. Compiling takes 0.03 to 0.1 s
# instead of 0.13 to 0.5, and running 2 to 4 times as long, 5 to 35 ns more for a number (README's model, eight schools, Pima: density,
# gradient, Hessian). The results differ in their last digits.
QUICK: dict[str, Any] = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


@dataclass(frozen=True)
class Shown:
    """The user's parameters, where the space has others: behind a prior transform the space has standard normal coordinates.

    Attributes
    ----------
    names : tuple of str
        The user's parameters.
    outward : callable
        From a batch of points of the space (NumPy arrays by name, leading axis n) to the same points in the user's parameters; where
        `traced`, from one point, by JAX.
    inward : callable, optional
        The inverse, for a batch of arrays, where it is known.
    """

    names: tuple[str, ...]
    outward: Callable[[Params], Params]
    inward: Callable[[Params], Params] | None = None
    traced: bool = False


@dataclass(frozen=True)
class Sizes:
    """How large the arrays of one evaluation are, where it was traced: they decide how many points are evaluated together.

    Attributes
    ----------
    largest : int
        Entries of the largest array in one evaluation.
    made_share : float
        Entries of the largest array that each point needs, for each entry of the largest data array.
    factored : int
        Entries of the largest matrix that is factored at each point.
    """

    largest: int = 0
    made_share: float = 1.0
    factored: int = 0


@cache
def has_quick() -> bool:
    """Whether this compiler knows the options of quick programs; they are for processors, not for accelerators."""
    if jax.default_backend() != "cpu":
        return False
    try:
        jax.jit(lambda: 0, compiler_options=QUICK).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


class Core:
    """What models that differ only in data or hyperparameters share: functions, space, compiled code.

    `compiled` keeps one jitted function per purpose; `traces` counts how often each was traced, so that tests can show that
    nothing is compiled twice.
    """

    def __init__(
        self,
        log_likelihood: Callable[[Params, Any, Any], Any],
        space: Space,
        black_box: bool,
        batched: bool,
        pack: Callable[[Any], Any] | None = None,
        made_from: tuple[Any, ...] = (),
        shown: Shown | None = None,
    ) -> None:
        self.log_likelihood = log_likelihood
        self.space = space
        self.black_box = black_box
        self.batched = batched
        self.pack = pack  # turns what `with_data` receives into the data, where an adapter packs them
        self.made_from = made_from  # what the caller gave: two models made from the same objects are the same (`identity`)
        self.shown = shown  # the user's parameters, where they are not those of the space
        self.sizes = Sizes()  # measured where the likelihood is traced
        # Traced once for all programs that contain it: running NumPyro's statements takes as long as compiling some of them.
        self._log_densities: dict[Any, Callable[..., list[Any]]] = {}
        self._other: dict[str, Core | None] = {}
        self.traces: dict[Any, int] = {}
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def for_space(self, space: Space) -> Core:
        """The same functions over another space (more groups, other shapes); nothing compiled is shared."""
        core = Core(self.log_likelihood, space, self.black_box, self.batched, self.pack, self.made_from, self.shown)
        core.sizes = self.sizes
        return core

    def in_other_coordinates(self) -> Core | None:
        """The same functions in other coordinates of the same parameters, where the space has any; made once."""
        if "other" not in self._other:
            space = self.space.other_coordinates
            self._other["other"] = None if space is None else self.for_space(space)
        return self._other["other"]

    def outward(self, params: Params) -> Params:
        """A batch of points of the space in the user's parameters."""
        if self.shown is None:
            return params
        if not self.shown.traced:
            return self.shown.outward(params)
        one = self.shown.outward
        n = len(next(iter(params.values())))
        rows = np.minimum(np.arange(1 << max(int(n - 1).bit_length(), 3)), n - 1)  # few shapes, few programs
        with jax.enable_x64(True):
            many = self.compiled("outward", lambda: jax.vmap(one))({name: np.asarray(x)[rows] for name, x in params.items()})
        return {name: np.array(values)[:n] for name, values in many.items()}

    def inward(self, params: Params) -> Params:
        """A batch of points in the user's parameters as points of the space; refused where a prior transform has no inverse."""
        if self.shown is None:
            return params
        if self.shown.inward is None:
            raise UnsupportedModel(
                "the prior of this model is a transform of the unit cube, and parameter values cannot be taken back there: give "
                "from_prior_transform(..., inverse=...), the function from parameters to the cube."
            )
        return self.shown.inward(params)

    def is_new(self, purpose: Any, quick: bool = False) -> bool:
        """Whether the function of this purpose has not been built."""
        return (purpose, quick) not in self._compiled

    def compiled(self, purpose: Any, build: Callable[[], Callable[..., Any]], quick: bool = False) -> Callable[..., Any]:
        """The jitted function of this purpose, built on first use; its traces are counted.

        A `quick` one is compiled without optimisation, in a quarter of the time, and is two to four times as slow.
        """
        if (purpose, quick) not in self._compiled:
            function = build()

            def counted(*args: Any) -> Any:
                self.traces[purpose] = self.traces.get(purpose, 0) + 1
                return function(*args)

            self._compiled[purpose, quick] = jax.jit(counted, compiler_options=QUICK if quick and has_quick() else None)
        return self._compiled[purpose, quick]

    def log_densities(self, u: jax.Array, data: Any, hyper: Any) -> tuple[jax.Array, jax.Array]:
        """Log prior (of the unconstrained vector) and log likelihood at one point; traceable models only.

        Where the prior density is zero or its transform overflows, the likelihood is taken as zero whatever the function
        returns: such a point is no parameter value, and a NaN there is not the caller's mistake.
        """
        leaves, structure = jax.tree.flatten((u, data, hyper))
        types = (structure, *(jax.typeof(leaf) for leaf in leaves))
        if types not in self._log_densities:
            self._log_densities[types] = flattened(self._both, u, data, hyper)
        log_prior, log_likelihood = self._log_densities[types](*leaves)
        return log_prior, log_likelihood

    def _both(self, u: jax.Array, data: Any, hyper: Any) -> tuple[jax.Array, jax.Array]:
        params, log_prior = self.space.constrain(u, data, hyper)
        inside = jnp.isfinite(log_prior)
        log_likelihood = jnp.reshape(jnp.asarray(self.log_likelihood(params, data, hyper), jnp.float64), ())
        return jnp.where(inside, log_prior, -jnp.inf), jnp.where(inside, log_likelihood, -jnp.inf)
