"""Arithmetic of evidence: NumPy arrays in, numbers out, in logs and in double precision.

Nothing here draws a random number, evaluates a model or imports JAX. The input is what a sampler
recorded; where randomness is needed it is an array of uniforms, so every function is exact and can be
tested to the last digits.
"""
