"""Checkpoints: what a run computed, on disk, so that it can go on after its process ended."""
