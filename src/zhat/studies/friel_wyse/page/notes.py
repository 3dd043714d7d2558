"""Words for what the numbers show: names of rows, and why a method of Friel & Wyse (2012) gives what it gives.

Each note is about a method in a table and stands beside every cell of its row. What is said of the paper's own figures follows
from what was recomputed with its settings, not from the figures alone.
"""

from __future__ import annotations

NAMES = {
    "exact": "Exact",
    "laplace": "Laplace",
    "laplace_map": "Laplace at the MAP",
    "harmonic": "Harmonic mean",
    "chib": "Chib",
    "chib_jeliazkov": "Chib & Jeliazkov",
    "ais": "Annealed importance sampling",
    "power": "Power posteriors",
    "power_10": "Power posteriors, 10 steps of 20,000 (as the text says)",
    "power_20": "Power posteriors, 20 steps of 10,000 (as the figures imply)",
    "power_20_corrected": "the same draws, second-order rule",
    "power_corrected": "the same draws, second-order rule",
    "nested": "Nested sampling",
    "nested_few": "Nested sampling, one sweep a point",
    "nested_many": "Nested sampling, ten sweeps a point",
    "jump": "Reversible jump",
    "importance": "Importance sampling (not in the paper)",
    "smc": "Sequential Monte Carlo (not in the paper)",
}

NOTES = {
    ("1", "exact"): ("The sample is another one, so levels differ; how far the value moves with tau0 does not depend on it."),
    ("1", "harmonic"): (
        "Hardly moves with the prior, because posterior draws hardly do; it is not an estimate of the evidence here. "
        "Its weights 1/L have infinite variance, so runs differ by more than any standard error."
    ),
    ("2", "exact"): (
        "The paper's formula, with its three misprints mended, on the paper's data (row 9 differs from the "
        "published table of Williams 1959; with that table the factor is 7024)."
    ),
    ("2", "laplace"): (
        "Both evidences are 0.04 low, in the same way, and the ratio is unaffected. The paper's coordinates are "
        "the precision itself, ours its logarithm: the same ratio to seven figures."
    ),
    ("2", "laplace_map"): (
        "The paper's spread of 1.05 is that of its coordinates, in which an error of the precision cancels between "
        "the curvatures. In the logarithm of the precision the same draws would scatter thirty times as much (and "
        "ours, from 8,000 draws, do)."
    ),
    ("2", "harmonic"): (
        "Infinite variance: the mean of eighteen runs depends on the run with the worst draw, and 'spread over runs' "
        "is not a property of the method. Each log evidence is about three nats too high; the ratio hides it. No "
        "setting removes it."
    ),
    ("2", "chib"): ("Conjugate, two averages, both nearly constant: the most precise of all here, in the paper and now."),
    ("2", "ais"): ("Unbiased at any length of ladder."),
    ("2", "power"): ("A hundred rungs: the trapezoid's bias is 0.006 in each evidence and cancels in the ratio."),
    ("2", "power_corrected"): ("What the paper could have had from its own draws."),
    ("2", "nested"): (
        "The paper does not say how many points it used, nor how many moves. A hundred points and one sweep give "
        "about its spread; perfect moves would need only thirty points to do as badly. With 4,000 points and moves "
        "that continue until the points have mixed, the spread is the one of theory."
    ),
    ("3", "laplace"): ("Deterministic; 0.02 to 0.03 below the truth, as the posterior is not quite normal."),
    ("3", "laplace_map"): ("The best of 200,000 draws lies a little below the mode."),
    ("3", "chib_jeliazkov"): ("One coefficient a block, as the sampler moves them."),
    ("3", "harmonic"): (
        "The harmonic mean of a sample cannot lie below its smallest likelihood. No posterior draw comes near the "
        "printed value, which is far too low; burn-in left in the sample is one way to get it. What the estimator "
        "really gives is far too high, and its Bayes factor points the wrong way."
    ),
    ("3", "power_10"): (
        "Ten steps as the text says: the straight lines between rungs lose four nats. The printed figures cannot come "
        "from this ladder."
    ),
    ("3", "power_20"): (
        "Twenty steps of 10,000 give the printed figures within their noise, so this is what was run. They are 0.7 "
        "too low: the trapezoid's bias, which the ratio hides."
    ),
    ("3", "power_20_corrected"): (
        "The variances of the same draws correct the trapezoid (Friel, Hurn & Wyse 2014): the bias is gone, the noise "
        "of this sampler on this ladder is not."
    ),
    ("3", "ais"): (
        "Unbiased for Z, so log Z comes out low where the weights are uneven: the kernel is too slow for the ladder, "
        "above all next to a prior a hundred times wider than the posterior."
    ),
    ("3", "nested_few"): (
        "The paper does not say how often a point is moved. With one sweep the error is about one nat, of either "
        "sign: the printed figures, both 1.6 low, are like those of such runs, where 2,000 points that move enough "
        "have an error of 0.15."
    ),
    ("3", "nested_many"): (
        "The same points and steps, ten times the moves, within the printed run time: the truth. So what was wrong "
        "was the number of moves, not the method."
    ),
    ("3", "jump"): ("The paper's benchmark."),
    ("4", "power_10"): (
        "Ten steps as the text says: straight lines between rungs lose one nat. The printed figures cannot come from this ladder."
    ),
    ("4", "power_20"): (
        "Twenty steps of 10,000 give the printed figures within their noise. They are 0.2 to 0.3 too low: the trapezoid's bias."
    ),
    ("4", "ais"): ("Under this prior the kernel keeps up with the ladder."),
    ("4", "nested_few"): (
        "Not explained: even with one sweep a point the runs are right to 0.1 here, and the printed figures are 0.5 "
        "and 0.6 too high. Nothing that the paper states gives them; the two errors being alike, the ratio hides "
        "most of it."
    ),
    ("4", "nested_many"): ("The same points and steps, ten times the moves: the truth again."),
    ("4", "harmonic"): (
        "As in Table 3: no posterior draw has a likelihood as small as the printed values. What the estimator gives "
        "is 6.5 nats too high, and its Bayes factor is noise."
    ),
}


def name_of(row: str) -> str:
    """A row in words."""
    return NAMES[row]


def note_on(table: str, row: str) -> str:
    """What there is to say about a row; Tables 3 and 4 share their notes."""
    return NOTES.get((table, row)) or NOTES.get(("3" if table == "4" else table, row), "")
