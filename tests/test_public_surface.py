"""The public surface: what a signature, a default or a message names can be reached, and no name hides a module."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

import zhat
from zhat.methods import registry

SOURCE = Path(zhat.__file__).parent
MODULES = (
    "kernels",
    "schedules",
    "proposals",
    "settings",
    "latent",
    "classical",
    "families",
    "priors",
    "types",
    "errors",
    "methods",
    "plots",
    "zoo",
)
# A class, and the public paths that lead to it.
PUBLIC: dict[Any, list[str]] = {}
for _module in ("", *MODULES):
    _room = getattr(zhat, _module) if _module else zhat
    for _name in getattr(_room, "__all__", [n for n in vars(_room) if not n.startswith("_")]):
        if isinstance(getattr(_room, _name), type):
            PUBLIC.setdefault(getattr(_room, _name), []).append(".".join(filter(None, ("zhat", _module, _name))))


def packages() -> Iterator[str]:
    yield "zhat"
    for info in pkgutil.walk_packages([str(SOURCE)], "zhat."):
        if info.ispkg:
            yield info.name


# Functions of the zoo that build the model of their file: ``zhat.zoo.pine(...)``. The files are private to the zoo.
HIDING = {"zhat.zoo": {"gaussian", "pima", "pine"}}


@pytest.mark.parametrize("name", list(packages()))
def test_no_attribute_of_a_package_hides_a_module_of_it(name):
    package = importlib.import_module(name)
    inside = [info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("__")]
    for module in inside:
        found = importlib.import_module(f"{name}.{module}")
        if module not in HIDING.get(name, ()):
            assert getattr(package, module) is found, f"{name}.{module} is not the module of this name"


def test_imports_mean_what_they_say():
    import zhat.comparing
    import zhat.methods.smc

    assert isinstance(zhat.comparing, types.ModuleType) and isinstance(zhat.methods.smc, types.ModuleType)
    assert zhat.methods.smc.SMC is zhat.SMC
    assert zhat.methods.registry()["smc"] is zhat.SMC


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_are_reachable_and_say_what_belongs_there(name):
    module = getattr(zhat, name)
    assert module.__doc__
    for exported in getattr(module, "__all__", []):
        assert hasattr(module, exported)


# -- signatures and defaults -------------------------------------------------------------------------------------


def classes_in(annotation: Any) -> Iterator[type]:
    """Our classes that an annotation names."""
    if isinstance(annotation, type) and annotation.__module__.split(".")[0] == "zhat":
        yield annotation
    for part in typing.get_args(annotation):
        if not isinstance(part, str):
            yield from classes_in(part)


def named_by(function: Any) -> set[type]:
    """Our classes in the signature of a function; names that exist for the type checker only are found by name."""
    known = {cls.__name__: cls for cls in PUBLIC}
    try:
        hints = typing.get_type_hints(function, localns=known)
    except NameError as error:
        raise AssertionError(f"{function.__qualname__} names {error.name!r}, which no public module has") from error
    return {cls for hint in hints.values() for cls in classes_in(hint)}


def public_callables() -> Iterator[tuple[str, Any]]:
    for name in zhat.__all__:
        value = getattr(zhat, name)
        if isinstance(value, types.FunctionType):
            yield name, value
        elif isinstance(value, type):
            # Of a method, what every method has; the rest of it is its own.
            every = set(vars(zhat.Method)) if issubclass(value, zhat.Method) else None
            yield from ((n, f) for n, f in methods_of(name, value) if every is None or f.__name__ in every)


def methods_of(name: str, cls: type) -> Iterator[tuple[str, Any]]:
    for member, value in vars(cls).items():
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        if isinstance(value, types.FunctionType) and not member.startswith("_"):
            yield f"{name}.{member}", value


# What only an author of a method or a kernel meets: the compiled functions of a model, the loop of a run, and what a method
# hands to the look for missed mass.
FOR_WRITERS = {"Core", "Effort", "Loop", "Proposed", "Sampled"}


@pytest.mark.parametrize(("name", "function"), list(public_callables()), ids=[name for name, _ in public_callables()])
def test_signatures_name_public_classes(name, function):
    hidden = sorted(cls.__qualname__ for cls in named_by(function) if cls not in PUBLIC)
    assert not set(hidden) - FOR_WRITERS, f"{name} names {hidden}, which no public module has"


@pytest.mark.parametrize("name", list(registry()))
def test_settings_of_methods_are_public(name):
    method = registry()[name]
    assert method in PUBLIC, f"import {method.__name__} in src/zhat/__init__.py and add it to __all__"
    hints = typing.get_type_hints(method)
    for field in fields(method):
        for cls in classes_in(hints[field.name]):
            assert cls in PUBLIC, f"{method.__name__}({field.name}=...) is a {cls.__qualname__}, which no public module has"
        default = field.default if field.default_factory is MISSING else field.default_factory()
        for cls in classes_of(default):
            assert cls in PUBLIC, f"the default of {method.__name__}({field.name}=...) is a {cls.__qualname__}"


def classes_of(value: Any) -> Iterator[type]:
    """Our classes among a value and, where it is a tuple, its parts; settings inside settings too."""
    if isinstance(value, tuple):
        for part in value:
            yield from classes_of(part)
    elif type(value).__module__.split(".")[0] == "zhat":
        yield type(value)
        for field in fields(value):
            yield from classes_of(getattr(value, field.name))


# -- messages ----------------------------------------------------------------------------------------------------


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text of a module but docstrings; what is filled in stands as {}."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and is_text(node.body)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)} - {
        id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | inside:
            yield node.lineno, node.value


def is_text(body: list[Any]) -> bool:
    return bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)


def mentions(text: str) -> Iterator[tuple[str, str]]:
    """What stands before the name of a class with parentheses, and the name: ``("zhat.settings.", "Moves")``."""
    for match in re.finditer(r"((?:\w+\.)*)\b([A-Z]\w+)\(", text):
        yield match[1], match[2]


OURS = {
    node.name
    for path in SOURCE.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.ClassDef)
}
# Names of ours that are also another's, in sentences about that other.
FOREIGN = {"bambi.", "pymc.", "numpyro.distributions.", "dist."}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_messages_name_classes_by_a_path_that_exists(path):
    paths = {found for some in PUBLIC.values() for found in some}
    for line, text in strings(ast.parse(path.read_text(encoding="utf-8"))):
        for before, name in mentions(text):
            if name not in OURS or before in FOREIGN:
                continue
            where = f"{path.relative_to(SOURCE)}, line {line}: {before}{name}(...)"
            if before:
                assert f"{before}{name}" in paths, f"{where} is no public path"
            else:  # a sentence that begins with the class is about the call that was made
                known = sorted(p for p in paths if p.endswith(f".{name}"))
                assert text.startswith(f"{name}("), f"{where} needs its path, one of {known}"
