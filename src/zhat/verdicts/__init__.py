"""What a run's own diagnostics say about its number: codes, sentences, remedies."""
