"""The mean weight of draws from a mixture with fixed numbers, and its standard error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zhat.numerics.strata import stratified_log_mean


def test_by_hand():
    value, se = stratified_log_mean(np.log([1.0, 3.0, 10.0, 14.0]), [0, 0, 1, 1])
    assert value == pytest.approx(math.log(7.0), abs=1e-12)
    # Variances 2 and 8 within the parts: (2 * 2 + 2 * 8) / 16 of the mean 7.
    assert se == pytest.approx(math.sqrt(20 / 16) / 7, abs=1e-12)


def test_differences_between_parts_are_no_error():
    assert stratified_log_mean(np.log([1.0, 1.0, 5.0, 5.0]), [0, 0, 1, 1])[1] == 0.0


def test_the_standard_error_is_that_of_many_runs():
    rng = np.random.default_rng(1)
    parts = np.repeat([0, 1], [50, 150])
    runs = np.array(
        [stratified_log_mean(np.where(parts == 0, 3.0, 0.0) + 0.5 * rng.standard_normal(200), parts) for _ in range(2000)]
    )
    assert runs[:, 1].mean() == pytest.approx(runs[:, 0].std(), rel=0.1)


def test_edges():
    assert stratified_log_mean([-math.inf, -math.inf], [0, 1]) == (-math.inf, math.inf)
    assert stratified_log_mean([0.0, 0.0, 0.0], [0, 0, 1])[1] == math.inf
    with pytest.raises(ValueError, match="one component for each"):
        stratified_log_mean([0.0, 0.0], [0])
