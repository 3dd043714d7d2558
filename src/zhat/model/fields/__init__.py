"""Latent Gaussian models: what a model declares of them, and a small vocabulary that builds them."""
