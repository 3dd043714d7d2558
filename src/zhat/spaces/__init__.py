"""Families of models: many at once."""
