"""What a user brings: a likelihood and a prior, their parameter space, their data."""
