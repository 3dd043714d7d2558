"""The tables of Friel & Wyse (2012), one a file, and how each cell is judged."""
