"""Data and hyperparameters as trees of read-only NumPy arrays: checked, copied, fingerprinted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from zhat.errors import BadInput, BadType


def fingerprint(data: Any) -> str:
    """A short hash of the data's structure and bytes."""
    leaves, structure = jax.tree.flatten(data)
    digest = hashlib.sha256(str(structure).encode())
    for leaf in leaves:
        array = np.ascontiguousarray(leaf)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def host_arrays(tree: Any, what: str) -> Any:
    """The tree with NumPy leaves; refuses values that are no numbers and floats that are not finite."""

    def leaf(x: Any) -> np.ndarray:
        if isinstance(x, np.ma.MaskedArray) and np.ma.getmaskarray(x).any():
            raise BadInput(
                f"{what} is a masked array with {int(np.ma.getmaskarray(x).sum()):,} of {x.size:,} values masked, which would count as "
                "data: give the others alone, such as numpy.ma.compressed(y) (for rows, y[~numpy.ma.getmaskarray(y).any(axis=1)].data), "
                "or pass the mask as an array of its own and use it in the likelihood."
            )
        array = np.array(x)  # a copy: a later change of the caller's array must not change the model
        if array.dtype.kind not in "biuf":
            raise BadType(
                f"{what} holds values of type {array.dtype} (for example {array.ravel()[:1]}): only numbers can be "
                "data; encode text and dates as numbers first."
            )
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise BadInput(
                f"{what} holds {array[where]} at index {where}: drop or impute such rows before building the model; "
                "nothing is dropped silently."
            )
        if array.dtype.kind in "iu" and array.dtype != np.uint64:  # sums and products of small integers overflow silently
            array = array.astype(np.int64)
        array = array.astype(np.float64, copy=False) if array.dtype.kind == "f" else array
        array.flags.writeable = False
        return array

    def is_array(x: Any) -> bool:  # a list of plain numbers is an array, not a tree of scalars
        return isinstance(x, list | tuple) and len(x) > 0 and all(isinstance(item, int | float) for item in x)

    return None if tree is None else jax.tree.map(leaf, columns_of_frames(tree, what), is_leaf=is_array)


def columns_of_frames(tree: Any, what: str) -> Any:
    """The tree with every data frame as a dictionary of arrays by column name, and every series as an array."""

    def opened(x: Any) -> Any:
        if _is_frame(x):
            return _columns(x, what)
        return np.asarray(x) if _is_series(x) else x

    return jax.tree.map(opened, tree, is_leaf=lambda x: x is None or _is_frame(x))


def lists_as_arrays(tree: Any) -> Any:
    """The tree with lists of plain numbers as arrays where one of them has a decimal point; a list of integers may be sizes."""

    def numbers(x: Any) -> bool:
        return isinstance(x, list) and any(isinstance(v, float) for v in x) and all(isinstance(v, int | float) for v in x)

    return jax.tree.map(lambda x: np.asarray(x) if numbers(x) else x, tree, is_leaf=lambda x: x is None or numbers(x))


def _is_frame(x: Any) -> bool:
    """Whether this is a data frame: it has columns by name, and gives its numbers."""
    return hasattr(x, "columns") and hasattr(x, "to_numpy") and hasattr(x, "shape")


def _is_series(x: Any) -> bool:
    return hasattr(x, "to_numpy") and hasattr(x, "shape") and not isinstance(x, np.ndarray | jax.Array)


def _columns(frame: Any, what: str) -> dict[str, np.ndarray]:
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadInput(
            f"{what} is a frame with the columns {names}: the likelihood receives a dictionary of columns, so each needs a name of its "
            "own (text); for one array without names give frame.to_numpy()."
        )
    columns = {name: np.asarray(frame[name]) for name in names}
    for name, column in columns.items():
        if column.dtype.kind not in "biuf":
            raise BadType(
                f"column {name!r} of {what} holds values of type {column.dtype} (for example {column.ravel()[:1]}): only numbers can be "
                f"data; leave it out, frame.drop(columns=[{name!r}]), or encode it as numbers."
            )
    return columns


def shapes(tree: Any) -> Any:
    """Structure, shapes and types of a tree; compiled code is reused where they are equal."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple((leaf.shape, leaf.dtype) for leaf in leaves)


def split_arrays(tree: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Arrays and floats of a tree as a list, and a function that rebuilds the tree from such a list."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda x: x is None)
    is_array = [isinstance(x, np.ndarray | jax.Array | float | np.generic) for x in leaves]
    arrays = [x for x, keep in zip(leaves, is_array, strict=True) if keep]

    def rebuild(new: list[Any]) -> Any:
        rest = iter(new)
        return jax.tree.unflatten(structure, [next(rest) if keep else x for x, keep in zip(leaves, is_array, strict=True)])

    return arrays, rebuild


# Operations of linear algebra on one matrix, by JAX's names.
FACTORS = ("cholesky", "triangular_solve", "lu", "geqrf", "householder_product", "eigh", "eig", "svd")


def largest_array(program: Any) -> int:
    """Entries of the largest array that a traced function holds or computes: a measure of the data in its closure."""
    inner = getattr(program, "jaxpr", program)
    sizes = [int(np.size(held)) for held in getattr(program, "consts", ())]
    for step in inner.eqns:
        sizes += [int(np.size(given.val)) for given in step.invars if hasattr(given, "val")]
        sizes += [int(made.aval.size) for made in step.outvars if hasattr(made.aval, "size")]
        parts = jax.tree.leaves(list(step.params.values()), is_leaf=lambda part: hasattr(part, "eqns"))
        sizes += [largest_array(part) for part in parts if hasattr(part, "eqns")]
    return max(sizes, default=0)


def largest_made(program: Any, n_given: int = 1) -> int:
    """Entries of the largest array that depends on the first `n_given` inputs of a traced function: what each further point needs.

    A design matrix is held once however many points are evaluated together; the linear predictor is made for each.
    """
    inner = getattr(program, "jaxpr", program)
    depends, largest = set(inner.invars[:n_given]), 0
    for step in inner.eqns:
        if not any(not hasattr(given, "val") and given in depends for given in step.invars):
            continue
        depends |= set(step.outvars)
        largest = max([largest, *(int(made.aval.size) for made in step.outvars if hasattr(made.aval, "size"))])
        parts = [part for part in jax.tree.leaves(list(step.params.values()), is_leaf=lambda part: hasattr(part, "eqns"))]
        largest = max([largest, *(largest_made(part, len(step.invars)) for part in parts if hasattr(part, "eqns"))])
    return largest


def largest_factored(program: Any, given: Sequence[bool]) -> int:
    """Entries of the largest matrix that depends on the `given` inputs of a traced function and is factored or solved with.

    Such a matrix is made anew for each point, and its factors and their derivatives are written out, where other operations are fused.
    """
    inner, largest = getattr(program, "jaxpr", program), 0
    depends = {name for name, is_given in zip(inner.invars, given, strict=True) if is_given}
    for step in inner.eqns:
        on_given = [not hasattr(name, "val") and name in depends for name in step.invars]
        if not any(on_given):
            continue
        depends |= set(step.outvars)
        if step.primitive.name in FACTORS:
            largest = max(largest, int(step.invars[0].aval.shape[-1]) * int(step.invars[0].aval.shape[-2]))
        for part in jax.tree.leaves(list(step.params.values()), is_leaf=lambda part: hasattr(part, "eqns")):
            if hasattr(part, "eqns"):
                n_inputs = len(part.jaxpr.invars if hasattr(part, "jaxpr") else part.invars)
                known = on_given if n_inputs == len(on_given) else [True] * n_inputs  # of a loop or a branch: all
                largest = max(largest, largest_factored(part, known))
    return largest
