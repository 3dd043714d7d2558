"""Friel & Wyse (2012) reproduced: its tables and its figure with its own settings, beside the truth and beside ours.

    zhat reproduce friel-wyse --out folder

`tables/` has one file a table and judges their cells, `samplers/` the samplers of the paper, `published.csv` its printed numbers,
`page/` the page; `parts.py` keeps finished parts, so that a run that was stopped continues.
"""
