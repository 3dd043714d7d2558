"""Which of several independent estimates of one number agree, and their combination.

Estimates of a log evidence fail in one direction: what a method does not see is missing from its answer, so a wrong answer is too
*low*. (The logarithm of an unbiased estimate is low as well.) So the highest estimate is taken first, and from high to low each further
one joins if it lies within some joint standard errors of the weighted mean of those that have joined. Lower ones that do not join are
explained by what they missed; a highest one that none joins remains alone.

A lower run that is more precise than the others would carry the mean to its own number, although the others confirm it only to their
own standard errors. So it joins only within `CAUTIOUS` joint standard errors, and the part of its difference beyond one joint standard
error counts as an error of the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import finite_vector, same_length

# Estimates with no standard error (a constant likelihood) agree when they are equal up to rounding.
EQUAL = 1e-9
# Joint standard errors within which a lower and more precise estimate joins.
CAUTIOUS = 2.0
# The weighted mean's standard error is widened where its members scatter by more than this factor.
EXCESS = 1.5


@dataclass(frozen=True)
class Group:
    """Estimates that agree with the highest of them.

    Attributes
    ----------
    members : tuple of int
        Their indices, the highest first.
    value, se : float
        Mean weighted by the inverse variances, and its standard error.
    degrees_of_freedom : float
        Of the standard error: finite where it comes from the members' scatter.
    largest_z : float
        The largest difference from the mean at which one joined, in joint standard errors.
    """

    members: tuple[int, ...]
    value: float
    se: float
    degrees_of_freedom: float
    largest_z: float


def group_of_highest(values: ArrayLike, errors: ArrayLike, limit: float, close: float = 0.0) -> Group:
    """The estimates that agree with the highest one, within `limit` joint standard errors, or within `close` nats."""
    value, error = finite_vector(values, "values"), finite_vector(errors, "errors")
    same_length(value, error, "values and errors")
    if not value.size:
        raise ValueError("values is empty: there must be an estimate.")
    order = np.argsort(-value, kind="stable")
    members, largest = [int(order[0])], 0.0
    for i in order[1:]:
        mean, se = weighted_mean(value[members], error[members])
        z = joint_errors(float(value[i]) - mean, math.hypot(se, float(error[i])), mean)
        if abs(float(value[i]) - mean) <= close or z <= (limit if float(error[i]) >= se else min(limit, CAUTIOUS)):
            members.append(int(i))
            largest = max(largest, z)
    mean, se = weighted_mean(value[members], error[members])
    k, df = len(members), math.inf
    if k > 1 and se > 0.0:
        scatter = math.sqrt(float((((value[members] - mean) / error[members]) ** 2).sum()) / (k - 1))
        if scatter > EXCESS:
            se, df = se * scatter, k - 1.0
        se = math.hypot(se, unconfirmed_part(value[members], error[members]))
    return Group(tuple(members), mean, se, df, largest)


def unconfirmed_part(values: np.ndarray, errors: np.ndarray) -> float:
    """By how much the most precise estimate lies below the mean of the others, beyond one joint standard error."""
    best = int(np.argmin(errors))
    others = np.arange(len(values)) != best
    mean, se = weighted_mean(values[others], errors[others])
    return max(0.0, mean - float(values[best]) - math.hypot(se, float(errors[best])))


def weighted_mean(values: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Mean weighted by inverse variances, and its standard error; exact estimates outweigh all others."""
    exact = errors == 0.0
    if exact.any():
        return float(values[exact].mean()), 0.0
    weight = errors**-2.0
    return float(weight @ values / weight.sum()), float(weight.sum() ** -0.5)


def joint_errors(difference: float, joint: float, size: float) -> float:
    """A difference in joint standard errors; zero for one that is rounding."""
    if abs(difference) <= EQUAL * max(1.0, abs(size)):
        return 0.0
    return abs(difference) / joint if joint > 0.0 else math.inf
