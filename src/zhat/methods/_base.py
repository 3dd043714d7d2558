"""The base class of methods, and their registry.

A method is a frozen dataclass of settings with a name, what it needs of a model, what to cite, which check for missed mass it
makes, and one function, `run`:

    @dataclass(frozen=True)
    class PriorMean(Method):
        name: ClassVar[str] = "prior-mean"
        needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS})
        cites: ClassVar[tuple[str, ...]] = ("robert2009",)
        when: ClassVar[str] = "the prior is not much wider than the posterior"
        look: ClassVar[Look] = Look.from_modes()
        n_draws: int = 100_000

        def run(self, model, bench, key): ...

To add a method, add a file to this folder: the registry finds it, and `evidence`, the command line, the contract tests and the
table in the documentation include it. Methods never import each other; code that two of them share is in a lower package.
"""

from __future__ import annotations

import difflib
import importlib
import math
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds
from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.witnesses import Witnesses
from zhat.model.model import Model, Offer
from zhat.results.estimate import Estimate
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key
from zhat.verdicts.missed_mass import after_look

if TYPE_CHECKING:
    from zhat.sampling.workbench import Workbench


@dataclass(frozen=True)
class Size:
    """A setting that the cost and the precision of a method grow with: draws, particles, live points, chains.

    Attributes
    ----------
    name : str
        Of the setting: a number, or an object with a function `sized` of its own.
    smallest : int
        The least that the method accepts.
    multiple_of : int or str
        What the number must be a multiple of; a word is the name of a setting that holds it.
    grows : bool
        Whether more of it makes the answer more precise; pilots shrink with the rest and need not grow.
    unset : int, optional
        What a factor applies to where the setting is None, chosen for the model.
    """

    name: str
    smallest: int = 1
    multiple_of: int | str = 1
    grows: bool = True
    unset: int | None = None

    def value(self, method: Method) -> Any:
        """The setting of this method, or what stands for None."""
        value = getattr(method, self.name)
        return self.unset if value is None else value

    def scaled(self, method: Method, factor: float) -> Any:
        """The setting of this method times a factor, rounded up to what the method accepts."""
        value = self.value(method)
        factor = factor if self.grows else min(factor, 1.0)
        if not isinstance(value, int):
            return value.sized(factor)
        step = getattr(method, self.multiple_of) if isinstance(self.multiple_of, str) else self.multiple_of
        return max(-(-self.smallest // step), math.ceil(value * factor / step)) * step


@dataclass(frozen=True)
class Method(ABC):
    """Frozen settings of one way to estimate the evidence.

    Attributes
    ----------
    name : str
        On the command line.
    needs : frozenset of Offer
        What a model must offer.
    cites : tuple of str
        Keys of what to cite.
    when : str
        When to use it, for the tables.
    look : Look
        Which check for missed mass its runs make, or why none.
    sizes : tuple of Size
        The settings by which its standard error shrinks, about as their inverse root; none for an approximation.
    evaluations : tuple of float
        About how many likelihoods and gradients a run takes: for each unit of the first size so many, and so many more for each
        dimension; measured on the exact models of the zoo (`run.price`).
    evaluates : bool
        Whether it evaluates the likelihood; if not, the checks of the model at prior draws are left out.
    reads_draws : bool
        Whether it uses posterior draws that the caller brings (`zhat.evidence(model, draws=...)`) instead of its own.
    needs_with_draws : frozenset of Offer or None
        What a model must offer where the caller brings draws; None: the same as without.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[Offer]]
    cites: ClassVar[tuple[str, ...]]
    when: ClassVar[str]
    look: ClassVar[Look]
    # The share of its sizes with which `precision=` starts.
    first_share: ClassVar[float] = 0.125
    sizes: ClassVar[tuple[Size, ...]] = ()
    evaluations: ClassVar[tuple[float, float]] = (1.0, 0.0)
    evaluates: ClassVar[bool] = True
    reads_draws: ClassVar[bool] = False
    needs_with_draws: ClassVar[frozenset[Offer] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check the kinds of a method's settings before its own checks."""
        super().__init_subclass__(**kwargs)
        checked_kinds(cls)

    @property
    def effort(self) -> Effort:
        """That of its check for missed mass."""
        return self.look.effort

    def effort_on(self, model: Model) -> Effort:
        """`effort`, where it depends on the model."""
        return self.effort

    def evaluations_on(self, model: Model) -> tuple[float, float]:
        """`evaluations`, where they depend on the model."""
        return self.evaluations

    def evaluations_in_all(self, model: Model) -> int | None:
        """Likelihoods of a run with its check, where they do not follow from sizes, dimensions and the check; None: they do."""
        return None

    @abstractmethod
    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """Estimate log Z, with its standard error and a verdict on both."""

    def checked(
        self, model: Model, estimate: Estimate, witnesses: Witnesses, key: Key, loop: Loop, effort: Effort | None = None
    ) -> Estimate:
        """The estimate after this method's check for missed mass; one without a standard error, or with one of zero, is unchanged."""
        if not estimate.log_evidence_se:
            return estimate
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        return after_look(estimate, look_for_missed_mass(model, answer, witnesses, effort or self.look.effort, key, loop))

    def read(self, record: object) -> Estimate:
        """The estimate from an existing record, for methods that support it (see `zhat.read`)."""
        raise BadInput(f"{type(self).__name__} cannot read the record of another run; run it on the model.")

    def sized(self, factor: float) -> Self:
        """The same method with all of its sizes times a factor, none below the least that it accepts."""
        if not self.sizes:
            raise BadInput(f"{type(self).__name__} has no size that its precision grows with.")
        if not (factor > 0.0 and math.isfinite(factor)):
            raise BadInput(f"{type(self).__name__}.sized({factor}): give a factor above zero.")
        return replace(self, **{size.name: size.scaled(self, factor) for size in self.sizes})

    def missing(self, model: Model, with_draws: bool = False) -> frozenset[Offer]:
        """What this method needs and the model does not offer; `with_draws`: where the caller brings posterior draws."""
        return type(self).needs_of(with_draws) - model.offers

    @classmethod
    def needs_of(cls, with_draws: bool) -> frozenset[Offer]:
        """What a model must offer, with or without draws of the caller."""
        return cls.needs_with_draws if with_draws and cls.needs_with_draws is not None else cls.needs


@cache
def registry() -> dict[str, type[Method]]:
    """Every method of this folder, by name, in alphabetical order."""
    package = importlib.import_module("zhat.methods")
    methods: dict[str, type[Method]] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"zhat.methods.{info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Method) and value.__module__ == module.__name__:
                methods[value.name] = value
    return dict(sorted(methods.items()))


def method_named(name: str, settings: dict[str, Any] | None = None) -> Method:
    """A method by its name and settings; for an unknown name the error suggests the nearest known one."""
    methods = registry()
    if name not in methods:
        raise BadInput(f"there is no method {name!r}{_nearest(name, list(methods))} Known: {', '.join(methods)}.")
    cls = methods[name]
    known = [f.name for f in fields(cls) if f.init]
    for option in settings or {}:
        if option not in known:
            raise BadType(f"{cls.__name__} has no setting {option!r}{_nearest(option, known)} It has: {', '.join(known)}.")
    return cls(**(settings or {}))


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.4)
    return f"; did you mean {close[0]!r}?" if close else "."


# More draws or particles than any memory holds.
MOST = 10**12


def check_count(owner: str, name: str, value: Any, minimum: int, why: str) -> None:
    """Refuse a count that is not a whole number of at least `minimum`; `why` is the reason in the message."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadType(f"{owner}({name}={value!r}): give a whole number.")
    if value < minimum:
        raise BadInput(f"{owner}({name}={value}): {why}; give at least {minimum}.")
    if value > MOST:
        raise BadInput(f"{owner}({name}={value:.0e}): no machine holds so many; give at most {MOST:.0e}.")


# Times the usual starts beyond which a survey of the modes takes longer than any run.
MOST_SEARCH_EFFORT = 1000.0


def check_search_effort(owner: str, value: Any) -> None:
    """Refuse a number of times the usual starts that no survey of the modes can make."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value <= MOST_SEARCH_EFFORT:
        raise BadInput(
            f"{owner}(search_effort={value!r}): give how many times the usual starts look for modes, above 0 and up to "
            f"{MOST_SEARCH_EFFORT:g}."
        )
