"""Models given as a prior transform: a function from the unit cube to the parameters, as dynesty, UltraNest and nautilus take it.

If u is uniform on the cube, transform(u) is a draw from the prior. The evidence does not change under a change of variables: it is the
mean of likelihood(transform(u)) over the cube, or over z with u = Phi(z) and z standard normal. Samplers work with z, whose prior is
smooth and has no edges; nested sampling from regions works in the cube itself. Draws, tables and messages are in the user's parameters.

`Model.from_prior_transform` is the door to `model`.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import ndtr as traced_ndtr
from scipy.special import ndtr, ndtri

from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.core import Core, Shown
from zhat.model.data import host_arrays
from zhat.model.model import About, Model
from zhat.model.program import program_of, space_of
from zhat.model.space import Params
from zhat.model.traced.check import check_traceable
from zhat.results.records import Array

# The parameter of a transform whose values have no names, and the coordinates of the cube where they are not one for each parameter.
UNNAMED, CUBE = "theta", "u"
# The ends of the cube are no points of it: quantile functions are infinite there.
LOWEST, HIGHEST = float(np.finfo(np.float64).tiny), 1.0 - 2.0**-53
# Points at which a transform of one point is tried on many at once, and how closely the two must agree.
TRIED, SAME = 16, 1e-13


class Kind(enum.Enum):
    """What a transform returns."""

    UNNAMED = "a vector without names"
    NAMED = "a vector with names"
    DICTIONARY = "a dictionary"


@dataclass(frozen=True)
class Form:
    """What the functions are given and return: a vector, with names or without, or a dictionary; one point at a time or a batch."""

    n_dim: int
    names: tuple[str, ...]
    kind: Kind
    batched: bool

    @property
    def one_each(self) -> bool:
        """Whether every parameter has its own coordinate in the cube."""
        return self.kind is not Kind.UNNAMED and len(self.names) == self.n_dim

    @property
    def coordinates(self) -> dict[str, dist.Distribution]:
        """The prior of the space: a standard normal coordinate for each parameter, or one vector of them."""
        if self.one_each:
            return {name: dist.Normal(0.0, 1.0) for name in self.names}
        name = UNNAMED if self.kind is Kind.UNNAMED else CUBE
        return {name: dist.Normal(0.0, 1.0).expand([self.n_dim]).to_event(1)}

    def stacked(self, coordinates: Params, xp: Any = np) -> Any:
        """Coordinates of the space as one array, (..., n_dim); by name, because compiled code returns dictionaries in another order."""
        parts = [coordinates[name] for name in self.coordinates]
        return xp.stack(parts, axis=-1) if self.one_each else parts[0]

    def unstacked(self, z: Array) -> Params:
        """Vectors (n, n_dim) as coordinates of the space."""
        names = list(self.coordinates)
        return {name: z[:, i] for i, name in enumerate(names)} if self.one_each else {names[0]: z}

    def named(self, values: Any) -> Params:
        """What the transform returned as a dictionary; the last axis of a vector runs over the parameters."""
        if self.kind is Kind.DICTIONARY:
            return {name: values[name] for name in self.names}
        if self.kind is Kind.UNNAMED:
            return {UNNAMED: values}
        return {name: values[..., i] for i, name in enumerate(self.names)}

    def unnamed(self, params: Params) -> Any:
        """The dictionary as the likelihood takes it."""
        if self.kind is Kind.DICTIONARY:
            return dict(params)
        return params[UNNAMED] if self.kind is Kind.UNNAMED else np.stack([params[name] for name in self.names], axis=-1)


@dataclass(frozen=True)
class OnArrays:
    """A transform that is called from Python; outward and inward maps of a batch of points."""

    transform: Callable[[Any], Any]
    form: Form
    inverse: Callable[[Any], Any] | None = None

    def outward(self, params: Params) -> Params:
        """The user's parameters of points of the space."""
        u = np.clip(ndtr(self.form.stacked(params)), LOWEST, HIGHEST)
        return self.form.named(self.of_cube(u))

    def of_cube(self, u: Array) -> Any:
        """The transform at n points (n, d): a dictionary, or an array (n, parameters)."""
        if self.form.batched:
            return _checked(called(self.transform, u), self.form, len(u))
        if self.takes_columns:
            return _checked(_by_columns(self.transform, u, self.form), self.form, len(u))
        return _rows([called(self.transform, row) for row in u], self.form)

    @cached_property
    def takes_columns(self) -> bool:
        """Whether the transform of one point, called with u[i] as arrays over points, gives the same: then many points are one call."""
        u = np.random.Generator(np.random.PCG64(0)).uniform(size=(TRIED, self.form.n_dim))
        one_by_one = _rows([called(self.transform, row) for row in u], self.form)
        try:
            with np.errstate(all="ignore"):
                together = _checked(_by_columns(self.transform, u, self.form), self.form, TRIED)
        except Exception:  # a function of one point may raise anything when it is given arrays
            return False
        pairs = zip(self.form.named(one_by_one).values(), self.form.named(together).values(), strict=True)
        return all(np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=SAME, atol=0.0, equal_nan=True) for a, b in pairs)

    def inward(self, params: Params) -> Params:
        """The points of the space at the user's parameters."""
        assert self.inverse is not None
        values = self.form.unnamed({name: np.asarray(value, np.float64) for name, value in params.items()})
        n = len(next(iter(params.values())))
        if self.form.batched:
            u = np.asarray(self.inverse(values), np.float64)
        else:
            each = [{k: v[i] for k, v in values.items()} if self.form.kind is Kind.DICTIONARY else values[i] for i in range(n)]
            u = np.array([np.asarray(self.inverse(value), np.float64) for value in each])
        if u.shape != (n, self.form.n_dim):
            raise ShapeError(
                f"inverse returned shape {u.shape} for {n} points: give the {self.form.n_dim} coordinates in the cube."
            )
        return self.form.unstacked(ndtri(u))


@dataclass(frozen=True)
class How:
    """How the functions are called; see `Model.from_prior_transform`."""

    batched: bool = False
    inverse: Callable[[Any], Any] | None = None
    traced: bool | None = None
    data: Any = None


def model(
    log_likelihood: Callable[..., Any],
    prior_transform: Callable[[Any], Any],
    n_dim: int,
    names: Sequence[str] | None = None,
    how: How | None = None,
    about: About | None = None,
) -> Model:
    """See `Model.from_prior_transform`."""
    how = how or How()
    batched, inverse, traced, data = how.batched, how.inverse, how.traced, how.data
    _check_functions(log_likelihood, prior_transform, inverse, data is not None)
    if isinstance(n_dim, bool) or not isinstance(n_dim, int | np.integer) or n_dim < 1:
        raise BadInput(f"n_dim={n_dim!r}: give the number of coordinates of the unit cube, an integer of at least 1.")
    form = _form(prior_transform, int(n_dim), names, batched)
    data = host_arrays(data, "data")
    made_from = (log_likelihood, prior_transform, inverse, form)
    settings: dict[str, Any] = {**(about or {})}
    if traced is not False:
        try:
            return _traced(log_likelihood, prior_transform, form, data, inverse, made_from, settings)
        except Exception as error:  # functions that JAX cannot trace raise anything: they are called from Python instead
            if traced:
                raise BadType(
                    f"traced=True, and JAX cannot trace these functions ({type(error).__name__}: {_first_line(error)}): write them with "
                    "jax.numpy, or leave traced= out, and they are called from Python, without gradients."
                ) from error
    maps = OnArrays(prior_transform, form, inverse)
    call = _plain_call(log_likelihood, form, data is not None)
    shown = Shown(form.names, maps.outward, maps.inward if inverse is not None else None)
    space = space_of(program_of(form.coordinates, False), data, None)
    core = Core(call, space, black_box=True, batched=batched, made_from=made_from, shown=shown)
    return Model(log_likelihood, prior_transform, data=data, core=core, **settings)


# -- functions that JAX traces -----------------------------------------------------------------------------------------


def _traced(
    fn: Callable[..., Any], transform: Callable[[Any], Any], form: Form, data: Any, inverse: Any, made_from: Any, settings: Any
) -> Model:
    """The model whose likelihood is compiled, transform included."""

    def parameters(coordinates: Params) -> Any:
        u = jnp.clip(traced_ndtr(form.stacked(coordinates, jnp)), LOWEST, HIGHEST)
        values = transform(u[None] if form.batched else u)
        return values if form.kind is Kind.DICTIONARY else jnp.asarray(values)

    def log_likelihood(coordinates: Params, data: Any, hyper: Any) -> Any:
        values = parameters(coordinates)
        return fn(values) if data is None else fn(values, data)

    def outward(coordinates: Params) -> Params:
        named = form.named(parameters(coordinates))
        return {name: jnp.asarray(value)[0] if form.batched else jnp.asarray(value) for name, value in named.items()}

    maps = OnArrays(transform, form, inverse)
    shown = Shown(form.names, outward, maps.inward if inverse is not None else None, traced=True)
    space = space_of(program_of(form.coordinates, False), data, None)
    core = Core(log_likelihood, space, black_box=False, batched=False, made_from=made_from, shown=shown)
    made = Model(fn, transform, data=data, core=core, **settings)
    check_traceable(made)
    return made


# -- functions that Python calls ---------------------------------------------------------------------------------------


def called(transform: Callable[[Any], Any], u: Array) -> Any:
    """What the transform returns for a copy of u; a transform that changes its argument instead of returning is read from there."""
    cube = np.array(u)
    values = transform(cube)
    return cube if values is None and not np.array_equal(cube, u) else values


def _plain_call(fn: Callable[..., Any], form: Form, has_data: bool) -> Callable[..., Any]:
    def call(params: Params, data: Any, hyper: Any) -> Any:
        values = form.unnamed(params)
        return fn(values, data) if has_data else fn(values)

    return call


def _by_columns(transform: Callable[[Any], Any], u: Array, form: Form) -> Any:
    """The transform at all points at once, with u[i] an array over points."""
    values = called(transform, np.ascontiguousarray(u.T))
    if form.kind is Kind.DICTIONARY:
        return {name: np.broadcast_to(values[name], (len(u),)) for name in form.names}
    return np.stack([np.broadcast_to(np.asarray(value, np.float64), (len(u),)) for value in values], axis=1)


def _rows(values: list[Any], form: Form) -> Any:
    if form.kind is Kind.DICTIONARY:
        return {name: np.array([np.asarray(row[name], np.float64) for row in values]) for name in form.names}
    return _checked(np.array([np.asarray(row, np.float64) for row in values]), form, len(values))


def _checked(values: Any, form: Form, n: int) -> Any:
    """Values at n points, with a leading axis of n and as many parameters as there were at the first call."""
    if form.kind is Kind.DICTIONARY:
        return {name: np.asarray(values[name], np.float64) for name in form.names}
    array = np.asarray(values, np.float64)
    if len(array) != n or array.ndim != 2 or (form.kind is Kind.NAMED and array.shape[1] != len(form.names)):
        raise ShapeError(f"prior_transform returned shape {array.shape} for {n} points: one row for each is expected.")
    return array


# -- checks at the door ------------------------------------------------------------------------------------------------


def _check_functions(log_likelihood: Any, prior_transform: Any, inverse: Any, has_data: bool) -> None:
    for what, fn, n in (("log_likelihood", log_likelihood, 2 if has_data else 1), ("prior_transform", prior_transform, 1)):
        if not callable(fn):
            raise BadType(
                f"{what} is a {type(fn).__name__}, not a function: from_prior_transform(log_likelihood, prior_transform, n_dim)."
            )
        try:
            inspect.signature(fn).bind(*range(n))
        except TypeError as error:
            given = "theta, data" if n == 2 else "theta" if what == "log_likelihood" else "u"
            raise BadType(
                f"{what} is called as {what}({given}), which its signature does not take ({error}); bind further arguments "
                "with functools.partial."
            ) from None
        except ValueError:  # a callable without a signature that Python can read
            continue
    if inverse is not None and not callable(inverse):
        raise BadType(f"inverse is a {type(inverse).__name__}, not a function of the parameters.")


def _form(transform: Callable[[Any], Any], n_dim: int, names: Sequence[str] | None, batched: bool) -> Form:
    """What the transform returns, seen at two points; refused where that cannot be a prior transform."""
    u = np.random.Generator(np.random.PCG64(1)).uniform(size=(2, n_dim))
    try:
        first = called(transform, u) if batched else called(transform, u[0])
        second = None if batched else called(transform, u[1])
    except Exception as error:  # a user's function may raise anything
        error.add_note(f"raised by prior_transform at {'two points' if batched else 'a point'} of the unit cube (n_dim={n_dim}).")
        raise
    if first is None:
        raise BadType("prior_transform returned None and left u as it was: is its return statement missing?")
    if isinstance(first, Mapping):
        return _form_by_name(first, n_dim, names, batched)
    values = np.asarray(first, np.float64)
    shape = values.shape[1:] if batched else values.shape
    if len(shape) != 1 or (batched and len(values) != 2):
        hint = " (two points are given at once: batched=True)" if batched else ""
        raise ShapeError(f"prior_transform returned shape {values.shape}{hint}: it must return one value for each parameter.")
    if not np.isfinite(values).all():
        raise BadInput(f"prior_transform({u[0]}) = {values if not batched else values[0]}: parameters must be finite numbers.")
    same = values[0] == values[1] if batched else values == np.asarray(second, np.float64)
    if np.all(same):
        raise BadInput(f"prior_transform returns {values[0] if batched else values} at two points of the cube: it is constant.")
    return Form(n_dim, _names(names, shape[0], n_dim), Kind.UNNAMED if names is None else Kind.NAMED, batched)


def _form_by_name(values: Mapping[Any, Any], n_dim: int, names: Sequence[str] | None, batched: bool) -> Form:
    if names is not None:
        raise BadInput(f"names={list(names)}: prior_transform returns a dictionary, whose keys {list(values)} are the names.")
    keys = _checked_names(list(values))
    single = all(np.ndim(value) == (1 if batched else 0) for value in values.values())
    if not single:
        raise ShapeError("prior_transform returns a dictionary with arrays: each parameter must be one number.")
    return Form(n_dim, keys, Kind.DICTIONARY, batched)


def _names(names: Sequence[str] | None, n: int, n_dim: int) -> tuple[str, ...]:
    if n < n_dim:
        raise ShapeError(
            f"prior_transform returns {n} parameters for n_dim={n_dim} coordinates of the cube: give at least as many."
        )
    if names is None:
        return (UNNAMED,)
    checked = _checked_names(names)
    if len(checked) != n:
        raise BadInput(f"names has {len(checked)} entries ({', '.join(checked)}), and prior_transform returns {n} parameters.")
    return checked


def _checked_names(names: Any) -> tuple[str, ...]:
    if isinstance(names, str):
        raise BadType(f"names={names!r} is one text: give a list of names, one for each parameter.")
    wrong = [name for name in names if not isinstance(name, str) or not name.strip()]
    if wrong or len(set(names)) < len(names):
        raise BadInput(f"names={list(names)}: every parameter needs a name of its own (text).")
    return tuple(names)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]
