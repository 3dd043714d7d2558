"""Gaussian approximations that maximise a lower bound on the log evidence."""
