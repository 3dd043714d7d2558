"""Latent Gaussian parameters integrated by Laplace's method, and the rest by quadrature."""
