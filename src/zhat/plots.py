"""All plots: each function takes a result and matplotlib axes, draws on them, and returns them."""

from zhat.report.pictures.bayes_factor_matrix import bayes_factor_matrix
from zhat.report.pictures.best_models import best_models
from zhat.report.pictures.evidence_intervals import evidence_intervals
from zhat.report.pictures.inclusion import inclusion
from zhat.report.pictures.model_probabilities import model_probabilities
from zhat.report.pictures.nested_trace import nested_trace
from zhat.report.pictures.pareto_tail import pareto_tail
from zhat.report.pictures.power_curve import power_curve
from zhat.report.pictures.repeats import repeats
from zhat.report.pictures.sensitivity_curve import bayes_factor_curve, sensitivity_curve
from zhat.report.pictures.weights import weights

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
