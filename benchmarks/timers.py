"""Where does the time go? Own CPU time of every function of zhat, with compiled calls apart.

Every function and method of the package is wrapped once; a stack of open calls gives each its own time, without that of
the wrapped functions it calls. What it calls outside the package (NumPy, SciPy) counts as its own.
"""

from __future__ import annotations

import functools
import sys
import time
import types
from collections import defaultdict
from collections.abc import Callable
from typing import Any


class Timers:
    """Own seconds and calls by name."""

    def __init__(self) -> None:
        self.own: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self._inner: list[float] = []

    def reset(self) -> None:
        """Forget what was counted."""
        self.own.clear()
        self.calls.clear()

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted under this name."""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            begin = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.process_time() - begin
                self.own[name] += spent - self._inner.pop()
                self.calls[name] += 1
                if self._inner:
                    self._inner[-1] += spent

        return wrapper

    def install(self) -> None:
        """Wrap the loaded package, for the rest of this process."""
        wrapped: dict[int, Callable[..., Any]] = {}
        modules = [m for name, m in list(sys.modules.items()) if name.split(".")[0] == "zhat"]
        for module in modules:
            short = module.__name__.removeprefix("zhat.")
            for name, value in list(vars(module).items()):
                if getattr(value, "__module__", None) != module.__name__:
                    continue
                if isinstance(value, types.FunctionType) and not _is_generator(value):
                    wrapped[id(value)] = self.timed(f"{short}.{name}", value)
                elif isinstance(value, type):
                    self._wrap_methods(value, short)
        for module in modules:
            for name, value in list(vars(module).items()):
                if id(value) in wrapped:
                    setattr(module, name, wrapped[id(value)])
        self._wrap_compiled()

    def _wrap_methods(self, owner: type, short: str) -> None:
        for name, value in list(vars(owner).items()):
            if isinstance(value, types.FunctionType) and not name.startswith("__") and not _is_generator(value):
                setattr(owner, name, self.timed(f"{short}.{owner.__name__}.{name}", value))
            elif isinstance(value, staticmethod | classmethod) and not _is_generator(value.__func__):
                timed = self.timed(f"{short}.{owner.__name__}.{name}", value.__func__)
                setattr(owner, name, type(value)(timed))

    def _wrap_compiled(self) -> None:
        """Compiled functions are timed until their answer is there; converting it is the caller's time."""
        import jax

        from zhat.model.model import Core

        compiled = Core.compiled

        def timed_compiled(core: Any, purpose: Any, build: Any, quick: bool = False) -> Any:
            function = compiled(core, purpose, build, quick)
            return self.timed(f"compiled: {_label(purpose)}", lambda *args: jax.block_until_ready(function(*args)))

        Core.compiled = timed_compiled  # type: ignore[method-assign]


def _label(purpose: Any) -> str:
    if isinstance(purpose, tuple):
        return " ".join(_label(p) for p in purpose)
    return purpose if isinstance(purpose, str) else type(purpose).__name__


def _is_generator(function: Callable[..., Any]) -> bool:
    """Generators and context managers run in pieces, which the stack cannot follow."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return code is not None and bool(code.co_flags & 0x20)
