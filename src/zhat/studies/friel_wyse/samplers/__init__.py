"""The samplers of Friel & Wyse (2012) as they describe them."""
