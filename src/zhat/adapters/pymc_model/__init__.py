"""What `adapters.pymc` reads of a PyMC model: its graphs, constants, refusals, and its standard coordinates."""
