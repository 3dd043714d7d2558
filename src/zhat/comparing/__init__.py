"""Several models side by side: Bayes factors, probabilities, averages, prior curves."""
