"""Samplers: they produce records of draws, without verdicts or evidences."""
