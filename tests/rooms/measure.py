"""The house in numbers: how large its rooms are, how long its functions, how many parts one call passes.

    python tests/rooms/measure.py                          # this tree
    python tests/rooms/measure.py --tree OLD/src/evidentia # another tree, whose folder has the package's name

Every figure is read from the syntax tree, but the last two, which need a run: `evidence(model)` of the conjugate normal mean (E1
of the zoo) is called under `sys.setprofile`, which sees every Python function that is entered.

What is counted:

* *files in a room*: the `.py` files of one folder, without `__init__`; files of folders inside it are theirs.
* *parameters*: those of a `def`, `*args` and `**kwargs` as one each, without `self` and `cls`. Fields of a dataclass are not
  parameters of a function and do not count; lambdas do not count.
* *longest function*: lines from `def` to its last line, functions inside included.
* *verdicts in sampling*: imports of `Status`, `Estimate`, `Evidence`, `Reason` or `Level` in a file under `sampling/`.
* *numbers of the missed-mass check*: number literals other than -2, -1, 0, 1, 2 and 1/2 in the modules of the check (`CHECK`).
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "zhat"
MOST_PARAMETERS = 7
OF_VERDICTS = {"Status", "Estimate", "Evidence", "Reason", "Level"}
# The modules of the check, in the old tree and in this one.
CHECK = ("sampling/scouts", "sampling/vanguard", "sampling/from_mode", "sampling/from_particles", "missed_mass/")
PLAIN = {-2, -1, 0, 1, 2, 0.5}

Def = ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """A function of the tree: its module, its name, how many parameters and how many lines."""

    module: str
    name: str
    parameters: int
    lines: int


@cache
def trees(source: Path) -> dict[str, ast.Module]:
    """Every file of the package, parsed; by its path without the ending."""
    files = sorted(source.rglob("*.py"))
    return {str(p.relative_to(source).with_suffix("")): ast.parse(p.read_text(encoding="utf-8")) for p in files}


def room_sizes(source: Path) -> Counter[str]:
    """Files of every folder, `__init__` not counted."""
    return Counter(str(p.parent.relative_to(source)) for p in source.rglob("*.py") if p.name != "__init__.py")


def n_parameters(node: Def) -> int:
    """Parameters of a function without `self` and `cls`."""
    given = node.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    return len(names) + (given.vararg is not None) + (given.kwarg is not None)


def functions(source: Path) -> list[Function]:
    """Every function and method of the package."""
    return [
        Function(module, node.name, n_parameters(node), (node.end_lineno or node.lineno) - node.lineno + 1)
        for module, tree in trees(source).items()
        for node in ast.walk(tree)
        if isinstance(node, Def)
    ]


def many_parameters(source: Path) -> list[Function]:
    """Functions with more parameters than a reader keeps in mind."""
    found = [f for f in functions(source) if f.parameters > MOST_PARAMETERS]
    return sorted(found, key=lambda f: (-f.parameters, f.module, f.name))


def verdicts_in_sampling(source: Path) -> list[str]:
    """Modules under `sampling/` that import a verdict or an evidence."""
    return [
        f"{module}: {', '.join(names)}"
        for module, tree in trees(source).items()
        if module.startswith("sampling/")
        and (
            names := sorted(
                {
                    a.name
                    for node in ast.walk(tree)
                    if isinstance(node, ast.ImportFrom)
                    for a in node.names
                    if a.name in OF_VERDICTS
                }
            )
        )
    ]


def check_numbers(source: Path) -> Counter[str]:
    """Number literals in the modules of the missed-mass check."""
    return Counter(
        module
        for module, tree in trees(source).items()
        if module.startswith(CHECK)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in PLAIN
    )


def passed(package: str) -> tuple[int, int]:
    """Modules of the package that `evidence(model)` enters, and how deep its functions stand on each other.

    A first call, so that what is traced for the compiler counts: that is what a reader of a traceback meets.
    """
    ours = importlib.import_module(package)
    model = importlib.import_module(f"{package}.zoo").example("E1").model
    evidence = ours.evidence if callable(ours.evidence) else ours.evidence.evidence
    folder = str(Path(str(ours.__file__)).parent)
    seen: set[str] = set()
    depth = deepest = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal depth, deepest
        file = frame.f_code.co_filename  # type: ignore[attr-defined]
        if event in ("call", "return") and file.startswith(folder):
            depth += 1 if event == "call" else -1
            deepest = max(deepest, depth)
            seen.add(file)

    sys.setprofile(watch)
    try:
        evidence(model, seed=1, progress=False)
    finally:
        sys.setprofile(None)
    return len(seen), deepest


def rows(source: Path, run: bool = True) -> Iterator[tuple[str, str]]:
    """Every figure with its name."""
    room, files = room_sizes(source).most_common(1)[0]
    yield "files in the largest room", f"{files} ({room})"
    many = many_parameters(source)
    most = f"; most: {many[0].parameters} ({many[0].name})" if many else ""
    yield f"functions with more than {MOST_PARAMETERS} parameters", f"{len(many)}{most}"
    longest = max(functions(source), key=lambda f: f.lines)
    yield "longest function, lines", f"{longest.lines} ({longest.module}.{longest.name})"
    yield "modules in sampling that import verdicts or evidences", str(len(verdicts_in_sampling(source)))
    numbers = check_numbers(source)
    yield "numbers in the missed-mass check", f"{numbers.total()} in {len(numbers)} modules"
    if run:
        modules, depth = passed(source.name)
        yield "modules that evidence(model) passes", str(modules)
        yield "functions of the package on the stack at most", str(depth)


def main() -> None:
    """Print a table of the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=SOURCE, help="folder of the package")
    parser.add_argument("--list", action="store_true", help="also every function with many parameters")
    chosen = parser.parse_args()
    source = chosen.tree.resolve()
    sys.path.insert(0, str(source.parent))
    for name, value in rows(source):
        print(f"{name:<58} {value}")
    for f in many_parameters(source) if chosen.list else ():
        print(f"  {f.parameters:>3}  {f.module}.{f.name}")
    for f in sorted(functions(source), key=lambda f: -f.lines)[:8] if chosen.list else ():
        print(f"  {f.lines:>4} lines  {f.module}.{f.name}")


if __name__ == "__main__":
    main()
