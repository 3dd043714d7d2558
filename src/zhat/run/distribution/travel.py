"""Tasks sent to other processes: functions by value, arrays as bytes, and workers that keep compiled functions.

A model is functions (often lambdas and closures, which plain pickling refuses) and arrays. The functions are serialised once by
cloudpickle and sent with their digest; the worker rebuilds them once and keeps them under that digest, with everything compiled
for them, so that two hundred data sets for one model are compiled once in every worker. The bytes exist in memory only, between
a user and workers that the user has started; they are never read from a file.

*The same digits everywhere.* A task carries its seed, and its result depends on nothing else. Other versions of the libraries
may round differently, so a worker that has them refuses. JAX arrays inside functions are unpacked with 64 bits, so that a worker
keeps the precision of a user who has switched them on.
"""

from __future__ import annotations

import hashlib
import platform
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import cloudpickle
import jax

from zhat.errors import BadInput, ZhatError
from zhat.model.model import Core, Model

# Models whose functions a worker keeps; the least recently used one is dropped first.
KEPT = 32
PACKAGES = ("zhat", "jax", "jaxlib", "numpy", "numpyro", "scipy")


@dataclass(frozen=True)
class Task:
    """``function(model, *arguments)``, where the function is defined at the top of one of our modules.

    A result of the class `kept`, which has `is_final`, can be kept in a checkpoint, under what determines it: `key`.
    """

    function: Callable[..., Any]
    model: Model
    arguments: tuple[Any, ...] = ()
    kept: type | None = None
    key: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Parcel:
    """A task as bytes, for any executor."""

    code: bytes  # the model's functions
    digest: str
    rest: bytes  # data, settings, seed
    packed_by: tuple[str, ...]


def parcels(tasks: Iterable[Task]) -> list[Parcel]:
    """Pack tasks; functions that several models share are serialised once."""
    written: dict[tuple[int, ...], tuple[bytes, str]] = {}
    made = []
    for task in tasks:
        model = task.model
        functions = (model.core, model.log_likelihood, model.prior, model.conditionals)
        key = tuple(map(id, functions))
        if key not in written:
            code = packed(_taken_apart(functions), model.name)
            written[key] = code, hashlib.sha256(code).hexdigest()
        numbers = (
            model.data,
            model.hyper,
            model.name,
            model.zero_where_nan,
            model.data_id,
            model.latent,
            model.labels,
            model.units,
        )
        rest = packed((task.function, numbers, task.arguments), model.name)
        made.append(Parcel(*written[key], rest, versions()))
    return made


def work(parcel: Parcel) -> bytes:
    """On the worker: unpack the task, run it, and pack its result or exception."""
    try:
        task = _unpacked(parcel)
        answer: tuple[str, Any] = ("done", task.function(task.model, *task.arguments))
    except Exception as error:  # most often of the user's model; raised again in the calling process
        return raised(error)
    return bytes(cloudpickle.dumps(answer))


def submitted(executor: Executor, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Future[Any]]:
    """Submit calls of a function; each is a call of its own, also to Dask, which otherwise takes equal arguments for one task.

    Dask's scheduler takes some milliseconds for every submission and little more for many calls in one, so they are sent together.
    """
    client, wrapped = getattr(executor, "_client", None), getattr(executor, "_wrap_future", None)
    if client is None:
        try:
            return [executor.submit(function, *args) for args in calls]
        except BrokenExecutor:  # a worker was lost
            raise
        except RuntimeError as error:
            raise BadInput(
                f"executor=...: it takes no more work ({error}); make the call while it is open, inside its `with`."
            ) from error
    if wrapped is None or len(calls) == 1:
        return [executor.submit(function, *args, pure=False) for args in calls]
    return [wrapped(future) for future in client.map(function, *zip(*calls, strict=True), pure=False)]


def raised(error: Exception) -> bytes:
    """On the worker: an exception, for `opened`."""
    error.add_note("on a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
    return bytes(cloudpickle.dumps(("raised", _sendable(error))))


def opened(answer: bytes) -> Any:
    """The result of a task, or its exception, raised again here."""
    kind, value = cloudpickle.loads(answer)
    if kind == "raised":
        raise value
    return value


@cache
def versions() -> tuple[str, ...]:
    """Versions of everything that digits can depend on."""
    installed = [f"python {'.'.join(platform.python_version_tuple()[:2])}"]
    for package in PACKAGES:
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            installed.append(f"{package} not installed")
    return tuple(installed)


# -- packing -----------------------------------------------------------------------------------------------------


def _taken_apart(functions: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without compiled functions, which cannot be serialised."""
    core, *rest = functions
    return (core.log_likelihood, core.space, core.black_box, core.batched, core.pack, (), core.shown), core.sizes, *rest


def packed(value: Any, name: str) -> bytes:
    """A model, or a part of one, as bytes."""
    try:
        return bytes(cloudpickle.dumps(value))
    except Exception as error:  # any exception that an object raises when it is serialised
        raise BadInput(
            f"model {name!r} cannot be sent to a worker: {error}. Its functions hold an object of this process (an open file, a "
            "lock, a connection); create it inside the function, or run without workers."
        ) from error


# -- unpacking, on the worker ------------------------------------------------------------------------------------

_kept: OrderedDict[str, tuple[Core, Any, Any, Any]] = OrderedDict()
_lock = threading.Lock()


def _unpacked(parcel: Parcel) -> Task:
    other = [f"{a} (here {b})" for a, b in zip(parcel.packed_by, versions(), strict=True) if a != b]
    if other:
        raise BadInput(f"a worker has other versions than the sender, and digits may depend on them: {', '.join(other)}.")
    with jax.enable_x64(True):
        core, log_likelihood, prior, conditionals = _functions(parcel)
        function, (data, hyper, name, zero_where_nan, data_id, latent, labels, units), arguments = loaded(parcel.rest)
    model = Model(
        log_likelihood,
        prior,
        data=data,
        hyper=hyper,
        name=name,
        conditionals=conditionals,
        zero_where_nan=zero_where_nan,
        data_id=data_id,
        latent=latent,
        labels=labels,
        units=units,
        core=core,
    )
    return Task(function, model, arguments)


def _functions(parcel: Parcel) -> tuple[Core, Any, Any, Any]:
    with _lock:  # a worker may have several threads
        if parcel.digest not in _kept:
            parts, sizes, *functions = loaded(parcel.code)
            core = Core(*parts)
            core.sizes = sizes
            _kept[parcel.digest] = (core, *functions)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(parcel.digest)
        return _kept[parcel.digest]


def loaded(content: bytes) -> Any:
    """What `packed` packed, on the worker."""
    try:
        return cloudpickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise BadInput(
            f"the model cannot be built on a worker: {error}. Its functions are in a module that the worker does not have: "
            "install it there, or put them into the script itself."
        ) from error


def _sendable(error: Exception) -> Exception:
    """The exception itself if it can be serialised, else one with its text."""
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:  # the pickling of an exception may fail in any way
        return ZhatError(f"{type(error).__name__} on a worker: {error}\n" + "\n".join(getattr(error, "__notes__", ())))
    return error
