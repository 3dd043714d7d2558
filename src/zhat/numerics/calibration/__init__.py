"""Are standard errors and model probabilities calibrated? Statistics over many runs."""
