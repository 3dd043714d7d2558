"""Verdict codes: every code that the source raises stands in the table, and every code of the table is raised."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from zhat.errors import BadInput
from zhat.results.codes import CODES, FAILED, NOTE, SUSPECT, TABLE
from zhat.results.estimate import Level, Reason, Status

SOURCE = Path(__file__).parents[2] / "src" / "zhat"
# Codes that are not literals where a status is made: the checks of a model give theirs by name.
BY_NAME = {"run/model_check.py": {"determinism", "precision", "log-scale"}}


def texts(node: ast.expr) -> set[str]:
    """The words that an expression may be: a literal, or either branch of a conditional."""
    if isinstance(node, ast.IfExp):
        return texts(node.body) | texts(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def raised() -> set[tuple[str, str]]:
    """Pairs of code and level in the source: arguments of `Status.suspect`, `failed`, `note` and of a loop's `stop`."""
    found = {(code, SUSPECT) for codes in BY_NAME.values() for code in codes}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            owner = ast.unparse(node.func.value)
            if owner == "Status" and node.func.attr in (SUSPECT, FAILED, NOTE):
                codes = texts(node.args[0])
                where = path.relative_to(SOURCE).as_posix()
                assert codes or ast.unparse(node.args[0]).endswith(".code") or where in BY_NAME, f"{where}, line {node.lineno}"
                found |= {(code, node.func.attr) for code in codes}
            elif node.func.attr == "stop" and owner in ("loop", "self", "self.loop", "bench.loop"):
                found |= {(code, FAILED) for code in texts(node.args[0])}
    return found


def test_every_raised_code_is_in_the_table_at_its_level_and_every_code_of_the_table_is_raised():
    assert raised() == {(code.name, level) for code in TABLE for level in code.levels}


def test_checks_of_a_model_that_become_verdicts_have_the_names_of_codes():
    source = (SOURCE / "run" / "model_check.py").read_text(encoding="utf-8")
    assert all(f'"{name.replace("-", " ")}", Verdict.DOUBTFUL' in source for name in BY_NAME["run/model_check.py"])


def test_codes_are_said_once_and_in_full():
    assert len(CODES) == len(TABLE)
    for code in TABLE:
        assert code.raised_by and code.meaning and code.remedy and code.levels
        assert not code.meaning.endswith(".") and not code.remedy.endswith(".")
        assert set(code.levels) <= {NOTE, *(level.value for level in Level)}


def test_an_unknown_code_is_refused_with_the_nearest_known_one():
    with pytest.raises(BadInput, match="'pareto-K'; did you mean 'pareto-k'"):
        Status.suspect("pareto-K", "x.")
    with pytest.raises(BadInput, match="'budget' is for failed results, not for a suspect one"):
        Status.suspect("budget", "x.")
    with pytest.raises(BadInput, match="no verdict has the code 'zzz'"):
        Status.failed("zzz", "x.")


def test_a_method_of_ones_own_and_files_of_other_versions_may_hold_other_codes():
    assert str(Status(Level.SUSPECT, (Reason("my-code", "mine."),))) == "suspect (my-code)"
