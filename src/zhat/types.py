"""Types: what functions of `zhat` return or take and users do not build themselves, for annotations and documentation.

What belongs here: every other class that the signature of a public function or method names, and the scales of Bayes factors.
"""

from zhat.comparing.agreement import Agreement
from zhat.comparing.averaging import Average, Prediction, Weighed
from zhat.comparing.bayes_factor import LogBayesFactor
from zhat.comparing.savage_dickey import SavageDickey
from zhat.comparing.scales import JEFFREYS, KASS_RAFTERY, Scale
from zhat.comparing.sensitivity import Sensitivity
from zhat.model.model import About, Offer
from zhat.model.space import Space
from zhat.results.estimate import Cost, Estimate, Kind, Reason, Repeat
from zhat.results.records import Draws, NestedRun, OrdinateRun, PathRun
from zhat.run.model_check import Report
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.spaces.jump_result import JointDraws, Jump
from zhat.spaces.linear_subsets import LinearSubsets
from zhat.spaces.search import SubsetSearch
from zhat.spaces.subset_results import SubsetEvidences, TopModel
from zhat.zoo import Example

__all__ = [
    "JEFFREYS",
    "KASS_RAFTERY",
    "About",
    "Agreement",
    "Average",
    "Cost",
    "Draws",
    "Estimate",
    "Example",
    "JointDraws",
    "Jump",
    "Key",
    "Kind",
    "LinearSubsets",
    "LogBayesFactor",
    "NestedRun",
    "Offer",
    "OrdinateRun",
    "PathRun",
    "Prediction",
    "Reason",
    "Repeat",
    "Report",
    "SavageDickey",
    "Scale",
    "Sensitivity",
    "Space",
    "SubsetEvidences",
    "SubsetSearch",
    "TopModel",
    "Weighed",
    "Workbench",
]
