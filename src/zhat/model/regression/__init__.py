"""Regression models from a design: families, default priors, and the models that both make."""
