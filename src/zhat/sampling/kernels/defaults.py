"""Which kernels a tempered run uses when the user names none, and whether named ones can be used."""

from __future__ import annotations

from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.hmc import HMC


def check_kernels(owner: str, kernels: tuple[Kernel, ...] | None) -> None:
    """Refuse what is not a tuple of kernels."""
    if kernels is not None and not kernels:
        raise BadInput(f"{owner}(kernels=()): give at least one kernel, or None to have them chosen.")
    for kernel in kernels or ():
        if not hasattr(kernel, "step"):
            raise BadType(f"{owner}(kernels=...): {kernel!r} is not a kernel; give objects such as HMC().")


def kernels_for(model: Model, given: tuple[Kernel, ...] | None = None, gibbs: bool = True) -> tuple[Kernel, ...]:
    """The given kernels, or: Gibbs sweeps where the model has conditionals, else fitted moves; Hamiltonian ones in reserve."""
    if given is not None:
        if model.is_black_box and any(kernel.needs_gradient for kernel in given):
            raise BadInput(f"kernels=...: {model.name!r} is a black box and has no gradients for this kernel.")
        return given
    if model.is_black_box:
        return (CrankNicolson(),)
    first = (Gibbs(model.conditionals),) if gibbs and model.conditionals else ()
    return (*first, CrankNicolson(), HMC())
