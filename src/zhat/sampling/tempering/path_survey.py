"""The plan of annealed importance sampling, fixed before any lineage starts; and the pilot run from which it is learnt.

The pilot gives a `PathSurvey`: the length of the path from the prior to the posterior, and the mean and covariance of the
distributions on it. The length is in standard deviations of the log weight,

    Lambda = integral over beta of sd_beta(log L),

so that K rungs at equal distances give sd(log w)^2 = Lambda^2 / K where kernels mix, and more where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array, PathRun
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, TunedKernel
from zhat.sampling.observer import Observer, RungView
from zhat.sampling.target import Target
from zhat.sampling.tempering.population import Population, run_along_path
from zhat.sampling.tempering.schedules import ON_SUPPORT
from zhat.sampling.tuning import Scale, Tuning, fit_tuning, tuning_in_blocks
from zhat.seeding import Key

# Shares of a step of the pilot's ladder at which the path is measured: finer towards its beginning, where the first step from a
# wide prior has most of its length.
SHARES = np.concatenate([[0.0], 2.0 ** np.arange(-24.0, -3.0), np.arange(1.0, 9.0) / 8.0])


@dataclass(frozen=True)
class Plan:
    """The inverse temperatures and the kernels of annealed lineages, fixed before any of them starts.

    Attributes
    ----------
    betas : (K + 1,) array
        In the order of annealing: from 0 to 1, or from 1 to 0.
    kernels : tuple of K - 1 kernels
        One for each beta in between.
    shapes : Tuning with leading axis K - 1, without its scale
    scales : tuple of K - 1 scales
    n_sweeps : int
        Moves at each beta.
    """

    betas: Array
    kernels: tuple[Kernel, ...]
    shapes: Tuning
    scales: tuple[Scale, ...]
    n_sweeps: int

    def backwards(self) -> Plan:
        """The same rungs in reverse order."""
        mean, factor, inverse = (part[::-1] for part in self.shapes[:3])
        shapes = Tuning(mean, factor, inverse, None)
        return Plan(self.betas[::-1], self.kernels[::-1], shapes, self.scales[::-1], self.n_sweeps)

    def tuning_of(self, rungs: slice) -> Tuning:
        """The tuning of some rungs that have one kernel, with a leading axis."""
        mean, factor, inverse = (np.ascontiguousarray(part[rungs]) for part in self.shapes[:3])
        return Tuning(mean, factor, inverse, np.asarray(self.scales[rungs], np.float64))

    def last(self, target: Target) -> TunedKernel:
        """The kernel of the last rung in between, aimed at this target."""
        mean, factor, inverse = (part[-1] for part in self.shapes[:3])
        tuning = Tuning(mean, factor, inverse, np.asarray(self.scales[-1], np.float64))
        return TunedKernel(self.kernels[-1], target, tuning)


def untuned_plan(betas: Array, kernel: Kernel, n_sweeps: int) -> Plan:
    """A plan for a kernel that needs no tuning: no pilot run is needed."""
    n = len(betas) - 2
    empty = Tuning(np.zeros((n, 1, 0)), np.zeros((n, 1, 0, 0)), np.zeros((n, 1, 0, 0)), None)
    return Plan(np.asarray(betas, np.float64), (kernel,) * n, empty, (1.0,) * n, n_sweeps)


@dataclass(frozen=True)
class Station:
    """Moments of the pilot's particles at one of its betas, with the kernel and scale that moved them."""

    beta: float
    mean: Array
    covariance: Array
    kernel: Kernel
    scale: Scale


@dataclass(frozen=True)
class PathSurvey:
    """Estimates from a pilot run: the length of the path up to each of many betas, and stations along it."""

    run: PathRun
    stations: tuple[Station, ...]
    betas: Array
    distances: Array

    @property
    def length(self) -> float:
        """Lambda, the length of the whole path."""
        return float(self.distances[-1])

    def rungs(self, n_between: int) -> Array:
        """`n_between` betas at equal distances between 0 and 1, with both ends.

        Where the likelihood is zero on part of the prior, the first of them is the step onto its support.
        """
        first = 1 if self.run.betas[1] == ON_SUPPORT and n_between > 0 else 0
        targets = np.linspace(0.0, self.length, n_between - first + 2)[1:-1]
        inner = np.interp(targets, self.distances, self.betas)
        betas = np.concatenate([[0.0], [ON_SUPPORT] * first, inner, [1.0]])
        return np.maximum.accumulate(betas)

    def plan(self, betas: Array, n_sweeps: int) -> Plan:
        """Kernels and tuning for these rungs, from the stations on either side of each."""
        inner = np.asarray(betas[1:-1], np.float64)
        at = np.interp([s.beta for s in self.stations], self.betas, self.distances)
        here = np.interp(inner, self.betas, self.distances)
        upper = np.clip(np.searchsorted(at, here), 1, max(len(at) - 1, 1)) if len(at) > 1 else np.zeros(len(inner), np.int64)
        lower = np.maximum(upper - 1, 0)
        gap = at[upper] - at[lower]
        share = np.clip(np.where(gap > 0, (here - at[lower]) / np.where(gap > 0, gap, 1.0), 1.0), 0.0, 1.0)

        def between(values: Array) -> Array:
            weight = share.reshape(-1, *[1] * (values.ndim - 1))
            return (1.0 - weight) * values[lower] + weight * values[upper]

        mean = between(np.stack([s.mean for s in self.stations]))
        covariance = between(np.stack([s.covariance for s in self.stations]))
        near = np.where(share < 0.5, lower, upper)
        tuning = tuning_in_blocks(mean, covariance, 1.0)
        mean, factor, inverse = (np.asarray(part)[:, None] for part in tuning[:3])
        scales = tuple(self.stations[i].scale for i in near)
        kernels = tuple(self.stations[i].kernel for i in near)
        return Plan(np.asarray(betas, np.float64), kernels, Tuning(mean, factor, inverse, None), scales, n_sweeps)

    def slowness(self, n_sweeps: int) -> float:
        """The factor by which autocorrelation r along the lineages inflates the variance of log w: the mean of (1 + r) / (1 - r)."""
        run = self.run
        if len(run.log_likelihood) < 2:
            return 1.0
        memory = np.clip(run.memory[1:], 1e-3, 0.99) ** (n_sweeps / np.maximum(run.n_moves[1:], 1))
        return float(np.mean((1.0 + memory) / (1.0 - memory)))


def pilot(
    model: Model,
    population: Population,
    key: Key,
    loop: Loop,
    observer: Observer | None = None,
    made: list[PathRun] | None = None,
) -> PathSurvey:
    """Survey the path by a small resampled population, appended to `made` also where it is stopped. The `observer` is called with every rung."""
    stations: list[Station] = []

    def watch(beta: float, rung: RungView, choice: Any = None, /) -> None:
        position = rung.position[-1]
        stations.append(_station(beta, position, np.ones(len(position)), choice.kernel, choice.scale))
        if observer is not None:
            observer(beta, rung, choice)

    run = run_along_path(model, population, key, loop, observer=watch)
    if made is not None:
        made.append(run)
    if not run.complete:
        assert loop.stopped is not None
        raise loop.stopped
    final = run.final
    assert final is not None and final.log_weight is not None
    last = stations[-1] if stations else None
    kernel = last.kernel if last else population.kernels[0]
    scale = last.scale if last else kernel.first_scale(model.n_dimensions)
    stations.append(_station(1.0, final.position, np.exp(final.log_weight - final.log_weight.max()), kernel, scale))
    betas, distances = measured(run.betas, run.log_likelihood)
    return PathSurvey(run, tuple(stations), betas, distances)


def _station(beta: float, position: Array, weights: Array, kernel: Kernel, scale: Scale) -> Station:
    usable = np.isfinite(position).all(axis=1)
    tuning = fit_tuning(position[usable], weights[usable], 1.0)
    return Station(beta, tuning.mean[0], tuning.factor[0] @ tuning.factor[0].T, kernel, scale)


def measured(betas: Array, log_likelihood: tuple[Array, ...]) -> tuple[Array, Array]:
    """Many betas along a resampled run, and the length of the path up to each.

    Between two rungs the draws of the lower one are reweighted. From one beta to the next the length is sqrt(-log ESS share) of
    that small step, which is step x sd(log L) where the latter is small, and stays finite where some weights are zero.
    """
    all_betas, lengths = [np.zeros(1)], [np.zeros(1)]
    for k, values in enumerate(log_likelihood[: len(betas) - 1]):
        if betas[k + 1] == ON_SUPPORT:  # the step onto the support has the same length with any number of rungs
            all_betas.append(np.array([ON_SUPPORT]))
            lengths.append(np.zeros(1))
            continue
        step = betas[k + 1] - betas[k]
        flat = values.ravel()
        shifted = flat[flat > -np.inf] - flat.max()
        with np.errstate(under="ignore"):
            weights = np.exp(step * SHARES[:, None] * shifted)
        weights /= weights.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(weights[:-1] > 0, weights[1:] ** 2 / weights[:-1], 0.0).sum(axis=1)  # 1 / ESS share of a small step
        all_betas.append(betas[k] + step * SHARES[1:])
        lengths.append(np.sqrt(np.log(np.maximum(ratio, 1.0))))
    return np.concatenate(all_betas), np.cumsum(np.concatenate(lengths))
