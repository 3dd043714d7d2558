"""Model: a log likelihood and a normalised prior, kept apart, with data and hyperparameters as arguments.

Tempering needs likelihood and prior as two functions, so a model always is two. Data go to the likelihood and
hyperparameters to the prior *as arguments*, not as closures: what is compiled for one data set serves the next
(`with_data`), and a curve over a prior scale compiles once (`with_hyper`).

    model = Model(log_likelihood, prior={"mu": dist.Normal(0.0, 10.0), "tau": dist.Gamma(3.0, 2.0)}, data=y)

Five ways to build one:

* a JAX log likelihood and a dictionary of NumPyro distributions (above);
* a JAX log likelihood and a NumPyro function of `sample` statements, when parameters depend on each other;
* `Model.from_numpyro(fn, *args, **kwargs)`: observed sites are the likelihood, latent sites the prior;
* `Model.black_box(fn, prior)`: any Python function of NumPy values, one point or a batch at a time, no gradients;
* `Model.from_log_density(fn, parameters)`: log prior + log likelihood as one function, for which posterior draws are needed.
"""

from __future__ import annotations

import copy
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import BadInput, BadType, UnsupportedModel
from zhat.model.black_box import black_box_values
from zhat.model.closed_form import ClosedForm
from zhat.model.core import Core
from zhat.model.data import fingerprint, host_arrays, shapes
from zhat.model.described import Described
from zhat.model.fields.declared import Latent, latent_of
from zhat.model.flat_space import flat_space, joint_density
from zhat.model.program import program_of, space_of
from zhat.model.space import Space
from zhat.model.traced.check import check_traceable

if TYPE_CHECKING:
    from zhat.run.model_check import Report


# The name of a model that was given none.
UNNAMED = "model"
# Entries of the largest data array from which on data are large: 100,000 likelihoods of such a logistic regression take about 20 s.
LARGE_DATA = 500_000


class About(TypedDict, total=False):
    """What every way to build a model takes; see `Model`."""

    name: str
    zero_where_nan: bool
    data_id: str | None
    labels: Mapping[str, str] | None
    units: Mapping[str, str] | None


class Offer(enum.Enum):
    """What a model provides and a method may need; the value is the word in messages."""

    PRIOR_DRAWS = "prior draws"
    LIKELIHOOD = "a log likelihood"
    JOINT_DENSITY = "a joint density of parameters and data"
    GRADIENT = "gradients"
    CONDITIONALS = "tempered full conditionals"
    LATENT_GAUSSIAN = "declared latent Gaussian parameters"
    CLOSED_FORM = "its evidence in closed form"


@dataclass(frozen=True)
class Conditional:
    """One block of a Gibbs sampler for the tempered posterior, prior x likelihood^beta.

    A draw is a deterministic function of standard noise whose law does not depend on the parameters, so that the
    noise of a whole run can be drawn in bulk.

    Attributes
    ----------
    block : tuple of str
        The parameters that this block draws.
    noise : callable ``(rng, shape, beta, data, hyper) -> arrays``
        Standard noise with leading axes `shape` from a NumPy generator; its law may depend on beta (the shape of a
        gamma), not on parameters.
    draw : callable ``(noise, params, beta, data, hyper) -> dict``
        New values of the block given all other parameters, for one point.
    log_density : callable ``(params, beta, data, hyper) -> float``
        The block's *normalised* conditional log density at its value in `params`, given the others in `params`.
    noise_into : callable ``(rng, out, betas, data, hyper)``, optional
        Writes the noise of many rungs into one array, that of ``betas[k]`` into ``out[k]``: ``rng.standard_normal(out=out)``.
    """

    block: tuple[str, ...]
    noise: Callable[..., Any]
    draw: Callable[..., dict[str, Any]]
    log_density: Callable[..., Any]
    noise_into: Callable[..., Any] | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """A model whose evidence can be estimated.

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(params)``, or ``log_likelihood(params, data)`` when `data` is given; `params` is a
        dictionary of arrays. Written with jax.numpy (for plain NumPy use `Model.black_box`).
    prior : dict or callable
        Names to NumPyro distributions; or a function returning such a dictionary; or a NumPyro function of
        `sample` statements. A function is called with `hyper` when that is given. Must integrate to one.
    data : arrays in any nesting of tuples, lists and dictionaries, optional
    hyper : numbers or arrays in any nesting, optional
    name : str
    conditionals : sequence of Conditional
        Tempered full conditionals, one per block, covering every parameter; unlocks Gibbs moves and Chib's method.
    zero_where_nan : bool
        State that the likelihood is zero where its log is NaN. NaN counts as zero likelihood in any case; without this
        statement a result is suspect where NaN comes near the posterior.
    data_id : str, optional
        Fingerprint of the data; computed from `data` when not given. Only evidences with equal fingerprints are compared.
    latent : tuple of str, optional
        Parameters whose joint prior, given the others, is Gaussian; unlocks INLA. `zhat.latent` builds such models.
    closed_form : ClosedForm, optional
        The evidence as a formula or a quadrature that is exact to rounding, for `Exact`; `zhat.formula` builds such models.
    described : Described, optional
        The model, its priors and what to cite for them, in the words of reports.
    one_mode : str
        Why the posterior is known to have a single mode (a log-concave likelihood and prior, say); it is believed, and where a likelihood
        evaluation is expensive no further modes are searched for. Empty where it is not known; `zhat.formula` gives it.
    labels, units : dict of str to str, optional
        How exports and plots call a parameter (``{"mu": r"$\\mu$"}``), and its unit; for one entry of an array by its column, ``"beta[0]"``.
    """

    log_likelihood: Callable[..., Any]
    prior: Any = None
    data: Any = None
    hyper: Any = None
    name: str = UNNAMED
    conditionals: tuple[Conditional, ...] = ()
    zero_where_nan: bool = False
    data_id: str | None = None
    latent: Latent | tuple[str, ...] | None = None
    closed_form: ClosedForm | None = None
    described: Described | None = None
    one_mode: str = ""
    labels: Mapping[str, str] | None = None
    units: Mapping[str, str] | None = None
    core: Core = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check what can be checked without running anything on numbers."""
        if not isinstance(self.name, str) or not self.name.strip():
            raise BadInput(f"name={self.name!r}: a model's name is a non-empty string.")
        set_ = object.__setattr__
        set_(self, "data", host_arrays(self.data, "data"))
        set_(self, "hyper", host_arrays(self.hyper, "hyper"))
        set_(self, "conditionals", tuple(self.conditionals))
        if self.core is None:
            _check_two_functions(self.log_likelihood, self.prior)
            has_data = self.data is not None
            fn = self.log_likelihood
            call = (lambda p, data, hyper: fn(p, data)) if has_data else (lambda p, data, hyper: fn(p))
            space = space_of(program_of(self.prior, self.hyper is not None), self.data, self.hyper)
            set_(self, "core", Core(call, space, black_box=False, batched=False, made_from=(fn, self.prior)))
            check_traceable(self)
        if self.data_id is None and self.data is not None:
            set_(self, "data_id", fingerprint(self.data))
        _check_conditionals(self)
        _check_labels(self)
        set_(self, "latent", latent_of(self.latent, self.core.space))

    # -- other ways in ---------------------------------------------------------------------------------------

    @staticmethod
    def from_numpyro(
        fn: Callable[..., Any],
        *args: Any,
        name: str | None = None,
        zero_where_nan: bool = False,
        data_id: str | None = None,
        **kwargs: Any,
    ) -> Model:
        """A NumPyro model with its data: observed sites are the likelihood, latent sites the prior.

        Arrays and floats among the arguments are data (traced; replace them with ``with_data((args, kwargs))``); all else
        (ints, strings, flags, None) is fixed. `name`, `zero_where_nan` and `data_id` are as in `Model`; by default the name
        is that of the function. Refused with a sentence: `factor`, discrete latent sites, improper priors, subsampled plates,
        imputed data, priors inside `scale` or `mask`.
        """
        from zhat.adapters.numpyro import model

        return model(fn, *args, name=name, zero_where_nan=zero_where_nan, data_id=data_id, **kwargs)

    @staticmethod
    def from_pymc(
        pymc_model: Any,
        *,
        name: str | None = None,
        potentials_are_likelihood: bool = False,
        zero_where_nan: bool = False,
        data_id: str | None = None,
    ) -> Model:
        """A PyMC model: observed variables are the likelihood, free variables the prior (``pip install 'zhat[pymc]'``).

        The densities are translated to JAX, with gradients. Observed values and `pm.Data` become data by name, which
        ``with_data({name: array, ...})`` replaces in their shapes; the fingerprint is that of the observed values, so that models with
        different covariates can be compared. Draws of `pm.sample` go into ``draws=`` as they are. Refused with a sentence: discrete
        and improper priors, imputed values, minibatches, transforms that a prior draw does not survive, priors that JAX cannot draw from.

        Parameters
        ----------
        pymc_model : pymc.Model
        potentials_are_likelihood : bool
            State that every `pm.Potential` is a log likelihood with all of its constants. Without this a model with potentials is
            refused: nothing says whether they belong to the prior.
        """
        from zhat.adapters.pymc import model

        return model(
            pymc_model,
            name=name,
            potentials_are_likelihood=potentials_are_likelihood,
            zero_where_nan=zero_where_nan,
            data_id=data_id,
        )

    @staticmethod
    def from_bambi(
        bambi_model: Any, *, name: str | None = None, zero_where_nan: bool = False, data_id: str | None = None
    ) -> Model:
        """A Bambi model, such as ``bambi.Model("y ~ x + (1|group)", data)`` (``pip install 'zhat[bambi]'``).

        It goes through `from_pymc`. Bambi's default priors are scaled by the data, and the evidence depends on them: `model.prior` has
        them in words. `name` is the formula if not given.
        """
        from zhat.adapters.bambi import model

        return model(bambi_model, name=name, zero_where_nan=zero_where_nan, data_id=data_id)

    @staticmethod
    def from_stan(
        stan_model: Any,
        prior_only: Any = None,
        *,
        name: str | None = None,
        zero_where_nan: bool = False,
        data_id: str | None = None,
    ) -> Model:
        """A Stan program with its data: any object with the methods of BridgeStan's `StanModel`.

        Nothing can be drawn from the prior of a Stan program: its evidence comes from posterior draws,
        ``zhat.evidence(model, draws=...)``. All constants are kept (``propto=False``), but not those that the program itself leaves out:
        ``real<lower=0> tau; tau ~ cauchy(0, 5);`` has prior mass 1/2, and the evidence is log 2 too low.

        Parameters
        ----------
        prior_only : object, optional
            The same program with its likelihood switched off by its data; log prior and log likelihood are then known apart. The
            evidence of ``Model.from_stan(prior_only)``, from draws of it, is the logarithm of the prior's mass, which should be zero.
        data_id : str, optional
            A name for the data, which are inside the Stan object: a comparison refuses models whose `data_id` differ.
        """
        from zhat.adapters.stan import model

        return model(stan_model, prior_only, name=name, zero_where_nan=zero_where_nan, data_id=data_id)

    @classmethod
    def black_box(
        cls,
        log_likelihood: Callable[..., Any],
        prior: Any = None,
        *,
        batched: bool = False,
        data: Any = None,
        hyper: Any = None,
        **about: Unpack[About],
    ) -> Model:
        """A likelihood that is any Python function of NumPy values: a simulator, a compiled program, a table.

        Parameters
        ----------
        batched : bool
            The function receives arrays with a leading axis of n points and returns n values, instead of one point and one
            value. It is called from Python, never traced, so there are no gradients.
        data_id : str, optional
            A name for the data, for a function that holds them itself: a comparison refuses models whose `data_id` differ.
            Computed from `data` when these are given.
        """
        _check_two_functions(log_likelihood, prior)
        data, hyper = host_arrays(data, "data"), host_arrays(hyper, "hyper")
        fn = log_likelihood
        call = (lambda p, d, h: fn(p)) if data is None else (lambda p, d, h: fn(p, d))
        space = space_of(program_of(prior, hyper is not None), data, hyper)
        core = Core(call, space, black_box=True, batched=batched, made_from=(log_likelihood, prior))
        return cls(log_likelihood, prior, data=data, hyper=hyper, core=core, **about)

    @classmethod
    def from_log_density(
        cls,
        log_density: Callable[..., Any],
        parameters: Mapping[str, Any] | int,
        *,
        bounds: Mapping[str, Any] | None = None,
        data: Any = None,
        black_box: bool = False,
        batched: bool = False,
        name: str = UNNAMED,
        zero_where_nan: bool = False,
        data_id: str | None = None,
    ) -> Model:
        """A model of which only the joint density is known: log prior + log likelihood as one function (emcee, Stan).

        Its evidence comes from posterior draws, ``zhat.evidence(model, draws=...)``. Methods that start from the prior refuse it, and
        so do the checks that need prior draws; the result says which.

        Parameters
        ----------
        log_density : callable
            Log prior + log likelihood of the parameters themselves, without Jacobian and with every constant: one that is missing
            is missing from log Z. ``log_density(params)`` or ``log_density(params, data)``; -inf where the density is zero.
        parameters : dict of str to shape, or int
            Names and shapes, ``{"mu": (), "theta": (8,)}``; or the length of the vector that `log_density` takes, as emcee's does:
            the parameter is then called theta.
        bounds : dict, optional
            ``{"sigma": (0.0, None)}``: the support of a parameter, as two numbers or as a NumPyro constraint; without it the
            whole line. Draws are mapped to the line within these bounds.
        black_box, batched : bool
            Whether the function is written with NumPy and called from Python, one point at a time or many (`Model.black_box`);
            without it JAX traces it.
        """
        if not callable(log_density):
            raise BadType(f"log_density is a {type(log_density).__name__}, not a function.")
        if batched and not black_box:
            raise BadInput("batched=True is for black_box=True; a traced function takes one point.")
        data = host_arrays(data, "data")
        space = flat_space(parameters, bounds)
        call = joint_density(log_density, not isinstance(parameters, Mapping), data is not None, np if black_box else jnp)
        core = Core(call, space, black_box=black_box, batched=batched, made_from=(log_density, space))
        model = cls(log_density, None, data=data, name=name, zero_where_nan=zero_where_nan, data_id=data_id, core=core)
        if not black_box:
            check_traceable(model)
        return model

    @staticmethod
    def from_prior_transform(
        log_likelihood: Callable[..., Any],
        prior_transform: Callable[[Any], Any],
        n_dim: int,
        names: Sequence[str] | None = None,
        *,
        batched: bool = False,
        inverse: Callable[[Any], Any] | None = None,
        traced: bool | None = None,
        data: Any = None,
        **about: Unpack[About],
    ) -> Model:
        """A likelihood and a prior transform, as dynesty, UltraNest and nautilus take them.

        Parameters
        ----------
        log_likelihood : callable
            ``log_likelihood(theta)``, or ``log_likelihood(theta, data)`` when `data` is given; theta is what `prior_transform`
            returns: a vector, or a dictionary of numbers.
        prior_transform : callable
            From a point u of the unit cube, n_dim numbers, to the parameters. If u is uniform, the result is a draw from the prior. It
            may return further, derived parameters, or change its argument in place.
        names : sequence of str, optional
            A name for each parameter; without names they are one vector, theta. A dictionary has its own names.
        batched : bool
            Both functions take n points at once: u of shape (n, n_dim), theta of shape (n, parameters) or a dictionary of arrays.
        inverse : callable, optional
            From the parameters to the cube, where it is known; with it, posterior draws of another program can be given.
        traced : bool, optional
            Whether JAX traces both functions, which gives gradients and compiled code. By default it does where it can: functions of
            NumPy are called from Python. `model.is_black_box` says which.
        """
        from zhat.adapters.cube.prior_transform import How, model

        return model(log_likelihood, prior_transform, n_dim, names, How(batched, inverse, traced, data), about)

    @staticmethod
    def from_bilby(likelihood: Any, priors: Any, **about: Unpack[About]) -> Model:
        """A likelihood and a PriorDict of bilby, which is called from Python.

        Labels and units are those of the priors. Fixed parameters (DeltaFunction) are passed to the likelihood. Conditional priors are
        kept. Where there are `Constraint` priors, the prior inside of them is normalised, and they are refused where its mass cannot be
        had precisely. Joint priors are refused. The evidence is that of ``likelihood.log_likelihood``, not of its ratio to noise.
        """
        from zhat.adapters.cube.bilby import model

        return model(likelihood, priors, about)

    @staticmethod
    def from_log_prior(
        log_likelihood: Callable[..., Any],
        log_prior: Callable[[Any], Any],
        bounds: Sequence[tuple[float | None, float | None]],
        prior_sampler: Callable[..., Any] | None = None,
        names: Sequence[str] | None = None,
        *,
        batched: bool = False,
        data: Any = None,
        **about: Unpack[About],
    ) -> Model:
        """A log likelihood and a log prior as Python functions of a vector, as in emcee's tutorials.

        The prior must be normalised: a missing constant is missing from log Z. Its integral is estimated here, and a prior that does not
        integrate to one is refused with the number.

        Parameters
        ----------
        log_likelihood, log_prior : callable
            Functions of the vector of the parameters; -inf outside of the support. `log_likelihood` takes `data` second when given.
        bounds : sequence of pairs
            ``(low, high)`` of each parameter, None or infinite where there is no bound.
        prior_sampler : callable, optional
            ``prior_sampler(rng, n)``: n draws from the prior, shape (n, parameters), by a NumPy generator. May be left out where all bounds
            are finite.
        batched : bool
            Both functions take arrays (n, parameters) and return n values.
        """
        from zhat.adapters.cube.log_prior import model
        from zhat.adapters.cube.prior_transform import How

        return model(log_likelihood, log_prior, bounds, prior_sampler, names, How(batched, data=data), about)

    # -- the same model, other numbers -----------------------------------------------------------------------

    def with_data(self, data: Any, name: str | None = None, data_id: str | None = None) -> Model:
        """The same model for other data of the same structure; what is compiled is reused."""
        if self.core.pack is not None:
            data = self.core.pack(data)
        data = host_arrays(data, "data")
        return replace(self, data=data, data_id=data_id, name=name or self.name, core=self._core_for(data, self.hyper))

    def with_hyper(self, hyper: Any, name: str | None = None) -> Model:
        """The same model with other hyperparameters; what is compiled is reused."""
        if self.hyper is None:
            raise BadInput("this model has no hyperparameters: give hyper=... and a prior that is a function of it.")
        hyper = host_arrays(hyper, "hyper")
        return replace(self, hyper=hyper, name=name or self.name, core=self._core_for(self.data, hyper))

    def with_latent(self, *names: str) -> Model:
        """The same model with these parameters declared as Gaussian given the others, for `INLA`."""
        return replace(self, latent=names)

    def with_labels(self, labels: Mapping[str, str] | None = None, units: Mapping[str, str] | None = None) -> Model:
        """The same model with labels and units of its parameters, which exports then use; what is compiled is reused."""
        return replace(self, labels=labels, units=units)

    def in_other_coordinates(self) -> Model | None:
        """The same model where locations and scales of priors that depend on other parameters are taken out of the coordinates, or back.

        Parameters and evidence are the same. None for a model without such priors.
        """
        core = self.core.in_other_coordinates()
        if core is None:
            return None
        other = copy.copy(self)
        object.__setattr__(other, "core", core)
        return other

    def named(self, name: str) -> Model:
        """The same model under another name, which its results, messages and progress then show."""
        if name == self.name:
            return self
        if not isinstance(name, str) or not name.strip():
            raise BadInput(f"name={name!r}: a model's name is a non-empty string.")
        other = copy.copy(self)  # not `replace`, which would copy the data
        object.__setattr__(other, "name", name)
        return other

    def _core_for(self, data: Any, hyper: Any) -> Core:
        """This core, unless the new arguments change the space (more groups, other shapes)."""
        if (data is None) != (self.data is None) or (hyper is None) != (self.hyper is None):
            raise BadInput("data and hyper can be replaced, not added or removed: build a new Model for that.")
        if shapes((data, hyper)) == shapes((self.data, self.hyper)):
            return self.core
        space = self.core.space.for_data(data, hyper)
        if space.sites == self.core.space.sites:
            return self.core
        return self.core.for_space(space)

    # -- what it is and has ----------------------------------------------------------------------------------

    @property
    def space(self) -> Space:
        """Parameter names, shapes and supports."""
        return self.core.space

    @property
    def n_dimensions(self) -> int:
        """Number of unconstrained coordinates."""
        return self.core.space.n_dimensions

    @cached_property
    def data_size(self) -> int:
        """Number of entries of the largest data array; without data, of what the likelihood has in its closure or makes."""
        return max((int(np.size(leaf)) for leaf in jax.tree.leaves(self.data)), default=self.core.sizes.largest)

    @property
    def has_large_data(self) -> bool:
        """Whether a likelihood evaluation is expensive because of the size of the data."""
        return self.data_size >= LARGE_DATA

    @cached_property
    def data_for_calls(self) -> Any:
        """The data as compiled programs take them; large ones are copied to JAX once, because several calls, each with a copy, may be under way."""
        if not self.has_large_data:
            return self.data
        with jax.enable_x64(True):
            return jax.tree.map(jnp.asarray, self.data)

    @property
    def is_black_box(self) -> bool:
        """Whether the likelihood is called from Python rather than compiled."""
        return self.core.black_box

    @property
    def offers(self) -> frozenset[Offer]:
        """What this model provides to methods."""
        offers = {Offer.JOINT_DENSITY}
        if self.space.has_prior:
            offers |= {Offer.PRIOR_DRAWS, Offer.LIKELIHOOD}
        if not self.is_black_box:
            offers.add(Offer.GRADIENT)
        if self.conditionals:
            offers.add(Offer.CONDITIONALS)
        if self.latent is not None and not self.is_black_box:
            offers.add(Offer.LATENT_GAUSSIAN)
        if self.closed_form is not None:
            offers.add(Offer.CLOSED_FORM)
        return frozenset(offers)

    def evaluate(self, **params: Any) -> tuple[float, float]:
        """Log prior density (of the parameters themselves) and log likelihood at one point; of a joint density zero and itself."""

        """Log prior density (of the parameters themselves) and log likelihood at one point."""
        if self.core.shown is not None:
            raise UnsupportedModel(
                f"evaluate: the prior of {self.name!r} is a transform of the unit cube and its density is not known; call the log "
                "likelihood itself."
            )
        missing, extra = set(self.space.names) - set(params), set(params) - set(self.space.names)
        if missing or extra:
            raise BadInput(f"parameters of {self.name!r} are {list(self.space.names)}; got {sorted(params)}.")
        with jax.enable_x64(True):
            point = {k: np.asarray(v, np.float64) for k, v in params.items()}
            log_prior = self.core.compiled("log_prior", lambda: self.space.log_prior)(point, self.data, self.hyper)
            if self.is_black_box:
                batch = {k: v[None] for k, v in point.items()}
                return float(log_prior), float(black_box_values(self, batch)[0])
            fn = self.core.compiled("log_likelihood", lambda: self.core.log_likelihood)
            return float(log_prior), float(np.reshape(fn(point, self.data, self.hyper), ()))

    def check(self, n_draws: int = 1000, seed: int = 0) -> Report:
        """Evaluate the model at prior draws and report each check in a sentence; see `zhat.run.model_check`."""
        from zhat.run.model_check import check_model

        return check_model(self, n_draws, seed)


# -- checks at the door ----------------------------------------------------------------------------------------


def _check_two_functions(log_likelihood: Any, prior: Any) -> None:
    """Refuse what is not a log likelihood and a prior, in this order."""
    if not callable(log_likelihood):
        swapped = isinstance(log_likelihood, Mapping) and (prior is None or callable(prior))
        hint = " The log likelihood comes first, then the prior: zhat.Model(log_likelihood, prior)." if swapped else ""
        raise BadType(f"log_likelihood is a {type(log_likelihood).__name__}, not a function.{hint}")
    if prior is None:
        raise BadInput(
            "the prior is missing. The evidence is the mean of the likelihood over the prior, so the prior must be known apart, and "
            "normalised: zhat.Model(log_likelihood, {'mu': numpyro.distributions.Normal(0.0, 10.0)}), or "
            "zhat.Model.from_log_prior(log_likelihood, log_prior, bounds=..., prior_sampler=...) for functions as emcee takes them. "
            "Of one function log_prob, the sum of both, the evidence needs posterior draws: "
            "zhat.evidence(zhat.Model.from_log_density(log_prob, n_parameters), draws=...)."
        )


def _check_labels(model: Model) -> None:
    """Refuse labels and units of parameters that the model does not have."""
    names = model.space.names if model.core.shown is None else model.core.shown.names
    for what in ("labels", "units"):
        given = getattr(model, what)
        if given is None:
            continue
        if not isinstance(given, Mapping) or not all(
            isinstance(key, str) and isinstance(text, str) for key, text in given.items()
        ):
            raise BadType(f"{what}={given!r}: give a dictionary of texts by parameter, such as {{{names[0]!r}: '...'}}.")
        unknown = [key for key in given if key.split("[")[0] not in names and key not in names]
        if unknown:
            raise BadInput(f"{what} has {', '.join(map(repr, unknown))}; the parameters are {', '.join(names)}.")


def _check_conditionals(model: Model) -> None:
    if not model.conditionals:
        return
    blocks = [name for c in model.conditionals for name in c.block]
    if sorted(blocks) != sorted(model.space.names):
        raise BadInput(
            f"conditionals draw {blocks} but the parameters are {list(model.space.names)}: "
            "every parameter must stand in exactly one block."
        )
