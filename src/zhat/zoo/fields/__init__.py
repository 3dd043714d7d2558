"""Latent Gaussian models, change points and Ising models whose evidence is known by quadrature or exact recursion."""
