"""A Stan program compiled with the headers and the stanc that the httpstan wheel carries, behind BridgeStan's methods.

No download: `pip install httpstan`, and a C++ compiler. Compiling takes a minute; the library is kept in a folder by content.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FLAGS = "-std=c++17 -O1 -fPIC -DTBB_INTERFACE_NEW -D_REENTRANT -DBOOST_DISABLE_ASSERTS -w".split()


def httpstan() -> Path | None:
    """The folder of the httpstan package: of this environment, or the one that HTTPSTAN names."""
    if os.environ.get("HTTPSTAN"):
        return Path(os.environ["HTTPSTAN"])
    spec = importlib.util.find_spec("httpstan")
    return Path(spec.origin).parent if spec and spec.origin else None


def library(program: Path) -> Path:
    """The shared library of a program, compiled once."""
    home = httpstan()
    assert home is not None
    code = hashlib.sha256(program.read_bytes() + (HERE / "shim.cpp").read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"zhat-stan-{code}"
    built = folder / "model.so"
    if not built.exists():
        folder.mkdir(exist_ok=True)
        subprocess.run([home / "stanc", f"--o={folder / 'model.cpp'}", program], check=True)
        objects = [_compiled(HERE / "shim.cpp", folder, home), _compiled(folder / "model.cpp", folder, home)]
        libraries = [home / "lib" / "libtbb.so.2", *sorted((home / "lib").glob("libsundials_*.a")), f"-Wl,-rpath,{home / 'lib'}"]
        subprocess.run(["g++", "-shared", *objects, *libraries, "-o", folder / "new.so"], check=True)
        (folder / "new.so").rename(built)
    return built


def _compiled(source: Path, folder: Path, home: Path) -> Path:
    """The object file of a source, kept."""
    kept = folder / f"{source.stem}.o"
    if not kept.exists():
        new = kept.with_suffix(".new")
        subprocess.run(["g++", *FLAGS, "-I", home / "include", "-c", source, "-o", new], check=True)
        new.rename(kept)
    return kept


class StanModel:
    """The methods of BridgeStan's class of this name that zhat uses, and its signatures."""

    def __init__(self, program: Path, data: dict):
        """Compile (or find) the library and give it the data."""
        self._lib = ctypes.CDLL(str(library(program)))
        self._lib.shim_new.restype = ctypes.c_void_p
        self._lib.shim_error.restype = ctypes.c_char_p
        self._model = ctypes.c_void_p(self._lib.shim_new(json.dumps(data).encode()))
        if not self._model:
            raise RuntimeError(self._lib.shim_error().decode())

    def param_unc_num(self) -> int:
        return int(self._lib.shim_n_free(self._model))

    def param_names(self, *, include_tp: bool = False, include_gq: bool = False) -> list[str]:
        return self._names(0)

    def param_unc_names(self) -> list[str]:
        return self._names(1)

    def log_density(self, theta_unc, *, propto: bool = True, jacobian: bool = True) -> float:
        assert not propto, "this shim keeps all constants"
        out = ctypes.c_double()
        self._check(self._lib.shim_log_density(self._model, _pointer(theta_unc), int(jacobian), ctypes.byref(out)))
        return out.value

    def param_constrain(self, theta_unc) -> np.ndarray:
        out = np.empty(len(self.param_names()))
        self._check(self._lib.shim_constrain(self._model, _pointer(theta_unc), _pointer(out)))
        return out

    def param_unconstrain(self, theta) -> np.ndarray:
        out = np.empty(self.param_unc_num())
        self._check(self._lib.shim_unconstrain(self._model, _pointer(theta), len(theta), _pointer(out)))
        return out

    def _names(self, free: int) -> list[str]:
        buffer = ctypes.create_string_buffer(1 << 16)
        self._lib.shim_names(self._model, free, buffer, len(buffer))
        return buffer.value.decode().split(",")

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeError(self._lib.shim_error().decode())


def _pointer(array) -> ctypes.c_void_p:
    return np.ascontiguousarray(array, dtype=np.float64).ctypes.data_as(ctypes.c_void_p)
