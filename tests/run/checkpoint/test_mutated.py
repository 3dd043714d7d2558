"""Five hundred checkpoints with bytes changed, cut or added: each is read, left out or refused with a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from zhat.errors import BadInput
from zhat.run.checkpoint.checkpoint import _differences, _manifest
from zhat.sampling.backend.journal import Journal
from zhat.sampling.backend.nesting import rebuilt
from zhat.sampling.backend.segments import Entry, Segments

HERE = {
    "call": "evidence",
    "settings": {"method": "0"},
    "versions": ["python 3.11"],
    "models": {"m": {"data": "0", "functions": "1"}},
}


def mutated(content, rng):
    """Some bytes changed, a part cut off, or some added."""
    content = bytearray(content)
    kind = rng.integers(4)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(content)))
        if kind == 0:
            content[at] = int(rng.integers(256))
        elif kind == 1:
            del content[at : at + int(rng.integers(1, 40))]
        elif kind == 2:
            content[at:at] = rng.bytes(int(rng.integers(1, 20)))
        else:
            content = content[: max(at, 1)]
    return bytes(content)


def test_manifests(tmp_path):
    good = json.dumps({"format": "zhat checkpoint", "schema": 2, **HERE, "seed": 7}).encode()
    path, rng, refused = tmp_path / "manifest.json", np.random.default_rng(1), 0
    for _ in range(250):
        path.write_bytes(mutated(good, rng))
        try:
            assert isinstance(_differences(_manifest(path), HERE), list)
        except BadInput as error:
            refused += 1
            assert "give the name of a new checkpoint" in str(error)
    assert refused > 100


def test_segments(tmp_path):
    Segments(tmp_path).add([("k", Entry({"value": {"tuple": [0, None]}}, (np.arange(10.0),)))])
    (good,) = tmp_path.iterdir()
    content, rng = good.read_bytes(), np.random.default_rng(2)
    for _ in range(250):
        good.write_bytes(mutated(content, rng))
        segments = Segments(tmp_path)
        assert good.read_bytes() == content or (segments.damaged and "k" not in segments)
    assert [path.name for path in tmp_path.iterdir()] == [good.name]


@pytest.mark.parametrize(
    "plain",
    [None, 1, [], {}, {"value": 5}, {"value": "a"}, {"value": {"tuple": [0], "class": ["os", "system"]}}, {"value": {"tuple": 7}},
     {"value": {"dict": [1]}}, {"value": {"tuple": [0, 0], "class": ["zhat.sampling.state", "State"], "more": 1}}],
)  # fmt: skip
def test_outputs_of_no_call_are_computed_again(plain):
    assert not isinstance(rebuilt(Entry(plain, (np.arange(3.0),))), list)


def test_foreign_names_in_a_folder_are_left_alone(tmp_path):
    for name in ("..npz", "000001-zz.npz", "x.npz", "000001-0123456789abcdef.npz.part"):
        (tmp_path / name).write_bytes(b"x")
    segments = Segments(tmp_path)
    assert not len(segments) and not segments.damaged
    Journal(segments).write()
    assert len(list(tmp_path.iterdir())) == 4
