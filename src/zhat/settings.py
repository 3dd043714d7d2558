"""Settings: the objects that methods take besides kernels, schedules and proposals.

    zhat.SMC(moves=zhat.settings.Moves(correlation=0.3, at_once=2, at_most=16))
    zhat.NestedSampling(stop=zhat.settings.RemainingEvidence(1e-3), mass=zhat.settings.SimulatedMass(1000))

* Tempering: `Moves`; where a path starts, `PathFromPrior` or `PathFromMode`; on ladders of chains: `LadderChains`.
* Nested sampling: replacement by `MarkovReplacement(kernel=..., moves=...)`, `RegionReplacement` or `FromPrior`; stopping rules
  `RemainingEvidence`, `FlatTop`, `SmallContribution`, `Iterations`; prior masses `ExpectedMass`, `SimulatedMass`.
* Power posteriors: quadrature rules `SecondOrder`, `Trapezoid`. Stepping stones: directions `Bridged`, `Forward`, `Reverse`.
* Laplace-Metropolis: covariances `Curvature`, `SampleCovariance`.
* Variational: families of guides `FullRank`, `MeanField` (Gaussians), `FlowGuide` (a normalising flow).
* Chib & Jeliazkov: proposals of the Metropolis step, `Independent`, `Walk`.
* Bridge sampling: `WarpIII`, `FittedNormal`, `FittedT`, `FittedMixture`. Reciprocal importance sampling: `TruncatedNormal`,
  `Ellipsoid`, `Tight`, and the learnt harmonic mean's `Flow`.

What belongs here: every class that a field of a method takes and no other public module has, and the protocols that such
fields are typed with.
"""

from zhat.methods.laplace_metropolis import Curvature, SampleCovariance, Spread
from zhat.methods.nested import ExpectedMass, Mass, SimulatedMass
from zhat.methods.power_posterior import Rule, SecondOrder, Trapezoid
from zhat.methods.stepping_stone import Bridged, Direction, Forward, Reverse
from zhat.sampling.chains.bridging import BridgingFamily, FittedMixture, FittedNormal, FittedT, WarpIII
from zhat.sampling.chains.flow import Flow
from zhat.sampling.chains.regions import Ellipsoid, RegionFamily, Tight, TruncatedNormal
from zhat.sampling.chains.transitions import Independent, TransitionFamily, Walk
from zhat.sampling.importance.reference import PathFromMode, PathFromPrior
from zhat.sampling.mixing import Moves
from zhat.sampling.nested.region import RegionReplacement
from zhat.sampling.nested.replacement import FromPrior, MarkovReplacement, Replacement
from zhat.sampling.nested.stopping import FlatTop, Iterations, RemainingEvidence, SmallContribution, Stop
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.sampling.variational.families import Family, FullRank, MeanField
from zhat.sampling.variational.flow_guide import FlowGuide

__all__ = [
    "Bridged",
    "BridgingFamily",
    "Curvature",
    "Direction",
    "Ellipsoid",
    "ExpectedMass",
    "Family",
    "FittedMixture",
    "FittedNormal",
    "FittedT",
    "FlatTop",
    "Flow",
    "FlowGuide",
    "Forward",
    "FromPrior",
    "FullRank",
    "Independent",
    "Iterations",
    "LadderChains",
    "MarkovReplacement",
    "Mass",
    "MeanField",
    "Moves",
    "PathFromMode",
    "PathFromPrior",
    "RegionFamily",
    "RegionReplacement",
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
    "Tight",
    "TransitionFamily",
    "Trapezoid",
    "TruncatedNormal",
    "Walk",
    "WarpIII",
]
