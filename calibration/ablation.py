"""Which parts of the look for missed mass does the default need? Each is switched off alone, on the traps where it could matter.

A part that removes no confidently wrong run and improves no answer is deleted. The table is kept in `ablation.csv` beside this file;
`docs/design_notes.md` has its short form.

    python calibration/ablation.py --runs 5 --part survey --trap unequal-widths-5
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

RESULTS = Path(__file__).parent / "ablation.csv"
COLUMNS = ("part", "trap", "runs", "right", "flagged", "confidently_wrong", "rms_error", "cpu_seconds")
# Traps that a minute of CPU runs five times, and on which missed mass is the danger.
TRAPS = ("S1-d5", "S3", "S6", "S7", "S9", "label-switching-2", "three-modes-3", "separated-classes", "unequal-modes-10",
         "unequal-modes-20", "small-mode-10", "unequal-widths-5", "unequal-widths-6", "soft-spike-5")  # fmt: skip


def _effort(**settings: Any) -> Callable[[], Any]:
    """The check of importance sampling with other settings."""

    def change() -> Any:
        from zhat.methods.importance import Importance
        from zhat.missed_mass.look import Look

        return patch.object(Importance, "look", Look.from_prior(replace(Importance.look.effort, **settings)))

    return change


def _attribute(path: str, value: Any) -> Callable[[], Any]:
    return lambda: patch(path, value)


def _one_mode_a_line() -> Any:
    """Starts are compared with the mode whose normal approximation is highest, not with the nearest one as well."""
    from zhat.sampling.importance import survey

    candidates = survey._candidates
    return patch.object(survey, "_candidates", lambda position, modes: candidates(position, modes)[:, :1])


def _no_modes(*_: Any, **__: Any) -> tuple[()]:
    return ()


PARTS: dict[str, Callable[[], Any] | None] = {
    "nothing": None,
    "survey": _effort(starts=1024, most_starts=1024),
    "doubling of the starts": _effort(most_starts=1),
    "searches above the normal approximations": _attribute("zhat.sampling.importance.survey.ABOVE", float("inf")),
    "second mode of a line": _one_mode_a_line,
    "even starts": _attribute("zhat.sampling.importance.starts.SPREAD_UP_TO", 0),
    "outlying points": _attribute("zhat.missed_mass.outliers.Outliers.draws", None),
    "further populations": _effort(further_populations=0),
    "outlying points of every rung": _effort(many_dimensions=20),
    "coverage": _effort(huge=float("inf")),
    "region beyond the proposal": _attribute("zhat.missed_mass.coverage_check._beyond", _no_modes),
    "proposal from the population": _attribute("zhat.methods.importance._Shaped.is_poor", False),
    "agreement of the population": _attribute("zhat.missed_mass.finding.Finding.population_agrees", True),
    "modes that the population lost": _attribute("zhat.missed_mass.coverage_check.visited_share", lambda *_: 1.0),
}


@contextmanager
def without(part: str) -> Iterator[None]:
    """The package without a part."""
    change = PARTS[part]
    with ExitStack() as stack:
        if change is not None:
            stack.enter_context(change())
        yield


def cell(part: str, trap: str, runs: int) -> dict[str, object]:
    """All seeds of the default on one trap without one part."""
    import zhat

    example = zhat.zoo.example(trap)
    right = flagged = wrong = 0
    squares, begin = 0.0, time.process_time()
    with without(part):
        for seed in range(runs):
            result = zhat.evidence(example.model, seed=seed, progress=False)
            error = abs(result.log_evidence - example.log_evidence)
            squares += error**2
            if not result.status.is_ok:
                flagged += 1
            elif error <= 4.0 * result.error + 1e-9:
                right += 1
            else:
                wrong += 1
    row = (
        part,
        trap,
        runs,
        right,
        flagged,
        wrong,
        f"{(squares / runs) ** 0.5:.3f}",
        f"{(time.process_time() - begin) / runs:.1f}",
    )
    print(*row, sep="  ", flush=True)
    return dict(zip(COLUMNS, row, strict=True))


def keep(new: dict[str, object]) -> None:
    """Put one row into the table, in place of an older one."""
    kept: dict[tuple[str, str], dict[str, object]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = {(row["part"], row["trap"]): dict(row) for row in csv.DictReader(file)}
    kept[str(new["part"]), str(new["trap"])] = new
    order = list(PARTS)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[key] for key in sorted(kept, key=lambda key: (TRAPS.index(key[1]), order.index(key[0]))))


def main() -> int:
    """Run the cells and keep each as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--trap", action="append", choices=TRAPS)
    options = parser.parse_args()
    for trap in options.trap or TRAPS:
        for part in options.part or PARTS:
            keep(cell(part, trap, options.runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
