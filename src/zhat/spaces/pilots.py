"""Pilot runs of the models between which chains jump: proposals for their posteriors, and first evidences.

A mixture of one, two or four Student t's is fitted to half of a run's posterior draws; the other half chooses between them by
the efficiency of importance sampling, which is that of an independence jump.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.resampling import systematic
from zhat.results.estimate import Evidence, Status
from zhat.results.records import Array
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import prior_positions
from zhat.sampling.backend.loop import Loop
from zhat.sampling.between_models.model_sets import ModelFamily, ModelSet
from zhat.sampling.between_models.proposals import Shapes
from zhat.sampling.importance.families import DEGREES_OF_FREEDOM, importance_of_all
from zhat.sampling.importance.proposals import Mixture, Proposal, StudentT, fitted
from zhat.sampling.tuning import tuning_in_blocks
from zhat.seeding import Key
from zhat.spaces.one_peak import SEARCHED, modes_status
from zhat.spaces.subsets import Subsets

COMPONENTS = (1, 2, 4)
DRAWS_TO_FIT = 4000
TAILS = 8.0
FAMILY_DRAWS = 1000


@dataclass(frozen=True)
class Pilots:
    """For M models: log evidences, and a mixture of t's for each; with centres and covariances for the kernel's moves."""

    log_evidence: Array
    se: Array
    log_share: Array  # (M, K)
    mean: Array  # (M, K, D)
    scale: Array  # (M, K, D, D)
    size: Array  # (M,)
    degrees_of_freedom: float
    centre: Array  # (M, D)
    covariance: Array  # (M, D, D)
    status: Status

    def shapes(self, log_visit: Array, kernel_scale: float) -> Shapes:
        """The arrays of the sampler, with the boost by which models are visited in these shares."""
        nu, d = self.degrees_of_freedom, self.size[:, None]
        factor = np.linalg.cholesky(self.scale)
        own = np.arange(self.mean.shape[2]) < self.size[:, None]
        diagonal = np.log(np.einsum("mkii->mki", factor))
        log_det = np.where(own[:, None, :], diagonal, 0.0).sum(axis=2)
        constant = gammaln(0.5 * (nu + d)) - gammaln(0.5 * nu) - 0.5 * d * np.log(nu * np.pi) - log_det
        tuning = tuning_in_blocks(self.centre, self.covariance, kernel_scale)
        return Shapes(
            log_visit=log_visit,
            boost=log_visit - self.log_evidence,
            log_share=self.log_share,
            mean=self.mean,
            factor=factor,
            inverse=np.linalg.inv(factor),
            log_constant=constant,
            degrees_of_freedom=np.float64(nu),
            size=self.size,
            centre=tuning.mean,
            root=tuning.factor,
            root_inverse=tuning.inverse,
            scale=np.full(len(self.size), kernel_scale),
        )


def pilots_of_models(models: Mapping[str, Model], runs: Mapping[str, Evidence], key: Key) -> Pilots:
    """Proposals fitted to the posterior draws of these runs."""
    fits, sizes, samples = [], [], []
    status = Status.ok()
    for name, model in models.items():
        run = runs[name]
        draws = posterior_draws(run, name)
        rng = key.child(name).generator()
        log_weight = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
        chosen = rng.permutation(systematic(log_weight, float(rng.random()), DRAWS_TO_FIT))
        position = draws.position[chosen]
        log_target = (draws.log_prior + draws.log_likelihood)[chosen] - run.log_evidence
        fits.append(_best_fit(position, log_target, rng, name))
        samples.append(position)
        sizes.append(model.n_dimensions)
        if not run.status.is_ok:
            why = run.status.reasons[0].sentence
            sentence = f"the pilot run of {name} is not ok ({run.status}), and jumps are proposed from it: {why}"
            status = status.and_(Status.suspect("pilot", sentence))
    log_z = np.array([runs[name].log_evidence for name in models])
    errors = [runs[name].error for name in models]
    se = np.array([np.nan if error is None else error for error in errors])
    return _padded(fits, samples, np.array(sizes), log_z, se, status)


def pilots_of_family(family: Subsets, masks: Array, key: Key, loop: Loop) -> Pilots:
    """A Student t at the mode of every subset, with first evidences from few draws."""
    found = importance_of_all(family.model, family.mask, masks, FAMILY_DRAWS, key.child("all"), loop)
    peaks, d = found.peaks, family.model.n_dimensions
    if not peaks.converged.all():
        bad = int(np.argmin(peaks.converged))
        raise BadInput(
            f"jump(): no mode was found for the subset {masks[bad]}; run the family with zhat.Subsets.enumerate() instead."
        )
    scale = peaks.factor @ peaks.factor.swapaxes(1, 2)
    best = np.argsort(-found.log_evidence, kind="stable")[:SEARCHED]
    status = modes_status(family, masks[best], peaks.some(best), key.child("look"), loop)
    m = len(masks)
    sizes = np.full(m, float(d))
    one_each = (np.zeros((m, 1)), peaks.mode[:, None], scale[:, None])
    return Pilots(found.log_evidence, found.se, *one_each, sizes, DEGREES_OF_FREEDOM, peaks.mode, scale, status)


def prior_pilots(models: ModelSet, key: Key) -> Pilots:
    """With the likelihood off: every evidence is one, and proposals are fitted to draws from the priors."""
    fits: list[Proposal] = []
    samples: list[Array] = []
    for k in range(models.n_models):
        if isinstance(models, ModelFamily) and k:  # all subsets share one prior
            fits.append(fits[0])
            samples.append(samples[0])
            continue
        model = models.model(k)
        position = prior_positions(model, DRAWS_TO_FIT, key.child(k))
        log_prior = constrain_batch(model, position)[1]
        alive = np.isfinite(log_prior) & np.isfinite(position).all(axis=1)
        fits.append(_best_fit(position[alive], log_prior[alive], key.child(k, "fit").generator(), model.name))
        samples.append(position[alive])
    zeros = np.zeros(models.n_models)
    return _padded(fits, samples, np.asarray(models.sizes), zeros, zeros, Status.ok())


def _best_fit(position: Array, log_target: Array, rng: np.random.Generator, name: str) -> Proposal:
    """Of the mixtures fitted to one half of the draws, the one with the best importance-sampling efficiency on the other."""
    half = len(position) // 2
    best, best_efficiency = None, -1.0
    for n in COMPONENTS:
        try:
            fit = fitted(position[:half], np.ones(half), n, TAILS, rng)
        except BadInput as error:
            if best is None:
                raise BadInput(f"jump(): no proposal fits the draws of {name!r}: {error}") from error
            break
        log_w = log_target[half:] - fit.log_density(position[half:])
        # The mean of w over posterior draws is N / ESS of draws from the fit.
        efficiency = float(np.exp(-(log_sum_exp(log_w) - np.log(len(log_w)))))
        if efficiency > 1.05 * best_efficiency:  # more components only for a gain of 5 %
            best, best_efficiency = fit, efficiency
    assert best is not None
    return best


def _padded(fits: list[Proposal], samples: list[Array], sizes: Array, log_z: Array, se: Array, status: Status) -> Pilots:
    """Mixtures padded to one size: spare coordinates are standard normal, spare components have no share."""
    m, width = len(fits), int(sizes.max())
    parts = [fit.components if isinstance(fit, Mixture) else (fit,) for fit in fits]
    k = max(len(part) for part in parts)
    log_share = np.full((m, k), -np.inf)
    mean, scale = np.zeros((m, k, width)), np.tile(np.eye(width), (m, k, 1, 1))
    centre, covariance = np.zeros((m, width)), np.tile(np.eye(width), (m, 1, 1))
    for i, (fit, part, sample) in enumerate(zip(fits, parts, samples, strict=True)):
        d = int(sizes[i])
        log_share[i, : len(part)] = np.log(fit.shares) if isinstance(fit, Mixture) else 0.0
        for j, one in enumerate(part):
            assert isinstance(one, StudentT)
            mean[i, j, :d], scale[i, j, :d, :d] = one.mean, one.scale
        centre[i, :d] = sample.mean(axis=0)
        covariance[i, :d, :d] = np.cov(sample.T).reshape(d, d) + 1e-12 * np.eye(d)
    return Pilots(log_z, se, log_share, mean, scale, sizes.astype(np.float64), TAILS, centre, covariance, status)
