"""Friel & Wyse (2012) reproduced: its tables and its figure with its own settings, beside the truth and beside ours.

    zhat reproduce friel-wyse --out folder

One file a table (`table_1`, `table_2`, `pima`), the paper's own samplers (`lanes`, `component_walk`, `threshold_moves`,
`component_ordinates`), what it printed (`published.csv`), what each cell says (`cells`, `notes`), and the page (`page`).
"""
