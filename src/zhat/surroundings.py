"""Settings of JAX and of the process under which no model can be evaluated: each ends in a sentence, before anything is traced."""

from __future__ import annotations

import os
from typing import Any

import jax
import numpy as np

from zhat.errors import BadInput


def check_surroundings() -> None:
    """Refuse a process that was forked after a run, a missing device, a call inside `jax.jit`, and settings of JAX that forbid what is needed."""
    if _FORK.in_child:
        raise BadInput(
            "this process was forked from one in which JAX had run, whose threads do not exist here: a run would wait for ever. Start "
            "processes with multiprocessing.get_context('spawn'), or give workers=... to zhat."
        )
    if getattr(jax.config, "jax_numpy_dtype_promotion", "standard") == "strict":
        raise BadInput(
            "JAX's numpy_dtype_promotion is 'strict', under which integers and floats cannot be combined: call zhat inside "
            "with jax.numpy_dtype_promotion('standard'):."
        )
    guards = ("jax_transfer_guard", "jax_transfer_guard_host_to_device", "jax_transfer_guard_device_to_host")
    if any(str(getattr(jax.config, name, None) or "allow").startswith("disallow") for name in guards):
        raise BadInput(
            "JAX's transfer guard forbids moving arrays to a device: call zhat inside with jax.transfer_guard('allow'):."
        )
    try:
        inside = isinstance(jax.device_put(np.zeros(())), jax.core.Tracer)  # nothing is compiled for it
    except Exception as error:  # of several kinds, by platform
        platforms = os.environ.get("JAX_PLATFORMS", "")
        raise BadInput(
            f"JAX finds no device (JAX_PLATFORMS={platforms!r}; {(str(error) or type(error).__name__).splitlines()[0]}): set JAX_PLATFORMS=cpu, "
            "or install JAX for that device."
        ) from error
    if inside:
        raise BadInput(
            "zhat was called inside jax.jit, jax.vmap or jax.grad: a run is no function that JAX can trace; call it outside."
        )
    _FORK.used = True


class _Fork:
    """Whether JAX was used before this process was forked."""

    used = False
    in_child = False

    def __init__(self) -> None:
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.note)

    def note(self) -> Any:
        """In the child."""
        self.in_child = self.used


_FORK = _Fork()
