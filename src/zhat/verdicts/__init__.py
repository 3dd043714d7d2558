"""Verdicts on an estimate from the diagnostics of its run: codes, sentences, remedies."""
