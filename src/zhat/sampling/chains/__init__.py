"""Chains of posterior draws, and the densities that Chib's methods take from them."""
