"""``evidentia study``: what the library shows of itself on the review's small examples."""

from __future__ import annotations

import argparse
from pathlib import Path

from evidentia.cli.exits import Exit
from evidentia.cli.terminal import printable, table


def run(options: argparse.Namespace) -> Exit:
    """Print the table, draw the pictures if a folder was named."""
    if options.name == "table-1":
        from evidentia.studies import table_one

        rows = table_one.run_table(options.seed, options.sample_seed)
        print("Normal-gamma example, one simulated sample of 100: log evidence for four priors")
        print(printable(table(table_one.HEADER, [row.cells() for row in rows])))
        return Exit.OK
    from evidentia.studies import running_example

    study = running_example.run_all(options.seed)
    print(f"Running example of the review: exact log evidence {study.exact:.8f}")
    print(printable(table(running_example.HEADER, study.rows)))
    if options.out:
        for path in running_example.draw(study, Path(options.out)):
            print(f"drawn: {path}")
    return Exit.OK
