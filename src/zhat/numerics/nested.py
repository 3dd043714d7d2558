"""Nested sampling: the evidence as a sum over shrinking prior volumes.

    Z = ∫_0^1 L(X) dX,        X = prior mass where the likelihood exceeds L,

and a run of nested sampling visits rising likelihoods L_1 <= L_2 <= ... at volumes that are unknown
but whose distribution is known: with n live points the volume shrinks by a factor t ~ Beta(n, 1), so
E[log t] = -1/n (Skilling 2006). The final live points are taken out one by one without replacement:
the caller appends them with live numbers n, n-1, ..., 1.

How the error is obtained: only the volumes are random, so log Z is as uncertain as they make it. With
the information H (the divergence of the posterior from the prior, in nats) that is √(H/n). The delta
method over each step gives the same with live numbers that vary, and simulated volumes give the whole
distribution.

When it lies: the law of t holds if each new point is an independent, uniform draw above the current
likelihood. Where the constrained sampler falls short, every error here is too small, and the insertion
ranks are where it shows (Fowlie, Handley & Su 2020).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import (
    FloatArray,
    finite_vector,
    log_weight_vector,
    numbers,
    same_length,
    unit_interval,
)
from zhat.numerics.logspace import log_diff_exp, log_sum_exp, running_log_sum_exp


def log_volumes(n_live: ArrayLike) -> FloatArray:
    """Expected log prior volume after each dead point: minus the running sum of 1/n.

    Parameters
    ----------
    n_live : array_like of int, shape (n,)
        Live points at the moment each dead point was removed, itself included.
    """
    return -np.cumsum(1.0 / _live_numbers(n_live))


def simulated_log_volumes(n_live: ArrayLike, uniforms: ArrayLike) -> FloatArray:
    """Random log volumes: each shrinkage is u^(1/n), a draw from Beta(n, 1).

    Parameters
    ----------
    n_live : array_like of int, shape (n,)
        Live points at the moment each dead point was removed, itself included.
    uniforms : array_like, shape (..., n)
        Between 0 and 1.

    Returns
    -------
    ndarray, shape (..., n)
    """
    live = _live_numbers(n_live)
    draws = unit_interval(uniforms, "uniforms")
    if draws.ndim == 0 or draws.shape[-1] != live.size:
        raise ValueError(
            f"uniforms has shape {draws.shape}: its last axis must hold one number per dead point, {live.size} here."
        )
    # Generators on [0, 1) return 0 once in 2^53; half their spacing stands in for it.
    return np.cumsum(np.log(np.maximum(draws, 2.0**-54)) / live, axis=-1)


def nested_log_weights(log_x: ArrayLike) -> FloatArray:
    """Log prior mass that each dead point stands for, by the trapezoid rule.

    Inside the run that is half the distance between the neighbouring volumes. The first point also
    stands for the half step outside it, the last for what is left within it, so the masses sum to
    one and a constant likelihood has that constant as its evidence. (Assigning each step wholly to
    its inner end would overestimate log Z by 1/(2n).)

    Parameters
    ----------
    log_x : array_like, shape (..., n)
        Log volumes, non-increasing and at most zero along the last axis.

    Returns
    -------
    ndarray, shape (..., n)
    """
    volumes = numbers(log_x, "log_x")
    if volumes.ndim == 0 or volumes.shape[-1] == 0:
        raise ValueError(f"log_x has shape {volumes.shape}: at least one dead point is needed to split the prior mass.")
    if (volumes > 0.0).any() or (volumes[..., 1:] > volumes[..., :-1]).any():
        raise ValueError(
            "log_x rises somewhere or exceeds zero: prior volumes shrink from one as points die; pass them "
            "in the order of removal."
        )
    edge = (*volumes.shape[:-1], 1)
    # Both ends have one neighbour only; below they get the other half of their outer step as well.
    before = np.concatenate([np.zeros(edge), volumes[..., :-1]], axis=-1)
    after = np.concatenate([volumes[..., 1:], np.full(edge, -np.inf)], axis=-1)
    first_gap = log_diff_exp(np.zeros(volumes.shape[:-1]), volumes[..., 0])
    masses = log_diff_exp(before, after) - math.log(2.0)
    masses[..., 0] = np.logaddexp(masses[..., 0], first_gap - math.log(2.0))
    masses[..., -1] = np.logaddexp(masses[..., -1], volumes[..., -1] - math.log(2.0))
    return masses


def log_evidence(log_likelihoods: ArrayLike, log_x: ArrayLike) -> float:
    """Log evidence of one run.

    Parameters
    ----------
    log_likelihoods : array_like, shape (n,)
        Of the dead points in order of removal, so non-decreasing.
    log_x : array_like, shape (n,)
        Their log volumes.
    """
    log_l, volumes = _run(log_likelihoods, log_x)
    return log_sum_exp(log_l + nested_log_weights(volumes))


def simulated_log_evidences(log_likelihoods: ArrayLike, log_x: ArrayLike) -> FloatArray:
    """Log evidence of one run for each of m simulated sets of volumes; their spread is its error.

    Parameters
    ----------
    log_likelihoods : array_like, shape (n,)
        Of the dead points in order of removal.
    log_x : array_like, shape (m, n)
        As `simulated_log_volumes` gives them.

    Returns
    -------
    ndarray, shape (m,)
    """
    log_l = _rising(log_likelihoods)
    volumes = numbers(log_x, "log_x")
    if volumes.ndim != 2 or volumes.shape[1] != log_l.size:
        raise ValueError(f"log_x has shape {volumes.shape}: one row of {log_l.size} volumes per simulation is expected.")
    return log_sum_exp(log_l + nested_log_weights(volumes), axis=1)


def information(log_likelihoods: ArrayLike, log_x: ArrayLike) -> float:
    """Information H = Σ p_i log L_i - log Z in nats: how far the posterior is from the prior.

    Likelihoods are measured from the largest one before anything is multiplied: H is a difference of
    numbers that may be 10^10 while it is 10, and `H` from the raw values would be their rounding.

    Parameters
    ----------
    log_likelihoods, log_x : array_like, shape (n,)
        As in `log_evidence`.

    Returns
    -------
    float
        Not negative; infinite when every likelihood is zero.
    """
    log_l, volumes = _run(log_likelihoods, log_x)
    if np.isneginf(log_l[-1]):
        return math.inf
    depth = log_l - log_l[-1]
    log_terms = depth + nested_log_weights(volumes)
    log_z = log_sum_exp(log_terms)
    share = np.exp(log_terms - log_z)
    # 0 × -inf: a point of zero likelihood has no share in the posterior and no say in H.
    weighted = np.where(share > 0.0, share * np.where(share > 0.0, depth, 0.0), 0.0)
    return max(float(np.sum(weighted)) - log_z, 0.0)


def skilling_se(nats: float, n_live: float) -> float:
    """√(H/n), the standard error of log Z for a constant number of live points (Skilling 2006).

    Parameters
    ----------
    nats : float
        The information H.
    n_live : float
        The number of live points.
    """
    if not (nats >= 0.0 and n_live >= 1.0):
        raise ValueError(f"nats={nats}, n_live={n_live}: information is not negative and there is at least one live point.")
    return math.sqrt(nats / n_live)


def log_evidence_se(log_likelihoods: ArrayLike, log_x: ArrayLike, n_live: ArrayLike) -> float:
    """Standard error of log Z by the delta method over each shrinkage, for any live numbers.

    Raising one log t_j lifts all later volumes, so log Z moves by s_j = (share of the evidence inside
    X_j) - L_j X_j / Z, and Var(log t_j) = 1/n_j². Summing s_j² / n_j² over the run gives the variance. A
    posterior that is narrow in log X has s_j near one until the bulk is reached, and the sum is H/n.

    Parameters
    ----------
    log_likelihoods, log_x : array_like, shape (n,)
        As in `log_evidence`.
    n_live : array_like of int, shape (n,)
        As in `log_volumes`.

    Returns
    -------
    float
        Zero for a constant likelihood, infinite when every likelihood is zero.
    """
    log_l, volumes = _run(log_likelihoods, log_x)
    live = _live_numbers(n_live)
    same_length(log_l, live, "log_likelihoods and n_live")
    if np.isneginf(log_l[-1]):
        return math.inf
    # Evidence inside X_j minus L_j X_j is the integral of (L - L_j) dX there: summed as such, nothing
    # cancels, and a plateau contributes exactly nothing.
    log_shells = np.logaddexp(volumes[:-1], volumes[1:]) - math.log(2.0) + log_diff_exp(log_l[1:], log_l[:-1])
    log_inside = running_log_sum_exp(log_shells[::-1])[::-1]
    influence = np.append(np.exp(log_inside - log_evidence(log_l, volumes)), 0.0)
    return float(np.sqrt(np.sum((influence / live) ** 2)))


def insertion_rank_z(ranks: ArrayLike, n_live: ArrayLike) -> float:
    """Are the ranks at which new points enter uniform? The Mann-Whitney score, standard normal if so.

    A point drawn as it should be takes each of the n ranks among the live points with probability 1/n.
    Ranks are whole numbers, so their variance is (n² - 1)/12, not n²/12; a test that takes them for
    continuous raises false alarms on every long run. The score detects ranks that are too low or too
    high on average, not an excess at both ends. Compute it over the last part of the run as well,
    because constrained samplers tend to fail late.

    Parameters
    ----------
    ranks : array_like of int, shape (m,)
        Each from 0 to n_live - 1.
    n_live : int or array_like of int, shape (m,)
        Number of places, constant or per rank.

    Returns
    -------
    float
        Negative when new points enter too low. Zero when there is but one place to take.
    """
    places = finite_vector(ranks, "ranks")
    if places.size == 0:
        raise ValueError("ranks is empty: no point was inserted, so there is nothing to test; run longer.")
    live = np.broadcast_to(_live_numbers(np.atleast_1d(np.asarray(n_live))), places.shape)
    if (places < 0).any() or (places >= live).any() or (places != np.floor(places)).any():
        raise ValueError(
            f"ranks run from {places.min()} to {places.max()}: a rank is a whole number from 0 to n_live - "
            "1; count how many of the live points lie below the new one."
        )
    scores = (places + 0.5) / live - 0.5
    variance = float(np.sum((1.0 - 1.0 / live**2) / 12.0))
    return float(np.sum(scores)) / math.sqrt(variance) if variance > 0.0 else 0.0


def _live_numbers(n_live: ArrayLike) -> FloatArray:
    live = finite_vector(n_live, "n_live")
    if (live < 1.0).any():
        raise ValueError(f"n_live={live.min()}: the point that dies is alive before it does, so the number is at least one.")
    return live


def _rising(log_likelihoods: ArrayLike) -> FloatArray:
    log_l = log_weight_vector(log_likelihoods, "log_likelihoods")
    if log_l.size == 0:
        raise ValueError("log_likelihoods is empty: a run needs at least one dead point.")
    falls = np.flatnonzero(log_l[1:] < log_l[:-1])
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"log_likelihoods[{i}]={log_l[i]} is above log_likelihoods[{i + 1}]={log_l[i + 1]}: dead points "
            "leave in order of likelihood; sort them, the last live points too."
        )
    return log_l


def _run(log_likelihoods: ArrayLike, log_x: ArrayLike) -> tuple[FloatArray, FloatArray]:
    log_l = _rising(log_likelihoods)
    volumes = numbers(log_x, "log_x")
    same_length(log_l, volumes, "log_likelihoods and log_x")
    return log_l, volumes
