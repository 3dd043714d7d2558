"""Kernels: the Markov moves that SMC, annealed importance sampling, ladders, chains and nested sampling are built from.

    zhat.SMC(kernels=(zhat.kernels.CrankNicolson(), zhat.kernels.HMC()))

What belongs here: every class that a setting `kernel=` or `kernels=` takes, and `Kernel`, the protocol that a kernel of your
own follows.
"""

from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.independent import Independent
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.sampling.kernels.slice import Slice

__all__ = ["HMC", "CrankNicolson", "Gibbs", "Independent", "Kernel", "RandomWalk", "Slice"]
