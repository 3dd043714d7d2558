"""Outlying points of a run are kept, and a mode that was lost on the way is found from them."""

from typing import Any, NamedTuple

import numpy as np
import numpyro.distributions as dist

from zhat import Budget, Model, evidence, zoo
from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.outliers import Outliers
from zhat.sampling.tuning import tuning_in_blocks

CHEAP = zoo.example("E8").model


def _crowd(n_apart, n=2000, d=3):
    rng = np.random.default_rng(5)
    position = rng.standard_normal((n, d))
    position[:n_apart] = 9.0 + 0.1 * position[:n_apart]
    return position


def _normal(position):
    return -0.5 * np.sum(position**2, axis=1)


def test_outlying_points_are_kept():
    outliers = Outliers(CHEAP)
    crowd = _crowd(3)
    # The target of a crowd of normals is normal; three stand on a peak of their own.
    log_prior = _normal(crowd)
    log_prior[:3] = 0.0
    outliers.keep(0.5, crowd, log_prior, np.zeros(len(crowd)))
    kept = outliers.draws
    assert kept is not None and len(kept.position) == 3
    assert (kept.position > 8.0).all()


def test_where_no_point_is_outlying_none_is_kept():
    outliers, crowd = Outliers(CHEAP), _crowd(0)
    for _ in range(20):
        outliers.keep(0.0, crowd, _normal(crowd), np.zeros(len(crowd)))
    assert outliers.draws is None


def test_of_many_rungs_the_highest_are_kept():
    outliers, crowd = Outliers(CHEAP), _crowd(20)
    for height in (1.0, 9.0, 7.0, 5.0):
        log_prior = _normal(crowd)
        log_prior[:20] = height
        outliers.keep(0.5, crowd, log_prior, np.zeros(len(crowd)))
    kept = outliers.draws
    assert kept is not None and len(kept.position) == EFFORT.outliers_in_all
    np.testing.assert_array_equal(kept.log_prior, np.repeat([9.0, 7.0, 5.0], EFFORT.outliers_of_a_rung))


def test_every_block_of_a_rung_is_seen_in_its_own_frame():
    # Two states each of two islands' chains, far from each other; in each island's frame only one is outlying.
    rng = np.random.default_rng(3)
    position = rng.standard_normal((2, 400, 3)) + np.repeat([0.0, 50.0], 200)[:, None]
    log_prior = -0.5 * np.sum((position - np.repeat([0.0, 50.0], 200)[:, None]) ** 2, axis=2)
    position[1, 300], log_prior[1, 300] = 60.0, 5.0
    frame = tuning_in_blocks(np.repeat([[0.0], [50.0]], 3, axis=1), np.stack([np.eye(3)] * 2), 1.0)
    outliers = Outliers(CHEAP)
    outliers(0.5, _Rung(position, log_prior, np.zeros((2, 400)), frame))
    kept = outliers.draws
    assert kept is not None
    np.testing.assert_array_equal(kept.position, np.full((1, 3), 60.0))


def test_points_of_no_density_and_too_few_are_passed_over():
    outliers, crowd = Outliers(CHEAP), _crowd(0, n=40)
    none_left = np.full(40, -np.inf)
    none_left[:6] = 0.0
    for frame in (None, tuning_in_blocks(np.zeros((1, 3)), np.eye(3)[None], 1.0)):
        outliers.keep(0.3, crowd, np.zeros(40), none_left, frame)
        assert outliers.draws is None
    outliers(0.3, _Rung(crowd[None], None, np.zeros((1, 40)), None))
    assert outliers.draws is None


def test_a_point_of_zero_likelihood_is_no_outlier():
    crowd = _crowd(1)
    log_likelihood = np.zeros(len(crowd))
    log_likelihood[1] = -np.inf
    crowd[2] = np.inf
    outliers = Outliers(CHEAP)
    outliers.keep(0.3, crowd, np.where(np.arange(len(crowd)) == 0, 5.0, _normal(crowd)), log_likelihood)
    assert outliers.draws is not None
    np.testing.assert_array_equal(outliers.draws.position, crowd[:1])


class _Rung(NamedTuple):
    position: Any
    log_prior: Any
    log_likelihood: Any
    tuning: Any


def test_black_boxes_have_no_outliers():
    outliers = Outliers(Model.black_box(lambda p: 0.0, {"x": dist.Normal(0.0, 1.0).expand([3]).to_event(1)}))
    outliers.keep(0.0, _crowd(1), np.zeros(2000), np.zeros(2000))
    assert outliers.draws is None


def test_a_mode_that_dies_out_on_the_way_is_not_missed_in_silence():
    """In twenty dimensions a narrow mode with half of the mass holds a thousandth of it half way: this run misses it by 0.6 nats.

    Without outlying points it is ok, as are two of nested sampling's first six.
    """
    example = zoo.example("unequal-modes-20")
    found = evidence(example.model, "nested", seed=4, progress=False)
    assert not found.status.is_ok or abs(found.log_evidence - example.log_evidence) < 4.0 * found.error


def test_a_budget_that_ends_while_modes_are_learned_leaves_the_doubt_and_starts_nothing_else():
    """The small mode is learned from outlying points: draws and check are made twice, and the budget ends in the second part."""
    model = zoo.example("small-mode-10").model
    whole = next(
        result
        for result in (evidence(model, "importance", seed=seed, progress=False) for seed in range(6))
        if "n_modes_missed_at_first" in result.diagnostics
    )
    spent = whole.cost.n_likelihood + whole.cost.n_gradient
    for share in (0.8, 0.97):  # among the second draws, and in the second check
        found = evidence(model, seed=whole.seed, progress=False, budget=Budget(likelihoods=share * spent))
        assert found.method == "importance" and "unchecked" in [reason.code for reason in found.status.reasons]
        assert found.log_evidence_se is None and np.isfinite(found.log_evidence)
