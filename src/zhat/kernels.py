"""Kernels: the Markov moves that SMC, annealed importance sampling, ladders, chains and nested sampling are built from.

    zhat.SMC(kernels=(zhat.kernels.CrankNicolson(), zhat.kernels.HMC()))

What belongs here: every class that a setting `kernel=` or `kernels=` takes, and `Kernel`, the protocol that a kernel of your
own follows.
"""

from zhat.sampling.kernels._base import Kernel as Kernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson as CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs as Gibbs
from zhat.sampling.kernels.hmc import HMC as HMC
from zhat.sampling.kernels.independent import Independent as Independent
from zhat.sampling.kernels.random_walk import RandomWalk as RandomWalk
from zhat.sampling.kernels.slice import Slice as Slice

# What is imported above is public: a new kernel is one more line there.
__all__ = sorted(name for name in globals() if not name.startswith("_"))
