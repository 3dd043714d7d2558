"""The import rule of the rooms, held over the syntax tree: a room imports only from floors below it.

Imports inside functions count like all others; imports for the type checker only do not exist at run time and do not
count. A new room gets a line in `FLOORS`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "zhat"

# From the ground up. A room is a folder, or a module that stands alone; the rooms inside `sampling` have floors of their own.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "formatting", "citations", "compile_cache", "threads"),
    ("kinds",),
    ("numerics",),
    ("surroundings",),
    ("seeding",),
    ("model",),
    ("results",),
    ("sampling.tuning",),
    ("sampling.state", "sampling.mixing"),
    ("sampling.target", "sampling.observer"),
    ("sampling.backend",),
    ("sampling.kernels",),
    ("sampling.tempering",),
    ("sampling.nested",),
    ("sampling.importance",),
    ("sampling.latent",),
    ("sampling.variational",),
    ("sampling.chains",),
    ("sampling.between_models",),
    ("sampling.workbench",),
    ("missed_mass",),
    ("verdicts",),
    ("methods",),
    ("run",),
    ("comparing",),
    ("spaces",),
    ("zoo",),
    ("adapters",),
    ("classical",),
    ("report",),
    ("plots", "kernels", "schedules", "proposals", "settings", "latent", "families", "priors", "types"),  # thin public modules
    ("studies",),
    ("cli",),
    ("__main__",),
    ("zhat",),  # the package itself: its public names
)
FLOOR = {room: i for i, rooms in enumerate(FLOORS) for room in rooms}
WITH_INNER_ROOMS = {"sampling"}

# Doors in a wall, each with its reason.
EXCEPTIONS = {
    ("results", "adapters"): "Evidence.to_arviz is where a user looks",
    ("model", "adapters"): "Model.from_numpyro is where a user looks; what NumPyro's models need is written there",
    ("model", "run"): "Model.check is where a user looks; checking draws from the prior, so it lives above sampling",
    ("run", "adapters"): "evidence(draws=...) takes the containers of other libraries, and adapters know them",
    ("spaces", "adapters"): "Subsets.from_formula is where a user looks",
    ("comparing", "report"): "Comparison.report is where a user looks, and notebooks ask the object for its HTML",
    ("run", "report"): "Crosscheck.report is where a user looks",
    ("results", "report"): "notebooks ask the object for its HTML",
}

# Rooms that see less than all below them.
ONLY = {
    "zoo": {"errors", "numerics", "model", "zoo"},
    "compile_cache": set(),
    "threads": set(),
    "citations": set(),
}

# Of `results`, rooms inside `sampling` import the records alone: samplers know nothing of verdicts or evidences.
OF_RESULTS = "results.records"

# What a room may take from outside, beyond the standard library.
OUTSIDE = {
    "numerics": {"numpy", "scipy"},
    "formatting": set(),
    "errors": set(),
    "results": {"numpy"},
    "citations": set(),
    "cli": set(),
}

# Rooms where a file imports none of its neighbours but those that begin with an underscore.
INDEPENDENT = ("methods", "sampling.kernels")
# In the room of kernels, what is not a kernel.
NOT_KERNELS = {"sweep", "defaults"}

FORBIDDEN_MODULES = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "random"}
# Who may all the same, and why.
ALLOWED_MODULES = {
    ("run.distribution.travel", "cloudpickle"): "functions go to the user's own workers in memory, never to a file"
}
GENERATORS = {"Generator", "BitGenerator", "SeedSequence", "SFC64", "PCG64", "Philox", "default_rng"}


class Import(NamedTuple):
    """That `importer` imports `imported`, at a line; names are dotted, without the package's own."""

    importer: str
    imported: str
    line: int
    ours: bool


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) or "zhat"


FILES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def room(module: str) -> str:
    """The room that a module stands in: the first part of its name, or the first two inside `sampling`."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] in WITH_INNER_ROOMS and len(parts) > 1 else parts[0]


def without_type_checking(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            yield from (node for other in child.orelse for node in ast.walk(other))
            continue
        yield child
        yield from without_type_checking(child)


def imports_of(name: str, tree: ast.AST, is_package: bool) -> list[Import]:
    found = []
    for node in without_type_checking(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                own = ["zhat", *name.split(".")] if name != "zhat" else ["zhat"]
                start = own[: len(own) - node.level + is_package]
                base = ".".join(start + ([base] if base else []))
            # `from package import name` may name a module of it or a value in it.
            targets = [f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names]
        else:
            continue
        for target in targets:
            ours = target == "zhat" or target.startswith("zhat.")
            shown = (target.removeprefix("zhat").lstrip(".") or "zhat") if ours else target
            found.append(Import(name, shown, node.lineno, ours))
    return found


def is_module(dotted: str) -> bool:
    return dotted.removeprefix("zhat.") in FILES


IMPORTS = [i for name, tree in TREES.items() for i in imports_of(name, tree, FILES[name].name == "__init__.py")]


def complaints(broken: list[Import], rule: str) -> str:
    return "\n".join(f"{i.importer}, line {i.line}, imports {i.imported}: {rule}" for i in broken)


def goes_up(i: Import) -> bool:
    upper, lower = room(i.importer), room(i.imported)
    return FLOOR[lower] > FLOOR[upper] and (upper, lower) not in EXCEPTIONS


def sees_too_much(i: Import) -> bool:
    return room(i.importer) in ONLY and room(i.imported) not in ONLY[room(i.importer)] | {room(i.importer)}


def judges(i: Import) -> bool:
    """Whether a sampler imports more of `results` than the records."""
    return i.importer.startswith("sampling.") and room(i.imported) == "results" and i.imported != OF_RESULTS


def neighbours(i: Import) -> bool:
    for where in INDEPENDENT:
        inside = i.importer.startswith(f"{where}.") and i.imported.startswith(f"{where}.")
        if inside and i.imported != i.importer:
            own, other = (name.removeprefix(f"{where}.").split(".")[0] for name in (i.importer, i.imported))
            if not other.startswith("_") and own != other and not {own, other} & NOT_KERNELS:
                return True
    return False


def test_every_room_has_a_floor():
    missing = {room(name) for name in FILES} - set(FLOOR) - WITH_INNER_ROOMS
    assert not missing, f"{sorted(missing)} are on no floor: give each a line in FLOORS of {Path(__file__).name}"


def test_rooms_import_only_from_floors_below():
    broken = [i for i in IMPORTS if i.ours and goes_up(i)]
    assert not broken, complaints(broken, "that is a floor above")


def test_some_rooms_see_less():
    broken = [i for i in IMPORTS if i.ours and sees_too_much(i)]
    assert not broken, complaints(broken, "that room is kept apart")


def test_samplers_know_nothing_of_verdicts():
    broken = [i for i in IMPORTS if i.ours and judges(i)]
    assert not broken, complaints(broken, f"samplers leave records: of results they import {OF_RESULTS} alone")


def test_methods_and_kernels_do_not_import_each_other():
    broken = [i for i in IMPORTS if i.ours and neighbours(i)]
    assert not broken, complaints(broken, "what two of them share lives on a floor below")


def test_exceptions_are_still_needed():
    used = {(room(i.importer), room(i.imported)) for i in IMPORTS if i.ours}
    assert set(EXCEPTIONS) <= used


@pytest.mark.parametrize("name", OUTSIDE)
def test_low_rooms_take_little_from_outside(name):
    allowed = OUTSIDE[name] | sys.stdlib_module_names
    broken = [i for i in IMPORTS if not i.ours and room(i.importer) == name and room(i.imported) not in allowed]
    assert not broken, complaints(broken, f"{name} may use the standard library and {sorted(OUTSIDE[name])}")


def test_every_name_that_is_imported_of_ours_exists():
    """A misspelt room would pass every rule above."""
    broken = [i for i in IMPORTS if i.ours and i.imported != "zhat" and i.imported not in FILES]
    assert not broken, complaints(broken, "there is no such module")


# -- what no room may do -----------------------------------------------------------------------------------------


def dotted(node: ast.AST) -> str:
    """`np.random.seed` as text; empty for what is not a chain of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def misdeeds(name: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        word = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            if called in ("eval", "exec", "compile", "__import__"):
                yield node.lineno, f"calls {called}"
            if called.endswith("import_module") and name not in ("methods._base", "zhat"):
                yield node.lineno, "imports by a name made at run time; only the registry and the public names do"
            if called == "jax.config.update" and name != "compile_cache":
                yield node.lineno, "changes the user's global JAX settings"
            if called.endswith("default_rng") and not node.args:
                yield node.lineno, "draws a seed that no result carries"
            if any(k.arg == "allow_pickle" and not _is_false(k.value) for k in node.keywords):
                yield node.lineno, "reads pickles"
        if word == "np.random.seed" and name == "run.distribution.pool":  # forked workers: not one stream for all
            continue
        if word.startswith(("np.random.", "numpy.random.")) and word.split(".")[2] not in GENERATORS:
            yield node.lineno, f"uses the global random state ({word})"


def _is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


@pytest.mark.parametrize("name", FILES)
def test_no_pickle_no_eval_no_global_state(name):
    found = [f"line {line} {what}" for line, what in misdeeds(name, TREES[name])]
    found += [f"line {i.line} imports {i.imported}" for i in IMPORTS if i.importer == name and is_forbidden(i)]
    assert not found, f"{name}: " + "; ".join(found)


def is_forbidden(i: Import) -> bool:
    if (i.importer, i.imported) in ALLOWED_MODULES:
        return False
    return not i.ours and (room(i.imported) in FORBIDDEN_MODULES or i.imported == "numpy.random")


# -- the rule itself is tested -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "rule"),
    [
        ("numerics.x", "import zhat.model", goes_up),
        ("numerics.x", "from zhat import model", goes_up),
        ("numerics.x", "from ..model.model import Model", goes_up),
        ("sampling.kernels.x", "from zhat.sampling.nested.run import run_nested", goes_up),
        ("sampling.tempering.x", "def f():\n    from zhat.methods.smc import SMC", goes_up),
        ("run.estimate", "from zhat import zoo", goes_up),
        ("model", "import zhat", goes_up),
        ("zoo.x", "from zhat.sampling.backend.loop import Loop", sees_too_much),
        ("methods.x", "from zhat.methods.smc import SMC", neighbours),
        ("methods.x", "from zhat.methods import smc", neighbours),
        ("sampling.kernels.x", "from zhat.sampling.kernels.hmc import HMC", neighbours),
        ("sampling.tempering.x", "from zhat.results.estimate import Status", judges),
        ("sampling.chains.x", "from zhat.results import codes", judges),
        ("x", "import pickle", is_forbidden),
    ],
)
def test_breaches_are_seen(name, code, rule):
    assert any(rule(i) for i in imports_of(name, ast.parse(code), False))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("errors", "if TYPE_CHECKING:\n    from zhat.model.model import Model"),
        ("results.x", "def f():\n    from zhat.report.notebook import of_evidence"),
        ("methods.x", "from zhat.methods._base import Method"),
        ("sampling.kernels.x", "from zhat.sampling.kernels._base import State"),
        ("sampling.tempering.x", "from zhat.sampling.kernels.hmc import HMC"),
        ("sampling.tempering.x", "from zhat.results.records import PathRun"),
    ],
)
def test_what_is_allowed_passes(name, code):
    assert not any(goes_up(i) or sees_too_much(i) or neighbours(i) or judges(i) for i in imports_of(name, ast.parse(code), False))


@pytest.mark.parametrize(
    "code",
    [
        "np.random.seed(1)",
        "np.random.normal(size=3)",
        "numpy.random.rand()",
        "eval('1')",
        "np.random.default_rng()",
        "np.load(f, allow_pickle=True)",
        "np.load(f, allow_pickle=flag)",
        "jax.config.update('jax_enable_x64', True)",
        "importlib.import_module(name)",
    ],
)
def test_misdeeds_are_seen(code):
    assert list(misdeeds("x", ast.parse(code)))
