"""Chains that move between models."""
