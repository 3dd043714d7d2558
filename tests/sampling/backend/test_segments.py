"""Segments of a checkpoint: what is written is read; what is damaged is left out."""

from __future__ import annotations

import hashlib
import io
import zipfile

import numpy as np
import pytest

from zhat.sampling.backend.segments import Entry, Segments

ARRAYS = (np.arange(6.0).reshape(2, 3), np.array([1, -2], np.int32), np.array(True), np.zeros((0, 3)))


def written(folder):
    segments = Segments(folder)
    segments.add([("a", Entry({"value": 0}, ARRAYS)), ("b", Entry(1.5))])
    segments.add([("a", Entry(None, (np.ones(4),)))])
    return segments


def test_what_is_written_is_read(tmp_path):
    written(tmp_path)
    again = Segments(tmp_path)
    assert len(again) == 2 and "a" in again and "c" not in again and not again.damaged
    first, second = again.get("a")
    assert first.plain == {"value": 0} and second.plain is None
    for array, expected in zip(first.arrays, ARRAYS, strict=True):
        assert array.dtype == expected.dtype and array.shape == expected.shape and (array == expected).all()
    assert again.get("b")[0].plain == 1.5
    assert again.get("c") == []
    again.add([("c", Entry(2))])
    assert [path.name[:6] for path in sorted(tmp_path.iterdir())] == ["000001", "000002", "000003"]


def test_a_file_cut_short_is_left_out_and_the_others_stay(tmp_path):
    written(tmp_path)
    last = sorted(tmp_path.iterdir())[-1]
    last.write_bytes(last.read_bytes()[:-7])
    again = Segments(tmp_path)
    assert len(again.damaged) == 1 and "cut short" in again.damaged[0]
    assert len(again.get("a")) == 1


def named(folder, content):
    name = f"000009-{hashlib.sha256(content).hexdigest()[:16]}.npz"
    (folder / name).write_bytes(content)


def archive(index, data=b"", compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, value in (("index", index), ("data", data)):
            part = io.BytesIO()
            np.save(part, np.frombuffer(value, np.uint8))
            made.writestr(f"{name}.npy", part.getvalue())
    return file.getvalue()


LEAF = '[{"key": "k", "plain": null, "leaves": [{"dtype": "%s", "shape": %s, "offset": 0}]}]'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 nonsense",
        archive(b"not json"),
        archive(b"[1]"),
        archive(b'{"key": 1}'),
        archive(b"[]", b"x" * 10_000_000, zipfile.ZIP_DEFLATED),
        archive((LEAF % ("|O", "[1]")).encode(), b"12345678"),
        archive((LEAF % ("<f8", "[1000000000000]")).encode(), b"12345678"),
        archive((LEAF % ("<f8", "[-1]")).encode(), b"12345678"),
        archive((LEAF % ("<f8", '["a"]')).encode(), b"12345678"),
        archive(b'[{"key": 7, "plain": 0, "leaves": []}]'),
    ],
    ids=range(11),
)
def test_forged_files_are_left_out(tmp_path, content):
    named(tmp_path, content)
    segments = Segments(tmp_path)
    assert len(segments.damaged) == 1 and not len(segments)


def test_a_file_that_vanishes_is_a_gap(tmp_path):
    written(tmp_path)
    again = Segments(tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    assert again.get("a") == [] and again.damaged


def test_an_entry_takes_the_place_of_the_one_before(tmp_path):
    segments = Segments(tmp_path)
    segments.add([("other", Entry(1, (np.zeros(10),)))])
    for i in range(3):
        segments.replace("state", Entry(i, (np.full(100_000, float(i)),)))
    assert segments.n_bytes < 1e6 and len(list(tmp_path.glob("*.npz"))) == 2
    for kept in (segments, Segments(tmp_path)):
        (entry,) = kept.get("state")
        assert entry.plain == 2 and entry.arrays[0][0] == 2.0 and kept.get("other")[0].plain == 1
