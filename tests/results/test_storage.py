"""Results on disk: what goes in comes out, and whatever is wrong with a file is `CorruptFile`."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import math
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest

from zhat.errors import BadInput, BadType, CorruptFile
from zhat.results.codec import from_plain, to_plain
from zhat.results.estimate import Evidence, Kind, Level, Reason, Repeat, Status
from zhat.results.records import Cost, Draws, PathRun
from zhat.results.storage import MARK, SCHEMA, check_save_path, load_evidence, save_evidence

RNG = np.random.default_rng(3)


def draws(n: int = 6, **changes: object) -> Draws:
    record = Draws(
        position=RNG.normal(size=(n, 2)),
        log_likelihood=np.where(np.arange(n) == 1, -np.inf, RNG.normal(size=n)),
        log_prior=RNG.normal(size=n),
        n_drawn=n + 3,
        log_weight=RNG.normal(size=n),
        chain=np.arange(n) % 2,
        parameters={
            "mu": RNG.normal(size=n),
            "../../Σ \x1b[31m": RNG.normal(size=(n, 2, 2)),
            "float": np.empty((n, 0)),
        },
    )
    return dataclasses.replace(record, **changes)


def path_run(n: int = 6) -> PathRun:
    return PathRun(
        betas=np.array([0.0, 0.25, 1.0]),
        log_likelihood=(RNG.normal(size=(1, n)), RNG.normal(size=(3, n))),
        ancestors=(np.arange(n), np.zeros(n, np.int64)),
        n_islands=2,
        acceptance=np.array([1.0, 0.4]),
        correlation=np.array([0.0, 0.3]),
        memory=np.array([0.0, math.nan]),
        n_moves=np.array([1, 3]),
        resampled=True,
        final=draws(n),
    )


# A code that the table of codes does not have: files of other versions may.
OF_ANOTHER_VERSION = Status(Level.SUSPECT, (Reason("ess", "Few draws: take more."),))


def evidence(**changes: object) -> Evidence:
    result = Evidence(
        log_evidence=-310.12829,
        log_evidence_se=0.1 + 0.2,
        status=Status.suspect("pareto-k", "k is 0.8: use SMC.").and_(OF_ANOTHER_VERSION),
        kind=Kind.SAMPLING,
        degrees_of_freedom=math.inf,
        no_se_because=None,
        approximation_error=None,
        diagnostics={"k": 0.8, "n": 3, "word": "<b>ψ</b>", "flag": True, "list": [1.0, -math.inf], "names": ["a", "b"]},
        record=None,
        method="smc",
        settings={
            "n_particles": 1000,
            "schedule": {"name": "AdaptiveESS", "share": 0.5},
            "limit": math.inf,
            "kernel": None,
        },
        cites=("delmoral2006", "dau2022"),
        model="pine\x1b[2J",
        data_id="abc",
        n_dimensions=3,
        cost=Cost(10**12, 5, 0, 1.25, 0.5),
        seed=2**64 - 1,
        versions={"zhat": "0.1.0"},
        repeats=(Repeat(-310.0, None, Status.ok()), Repeat(math.nan, 0.2, Status.failed("budget", "No."))),
        why_this_method="asked for",
    )
    return dataclasses.replace(result, **changes)


def assert_same(a: object, b: object) -> None:
    """Equal values and types all the way down; NaN equals NaN."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        assert a == b or (a != a and b != b)


RECORDS = {
    "none": None,
    "draws": draws(),
    "bare draws": draws(log_weight=None, chain=None, parameters={}),
    "path": path_run(),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_what_is_saved_is_what_is_loaded(tmp_path, kind):
    before = evidence(record=RECORDS[kind])
    path = save_evidence(before, tmp_path / "run.v1.json")
    assert_same(load_evidence(path), before)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.v1.json"] + ([] if kind == "none" else ["run.v1.npz"])


def test_the_methods_of_evidence_do_the_same(tmp_path):
    before = evidence(record=draws())
    assert_same(Evidence.load(before.save(str(tmp_path / "run.json"))), before)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308])
def test_every_float_survives(tmp_path, value):
    path = save_evidence(evidence(log_evidence=value), tmp_path / "run.json")
    assert repr(load_evidence(path).log_evidence) == repr(value)
    json.loads(path.read_text(), parse_constant=pytest.fail)


def test_numpy_scalars_are_saved_as_numbers(tmp_path):
    before = evidence(log_evidence=np.float64(-1.5), n_dimensions=np.int64(3), diagnostics={"k": np.float32(0.5)})
    after = load_evidence(save_evidence(before, tmp_path / "run.json"))
    assert (after.log_evidence, after.n_dimensions, after.diagnostics["k"]) == (-1.5, 3, 0.5)
    assert type(after.n_dimensions) is int


def test_values_that_no_file_can_hold_are_named():
    with pytest.raises(BadType, match=r"settings\['kernel'\] is a object, which cannot be saved"):
        to_plain(evidence(settings={"kernel": object()}))
    with pytest.raises(BadType, match=r"settings has the key 3: only text"):
        to_plain(evidence(settings={3: 1}))
    with pytest.raises(BadType, match=r"record\.log_prior holds values of type object"):
        to_plain(evidence(record=draws(log_prior=np.array([None]))))
    with pytest.raises(BadType, match="record is a dict: only Draws, "):
        to_plain(evidence(record={}))


# -- paths -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [check_save_path, load_evidence])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("run.npz", "only holds the arrays"),
        ("run.pkl", "pickles run code"),
        ("run.txt", r"ends in \.json"),
        ("", "is a directory"),
    ],
)
def test_other_kinds_of_file_are_refused(tmp_path, call, name, sentence):
    with pytest.raises(BadInput, match=sentence):
        call(tmp_path / name)


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    with pytest.raises(BadInput, match="there is no directory"):
        check_save_path(tmp_path / "absent" / "run.json")
    (tmp_path / "d.json").mkdir()
    with pytest.raises(BadInput, match="is a directory"):
        check_save_path(tmp_path / "d.json")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        load_evidence(tmp_path / "absent.json")


def test_arrays_of_somebody_else_are_not_overwritten(tmp_path):
    np.savez(tmp_path / "pima.npz", x=np.arange(3))
    with pytest.raises(BadInput, match=r"pima\.npz beside it is no file of a saved result"):
        save_evidence(evidence(record=draws()), tmp_path / "pima.json")
    assert np.load(tmp_path / "pima.npz")["x"].sum() == 3


def test_saving_again_replaces_both_files(tmp_path):
    path = save_evidence(evidence(record=draws()), tmp_path / "run.json")
    save_evidence(evidence(record=path_run()), path)
    assert isinstance(load_evidence(path).record, PathRun)
    save_evidence(evidence(), path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_a_write_that_fails_leaves_the_old_result(tmp_path, monkeypatch):
    path = save_evidence(evidence(record=draws()), tmp_path / "run.json")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        save_evidence(evidence(record=path_run()), path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_files_are_readable_by_their_owner_only(tmp_path):
    save_evidence(evidence(record=draws()), tmp_path / "run.json")
    assert {stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()} == {0o600}


# -- damaged and foreign files -----------------------------------------------------------------------------------


def sign(path, **header):
    """Make the JSON vouch for whatever .npz lies beside it, and change parts of its header."""
    document = json.loads(path.read_text())
    document["arrays_sha256"] = hashlib.sha256(path.with_suffix(".npz").read_bytes()).hexdigest()
    path.write_text(json.dumps({**document, **header}))


@pytest.fixture
def saved(tmp_path):
    return save_evidence(evidence(record=path_run()), tmp_path / "run.json")


def refused(path, sentence=None):
    with pytest.raises(CorruptFile, match=sentence):
        load_evidence(path)


def test_missing_or_exchanged_arrays(saved, tmp_path):
    other = save_evidence(evidence(record=draws()), tmp_path / "other.json")
    saved.with_suffix(".npz").write_bytes(other.with_suffix(".npz").read_bytes())
    refused(saved, "damaged, or is not the one that was saved with it")
    saved.with_suffix(".npz").unlink()
    refused(saved, "keep the two files together")


@pytest.mark.parametrize("schema", [SCHEMA + 1, "1", None, True, [1]])
def test_another_schema(saved, schema):
    sign(saved, schema=schema)
    refused(saved, "this version of zhat reads schema 2")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"NaN",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 5000,
        pickle.dumps({"a": 1}),
    ],
    ids=["empty", "object", "list", "null", "nan", "not utf-8", "deep lists", "deep objects", "long number", "pickle"],
)
def test_foreign_json(saved, content):
    saved.write_bytes(content)
    refused(saved)


CHANGES = {
    "a class to import": lambda e: e["record"].update(type="subprocess.Popen"),
    "another record": lambda e: e["record"].update(type="Draws"),
    "no such field": lambda e: e.update(__class__="x"),
    "a field gone": lambda e: e.pop("method"),
    "text for a number": lambda e: e.update(log_evidence="-1"),
    "a truth value for a number": lambda e: e.update(n_dimensions=True),
    "null where a number belongs": lambda e: e.update(log_evidence=None),
    "a float that is none": lambda e: e.update(log_evidence={"float": "pi"}),
    "a list for a float": lambda e: e.update(log_evidence={"float": ["nan"]}),
    "no such level": lambda e: e["status"].update(level="fine"),
    "a level of odd type": lambda e: e["status"].update(level={}),
    "an array that is not there": lambda e: e["record"].update(betas={"array": "secret"}),
    "an array of whole numbers for floats": lambda e: e["record"].update(betas=e["record"]["n_moves"]),
    "numbers in place of an array": lambda e: e["record"].update(betas=[0.0, 1.0]),
    "a list for a dictionary": lambda e: e.update(settings=[]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_values_that_do_not_belong(saved, change):
    document = json.loads(saved.read_text())
    CHANGES[change](document["evidence"])
    saved.write_text(json.dumps(document))
    refused(saved)


def write_npz(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def header_of(description, content=b""):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, description)
    return buffer.getvalue() + content


MARKED = {f"{MARK}.npy": npy(np.array(SCHEMA))}
FOREIGN_ARRAYS = {
    "objects": {"x.npy": npy(np.array([{}], object), allow_pickle=True)},
    "float32": {"x.npy": npy(np.zeros(3, np.float32))},
    "text": {"x.npy": npy(np.array(["a"]))},
    "structures": {"x.npy": npy(np.zeros(2, [("a", "f8")]))},
    "a pickle": {"x.npy": pickle.dumps([1])},
    "not an array": {"x.npy": b"hello"},
    "another ending": {"x.txt": b"hello"},
    "a shape without its numbers": {"x.npy": header_of({"descr": "<f8", "fortran_order": False, "shape": (2**40,)})},
    "a negative shape": {"x.npy": header_of({"descr": "<f8", "fortran_order": False, "shape": (-1, -1)}, b"\0" * 8)},
    "numbers without a shape": {"x.npy": header_of({"descr": "<f8", "fortran_order": False, "shape": (1,)}, b"\0" * 16)},
}


@pytest.mark.parametrize("kind", FOREIGN_ARRAYS)
def test_foreign_arrays(saved, kind):
    write_npz(saved.with_suffix(".npz"), {**MARKED, **FOREIGN_ARRAYS[kind]})
    sign(saved)
    refused(saved)


def test_a_bomb_is_refused_before_it_is_unpacked(saved):
    write_npz(saved.with_suffix(".npz"), {**MARKED, "x.npy": npy(np.zeros(2**20))}, zipfile.ZIP_DEFLATED)
    sign(saved)
    refused(saved, "compressed members")


def test_arrays_without_our_mark_are_refused(saved):
    write_npz(saved.with_suffix(".npz"), {"x.npy": npy(np.zeros(3))})
    sign(saved)
    refused(saved, "not written by zhat")


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes cut short, with bits flipped, a stretch gone, doubled or overwritten."""
    way = rng.integers(5)
    start, stop = np.sort(rng.integers(0, len(content) + 1, 2))
    if way == 0:
        return content[:start]
    if way == 1:
        flipped = bytearray(content)
        for i in rng.integers(0, len(content), rng.integers(1, 9)):
            flipped[i] ^= 1 << int(rng.integers(8))
        return bytes(flipped)
    if way == 2:
        return content[:start] + content[stop:]
    if way == 3:
        return content[:stop] + content[start:]
    return content[:start] + rng.bytes(stop - start) + content[stop:]


@pytest.mark.parametrize("which", ["json", "npz", "signed npz"])
def test_only_corrupt_file_comes_out_of_mutated_files(saved, which):
    """100 mutants of each file; those of the arrays once as they are and once with a checksum that fits."""
    rng = np.random.default_rng(11)
    target = saved if which == "json" else saved.with_suffix(".npz")
    good, header, refusals = target.read_bytes(), saved.read_bytes(), 0
    for _ in range(100):
        target.write_bytes(mutated(good, rng))
        if which == "signed npz":
            saved.write_bytes(header)
            sign(saved)
        try:
            load_evidence(saved)
        except CorruptFile as error:
            assert str(error).startswith(str(saved))
            refusals += 1
    assert refusals >= 60  # a flipped bit inside a sentence or a number cannot be noticed in JSON


def test_the_reader_executes_nothing(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "trapped"),))

    bait = np.array([Trap()], object)
    write_npz(saved.with_suffix(".npz"), {**MARKED, "x.npy": npy(bait, allow_pickle=True)})
    sign(saved)
    refused(saved, "holds object")
    saved.write_bytes(pickle.dumps(Trap()))
    refused(saved)
    assert not (tmp_path / "trapped").exists()


def test_plain_values_are_json_and_come_back(tmp_path):
    before = evidence(record=draws(), status=Status((Status.ok().level), (Reason("a", "b."),)))
    plain, arrays = to_plain(before)
    assert_same(from_plain(json.loads(json.dumps(plain, allow_nan=False)), arrays), before)
