"""The models that the words of the command line name: in a Python file, in the zoo, or kept as a result."""

from __future__ import annotations

import difflib
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhat.errors import BadInput, ZhatError
from zhat.model.model import UNNAMED, Model
from zhat.results.estimate import Evidence

# Short names for examples whose full ones say all their settings.
SHORT = {
    "pima": "pima-NP-PGC-BMI-DP-tau-0.01",
    "pima-age": "pima-NP-PGC-BMI-DP-AGE-tau-0.01",
    "pine": "pine-density-friel_wyse-review",
    "pine-adjusted": "pine-adjusted_density-friel_wyse-review",
}


@dataclass(frozen=True)
class Found:
    """A model, and a note about it (the exact evidence of a zoo model)."""

    model: Model
    note: str = ""


def find_model(target: str) -> Found:
    """The model of ``FILE``, ``FILE:name`` or ``zoo:ID``."""
    if target.startswith("zoo:"):
        return _from_zoo(target.removeprefix("zoo:"))
    file, name = _split(target)
    return Found(_model_in(_run_file(file), file, name))


def find_function(target: str) -> Callable[..., Any]:
    """The function of ``FILE:name``."""
    file, name = _split(target)
    names = _run_file(file)
    if name not in names or not callable(names[name]):
        raise BadInput(f"{target!r}: {file} defines no function {name!r}.")
    found: Callable[..., Any] = names[name]
    return found


def find_items(targets: list[str]) -> dict[str, Model | Evidence]:
    """The model or kept result of each word, by its label: that of ``name=TARGET``, else the zoo's id or the model's own name."""
    items: dict[str, Model | Evidence] = {}
    for word in targets:
        name, equals, target = word.partition("=")
        if not equals or not name or Path(word).is_file():
            name, target = "", word
        item = Evidence.load(target) if target.endswith(".json") else find_model(target).model
        label = name or _label(target, item, items)
        if label in items:
            raise BadInput(f"{word!r}: another model has the label {label!r}; give this one its own, as in other={target}.")
        items[label] = item
    return items


def find_models(targets: list[str]) -> dict[str, Model]:
    """As `find_items`, for commands that run every model."""
    models: dict[str, Model] = {}
    for label, item in find_items(targets).items():
        if isinstance(item, Evidence):
            raise BadInput(f"{label!r} is a kept result; give the model itself, FILE.py[:name] or zoo:ID.")
        models[label] = item
    return models


def _label(target: str, item: Model | Evidence, taken: Mapping[str, object]) -> str:
    """The zoo's id, or the name that the model carries; its name in the file where it carries none or one that is taken."""
    if target.startswith("zoo:"):
        return target.removeprefix("zoo:")
    if isinstance(item, Evidence):
        return item.model
    if item.name != UNNAMED and item.name not in taken:
        return item.name
    return target.rpartition(":")[2] if ":" in target else item.name


def _from_zoo(id: str) -> Found:
    from zhat import zoo

    names = (*SHORT, *zoo.catalogue())
    if not id:
        raise BadInput(f"zoo: has {', '.join(names)}.")
    if id not in names:
        nearest = difflib.get_close_matches(id, names, n=3, cutoff=0.0)
        raise BadInput(f"no example {id!r} in the zoo; did you mean {' or '.join(nearest)}? zoo: alone lists all.")
    example = zoo.example(SHORT.get(id, id))
    note = "" if example.log_evidence is None else f"exact value: log Z = {example.log_evidence:.6f} ({example.formula})."
    return Found(example.model, note)


def _split(target: str) -> tuple[Path, str]:
    """File and name; a colon without a name after it belongs to the file."""
    file, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier() or Path(target).is_file():
        file, name = target, "model"
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"{target!r}: there is no file {file!r}.")
    if path.suffix != ".py":
        raise BadInput(f"{target!r}: give a Python file (.py) that defines a Model, or zoo:ID for a built-in example.")
    return path, name


def _run_file(path: Path) -> dict[str, Any]:
    """The names that a Python file defines; it can import modules of its own folder, as when Python runs it."""
    sys.path.insert(0, str(path.resolve().parent))
    try:
        return runpy.run_path(str(path), run_name="__zhat__")
    except ZhatError:  # a Model that cannot be built has its own sentence
        raise
    except (Exception, SystemExit) as error:  # a user's file may raise anything, or exit
        raise BadInput(f"{path}{_line_of(error, path)} raised {type(error).__name__}: {error}") from error


def _line_of(error: BaseException, path: Path) -> str:
    """The line of the user's file that raised it, in words."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}," if error.filename == str(path) else ""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return f", line {lines[-1]}," if lines else ""


def _model_in(names: dict[str, Any], path: Path, name: str) -> Model:
    if name not in names:
        there = [key for key, value in names.items() if isinstance(value, Model)]
        hint = f"it has {', '.join(there)}: write {path}:{there[0]}" if there else "it defines no Model at all"
        raise BadInput(f"{path} defines no {name!r}; {hint}.")
    value = names[name]
    if callable(value) and not isinstance(value, Model):
        try:
            value = value()
        except ZhatError:
            raise
        except Exception as error:  # as in `_run_file`
            raise BadInput(
                f"{path}: {name}() should return a Model; it raised {type(error).__name__}"
                f"{_line_of(error, path).rstrip(',')}: {error}"
            ) from error
    if not isinstance(value, Model):
        raise BadInput(f"{path}: {name!r} is a {type(value).__name__}, not a Model nor a function returning one.")
    return value
