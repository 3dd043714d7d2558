"""Reversible jump: chains that move within models and between them, and count where they are (Green 1995).

    result = jump({"linear": model_1, "quadratic": model_2}, seed=1)
    result.log_bayes_factor("linear", "quadratic")
    jump(Subsets(model, covariates), seed=1).inclusion
    jump({...}, likelihood=False).null_test()          # visits must match the prior, or a move is wrong

A pilot run of every model (`evidence`, or for a family of subsets importance sampling of all together) gives posterior draws, to
which proposals are fitted, and a first evidence, by which the weights of the models are equalised so that chains jump often; both
are corrected for exactly. A jump proposes a fresh draw from the other model's proposal (`sampling.between_models.jumps`), so no
parameters are matched and the Jacobian is one. A pair of models may have a `Move` of its own; its Jacobian is computed by
automatic differentiation in the coordinates of the sampler.

*Its error.* The scatter between chains, which are independent given the pilots; t with one degree of freedom less than there are
chains. `Jump.switching_se` gives the error that the number of switches implies, about sqrt(2 / switches); it is too small where
the sequence of models is not itself a Markov chain.

*When it lies.* When a mode of one model is reached neither by its pilot nor by its moves. A pilot that is not ok therefore makes
the result suspect, and so do odds that differ from the pilots' by more than both errors allow, few entries into a probable model,
chains that disagree, and chains that are short for their autocorrelation. The run with the likelihood off tests user-written
moves.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from zhat.comparing.averaging import posterior_draws
from zhat.comparing.comparable import check_prior, different_data
from zhat.errors import BadInput, BadType, EvidenceFailed
from zhat.methods._base import check_count
from zhat.model.model import Model
from zhat.results.estimate import Evidence
from zhat.results.records import Array, Draws
from zhat.run.checkpoint.checkpoint import checkpointed
from zhat.run.estimate import evidence
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.between_models.jumps import JumpPlan, JumpRun, run_jumps
from zhat.sampling.between_models.maps import Map, along
from zhat.sampling.between_models.model_sets import ListedModels, ModelFamily, ModelSet
from zhat.sampling.kernels._base import Kernel, PacedKernel
from zhat.sampling.kernels.defaults import jump_kernel
from zhat.seeding import Key, check_seed
from zhat.spaces.jump_result import JointDraws, Jump
from zhat.spaces.jump_verdict import verdict
from zhat.spaces.pilots import Pilots, pilots_of_family, pilots_of_models, prior_pilots
from zhat.spaces.subset_results import model_name
from zhat.spaces.subsets import Subsets, all_masks, prior_of
from zhat.verdicts.nan import nan_status_of_family

MOST_MODELS = 4096
DRAWS_KEPT = 20_000


@dataclass(frozen=True)
class Move:
    """A user-written jump between two models.

    ``there(params, noise)`` takes the first model's parameters and `n_there` standard normals, and returns the second model's
    parameters and the `n_back` numbers that ``back(params, noise)`` needs to undo it. Written with jax.numpy; the two together
    must be a bijection: as many coordinates in as out.
    """

    first: str
    second: str
    there: Callable[[dict[str, Any], Any], tuple[dict[str, Any], Any]]
    back: Callable[[dict[str, Any], Any], tuple[dict[str, Any], Any]]
    n_there: int = 0
    n_back: int = 0


def jump(
    models: Mapping[str, Model] | Subsets,
    *,
    prior: Mapping[str, float] | Sequence[float] | Callable[[Array], float] | None = None,
    moves: Sequence[Move] = (),
    pilots: Mapping[str, Evidence] | None = None,
    kernel: Kernel | None = None,
    n_chains: int = 64,
    n_moves: int = 1000,
    n_within: int = 1,
    even: float | None = None,
    likelihood: bool = True,
    seed: int | None = None,
    progress: bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Jump:
    """Sample models and parameters together.

    Parameters
    ----------
    models : mapping of str to Model, or Subsets
    prior : mapping, sequence or callable, optional
        Prior probabilities of the models, summing to one; for a family, a function of the mask as in `Subsets.enumerate`.
    moves : sequence of Move
        User-written jumps, each instead of the fitted one between its two models.
    pilots : mapping of str to Evidence, optional
        Results with posterior draws, used instead of running these models.
    kernel : Kernel, optional
        For moves within models; one without gradients. Crank-Nicolson moves by default.
    n_chains, n_moves : int
        Each chain makes `n_moves` jumps after a warm-up of a fifth as many.
    n_within : int
        Moves within the model before each jump.
    even : float, optional
        Share of the visits spread evenly over models, the rest by probability; by default 1 for a list, 0.5 for a family.
    likelihood : bool
        False switches it off: visits must then match the prior, which tests the moves (`Jump.null_test`).
    checkpoint : path, optional
        As in `evidence`.
    """
    kernel = _check(models, kernel, n_chains, n_moves, n_within, even)
    if checkpoint is not None:
        return _with_checkpoint(dict(locals()))
    key, loop = Key(seed := check_seed(seed)).child("jump"), Loop(None, progress, "jump")
    if isinstance(models, Subsets):
        if moves or pilots:
            raise BadInput("jump(): moves and pilots are for lists of models; a family of subsets has its own.")
        masks = all_masks(len(models.covariates))
        names = tuple(model_name(models.covariates, mask) for mask in masks)
        chances = tuple(float(c) for c in prior_of(masks, prior if callable(prior) else None, "jump"))
        if prior is not None and not callable(prior):
            raise BadType("jump(prior=...): for a family of subsets give a function of the mask.")
        model_set: ModelSet = ModelFamily(models.model, models.mask, masks)
        covariates: tuple[str, ...] = models.covariates
    else:
        if callable(prior):
            raise BadType("jump(prior=...): for a list of models give their probabilities.")
        names, masks, covariates = tuple(models), np.zeros((len(models), 0)), ()
        chances = check_prior(names, prior)
        model_set = ListedModels(tuple(models.values()), loop)
    even = (0.5 if covariates else 1.0) if even is None else even
    if not likelihood:
        pilot = prior_pilots(model_set, key.child("pilot"))
    elif covariates:
        assert isinstance(models, Subsets)
        pilot = pilots_of_family(models, masks, key.child("pilot"), loop)
    else:
        assert not isinstance(models, Subsets)
        found = _run_pilots(models, pilots or {}, seed, progress)
        pilot = pilots_of_models(models, found, key.child("fit"))
    visit = _visits(pilot, np.asarray(chances), even) if likelihood else np.asarray(chances)
    with np.errstate(divide="ignore"):
        shapes = pilot.shapes(np.log(visit), float(kernel.first_scale(model_set.widest.n_dimensions)))
    maps = tuple(_map(move, names, model_set) for move in moves)
    thin = max(1, -(-n_moves * n_chains // DRAWS_KEPT))
    plan = JumpPlan(kernel, maps, n_chains, max(100, n_moves // 5), n_moves, n_within, thin, likelihood)
    run = run_jumps(model_set, shapes, plan, key.child("chains"), loop)
    loop.done()
    result = Jump(
        names=names,
        prior=chances,
        index=run.index,
        boost=np.asarray(shapes.boost),
        pilot=pilot.log_evidence,
        pilot_se=pilot.se,
        draws=_joint(run),
        posterior={} if covariates else _by_model(run, names, model_set),
        covariates=covariates,
        masks=masks,
        likelihood=likelihood,
        jump_acceptance=run.jump_acceptance,
        acceptance=run.acceptance,
        status=pilot.status,
        seed=seed,
        cost=loop.cost(0.0),
        settings={"n_chains": n_chains, "n_moves": n_moves, "n_within": n_within, "even": even},
    )
    meant = all(model.zero_where_nan for model in ([models.model] if isinstance(models, Subsets) else models.values()))
    status = pilot.status.and_(verdict(result)).and_(nan_status_of_family(loop.n_nan, meant))
    return replace(result, status=status)


def _with_checkpoint(given: dict[str, Any]) -> Jump:
    """`jump` with these arguments and a checkpoint around it."""
    path, seed, progress, models = (given.pop(name) for name in ("checkpoint", "seed", "progress", "models"))
    every = models if isinstance(models, Mapping) else {models.model.name: models.model}
    with checkpointed(path, "jump", every, given, seed) as own_seed:
        return jump(models, **given, seed=own_seed, progress=progress)


def _check(models: Any, kernel: Kernel | None, n_chains: int, n_moves: int, n_within: int, even: float | None) -> Kernel:
    if isinstance(models, Subsets):
        n = 2 ** len(models.covariates)
        if n > MOST_MODELS:
            raise BadInput(
                f"{n:,} models are too many to fit a proposal to each: use zhat.Subsets.search(), or zhat.jump() over the best of them."
            )
    else:
        if not isinstance(models, Mapping):
            raise BadType(f"jump() takes a dict of models by name, or Subsets, not a {type(models).__name__}.")
        if len(models) < 2:
            raise BadInput(f"jump(): there are {len(models)} models; give two or more.")
        for name, model in models.items():
            if not isinstance(name, str) or not isinstance(model, Model):
                raise BadType(f"jump(): {name!r} is a {type(model).__name__}; give Models by name.")
        first = next(iter(models))
        for name, model in models.items():
            if model.data_id != models[first].data_id:
                raise different_data(first, name, models[first].data_id, model.data_id)
    check_count("jump", "n_chains", n_chains, 8, "the error is their scatter")
    check_count("jump", "n_moves", n_moves, 100, "chains are judged by batches of their moves")
    check_count("jump", "n_within", n_within, 1, "jumps alone need not reach all of a posterior")
    if even is not None and not 0.0 <= even <= 1.0:
        raise BadInput(f"jump(even={even}): give a share from 0 to 1.")
    kernel = jump_kernel(kernel)
    if kernel.needs_gradient or not kernel.needs_tuning or isinstance(kernel, PacedKernel) or np.ndim(kernel.first_scale(1000)):
        raise BadInput(
            f"jump(kernel={kernel}): chains between models move by one tuned proposal at a time, without gradients; give "
            "zhat.kernels.CrankNicolson() or zhat.kernels.RandomWalk()."
        )
    return kernel


def _run_pilots(
    models: Mapping[str, Model], given: Mapping[str, Evidence], seed: int, progress: bool | None
) -> dict[str, Evidence]:
    """The pilot run of each model, from a seed of its own, or the given result."""
    found = {}
    for name, model in models.items():
        if name not in given:
            model_seed = int(Key(seed).child("jump", "pilot", name).generator().integers(2**63))
            found[name] = evidence(model.named(name), seed=model_seed, progress=progress)
        else:
            found[name] = given[name]
        if not math.isfinite(found[name].log_evidence):
            raise EvidenceFailed(f"jump(): the pilot run of {name!r} gave no evidence: {found[name].status}.", found[name])
        posterior_draws(found[name], name)
    return found


def _visits(pilot: Pilots, prior: Array, even: float) -> Array:
    """The shares of visits that chains should give to each model."""
    with np.errstate(divide="ignore"):
        joint = pilot.log_evidence + np.log(prior)
    chance = np.exp(joint - joint.max())
    visit = (1.0 - even) * chance / chance.sum() + even / len(chance)
    return np.asarray(visit / visit.sum())


def _map(move: Move, names: tuple[str, ...], models: ModelSet) -> Map:
    """A user's move, checked: sizes that match, and a way back that is one."""
    for name in (move.first, move.second):
        if name not in names:
            raise BadInput(f"Move({move.first!r}, {move.second!r}): there is no model {name!r}.")
    i, j = names.index(move.first), names.index(move.second)
    first, second = models.model(i), models.model(j)
    if first.n_dimensions + move.n_there != second.n_dimensions + move.n_back:
        raise BadInput(
            f"Move({move.first!r}, {move.second!r}): {first.n_dimensions} coordinates and n_there={move.n_there} on one side, "
            f"{second.n_dimensions} and n_back={move.n_back} on the other; the two sums must be equal."
        )
    ends = ((first.data, first.hyper), (second.data, second.hyper))
    there, back = along(first, second, move.there, ends), along(second, first, move.back, ends[::-1])
    with jax.enable_x64(True):
        rng = Key(0).child("move").generator()
        u, noise = rng.standard_normal(first.n_dimensions), rng.standard_normal(move.n_there)
        again = tuple(np.asarray(part) for part in back(*there(u, noise)))
    off = max((float(np.max(np.abs(a - b), initial=0.0)) for a, b in zip(again, (u, noise), strict=True)), default=0.0)
    if not off < 1e-6:
        raise BadInput(
            f"Move({move.first!r}, {move.second!r}): back() does not undo there(): a point comes back {off:.2g} away. Each must "
            "be the other's inverse, noise included."
        )
    return Map(i, j, move.there, move.back, move.n_there, move.n_back)


def _joint(run: JumpRun) -> JointDraws:
    n_kept, n_chains, _ = run.position.shape
    return JointDraws(
        run.index[run.kept].ravel(),
        np.tile(np.arange(n_chains), n_kept),
        run.position.reshape(n_kept * n_chains, -1),
        run.log_likelihood.ravel(),
        run.log_prior.ravel(),
    )


def _by_model(run: JumpRun, names: tuple[str, ...], models: ModelSet) -> dict[str, Draws]:
    """The joint draws apart, each with its model's named parameters."""
    joint, found = _joint(run), {}
    for k, name in enumerate(names):
        here, model = np.flatnonzero(joint.model == k), models.model(k)
        if not len(here):
            continue
        own = joint.position[here, : model.n_dimensions]
        spare = joint.position[here, model.n_dimensions :]
        log_prior = joint.log_prior[here] + 0.5 * np.sum(spare**2, axis=1) + 0.5 * spare.shape[1] * np.log(2.0 * np.pi)
        draws = Draws(
            position=own,
            log_prior=log_prior,
            log_likelihood=joint.log_likelihood[here],
            n_drawn=len(here),
            chain=joint.chain[here],
        )
        found[name] = with_parameters(model, draws)
    return found
