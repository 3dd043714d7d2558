"""Combining estimates: repeats, families of methods, models."""
