"""Limits that keep the house easy to enter: small rooms, short parameter lists, samplers that know no verdicts.

`python tests/rooms/measure.py` (or `make measure`) prints the figures.
"""

from __future__ import annotations

import ast

from rooms.measure import (
    CHECK,
    MOST_PARAMETERS,
    SOURCE,
    check_numbers,
    functions,
    many_parameters,
    n_parameters,
    room_sizes,
    verdicts_in_sampling,
)

MOST_FILES = 14
# Rooms in which every file is one of a kind and imports none of its neighbours: one more costs a reader nothing.
COLLECTIONS = {".", "methods", "report/pictures", "cli/commands", "sampling/kernels"}
MOST_WITH_MANY_PARAMETERS = 13
MOST_PARAMETERS_AT_ALL = 14  # compare: models and method, and twelve options by keyword
LONGEST = 100  # the longest are public functions, half of them documentation
# Where the check may have numbers.
NUMBERS = {"missed_mass/effort": "all of them, each with its reason", "missed_mass/other_peaks": "700, above which exp overflows"}


def test_rooms_are_small():
    large = {room: n for room, n in room_sizes(SOURCE).items() if n > MOST_FILES and room not in COLLECTIONS}
    assert not large, f"more than {MOST_FILES} files in {large}: make an inner room of what belongs together"


def test_few_functions_have_many_parameters():
    many = many_parameters(SOURCE)
    listed = "\n".join(f"{f.parameters} {f.module}.{f.name}" for f in many)
    assert len(many) <= MOST_WITH_MANY_PARAMETERS, (
        f"{len(many)} functions have more than {MOST_PARAMETERS} parameters; group what belongs together in a frozen record:\n{listed}"
    )
    assert all(f.parameters <= MOST_PARAMETERS_AT_ALL for f in many)


def test_functions_are_short():
    long = [f"{f.module}.{f.name}: {f.lines}" for f in functions(SOURCE) if f.lines > LONGEST]
    assert not long, f"more than {LONGEST} lines: {long}"


def test_samplers_know_no_verdicts():
    found = verdicts_in_sampling(SOURCE)
    assert not found, f"samplers leave records; verdicts are made above them: {found}"


def test_the_numbers_of_the_missed_mass_check_stand_in_one_place():
    elsewhere = {module: n for module, n in check_numbers(SOURCE).items() if module not in NUMBERS}
    assert not elsewhere, f"numbers of the check outside missed_mass/effort.py: {elsewhere}"
    assert "missed_mass/" in CHECK


def test_parameters_are_counted_without_self():
    tree = ast.parse("class A:\n def f(self, a, /, b, *c, d=1, **e): ...\ndef g(): ...\n@classmethod\ndef h(cls, a): ...")
    counts = {node.name: n_parameters(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert counts == {"f": 5, "g": 0, "h": 1}
