"""The default kernels, and whether given kernels suit a model."""

from __future__ import annotations

from zhat.errors import BadInput, BadType
from zhat.kinds import shown
from zhat.model.model import Model
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.random_walk import RandomWalk


def check_kernels(owner: str, kernels: tuple[Kernel, ...] | None) -> None:
    """Refuse what is not a tuple of kernels."""
    if kernels is not None and not isinstance(kernels, tuple | list):
        raise BadType(f"{owner}(kernels={shown(kernels)}): give a tuple of kernels, such as kernels=(zhat.kernels.HMC(),).")
    if kernels is not None and not kernels:
        raise BadInput(f"{owner}(kernels=()): give at least one kernel, or None to have them chosen.")
    for kernel in kernels or ():
        if isinstance(kernel, type) or not callable(getattr(kernel, "step", None)):
            raise BadType(f"{owner}(kernels=...): {shown(kernel)} is not a kernel; give objects such as zhat.kernels.HMC().")


def check_gradients(model: Model, kernel: Kernel) -> None:
    """Refuse a kernel that needs gradients where a model has none."""
    if model.is_black_box and kernel.needs_gradient:
        raise BadInput(
            f"{type(kernel).__name__} needs gradients, and {model.name!r} is a black box without them; give a kernel such as "
            "zhat.kernels.CrankNicolson()."
        )


def kernels_for(model: Model, given: tuple[Kernel, ...] | None = None, gibbs: bool = True) -> tuple[Kernel, ...]:
    """The given kernels, or: Gibbs sweeps where the model has conditionals, else fitted moves; Hamiltonian ones in reserve."""
    if given is not None:
        for kernel in given:
            check_gradients(model, kernel)
        return given
    if model.is_black_box:
        return (CrankNicolson(),)
    first = (Gibbs(model.conditionals),) if gibbs and model.conditionals else ()
    return (*first, CrankNicolson(), HMC())


def chain_kernel(model: Model, given: Kernel | None = None) -> Kernel:
    """The given kernel, or for long chains at the posterior: Hamiltonian moves, fitted ones for a black box."""
    if given is not None:
        check_gradients(model, given)
    return given or (CrankNicolson() if model.is_black_box else HMC())


def jump_kernel(given: Kernel | None = None) -> Kernel:
    """The given kernel, or for chains that move between models, which have no gradient: fitted moves."""
    return given or CrankNicolson()


def held_kernel(model: Model) -> Kernel:
    """For chains in which some coordinates are held: a kernel whose steps are its factor times noise."""
    return RandomWalk() if model.is_black_box else HMC()


def threshold_kernel() -> Kernel:
    """For nested sampling: fitted moves, mostly turns in many dimensions.

    On the few models where it was measured it decorrelated in fewer evaluations than a random walk, and fastest at an acceptance
    rate of one quarter. Two of four moves are shorter: with moves of one length some points never move and half of all moves were made
    for their sake afterwards (eight schools: 490 moves of every point in a run, 420 with these).
    """
    return CrankNicolson(acceptance=0.25, first_share=0.9, turns_above=20, lengths=(1.0, 1.0, 0.5, 0.2))
