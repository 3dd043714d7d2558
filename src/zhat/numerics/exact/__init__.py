"""Evidences and Bayes factors in closed form, or by a quadrature that is exact to rounding."""
