"""How to do a run again, as code: in Python and on the command line, from what a result says of itself.

Settings that are numbers, words or lists of them are written out. Settings that are objects (a schedule, a kernel) follow as a
comment: they are the method's own unless the caller gave others, which a result cannot tell, and only Python can write them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from evidentia.result import Evidence


def python_call(result: Evidence, name: str) -> str:
    """A line of Python that makes the run again, given its model as ``models[name]``."""
    inside = ", ".join(f"{key}={value!r}" for key, value in _literals(result).items())
    method = f"ev.methods()[{result.method!r}]({inside})"
    repeats = f", repeats={len(result.repeats)}" if len(result.repeats) > 1 else ""
    return f"runs[{name!r}] = ev.evidence(models[{name!r}], {method}, seed={result.seed}{repeats}){_comment(result)}"


def command_line(result: Evidence) -> str:
    """The same for a shell, with FILE.py:name for the model."""
    words = ["evidentia", "estimate", "FILE.py:name", "--method", result.method]
    words += [f"{key}={value!r}" for key, value in _literals(result).items()]
    words += ["--seed", str(result.seed)]
    if len(result.repeats) > 1:
        words += ["--repeats", str(len(result.repeats))]
    return shlex.join(words) + _comment(result)


def _literals(result: Evidence) -> dict[str, Any]:
    return {
        key: value for key, value in result.settings.items() if value is not None and _is_literal(value) and key.isidentifier()
    }


def _comment(result: Evidence) -> str:
    objects = {key: value for key, value in result.settings.items() if not _is_literal(value)}
    return f"  # with {', '.join(f'{key}={_written(value)}' for key, value in objects.items())}" if objects else ""


def _is_literal(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_literal(item) for item in value)
    return value is None or isinstance(value, bool | int | float | str)


def _written(value: Any) -> str:
    """An object of the settings as its constructor would be written."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key}={_written(item)}" for key, item in value.items() if key != "type")
        return f"{value.get('type', 'dict')}({inside})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_written(item) for item in value)}]"
    return repr(value)
