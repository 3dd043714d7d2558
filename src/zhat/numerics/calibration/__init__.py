"""Are reported errors and model probabilities honest? Statistics over many runs."""
