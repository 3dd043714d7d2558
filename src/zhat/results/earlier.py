"""Result files of schema 1, which the project wrote under its first name, evidentia; read as if written today."""

from __future__ import annotations

from typing import Any

FORMAT = "evidentia evidence"
SCHEMA = 1
MARK = "evidentia_schema"
VERSION = "evidentia"

# What has another name since: fields of records, keys of diagnostics, settings of methods.
FIELDS = {"eves": "ancestors"}
DIAGNOSTICS = {"n_eves": "n_ancestors"}
SETTINGS = {"look_from_mode": "mode_check", "look_from_prior": "coverage_check", "climb": "chains"}


def brought_up_to_date(evidence: Any) -> Any:
    """The JSON values of an evidence of schema 1, with the names of this version; what is not as expected stays as it is."""
    if not isinstance(evidence, dict):
        return evidence
    renamed = {"record": FIELDS, "diagnostics": DIAGNOSTICS, "settings": SETTINGS}
    return {key: _renamed(value, renamed[key]) if key in renamed else value for key, value in evidence.items()}


def _renamed(value: Any, names: dict[str, str]) -> Any:
    return {names.get(key, key): inner for key, inner in value.items()} if isinstance(value, dict) else value
