"""Arithmetic of posterior draws: bridges, reciprocal means, and whether draws belong to a density."""
