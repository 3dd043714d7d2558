"""Every picture by one import: each takes a result and matplotlib axes, draws, and returns the axes."""

from evidentia.report.bayes_factor_matrix import bayes_factor_matrix
from evidentia.report.best_models import best_models
from evidentia.report.evidence_intervals import evidence_intervals
from evidentia.report.inclusion import inclusion
from evidentia.report.model_probabilities import model_probabilities
from evidentia.report.nested_trace import nested_trace
from evidentia.report.pareto_tail import pareto_tail
from evidentia.report.power_curve import power_curve
from evidentia.report.repeats import repeats
from evidentia.report.sensitivity_curve import bayes_factor_curve, sensitivity_curve
from evidentia.report.weights import weights

__all__ = [
    "bayes_factor_curve",
    "bayes_factor_matrix",
    "best_models",
    "evidence_intervals",
    "inclusion",
    "model_probabilities",
    "nested_trace",
    "pareto_tail",
    "power_curve",
    "repeats",
    "sensitivity_curve",
    "weights",
]
