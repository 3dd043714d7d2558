"""Floor 3: the machinery that samples, each piece once."""
