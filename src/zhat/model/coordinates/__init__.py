"""Other coordinates of a prior: the unit cube, and standard coordinates of hierarchical priors."""
