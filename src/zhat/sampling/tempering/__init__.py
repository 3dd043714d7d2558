"""The path from prior to posterior, and the populations and chains that follow it."""
