"""Nested sampling: live points, a rising threshold, draws above it."""
