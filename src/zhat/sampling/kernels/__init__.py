"""Markov kernels that leave the tempered posterior invariant; one a file, none imports another."""
