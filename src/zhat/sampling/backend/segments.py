"""A checkpoint on disk: a folder with a manifest and numbered segments.

    run.ckpt/manifest.json               what the checkpoint is of
    run.ckpt/000001-<checksum>.npz       entries by key: an index in JSON, and the bytes of all arrays
    run.ckpt/lock

A segment is written under another name, synchronised and moved into place, and is never changed afterwards; one with the state of a
loop is removed when a later one is there. Its name holds a part of its SHA-256: one that is damaged or cut short is left out, and what it held is computed again. Nothing in a segment is executed or
imported, and arrays are plain numbers whose sizes are checked against the file before they are made.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zhat.errors import CorruptFile

NAME = re.compile(r"(\d{6})-([0-9a-f]{16})\.npz")
# Kinds of numbers that an array may have.
KINDS = {f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)} | {"|u1", "|i1", "|b1", "<f4", "<f8"}
# Segments whose arrays are in memory: entries are read nearly in the order in which they were written.
KEPT = 4
MOST_BYTES = 2**31


@dataclass(frozen=True)
class Entry:
    """What is kept under a key: plain JSON values, and arrays."""

    plain: Any
    arrays: tuple[np.ndarray, ...] = ()

    @property
    def n_bytes(self) -> int:
        """Size of the arrays."""
        return sum(array.nbytes for array in self.arrays)


class Segments:
    """The entries of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: list[str] = []  # files that were left out
        self.n_bytes = 0
        self._index: dict[str, list[tuple[str, Any]]] = {}
        self._loaded: OrderedDict[str, np.ndarray] = OrderedDict()
        numbers = [0]
        for path in sorted(folder.glob("*.npz")):
            if match := NAME.fullmatch(path.name):
                numbers.append(int(match[1]))
                self._note(path)
        self._number = max(numbers)

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._index)

    @property
    def keys(self) -> Iterator[str]:
        """The key of every entry."""
        return (key for key, items in self._index.items() for _ in items)

    def __contains__(self, key: str) -> bool:
        """Whether there is an entry."""
        return key in self._index

    def get(self, key: str) -> list[Entry]:
        """The entries of a key, in the order in which they were written."""
        found = []
        for name, item in self._index.get(key, ()):
            data = self._data(name)
            if data is not None:
                found.append(Entry(item["plain"], tuple(_array(data, leaf) for leaf in item["leaves"])))
        return found

    def replace(self, key: str, entry: Entry) -> None:
        """Write a segment with this entry alone, and remove those that held the entry before it."""
        before = [name for name, _ in self._index.get(key, ())]
        self.add([(key, entry)])
        self._index[key] = self._index[key][-1:]
        for name in before:
            self._loaded.pop(name, None)
            path = self.folder / name
            if path.exists():
                self.n_bytes -= path.stat().st_size
                path.unlink()

    def add(self, entries: list[tuple[str, Entry]]) -> None:
        """Write a segment."""
        index, parts, offset = [], [], 0
        for key, entry in entries:
            leaves = []
            for array in entry.arrays:
                little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
                leaves.append({"dtype": little.dtype.str, "shape": list(array.shape), "offset": offset})
                parts.append(little.reshape(-1).view(np.uint8))
                offset += little.nbytes
            index.append({"key": key, "plain": entry.plain, "leaves": leaves})
        text = np.frombuffer(json.dumps(index).encode(), np.uint8)
        self._number += 1
        name = self._write({"index.npy": [text], "data.npy": parts})
        self.n_bytes += offset
        for item in index:
            self._index.setdefault(item["key"], []).append((name, item))

    def _write(self, members: dict[str, list[np.ndarray]]) -> str:
        """Write arrays of bytes, each in parts that are not copied; their checksum is made on the way."""
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".", suffix=".part", delete=False) as file:
            try:
                hashed = _Hashed(file)
                with zipfile.ZipFile(hashed, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]  # it writes, no more
                    for name, parts in members.items():
                        with archive.open(name, "w", force_zip64=True) as member:
                            shape = (sum(len(part) for part in parts),)
                            header = {"descr": "|u1", "fortran_order": False, "shape": shape}
                            np.lib.format.write_array_header_1_0(member, header)
                            for part in parts:
                                member.write(part.data)
                file.flush()
                os.fsync(file.fileno())
                name = f"{self._number:06d}-{hashed.digest.hexdigest()[:16]}.npz"
                os.replace(file.name, self.folder / name)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        sync_folder(self.folder)
        return name

    def _note(self, path: Path) -> None:
        """Read the index of a file; a damaged one is noted and left out."""
        try:
            text, data = _read(path)
            index = json.loads(text.tobytes().decode())
            for item in index:
                if not isinstance(item["key"], str):
                    raise CorruptFile("a key is no text")
                for leaf in item["leaves"]:
                    _array(data, leaf)
        except (Exception, MemoryError) as error:  # parsers of damaged input raise nearly anything
            self.damaged.append(f"{path.name} ({error})")
            return
        for item in index:
            self._index.setdefault(item["key"], []).append((path.name, item))
        self.n_bytes += data.nbytes

    def _data(self, name: str) -> np.ndarray | None:
        if name not in self._loaded:
            try:
                self._loaded[name] = _read(self.folder / name)[1]
            except (Exception, MemoryError) as error:  # removed or damaged since it was opened
                self.damaged.append(f"{name} ({error})")
                return None
            while len(self._loaded) > KEPT:
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(name)
        return self._loaded[name]


class _Hashed:
    """A file that is written from its beginning to its end, and the SHA-256 of what was written."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Write, and add to the checksum."""
        self.digest.update(data)
        return int(self._file.write(data))

    def flush(self) -> None:
        """See files."""
        self._file.flush()


def sync_folder(folder: Path) -> None:
    """Make the move of a file into a folder durable, where the system lets a folder be opened."""
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


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    match = NAME.fullmatch(path.name)
    size = path.stat().st_size
    if match is None or path.is_symlink() or size > MOST_BYTES:
        raise CorruptFile("it was not written by zhat")
    if _checksum(path) != match[2]:
        raise CorruptFile("it is damaged or was cut short")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if sorted(m.filename for m in members) != ["data.npy", "index.npy"] or any(
            m.compress_type != zipfile.ZIP_STORED or m.file_size > size for m in members
        ):
            raise CorruptFile("it was not written by zhat")
        return _bytes(archive, "index.npy"), _bytes(archive, "data.npy")


def _bytes(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as file:
        array = np.asarray(np.lib.format.read_array(file, allow_pickle=False, max_header_size=4096))
    if array.dtype != np.uint8 or array.ndim != 1:
        raise CorruptFile("it was not written by zhat")
    return array


def _array(data: np.ndarray, leaf: Any) -> np.ndarray:
    """The array of a leaf of the index, a view of the segment's bytes."""
    dtype, shape, offset = leaf["dtype"], leaf["shape"], leaf["offset"]
    if dtype not in KINDS or not all(type(n) is int and n >= 0 for n in (*shape, offset)):
        raise CorruptFile("it has an array that zhat does not write")
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if offset + n_bytes > len(data):
        raise CorruptFile("it has an array that is longer than the file")
    return data[offset : offset + n_bytes].view(dtype).reshape(shape)
