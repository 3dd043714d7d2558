"""Which estimates agree, and what their combination claims."""

import math

import numpy as np
import pytest

from zhat.numerics.combining.agreement import group_of_highest, joint_errors, unconfirmed_part, weighted_mean


def test_the_weighted_mean_and_its_standard_error():
    mean, se = weighted_mean(np.array([1.0, 2.0]), np.array([0.1, 0.2]))
    assert mean == pytest.approx((100.0 + 50.0) / 125.0) and se == pytest.approx(125.0**-0.5)
    assert weighted_mean(np.array([1.0, 2.0]), np.array([0.0, 0.2])) == (1.0, 0.0)  # an exact one outweighs all


def test_what_is_lower_is_explained_by_what_it_missed():
    group = group_of_highest([-41.0, -39.95, -39.85], [0.03, 0.12, 0.13], 3.0)
    assert sorted(group.members) == [1, 2] and group.members[0] == 2
    assert group.value == pytest.approx(-39.904, abs=1e-3) and math.isinf(group.degrees_of_freedom)


def test_a_highest_one_that_none_joins_remains_alone():
    assert group_of_highest([0.0, 1.0, 0.01], [0.1, 0.01, 0.1], 3.0).members == (1,)


def test_a_lower_and_more_precise_one_joins_only_within_two_joint_errors_and_widens_the_answer():
    joint = math.hypot(0.1, 0.01)
    assert group_of_highest([0.0, -2.5 * joint], [0.1, 0.01], 3.0).members == (0,)
    close = group_of_highest([0.0, -1.8 * joint], [0.1, 0.01], 3.0)
    assert (
        close.members == (0, 1) and close.se > 0.8 * joint
    )  # the mean is the precise one's: the rest of the difference is an error
    assert unconfirmed_part(np.array([0.0, 1.8 * joint]), np.array([0.1, 0.01])) == 0.0  # a higher one missed nothing


def test_exact_estimates_agree_up_to_rounding():
    assert group_of_highest([3.7, 3.7 + 1e-12], [0.0, 0.0], 2.0).members == (1, 0)
    assert group_of_highest([3.7, 3.8], [0.0, 0.0], 2.0).members == (1,)
    assert joint_errors(0.1, 0.0, 1.0) == math.inf


def test_members_that_scatter_widen_the_standard_error():
    group = group_of_highest([0.0, -0.19, -0.19], [0.1, 0.1, 0.1], 3.0)
    assert len(group.members) == 3
    far = group_of_highest([0.0, -0.4], [0.1, 0.1], 3.0)
    assert far.se > 0.1 and far.degrees_of_freedom == 1.0


def test_honest_pairs_have_honest_combinations():
    """The combination of an unequal pair that agrees, over 20,000 pairs: its z-scores are those of a normal, or narrower."""
    rng = np.random.default_rng(1)
    coarse, fine = 0.1 * rng.standard_normal(20_000), 0.02 * rng.standard_normal(20_000)
    z = []
    for pair in zip(coarse, fine, strict=True):
        group = group_of_highest(pair, [0.1, 0.02], 2.0)
        if len(group.members) == 2:
            z.append(group.value / group.se)
    assert len(z) > 0.94 * 20_000
    assert 0.85 < float(np.sqrt(np.mean(np.square(z)))) < 1.01


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="empty"):
        group_of_highest([], [], 2.0)
    with pytest.raises(ValueError, match="values and errors"):
        group_of_highest([1.0], [0.1, 0.2], 2.0)
