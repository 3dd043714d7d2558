"""Change points by recursion: the evidence for their number and their places, from the evidences of all segments.

Let S[s, t] be the log evidence of y_s, ..., y_t as one segment, with parameters of its own. Segments are independent given their
ends, so the sum over all sets of k change points is a recursion over where the last one is (Fearnhead 2006; Wyse, Friel & Rue 2011):

    F_0[t] = S[0, t],      F_k[t] = log sum over s of exp(F_{k-1}[s-1] + S[s, t]),

and log p(y | k) = F_k[n-1] - log(number of sets), all sets of positions being alike beforehand. With the same sums from the other end,
B_k[s], the posterior of the j-th place is proportional to exp(F_{j-1}[s-1] + B_{k-j}[s]). The cost is k n^2 sums; nothing is sampled.

A segment that is not allowed (too short) has S = -inf, and sets that contain one are not counted.

*When it lies.* Only through S. Where segment evidences are estimated, their errors enter: an error e in every segment is an error of
(k + 1) e.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray
from zhat.numerics.logspace import log_sum_exp


@dataclass(frozen=True)
class ChangePoints:
    """What n observations say of their change points, for each number k = 0, 1, ... of them.

    Attributes
    ----------
    log_evidence : (K + 1,) array
        log p(y | k change points); -inf where no set of k places is allowed.
    log_sets : (K + 1,) array
        Log number of sets of k places.
    places : tuple of (k, n) arrays
        For each k, the probability that the j-th new segment starts at observation s.
    """

    log_evidence: FloatArray
    log_sets: FloatArray
    places: tuple[FloatArray, ...]

    def probabilities(self, prior: ArrayLike | None = None) -> FloatArray:
        """Posterior probabilities of the numbers of change points, with equal prior ones unless others are given."""
        weight = np.zeros(len(self.log_evidence)) if prior is None else np.log(np.asarray(prior, np.float64))
        if weight.shape != self.log_evidence.shape:
            raise ValueError(
                f"prior has the shape {weight.shape}; give one probability for each of 0 to {len(self.log_evidence) - 1}."
            )
        joint = self.log_evidence + weight
        return np.asarray(np.exp(joint - log_sum_exp(joint)))


def change_points(segments: ArrayLike, most: int) -> ChangePoints:
    """Evidences and places of up to `most` change points from the (n, n) matrix of segment log evidences.

    Entry (s, t) with s <= t is that of observations s to t; entries below the diagonal are not read.
    """
    matrix = np.asarray(segments, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"segments has the shape {matrix.shape}: give a square matrix, entry (s, t) for observations s to t.")
    upper = np.triu(np.ones_like(matrix, bool))
    if np.isnan(matrix[upper]).any() or (matrix[upper] == np.inf).any():
        raise ValueError("segments holds NaN or +inf: a segment that is not allowed has -inf.")
    if most < 0 or most >= len(matrix):
        raise ValueError(f"most={most}: {len(matrix)} observations have 0 to {len(matrix) - 1} change points.")
    allowed = np.where(upper, matrix, -np.inf)
    forward = _sums(allowed, most)
    backward = _sums(allowed[::-1, ::-1].T, most)[:, ::-1]
    log_sets = _sums(np.where(np.isfinite(allowed), 0.0, -np.inf), most)[:, -1]
    total = forward[:, -1]
    with np.errstate(invalid="ignore"):
        log_evidence = np.where(np.isfinite(log_sets), total - log_sets, -np.inf)
    places = tuple(_places(forward, backward, k, float(total[k])) for k in range(most + 1))
    return ChangePoints(log_evidence, log_sets, places)


def _sums(segments: FloatArray, most: int) -> FloatArray:
    """F_k[t] for k = 0, ..., most."""
    n = len(segments)
    out = np.full((most + 1, n), -np.inf)
    out[0] = segments[0]
    for k in range(1, most + 1):
        for t in range(1, n):
            out[k, t] = log_sum_exp(out[k - 1, :t] + segments[1 : t + 1, t])
    return out


def _places(forward: FloatArray, backward: FloatArray, k: int, total: float) -> FloatArray:
    n = forward.shape[1]
    out = np.zeros((k, n))
    if np.isfinite(total):
        for j in range(1, k + 1):
            out[j - 1, 1:] = np.exp(forward[j - 1, :-1] + backward[k - j, 1:] - total)
    return out
