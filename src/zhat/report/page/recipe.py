"""Code that reproduces a run, in Python and on the command line, from the settings and seed that a result stores.

Settings that are numbers, strings or lists of them are written out. Settings that are objects (a schedule, a kernel) follow as a
comment: a result does not store whether the caller gave them, and the command line cannot write them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from zhat.results.estimate import Evidence


def python_call(result: Evidence, name: str) -> str:
    """A line of Python that reproduces the run, given its model as ``models[name]``."""
    inside = ", ".join(f"{key}={value!r}" for key, value in _literals(result).items())
    method = f"zhat.methods.registry()[{result.method!r}]({inside})"
    repeats = f", repeats={_n_runs(result)}" if _n_runs(result) > 1 else ""
    draws = f", draws=draws[{name!r}]" if _draws(result) else ""
    run = f"zhat.evidence(models[{name!r}], {method}{draws}, seed={result.seed}{repeats})"
    if result.model == name:  # a comparison names models that have no name of their own
        run = f"replace({run}, model={name!r})"
    return f"runs[{name!r}] = {run}{_comment(result)}"


def command_line(result: Evidence) -> str:
    """The same for a shell, with FILE.py:name for the model."""
    words = ["zhat", "estimate", "FILE.py:name", "--method", result.method]
    words += [f"{key}={value!r}" for key, value in _literals(result).items()]
    words += ["--draws", "DRAWS"] if _draws(result) else []
    words += ["--seed", str(result.seed)]
    if _n_runs(result) > 1:
        words += ["--repeats", str(_n_runs(result))]
    return shlex.join(words) + _comment(result)


def written(settings: Mapping[str, Any]) -> str:
    """Settings as they stand in a call."""
    return ", ".join(f"{key}={_written(value)}" for key, value in settings.items())


def was_pooled(result: Evidence) -> bool:
    """Whether a comparison added rounds of runs, from other seeds, to those of the result's own seed."""
    return "runs_before_pooling" in result.diagnostics


def _n_runs(result: Evidence) -> int:
    return int(str(result.diagnostics.get("runs_before_pooling", len(result.repeats))))


def _draws(result: Evidence) -> dict[str, Any]:
    """What the result keeps of the posterior draws that it was made from; empty where it made its own."""
    found = result.settings.get("draws")
    return dict(found) if isinstance(found, Mapping) else {}


def _literals(result: Evidence) -> dict[str, Any]:
    return {
        key: value for key, value in result.settings.items() if value is not None and _is_literal(value) and key.isidentifier()
    }


def _comment(result: Evidence) -> str:
    draws = _draws(result)
    # With draws the proposal of importance sampling is fitted to them.
    left_out = {"draws", "proposal"} if draws and result.method == "importance" else {"draws"} if draws else set()
    objects = {key: value for key, value in result.settings.items() if not _is_literal(value) and key not in left_out}
    parts = [f"with {written(objects)}"] if objects else []
    if draws:
        parts.append(
            f"draws: {draws.get('chains')} chains of {draws.get('draws')} from {draws.get('from')}, fingerprint {draws.get('fingerprint')}"
        )
    return f"  # {'; '.join(parts)}" if parts else ""


def _is_literal(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_literal(item) for item in value)
    return value is None or isinstance(value, bool | int | float | str)


def _written(value: Any) -> str:
    """An object of the settings as its constructor would be written."""
    if isinstance(value, Mapping):
        inside = {key: item for key, item in value.items() if key != "type"}
        return f"{value.get('type', 'dict')}({written(inside)})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_written(item) for item in value)}]"
    return repr(value)
