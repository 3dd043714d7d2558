"""The page's running text: what the paper did, what is shown, and where it is silent or misprinted."""

from __future__ import annotations

import math

import numpy as np

from zhat.studies.friel_wyse.study import Study
from zhat.studies.friel_wyse.tables.cells import bayes_factors
from zhat.zoo.pima import MODEL_2

# When half of n points die at a time, log prior mass falls by log 2 with variance 1/n: more by this than point by point.
BATCHES = math.sqrt(1.0 / math.log(2.0))

LEAD = (
    "Every table and the figure of Friel & Wyse (2012), computed again with its own settings, beside the published numbers, "
    "the truth, and the results of this library with its default settings."
)
HOW_TO_READ = (
    "Each row answers two questions. Is the printed number what the paper's settings give? Then it is called reproduced: "
    "our runs with those settings and the printed number are less than three standard errors apart (z). Is that number right? Then "
    "it is called true: our mean is less than three standard errors from the truth. A number can be reproduced and not true, "
    "and the other way round.",
    "“With its settings” is a mean over the runs of the paper's scheme, ± its standard error, and the spread is the standard "
    "deviation of the runs (what the paper's Table 2 calls S.E.). “With ours” is the same method with this library's "
    "defaults: in Table 2 a mean over eighteen runs, in Tables 3 and 4 a single run with its standard error. Where a "
    "table prints no standard errors, the scatter of our runs is used.",
)
TABLE_1 = (
    "A hundred normal observations with a normal-gamma prior, whose tau0 makes the prior of the mean wide or tight. The paper's "
    "sample is lost; ours is simulated in the same way. The truth of the last column is the closed form for our sample; “with "
    "ours” is Chib's method with 32,000 draws."
)
TEN_SAMPLES = (
    "Ten simulated samples: how far log evidences move from their value at tau0 = 1. The exact ones follow "
    "0.5 log(tau0 / (tau0 + 100)) and nearly coincide; harmonic means of a million draws do not."
)
TABLE_2 = (
    "Which density predicts the strength of timber, as it is (model 1) or adjusted for resin (model 2)? The exact Bayes "
    "factor is known. Gibbs sweeps from tempered full conditionals move everything, as in the paper."
)
FIGURE_1 = (
    "Figure 1: eighteen runs of each method with the paper's settings, and of our nested sampling. Boxes are quartiles, "
    "dots are runs further out, the dotted line is the exact value; the axis of the Bayes factor is logarithmic. Some boxes "
    "are too narrow to be seen."
)
PIMA = {
    "3": "Two logistic regressions of diabetes under a wide prior: each coefficient has a standard deviation of ten. Every "
    "sampler of the paper takes steps of one coefficient at a time with standard deviation (t^alpha x 2)^(-1/2).",
    "4": "The same two models under a tighter prior: each coefficient has a standard deviation of one. Everything is easier.",
}
BEST_OF = (
    "The paper shows, for every method, that one of five runs whose Bayes factor came nearest to the benchmark. That hides the "
    "spread; chosen in the same way from our first five runs the numbers are these."
)
SPEED = (
    "The paper's unit is Laplace's method. Here a Newton search takes milliseconds, most of them spent around it, so the "
    "unit is chosen such that 200,000 posterior samples take what the paper says they took."
)
COST = (
    "Parts run at the same time with --workers, so that two processors need half of it. Runs of one method are computed together "
    "in one compiled program. What an evaluation costs is CPU time per likelihood (or gradient); of our own methods, which are "
    "over in seconds, in a second run, when everything is compiled. In small batches, as nested sampling with a hundred points "
    "moves them, it is the time around the likelihood that counts."
)
AGAIN = (
    "The same seed gives the same digits, with any number of workers, also when the run was interrupted and started again. "
    "Beside this page lie cells.csv (every cell), results.json (every run), and the figures as SVG and PNG."
)
CITE = (
    "The paper: N. Friel and J. Wyse, Estimating the evidence: a review, Statistica Neerlandica 66 (2012) 288-308. The "
    "second-order rule: N. Friel, M. Hurn and J. Wyse, Improving power posterior estimation of statistical evidence, "
    "Statistics and Computing 24 (2014) 709-723."
)
MISPRINTS = (
    ("3.1, gradient in mu", "tau (sum y_i - mu) - ...", "tau sum (y_i - mu) - nu (mu - xi)"),
    ("3.2, stable harmonic mean", "shift by the largest log likelihood", "by the smallest: as printed all exponents overflow"),
    ("3.2, normal-gamma conditionals", "tau given mu ~ Ga(a_n, b_n)", "that is tau alone; given mu the shape has 1/2 more"),
    ("3.4, tempered mean of mu", "t n sum y", "t tau sum y"),
    ("3.5, rate", "O(N^(1/2))", "O(N^(-1/2))"),
    ("3.6, E_j", "a sum of log likelihoods", "their average"),
    ("4.1, exact evidence", "y'Ry, a 2 x 2 identity, rows (1, x)", "(y - Xb)'R(y - Xb), n x n, rows (1, x - mean x)"),
    ("4.1, gamma prior", "shape 6, rate 4 x 300^2", "half of both"),
    ("4.2, number of models", "129", "128"),
    ("4.2, prior density", "exponent d/2", "(d + 1)/2: the intercept has the prior too"),
    ("Table 2", "S.E.", "standard deviation over eighteen runs"),
)
SILENCES = (
    "Row 9 of the pine data behind the paper's figures is (3670, 32.3, 29.0); in the published table it is (3160, 27.1, "
    "26.3). Its own file is used here.",
    "Coordinates of Laplace's method: the paper's are the precision itself. Its spread of 1.05 at the MAP shows it: in the "
    "logarithm of the precision the same draws scatter by about thirty.",
    "Nested sampling: the number of points (pine) and of constrained moves (both) are not stated; see the notes on its "
    "rows. One in twenty points dies at a time here, not one alone; the prior masses are as well known.",
    "Chib & Jeliazkov: how 200,000 samples are shared among the reduced runs is not stated; here equally.",
    "Power posteriors at t = 0: draws from the prior itself. In section 4.2 a twentieth of every rung is thrown away.",
    "Runs of one method are computed together in one program, independently of each other. In section 4.2 there are eight chains, "
    "not five, because eight cost less.",
    "Chib's method for the pine models: the third run of the paper, for the last line parameter, averages a constant and "
    "is left out.",
)


def nested_theory(study: Study) -> str:
    """The spread of nested sampling in theory and as measured."""
    settings = study.settings.pine
    review, ours = study.parts["table-2/nested"], study.parts["table-2/ours-nested"]
    nats = [float(review.result[f"model {i}"]["information"]) for i in (1, 2)]
    spreads = []
    for done, key, n in ((review, "nested", settings.nested_points), (ours, "values", settings.our_nested_points)):
        seen = float(np.std(np.log(bayes_factors(done, key)), ddof=1))
        spreads.append((seen, math.sqrt(sum(nats) / n)))
    relative = float(np.std(bayes_factors(ours, "values"), ddof=1)) / (study.of("2")[0].truth or math.nan)
    cost = float(np.mean([np.mean(ours.result[f"model {i}"]["evaluations"]) for i in (1, 2)]))
    before = review.n_likelihood / (2 * settings.n_runs)
    return (
        f"Nested sampling by theory: sqrt(H/N) for each model, with H = {nats[0]:.1f} and {nats[1]:.1f} nats. For the "
        f"paper's scheme ({settings.nested_points} points, {before:,.0f} likelihoods a run) the log Bayes factor should "
        f"scatter by {spreads[0][1]:.2f} and scatters by {spreads[0][0]:.2f}; for ours ({settings.our_nested_points:,} "
        f"points, {cost:,.0f} likelihoods) by {spreads[1][1]:.3f}, or {BATCHES * spreads[1][1]:.3f} because half of them die "
        f"at a time, and {spreads[1][0]:.3f}, which is {relative:.1%} of the Bayes factor."
    )


def jump_words(study: Study, table: str) -> str:
    """Which models have the largest probabilities, and whether the paper says so."""
    result = study.parts[f"table-{table}/jump-all"].result
    (first, p1, _), (second, p2, e2) = result["jump"][0], result["jump"][1]
    theirs = "1 + " + " + ".join(MODEL_2)
    rest = {row[0]: (i + 1, row[1]) for i, row in enumerate(result["enumerated"])}
    said = "The paper says that a long run at tau = 0.01 put models 1 and 2 first. "
    found = f"Here the two most probable models are {first} ({p1:.3f}) and {second} ({p2:.4f} ± {e2:.4f}). "
    if table == "3" and theirs in rest and second != theirs:
        place, chance = rest[theirs]
        found += (
            f"Its model 2, {theirs}, is number {place} with {chance:.4f} by enumeration: the two are so near each other that "
            "a run of the paper's length can well have them the other way round. "
        )
    share = f"{result['switches']:.0%} of the moves changed the model."
    return (said if table == "3" else "") + found + share
