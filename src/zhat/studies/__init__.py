"""Studies: whole analyses made with this library, remade at any time."""
