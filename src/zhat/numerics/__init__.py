"""Arithmetic of evidence: NumPy arrays in, numbers out, in logs and in double precision.

Nothing here draws a random number, evaluates a model or knows about JAX. What a sampler left behind
goes in; where chance is needed it comes in as an array of uniforms, so every function is exact and
can be tested to the last digits.
"""
