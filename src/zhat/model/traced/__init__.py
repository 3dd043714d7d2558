"""Functions as JAX traces them: whether it can, and what it makes of them."""
