"""Formulas on a data frame: from `zhat.formula("y ~ x", data=df)` to a Model, by way of formulaic."""
