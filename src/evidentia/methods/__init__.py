"""Floor 4: the methods, one a file, found by the registry in `_base`."""
