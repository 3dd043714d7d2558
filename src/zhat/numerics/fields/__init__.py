"""Banded matrices of latent fields, sums over change points, partition functions of Ising models."""
