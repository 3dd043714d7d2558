"""Counts: contingency tables (Gunel & Dickey 1974) and a proportion."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.classical.result import Test, made, positive, side_of
from zhat.errors import BadInput, BadType
from zhat.numerics._checks import FloatArray
from zhat.numerics.exact.classical import (
    proportion_beta,
    proportion_logistic,
    table_hypergeometric,
    table_independent,
    table_joint,
    table_poisson,
)

# What was fixed when the table was collected.
SCHEMES = ("total", "rows", "columns", "both", "nothing")


def contingency(table: Any, *, fixed: str = "total", concentration: float = 1.0) -> Test:
    """The Bayes factor of dependence between the rows and the columns of a table of counts (Gunel & Dickey 1974).

    Parameters
    ----------
    table : (R, C) array of counts
    fixed : "total", "rows", "columns", "both" or "nothing"
        What the design fixed: the grand total (joint multinomial), the totals of rows or columns (independent multinomial), both
        (hypergeometric, 2 x 2 tables only), or nothing (Poisson).
    concentration : float
        Of the gamma or Dirichlet priors of the cells.
    """
    a = positive("contingency", "concentration", concentration)
    y = _counts(table)
    if fixed not in SCHEMES:
        raise BadInput(f"contingency(fixed={fixed!r}): give what the design fixed, one of {', '.join(map(repr, SCHEMES))}.")
    smallest = min(a * side - (side - 1) for side in y.shape)
    if smallest <= 0.0 and fixed != "both":
        least = max(1 - 1 / side for side in y.shape)
        raise BadInput(
            f"contingency(concentration={a:g}): the prior under independence is proper only above {least:.3g} for this table."
        )
    if fixed == "both" and y.shape != (2, 2):
        raise BadInput(
            f"contingency(fixed='both'): the table is {y.shape[0]} x {y.shape[1]}; with both margins fixed only 2 x 2 tables are supported."
        )
    schemes = {
        "total": ("joint multinomial", lambda: table_joint(y, a)),
        "rows": ("independent multinomial, rows fixed", lambda: table_independent(y, a)),
        "columns": ("independent multinomial, columns fixed", lambda: table_independent(y.T, a)),
        "both": ("hypergeometric", lambda: table_hypergeometric(y, a)),
        "nothing": ("Poisson", lambda: table_poisson(y, a)),
    }
    words, compute = schemes[fixed]
    return made(
        "contingency table",
        compute(),
        null="independence",
        alternative="dependence",
        prior=f"{words}, prior concentration {a:g} in every cell (Gunel & Dickey 1974; Jamil et al. 2017)",
        cites=("gunel1974", "jamil2017"),
        statistic=f"{y.shape[0]} x {y.shape[1]}, n = {int(y.sum())}",
    )


def proportion(
    successes: int,
    trials: int,
    null: float = 0.5,
    *,
    scale: float = 0.5,
    beta: tuple[float, float] | None = None,
    alternative: str = "two-sided",
) -> Test:
    """The Bayes factor of a proportion against a value.

    Parameters
    ----------
    null : float
        The proportion under the null hypothesis.
    scale : float
        Of the logistic prior of the log odds around the null value: 1/2 as in R's BayesFactor.
    beta : (a, b), optional
        A beta prior of the proportion instead: (1, 1) is the default of JASP.
    alternative : "two-sided", "greater" or "less"
    """
    side, scale = side_of(alternative), positive("proportion", "scale", scale)
    for name, value in (("successes", successes), ("trials", trials)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise BadType(f"proportion({name}={value!r}): give a whole number.")
    if not 0 <= successes <= trials or trials < 1:
        raise BadInput(
            f"proportion({successes}, {trials}): successes lie between 0 and the number of trials, which is at least 1."
        )
    if not 0.0 < null < 1.0:
        raise BadInput(f"proportion(null={null}): a proportion lies between 0 and 1, both excluded.")
    if beta is None:
        found = proportion_logistic(int(successes), int(trials), null, scale, side)
        prior = f"log odds ~ logistic around those of {null:g}, scale {scale:g}{', one side of it' if side else ''} (as in BayesFactor)"
    else:
        if side:
            raise BadInput("proportion(beta=..., alternative=...): one-sided tests have the logistic prior; leave beta out.")
        a, b = positive("proportion", "beta", beta[0]), positive("proportion", "beta", beta[1])
        found, prior = (
            proportion_beta(int(successes), int(trials), null, a, b),
            f"proportion ~ beta({a:g}, {b:g}) (Jeffreys 1961)",
        )
    words = {0: "another proportion", 1: f"a proportion above {null:g}", -1: f"a proportion below {null:g}"}
    return made(
        "proportion",
        found,
        null=f"a proportion of {null:g}",
        alternative=words[side],
        prior=prior,
        cites=("jeffreys1961",),
        statistic=f"{successes} of {trials}",
    )


def _counts(table: Any) -> FloatArray:
    try:
        y = np.asarray(table, np.float64)
    except (TypeError, ValueError) as error:
        raise BadType(f"contingency(table=...): give rows of counts of the same length ({error}).") from error
    if y.ndim != 2 or min(y.shape) < 2:
        raise BadInput(f"contingency(table=...) has the shape {y.shape}: give two or more rows and columns of counts.")
    if not np.isfinite(y).all() or (y < 0).any() or (y != np.round(y)).any():
        raise BadInput("contingency(table=...): counts are whole numbers from 0; give the counts themselves, not shares.")
    if y.sum() == 0:
        raise BadInput("contingency(table=...): all counts are zero.")
    return y
