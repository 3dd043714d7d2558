"""All plots: each function takes a result and matplotlib axes, draws on them, and returns them."""

from zhat.report.pictures.bayes_factor_matrix import bayes_factor_matrix as bayes_factor_matrix
from zhat.report.pictures.best_models import best_models as best_models
from zhat.report.pictures.evidence_intervals import evidence_intervals as evidence_intervals
from zhat.report.pictures.inclusion import inclusion as inclusion
from zhat.report.pictures.model_probabilities import model_probabilities as model_probabilities
from zhat.report.pictures.nested_trace import nested_trace as nested_trace
from zhat.report.pictures.pareto_tail import pareto_tail as pareto_tail
from zhat.report.pictures.power_curve import power_curve as power_curve
from zhat.report.pictures.repeats import repeats as repeats
from zhat.report.pictures.sensitivity_curve import bayes_factor_curve as bayes_factor_curve
from zhat.report.pictures.sensitivity_curve import sensitivity_curve as sensitivity_curve
from zhat.report.pictures.weights import weights as weights

# What is imported above is public: a new picture is one more line there.
__all__ = sorted(name for name in globals() if not name.startswith("_"))
