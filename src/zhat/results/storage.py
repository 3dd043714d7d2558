"""Results on disk: one JSON file, and beside it an .npz with the arrays of the record when there is one.

    evidence.save("pine.json")           # pine.json and pine.npz
    Evidence.load("pine.json")

Nothing in such a file is ever executed or imported (see `zhat.results.codec`), arrays are plain numbers, sizes are
checked before anything is read into memory, and a checksum ties the two files together. It shows damage, not forgery.
A file is written under another name and then moved into place, so that a reader sees the old one or the new one.
Whatever is wrong with a file, `load_evidence` answers with `CorruptFile`.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import numpy as np

from zhat.errors import BadInput, CorruptFile
from zhat.results import earlier
from zhat.results.codec import DTYPES, Arrays, from_plain, to_plain
from zhat.results.estimate import Evidence

FORMAT = "zhat evidence"
SCHEMA = 2
MARK = "zhat_schema"  # a member of every .npz of ours: we overwrite no other
MARKS = (MARK, earlier.MARK)

MOST_JSON_BYTES = 2**28
MOST_ARRAY_BYTES = 2**32
MOST_FILE_BYTES = MOST_ARRAY_BYTES + 2**26  # the arrays with their headers


def save_evidence(evidence: Evidence, path: str | Path) -> Path:
    """Write `path` (JSON) and, when there is a record, an .npz of the same stem beside it; returns the path."""
    path = check_save_path(path)
    plain, arrays = to_plain(evidence)
    size = sum(array.nbytes for array in arrays.values())
    if size > MOST_ARRAY_BYTES:
        raise BadInput(
            f"the record holds {size / 2**30:.1f} GiB of arrays and files are limited to {MOST_ARRAY_BYTES >> 30} GiB: "
            "save dataclasses.replace(evidence, record=None)."
        )
    checksum = None
    if arrays:
        marked = {MARK: np.array(SCHEMA, np.int64), **arrays}
        checksum = _replace(_arrays_beside(path), lambda file: np.savez(file, **marked))  # type: ignore[arg-type]
    text = document(plain, checksum)
    _replace(path, lambda file: file.write(text.encode()))
    if not arrays:  # an earlier result of this name may have left its arrays
        _arrays_beside(path).unlink(missing_ok=True)
    return path


def load_evidence(path: str | Path) -> Evidence:
    """Read what `save_evidence` wrote; files that are damaged, foreign or of another schema raise `CorruptFile`."""
    path = _json_path(path)
    if path.is_dir():
        raise BadInput(f"path={str(path)!r} is a directory; give the .json file of a saved result.")
    if not path.is_file():
        raise FileNotFoundError(f"path={str(path)!r}: there is no such file.")
    try:
        header = _read_header(path)
        arrays = {} if header["arrays_sha256"] is None else _read_arrays(_arrays_beside(path), header["arrays_sha256"])
        return from_plain(header["evidence"], arrays)
    except CorruptFile as error:
        raise CorruptFile(f"{path}: {error}") from error
    except PermissionError:
        raise
    except (Exception, MemoryError) as error:  # parsers of damaged input raise nearly anything
        raise CorruptFile(f"{path} is damaged or not a saved result ({type(error).__name__}: {error}).") from error


def document(plain: dict[str, Any], arrays_sha256: str | None = None) -> str:
    """The text of a JSON file for `to_plain` values."""
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "zhat": library_version(),
        "arrays_sha256": arrays_sha256,
        "evidence": plain,
    }
    return json.dumps(header, indent=2, allow_nan=False) + "\n"


def json_of(evidence: Evidence) -> str:
    """The result as one JSON document, without the arrays of its record."""
    return document(to_plain(replace(evidence, record=None))[0])


def library_version() -> str:
    """The installed version, or `unknown` when run from a source tree that was never installed."""
    try:
        return metadata.version("zhat")
    except metadata.PackageNotFoundError:
        return "unknown"


def check_save_path(path: str | Path) -> Path:
    """The path, if a result can be saved there; asked before a long run, not after it."""
    path = _json_path(path)
    if "\0" in str(path):
        raise BadInput(f"path={str(path)!r} cannot be the name of a file.")
    if path.is_dir():
        raise BadInput(f"path={str(path)!r} is a directory; give the name of a file in it.")
    folder = path.parent
    if not folder.is_dir():
        raise BadInput(f"path={str(path)!r}: there is no directory {str(folder)!r}; make it first.")
    if not os.access(folder, os.W_OK):
        raise BadInput(f"path={str(path)!r}: the directory {str(folder)!r} cannot be written to.")
    arrays = _arrays_beside(path)
    if arrays.exists() and not _is_ours(arrays):
        raise BadInput(
            f"path={str(path)!r}: {arrays.name} beside it is no file of a saved result and would be overwritten; "
            "choose another name."
        )
    return path


# -- paths -------------------------------------------------------------------------------------------------------


def _json_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix.lower() in (".pkl", ".pickle", ".dill", ".joblib"):
        raise BadInput(f"path={str(path)!r}: pickles run code when they are read, so none is read or written; use .json.")
    if path.suffix.lower() == ".npz":
        raise BadInput(f"path={str(path)!r}: the .npz only holds the arrays of a result; give its .json file.")
    if path.suffix != ".json" and not path.is_dir():
        raise BadInput(f"path={str(path)!r}: a result is kept in a file whose name ends in .json.")
    return path


def _arrays_beside(path: Path) -> Path:
    return path.with_suffix(".npz")


def _is_ours(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return not {f"{mark}.npy" for mark in MARKS}.isdisjoint(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


# -- writing -----------------------------------------------------------------------------------------------------


def write_file(path: Path, content: bytes) -> None:
    """Write a file under another name and move it into place."""
    _replace(path, lambda file: file.write(content))


def _replace(path: Path, write: Callable[[IO[bytes]], Any]) -> str:
    """Write a file beside `path`, readable by its owner only, move it into place, return its SHA-256; errors of the system name `path`."""
    try:
        return _written(path, write)
    except OSError as error:
        if error.filename is None:  # of a full disk, for example
            error.filename = str(path)
        raise


def _written(path: Path, write: Callable[[IO[bytes]], Any]) -> str:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False) as file:
        try:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            checksum = _sha256(Path(file.name))
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    _sync_directory(path.parent)
    return checksum


def _sync_directory(folder: Path) -> None:
    """Make the move itself durable, where the system lets a directory be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- reading -----------------------------------------------------------------------------------------------------


def _read_header(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MOST_JSON_BYTES:
        raise CorruptFile(f"it is larger than {MOST_JSON_BYTES >> 20} MiB, which no saved result is.")
    header = json.loads(path.read_bytes().decode(), parse_constant=_no_constant)
    if not isinstance(header, dict) or header.get("format") not in (FORMAT, earlier.FORMAT):
        raise CorruptFile("it is JSON, but not a saved result.")
    is_earlier = header["format"] == earlier.FORMAT
    if header.get("schema") != (earlier.SCHEMA if is_earlier else SCHEMA) or isinstance(header["schema"], bool):
        raise CorruptFile(
            f"it has schema {header.get('schema')!r} and this version of zhat reads schema {SCHEMA}; it was "
            f"written by version {str(header.get(earlier.VERSION if is_earlier else 'zhat'))[:40]!r}."
        )
    checksum = header.get("arrays_sha256")
    if "evidence" not in header or not (checksum is None or isinstance(checksum, str)):
        raise CorruptFile("its header is incomplete.")
    evidence = earlier.brought_up_to_date(header["evidence"]) if is_earlier else header["evidence"]
    return {"evidence": evidence, "arrays_sha256": checksum}


def _no_constant(name: str) -> float:
    raise CorruptFile(f"it holds the bare word {name}, which is not JSON.")


def _read_arrays(path: Path, checksum: str) -> Arrays:
    if not path.is_file():
        raise CorruptFile(f"its arrays, {path.name}, are missing; keep the two files together.")
    if path.stat().st_size > MOST_FILE_BYTES:
        raise CorruptFile(f"{path.name} is larger than {MOST_FILE_BYTES >> 30} GiB, which no saved result is.")
    if _sha256(path) != checksum:
        raise CorruptFile(f"{path.name} is damaged, or is not the one that was saved with it.")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        _check_sizes(members, path)
        arrays = {member.filename.removesuffix(".npy"): _read_member(archive, member) for member in members}
    if not any(mark in arrays for mark in MARKS):
        raise CorruptFile(f"{path.name} was not written by zhat.")
    return arrays


def _check_sizes(members: list[zipfile.ZipInfo], path: Path) -> None:
    """Refuse bombs before a byte is unpacked: we write members uncompressed and once each, so others are not ours."""
    if any(m.compress_type != zipfile.ZIP_STORED or m.file_size != m.compress_size for m in members):
        raise CorruptFile(f"{path.name} has compressed members, which zhat does not write.")
    total = sum(m.file_size for m in members)
    if total > path.stat().st_size:
        raise CorruptFile(f"{path.name} says it unpacks to {total:,} bytes, more than a result can hold.")
    names = [m.filename for m in members]
    if len(set(names)) < len(names) or not all(name.endswith(".npy") for name in names):
        raise CorruptFile(f"{path.name} holds members that zhat does not write.")


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array; its type and shape are checked against its size before it is made."""
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise CorruptFile(f"{member.filename} has an array format that zhat does not write.")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.hasobject or dtype not in DTYPES.values():
            raise CorruptFile(f"{member.filename} holds {dtype}; only float64, int64 and bool are read.")
        n_bytes = dtype.itemsize
        for length in shape:
            n_bytes *= length
        if min(shape, default=0) < 0 or n_bytes != member.file_size - file.tell():
            raise CorruptFile(f"{member.filename} says it has shape {shape}, which is not what it holds.")
    with archive.open(member) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
