"""Settings: the objects that methods take besides kernels, schedules and proposals.

    zhat.SMC(moves=zhat.settings.Moves(correlation=0.3, at_once=2, at_most=16))
    zhat.NestedSampling(stop=zhat.settings.RemainingEvidence(1e-3), mass=zhat.settings.SimulatedMass(1000))

What belongs here: every other class that a field of a method takes, and the protocols that such fields are typed with.
"""

# Tempering: how long points move at one temperature, and chains on a ladder
# Chib & Jeliazkov: proposals of the Metropolis step
# Laplace-Metropolis: covariance at the mode
from zhat.methods.laplace_metropolis import Curvature, SampleCovariance, Spread

# Nested sampling: prior masses, replacement, stopping rules
from zhat.methods.nested import ExpectedMass, Mass, SimulatedMass

# Power posteriors: quadrature over the ladder
from zhat.methods.power_posterior import Rule, SecondOrder, Trapezoid

# Stepping stones: direction of the ratios
from zhat.methods.stepping_stone import Bridged, Direction, Forward, Reverse
from zhat.sampling.chains.transitions import Independent, TransitionFamily, Walk
from zhat.sampling.mixing import Moves
from zhat.sampling.nested.replacement import FromPrior, MarkovReplacement, Replacement
from zhat.sampling.nested.stopping import Iterations, RemainingEvidence, SmallContribution, Stop
from zhat.sampling.tempering.ladder_settings import LadderChains

__all__ = [
    "Bridged",
    "Curvature",
    "Direction",
    "ExpectedMass",
    "Forward",
    "FromPrior",
    "Independent",
    "Iterations",
    "LadderChains",
    "MarkovReplacement",
    "Mass",
    "Moves",
    "RemainingEvidence",
    "Replacement",
    "Reverse",
    "Rule",
    "SampleCovariance",
    "SecondOrder",
    "SimulatedMass",
    "SmallContribution",
    "Spread",
    "Stop",
    "TransitionFamily",
    "Trapezoid",
    "Walk",
]
