"""PyMC models: observed variables are the likelihood, free variables the prior. `Model.from_pymc` is the door to `model`.

PyMC writes log densities as PyTensor graphs, which `pymc_model.graphs` translates to JAX; nothing is compiled by PyTensor. The parameters are
PyMC's free variables, with its names and shapes, on the coordinates of its own transforms: draws of ``pm.sample`` fit as they are.

**A transform must be a bijection that the prior's draws survive.** ``pm.Normal("o", 0, 1, shape=3, transform=ordered)`` keeps the density of
three free numbers on a sixth of their space, so that this prior integrates to 1/3! and the evidence is log 6 too low. Prior draws are taken
to the coordinates and back, and points of the coordinates to the parameters and back; a model that changes either is refused.

Observed values and ``pm.Data`` are the model's data, by name: `with_data` replaces them, in their shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zhat.adapters.pymc_model.constants import missing_constant
from zhat.adapters.pymc_model.for_jax import add_what_is_missing
from zhat.adapters.pymc_model.graphs import Graph
from zhat.adapters.pymc_model.reading import Graphs, Read, default_transform, read_model
from zhat.adapters.pymc_model.refusals import refuse_what_cannot_be_carried
from zhat.adapters.pymc_model.standard import Standard, StandardSpace
from zhat.errors import BadInput
from zhat.model.core import Core
from zhat.model.data import fingerprint, host_arrays
from zhat.model.described import Described
from zhat.model.model import UNNAMED, Model
from zhat.model.space import Params, Site, Space
from zhat.model.traced.check import check_traceable
from zhat.run.model_check import Verdict, prior_integral
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import prior_positions, there_and_back
from zhat.seeding import Key, key_shape

# Prior draws that must survive the way to the coordinates and back: a transform that loses 0.3 % of the prior is seen in 95 % of cases.
N_TESTED = 1024
# The largest relative change of a parameter on that way; simplexes and correlation matrices lose some digits.
SAME = 1e-6
# Standard deviation of the coordinates that are taken to the parameters and back: far enough to leave a circle's first turn.
WIDE = 3.0
ORDERED = (
    ": for parameters in order, write the first and positive steps (pm.HalfNormal) and their pm.math.cumsum, or leave them free; then log "
    "Z counts every order, which is right for a mixture."
)


ON_TOP = (
    ": PyMC applies it on top of its default transform (a log of the log, say). default_transform=... replaces the default one, and is "
    "admitted where prior draws survive it."
)


def model(
    pymc_model: Any,
    *,
    name: str | None = None,
    potentials_are_likelihood: bool = False,
    zero_where_nan: bool = False,
    data_id: str | None = None,
    priors: Mapping[str, str] | None = None,
) -> Model:
    """The model of a `pymc.Model`; see `Model.from_pymc`. `priors` are those of the parameters in words, as PyMC writes them if not given."""
    _import_pymc()
    refuse_what_cannot_be_carried(pymc_model, potentials_are_likelihood)
    add_what_is_missing()
    read = read_model(pymc_model)
    data = {key: host_arrays(value, f"data {key!r} of the PyMC model") for key, value in read.data.items()}
    sites = _sites(pymc_model, read, data)
    constants = tuple(missing_constant(x, site.shape) for x, site in zip(pymc_model.free_RVs, sites, strict=True))
    space = PymcSpace(sites, constants, read.dtypes, read.graphs, read.standard)
    likelihood = Likelihood(space, read.likelihood)
    core = Core(likelihood, space, black_box=False, batched=False, pack=Pack(tuple(data)), made_from=(read.statement,))
    priors = dict(priors or _priors(pymc_model))
    told = "; ".join(f"{parameter} ~ {prior}" for parameter, prior in priors.items())
    observed = ", ".join(x.name for x in (*pymc_model.observed_RVs, *pymc_model.potentials))
    made = Model(
        likelihood,
        priors,
        data=data,
        name=name or pymc_model.name or UNNAMED,
        zero_where_nan=zero_where_nan,
        data_id=data_id or fingerprint(host_arrays(read.observed, "observed values of the PyMC model")),
        described=Described(f"a PyMC model of {observed}", told),
        labels=_labels(pymc_model, sites) or None,
        core=core,
    )
    check_traceable(made)
    _check_transforms(made, pymc_model)
    _check_custom_priors(made, pymc_model)
    return made


@dataclass(frozen=True)
class PymcSpace(Space):
    """The free variables of a PyMC model; see `Space` for the methods.

    `constants` has what PyMC's log prior of each site lacks, `dtypes` the names and types of the data, `maps` the standard coordinates.
    """

    sites: tuple[Site, ...]
    constants: tuple[float, ...]
    dtypes: tuple[tuple[str, str], ...]
    graphs: Graphs
    maps: Standard | None = None

    @property
    def other_coordinates(self) -> Space | None:
        """See `Space`."""
        return None if self.maps is None else StandardSpace(self, self.maps)

    def constrain(self, u: jax.Array, data: Any, hyper: Any) -> tuple[Params, jax.Array]:
        """See `Space`."""
        free = self.split(u)
        values = self.graphs.constrained(*free.values(), *self.given(data))
        params = dict(zip(self.names, values, strict=True))
        finite = jnp.isfinite(u).all()
        for value in params.values():
            finite &= jnp.isfinite(value).all()
        return params, jnp.where(finite, jnp.sum(self.log_priors(u, data, hyper)), -jnp.inf)

    def log_priors(self, u: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        return _sums(self.graphs.prior(*self.split(u).values(), *self.given(data))) + jnp.array(self.constants)

    def log_prior(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        return jnp.sum(_sums(self.graphs.prior_of_parameters(*self.values(params), *self.given(data)))) + sum(self.constants)

    def coordinates(self, params: Params, data: Any, hyper: Any) -> list[jax.Array]:
        """See `Space`."""
        return [jnp.ravel(x) for x in self.graphs.coordinates(*self.values(params), *self.given(data))]

    def sample_prior(self, key: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """See `Space`; NaN for a draw that the transforms change."""
        drawn = self.graphs.drawn(key, self.given(data))
        u = self.unconstrain(dict(zip(self.names, drawn, strict=True)), data, hyper)
        back = self.graphs.constrained(*self.split(u).values(), *self.given(data))
        pairs = zip(drawn, back, strict=True)
        same = [(jnp.abs(x - y) <= SAME * (1.0 + jnp.abs(x))).all() | jnp.isinf(x).any() for x, y in pairs]
        sizes = [site.size for site in self.sites]
        return jnp.where(jnp.concatenate([jnp.full(n, one) for n, one in zip(sizes, same, strict=True)]), u, jnp.nan)

    def for_data(self, data: Any, hyper: Any) -> Space:
        """See `Space`."""
        raise BadInput(
            "the shapes of the data of a PyMC model are fixed in its graph: give the data to the PyMC model (pm.set_data, or build it "
            "anew) and call zhat.Model.from_pymc again."
        )

    def given(self, data: Any) -> list[Any]:
        """The data in the order and types of the graphs' inputs."""
        return [jnp.asarray(data[name], dtype) for name, dtype in self.dtypes]

    def values(self, params: Params) -> list[Any]:
        """The parameters in order, as arrays."""
        return [jnp.asarray(params[name]) for name in self.names]


@dataclass(frozen=True)
class Likelihood:
    """The log likelihood as a function of the parameters themselves."""

    space: PymcSpace
    graph: Graph

    def __call__(self, params: Params, data: Any, hyper: Any) -> Any:
        """The sum of the log densities of the observed variables.

        Where a parameter stands on the edge of its support (a scale that has underflowed to zero), NaN is zero likelihood.
        """
        total = jnp.sum(_sums(self.graph(*self.space.values(params), *self.space.given(data))))
        edge = ~jnp.isfinite(self.space.unconstrain(params, data, hyper)).all()
        return jnp.where(jnp.isnan(total) & edge, -jnp.inf, total)


@dataclass(frozen=True)
class Pack:
    """Takes what `with_data` is given: a dict with the names of the model's data."""

    names: tuple[str, ...]

    def __call__(self, new: Any) -> dict[str, Any]:
        """The data in order."""
        if not isinstance(new, Mapping) or set(new) != set(self.names):
            got = ", ".join(map(repr, new)) if isinstance(new, Mapping) else f"a {type(new).__name__}"
            raise BadInput(
                f"with_data of a PyMC model takes a dict of all of its data by name, {', '.join(map(repr, self.names))}; got {got}."
            )
        return {name: new[name] for name in self.names}


def _sums(values: list[Any]) -> Any:
    return jnp.stack([jnp.sum(jnp.asarray(value, jnp.float64)) for value in values])


def _priors(pymc_model: Any) -> dict[str, str]:
    """The prior of every parameter as PyMC prints it."""
    from pymc.printing import str_for_dist

    return {x.name: str_for_dist(x, formatting="plain").partition(" ~ ")[2] for x in pymc_model.free_RVs}


def _labels(pymc_model: Any, sites: tuple[Site, ...]) -> dict[str, str]:
    """The entries of variables with dims by their coords: ``theta[3]`` is shown as ``theta[Lawrence]``."""
    labels: dict[str, str] = {}
    for site in sites:
        coords = [pymc_model.coords.get(dim) for dim in pymc_model.named_vars_to_dims.get(site.name) or ()]
        if len(coords) != len(site.shape) or any(one is None for one in coords):
            continue
        for at in np.ndindex(*site.shape) if site.shape else ():
            where = ", ".join(str(one[i]) for one, i in zip(coords, at, strict=True))
            labels[f"{site.name}[{','.join(map(str, at))}]"] = f"{site.name}[{where}]"
    return labels


def _import_pymc() -> None:
    try:
        import pymc  # noqa: F401
        import pytensor.link.jax.dispatch  # noqa: F401
    except ImportError as error:
        raise BadInput("Model.from_pymc needs PyMC: pip install 'zhat[pymc]'.") from error


def _sites(pymc_model: Any, read: Read, data: Any) -> tuple[Site, ...]:
    """Names and shapes, from tracing a prior draw: nothing is compiled."""
    names = [variable.name for variable in pymc_model.free_RVs]

    def shapes_only(key: jax.Array, data: Any) -> Any:
        given = [jnp.asarray(data[name], dtype) for name, dtype in read.dtypes]
        drawn = [jnp.asarray(x) for x in read.graphs.drawn(key, given)]
        return drawn, read.graphs.coordinates(*drawn, *given)

    with jax.enable_x64(True):
        try:
            own, free = jax.eval_shape(shapes_only, key_shape(), data)
        except NotImplementedError as error:
            raise BadInput(
                f"JAX cannot draw from a prior of this PyMC model ({str(error).splitlines()[0]}), and every method starts from prior draws. "
                "Write that prior from distributions that it can draw from, for example as pm.CustomDist(name, dist=...) or as a "
                "pm.Deterministic of them."
            ) from error
    supports = [_support(pymc_model, variable) for variable in pymc_model.free_RVs]
    return tuple(
        Site(name, tuple(x.shape), tuple(u.shape), support)
        for name, x, u, support in zip(names, own, free, supports, strict=True)
    )


def _support(pymc_model: Any, variable: Any) -> str:
    transform = pymc_model.rvs_to_transforms[variable]
    if transform is not None:
        return f"by PyMC's transform {transform.name}"
    return "Real" if default_transform(variable) is None else "without transform"


# -- the prior ---------------------------------------------------------------------------------------------------


def _check_transforms(made: Model, pymc_model: Any) -> None:
    """Refuse transforms that prior draws do not survive, or that are not one to one."""
    draws = prior_positions(made, N_TESTED, Key(0).child("pymc"))
    points = WIDE * Key(0).child("pymc coordinates").generator().standard_normal(draws.shape)
    back = there_and_back(made, points)
    with np.errstate(invalid="ignore"):
        moved = np.isfinite(back) & (np.abs(back - points) > 0.1)
    start = 0
    for site, variable in zip(made.space.sites, pymc_model.free_RVs, strict=True):
        own = slice(start, start + site.size)
        start += site.size
        lost = np.isnan(draws[:, own]).any(axis=1).sum()
        if lost:
            raise BadInput(
                f"{lost:,} of {N_TESTED:,} prior draws of {site.name!r} do not survive PyMC's transform "
                f"{pymc_model.rvs_to_transforms[variable].name!r} and back: the transform restricts the prior to a part of its space, where it "
                "no longer integrates to one, and the evidence would be wrong by that factor. Leave transform=... out"
                f"{_way_out(pymc_model.rvs_to_transforms[variable])}"
            )
        if moved[:, own].any():
            raise BadInput(
                f"PyMC's transform {pymc_model.rvs_to_transforms[variable].name!r} of {site.name!r} is not one to one (an angle plus a full turn is "
                "the same angle), so that the prior has no integral on its coordinates. Give a transform that is, such as "
                "transform=pymc.distributions.transforms.Interval(-numpy.pi, numpy.pi)."
            )


def _way_out(transform: Any) -> str:
    """What to write in place of a transform that prior draws do not survive."""
    if "rdered" in type(transform).__name__:
        return ORDERED
    return ON_TOP if transform.name == "chain" else "."


def _check_custom_priors(made: Model, pymc_model: Any) -> None:
    """Refuse a density that the user wrote and that does not integrate to one, where that can be told."""
    custom = [x.name for x in pymc_model.free_RVs if type(x.owner.op).__name__.startswith("Custom")]
    if not custom:
        return
    position = prior_positions(made, N_TESTED, Key(0).child("pymc"))
    finding = prior_integral(position, constrain_batch(made, position)[1])
    if finding.verdict is Verdict.WRONG:
        raise BadInput(f"prior with pm.CustomDist {', '.join(map(repr, custom))}: {finding.sentence}")
