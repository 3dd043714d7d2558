"""Pictures of results, one a file; `zhat.plots` gathers them."""
