"""The terms of a linear predictor: effects that are Gaussian given a scale.

    eta_i = intercept + columns_i @ coefficients + trend[index_i] + season[index_i] + effect[index_i] + ...

A scale is `sd=` or `precision=`: a number, or a NumPyro distribution, which makes it a parameter of the model
(`NAME_sd`, `NAME_precision`). Every prior is proper: intrinsic walks start at N(0, start^2), because an improper direction
leaves the evidence undefined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpy.typing import NDArray

from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.fields.paths import GraphField, Path
from zhat.model.program import with_values

Pairs = list[tuple[NDArray[np.int64], NDArray[np.int64]]]


def known_or_drawn(owner: str, name: str, value: Any) -> Any:
    """A number as it is, a distribution as a parameter of this name."""
    return numpyro.sample(name, value) if isinstance(value, dist.Distribution) else float(value)


def check_scale(owner: str, sd: Any, precision: Any) -> None:
    """One of sd and precision: a number above zero or a distribution."""
    if (sd is None) == (precision is None):
        raise BadInput(f"{owner}: give sd=... or precision=..., one of the two: a number above zero or a NumPyro distribution.")
    check_positive(owner, "sd" if precision is None else "precision", sd if precision is None else precision)


def check_positive(owner: str, name: str, value: Any) -> None:
    """A number above zero, or a distribution."""
    if isinstance(value, dist.Distribution):
        return
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise BadType(f"{owner}({name}={value!r}): give a number above zero or a NumPyro distribution.")
    if not (np.isfinite(value) and value > 0):
        raise BadInput(f"{owner}({name}={value}): give a number above zero.")


@dataclass(frozen=True, kw_only=True)
class Term(ABC):
    """One term of the predictor."""

    name: str

    def __post_init__(self) -> None:
        """Check the name."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise BadInput(f"{type(self).__name__}(name={self.name!r}): give a name such as 'trend'.")

    @property
    def is_border(self) -> bool:
        """Whether every observation may depend on it, as on a fixed effect."""
        return False

    @abstractmethod
    def data(self, n: int) -> Any:
        """What it needs as data for n observations: an index, or columns."""

    @abstractmethod
    def length(self, n: int) -> int:
        """Number of latent values for n observations."""

    @abstractmethod
    def sample(self, n: int, from_noise: bool = False) -> None:
        """Its sample statements: scales first, then the effects, or the noise that makes them."""

    def value(self, n: int, params: Any, from_noise: bool) -> Any:
        """The effects, from the parameters."""
        return params[self.name]

    @abstractmethod
    def predictor(self, value: Any, data: Any) -> Any:
        """Its part of the predictor, from the effects and the data."""

    def pairs(self, n: int) -> Pairs:
        """Which of its values the prior couples."""
        return []


@dataclass(frozen=True, kw_only=True)
class Intercept(Term):
    """One number for all observations, N(mean, sd^2)."""

    name: str = "intercept"
    sd: float
    mean: float = 0.0

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        check_positive("Intercept", "sd", self.sd)

    @property
    def is_border(self) -> bool:
        """See `Term`."""
        return True

    def data(self, n: int) -> Any:
        """See `Term`."""
        return np.zeros((n, 0))

    def length(self, n: int) -> int:
        """See `Term`."""
        return 1

    def sample(self, n: int, from_noise: bool = False) -> None:
        """See `Term`."""
        numpyro.sample(self.name, dist.Normal(self.mean, self.sd))

    def predictor(self, value: Any, data: Any) -> Any:
        """See `Term`."""
        return value


@dataclass(frozen=True, kw_only=True, eq=False)
class Fixed(Term):
    """Coefficients of `columns` (n, k), each N(0, sd^2)."""

    name: str = "beta"
    columns: Any
    sd: float

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        check_positive("Fixed", "sd", self.sd)
        columns = np.asarray(self.columns, np.float64)
        columns = columns[:, None] if columns.ndim == 1 else columns
        if columns.ndim != 2 or not columns.shape[1]:
            raise ShapeError(
                f"Fixed(columns=...) has the shape {columns.shape}: give one row an observation, one column a covariate."
            )
        object.__setattr__(self, "columns", columns)

    @property
    def is_border(self) -> bool:
        """See `Term`."""
        return True

    def data(self, n: int) -> Any:
        """See `Term`."""
        if len(self.columns) != n:
            raise ShapeError(f"Fixed(name={self.name!r}) has {len(self.columns)} rows for {n} observations.")
        return self.columns

    def length(self, n: int) -> int:
        """See `Term`."""
        return int(self.columns.shape[1])

    def sample(self, n: int, from_noise: bool = False) -> None:
        """See `Term`."""
        numpyro.sample(self.name, dist.Normal(0.0, self.sd).expand([self.length(n)]).to_event(1))

    def predictor(self, value: Any, data: Any) -> Any:
        """See `Term`."""
        return data @ value


@dataclass(frozen=True, kw_only=True, eq=False)
class Effects(Term):
    """Effects with a scale, one for every level of `index`, which gives the level (0, 1, ...) of each observation.

    Without an index observation i has level i.
    """

    sd: Any = None
    precision: Any = None
    index: Any = None

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        check_scale(type(self).__name__, self.sd, self.precision)
        if self.index is not None:
            index = np.asarray(self.index)
            if index.ndim != 1 or index.dtype.kind not in "iu" or (index < 0).any():
                raise BadInput(
                    f"{type(self).__name__}(name={self.name!r}, index=...): give whole numbers from 0, one an observation."
                )
            object.__setattr__(self, "index", index.astype(np.int64))

    def data(self, n: int) -> Any:
        """See `Term`."""
        index = np.arange(n) if self.index is None else self.index
        if len(index) != n:
            raise ShapeError(f"{type(self).__name__}(name={self.name!r}): index has {len(index)} entries for {n} observations.")
        return index

    def length(self, n: int) -> int:
        """See `Term`."""
        return n if self.index is None else int(self.index.max()) + 1

    def scale(self) -> Any:
        """The standard deviation of the effects or of their innovations, drawn if it is a parameter."""
        if self.precision is None:
            return known_or_drawn(self.name, f"{self.name}_sd", self.sd)
        return 1.0 / jnp.sqrt(known_or_drawn(self.name, f"{self.name}_precision", self.precision))

    def sample(self, n: int, from_noise: bool = False) -> None:
        """See `Term`."""
        prior = self.prior(self.length(n))
        if from_noise:
            numpyro.sample(f"{self.name}_noise", dist.Normal(0.0, 1.0).expand([self.length(n)]).to_event(1))
        else:
            numpyro.sample(self.name, prior)

    def value(self, n: int, params: Any, from_noise: bool) -> Any:
        """See `Term`."""
        if not from_noise:
            return params[self.name]
        return with_values(lambda: self.prior(self.length(n)), params).from_noise(params[f"{self.name}_noise"])

    @abstractmethod
    def prior(self, length: int) -> Path | GraphField:
        """The effects' prior given the scale."""

    def predictor(self, value: Any, data: Any) -> Any:
        """See `Term`."""
        return value[data]

    def _chain(self, n: int, order: int) -> Pairs:
        steps = np.arange(self.length(n))
        return [(steps[:-k], steps[k:]) for k in range(1, min(order, len(steps) - 1) + 1)]


@dataclass(frozen=True, kw_only=True, eq=False)
class IID(Effects):
    """Independent effects, N(0, sd^2) each: random effects of groups, or overdispersion."""

    def prior(self, length: int) -> Path | GraphField:
        """See `Effects`."""
        return Path(length, jnp.zeros(0), self.scale(), jnp.zeros((0, 0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class RW1(Effects):
    """A random walk: steps N(0, sd^2), the first value N(0, start^2)."""

    start: float

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        check_positive("RW1", "start", self.start)

    def prior(self, length: int) -> Path | GraphField:
        """See `Effects`."""
        return Path(length, jnp.ones(1), self.scale(), self.start * jnp.eye(1))

    def pairs(self, n: int) -> Pairs:
        """See `Term`."""
        return self._chain(n, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class RW2(Effects):
    """A smooth trend: second differences N(0, sd^2), the first value N(0, start^2), the first step N(0, slope^2)."""

    start: float
    slope: float

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        check_positive("RW2", "start", self.start)
        check_positive("RW2", "slope", self.slope)

    def prior(self, length: int) -> Path | GraphField:
        """See `Effects`."""
        first = jnp.array([[self.start, 0.0], [self.start, self.slope]])
        return Path(length, jnp.array([2.0, -1.0]), self.scale(), first)

    def pairs(self, n: int) -> Pairs:
        """See `Term`."""
        return self._chain(n, 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class AR1(Effects):
    """A stationary autoregression x_t = phi x_{t-1} + N(0, sd^2); `coefficient` is phi, between -1 and 1, or its prior."""

    coefficient: Any

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if not isinstance(self.coefficient, dist.Distribution) and not -1.0 < float(self.coefficient) < 1.0:
            raise BadInput(f"AR1(coefficient={self.coefficient}): a stationary path has a coefficient between -1 and 1.")

    def prior(self, length: int) -> Path | GraphField:
        """See `Effects`."""
        phi, scale = known_or_drawn(self.name, f"{self.name}_coefficient", self.coefficient), self.scale()
        phi = jnp.asarray(phi)
        first = scale / jnp.sqrt((1.0 - phi) * (1.0 + phi))
        return Path(length, phi[None], scale, first * jnp.eye(1))

    def pairs(self, n: int) -> Pairs:
        """See `Term`."""
        return self._chain(n, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Seasonal(Effects):
    """A slowly changing season: sums over `period` consecutive values are N(0, sd^2), the first values N(0, start^2)."""

    period: int
    start: float

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        check_positive("Seasonal", "start", self.start)
        if isinstance(self.period, bool) or not isinstance(self.period, int) or self.period < 2:
            raise BadInput(f"Seasonal(period={self.period!r}): give a whole number of at least 2.")

    def prior(self, length: int) -> Path | GraphField:
        """See `Effects`."""
        if length <= self.period:
            raise BadInput(f"Seasonal(period={self.period}) needs more than {self.period} values; there are {length}.")
        p = self.period - 1
        return Path(length, -jnp.ones(p), self.scale(), self.start * jnp.eye(p))

    def pairs(self, n: int) -> Pairs:
        """See `Term`."""
        return self._chain(n, self.period - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Besag(Effects):
    """Effects on a graph of `edges` (m, 2) that are similar where joined: the proper field of Leroux, Lei & Breslow (2000).

    Precision (mixing R + (1 - mixing) I) / sd^2, with R the Laplacian of the graph; `mixing` is a number or a prior in (0, 1).
    """

    edges: Any
    mixing: Any

    def __post_init__(self) -> None:
        """Check the settings, and decompose the Laplacian once."""
        super().__post_init__()
        edges = np.asarray(self.edges)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu" or (edges < 0).any():
            raise BadInput("Besag(edges=...): give pairs of whole numbers from 0, one pair for each two neighbours.")
        if not isinstance(self.mixing, dist.Distribution) and not 0.0 < float(self.mixing) < 1.0:
            raise BadInput(f"Besag(mixing={self.mixing}): the field is proper only between 0 and 1, both excluded.")
        levels = int(edges.max()) + 1
        laplacian = np.zeros((levels, levels))
        for a, b in edges:
            laplacian[[a, b], [a, b]] += 1.0
            laplacian[[a, b], [b, a]] -= 1.0
        object.__setattr__(self, "edges", edges.astype(np.int64))
        object.__setattr__(self, "_spectrum", np.linalg.eigh(laplacian))

    def length(self, n: int) -> int:
        """See `Term`."""
        return int(self.edges.max()) + 1

    def prior(self, length: int) -> Path | GraphField:
        """See `Effects`."""
        values, vectors = self._spectrum  # type: ignore[attr-defined]
        mixing = known_or_drawn(self.name, f"{self.name}_mixing", self.mixing)
        return GraphField(self.edges, np.maximum(values, 0.0), vectors, self.scale(), mixing)

    def pairs(self, n: int) -> Pairs:
        """See `Term`."""
        return [(self.edges[:, 0], self.edges[:, 1])]
