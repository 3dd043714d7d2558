"""Importance sampling: modes, proposals, weighted draws."""
