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
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from zhat.errors import BadInput, BadType
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
    reads_draws : bool
        Whether it uses posterior draws that the caller brings (`zhat.evidence(model, draws=...)`) instead of its own.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[Offer]]
    cites: ClassVar[tuple[str, ...]]
    when: ClassVar[str]
    look: ClassVar[Look]
    reads_draws: ClassVar[bool] = False

    @abstractmethod
    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """Estimate log Z, with its standard error and a verdict on both."""

    def checked(self, model: Model, estimate: Estimate, witnesses: Witnesses, key: Key, loop: Loop) -> Estimate:
        """The estimate after this method's check for missed mass; one without a standard error, or with one of zero, is unchanged."""
        if not estimate.log_evidence_se:
            return estimate
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        return after_look(estimate, look_for_missed_mass(model, answer, witnesses, self.look.effort, key, loop))

    def read(self, record: object) -> Estimate:
        """The estimate from an existing record, for methods that support it (see `zhat.read`)."""
        raise BadInput(f"{type(self).__name__} cannot read the record of another run; run it on the model.")

    def missing(self, model: Model) -> frozenset[Offer]:
        """What this method needs and the model does not offer."""
        return self.needs - model.offers


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


def check_count(owner: str, name: str, value: Any, minimum: int, why: str) -> None:
    """Refuse a count that is not a whole number of at least `minimum`; `why` is the reason in the message."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadType(f"{owner}({name}={value!r}): give a whole number.")
    if value < minimum:
        raise BadInput(f"{owner}({name}={value}): {why}; give at least {minimum}.")
