"""Several quantities along the same chains: each has the numbers of its definition, whatever is computed together."""

import math

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from zhat.numerics.series import AT_ONCE, autocovariance, effective_sample_size, effective_sample_sizes, r_hat, r_hats


def chains(seed, rho, shape):
    noise = np.random.default_rng(seed).standard_normal(shape)
    out = noise.copy()
    for t in range(1, shape[-1]):
        out[..., t] = rho * out[..., t - 1] + math.sqrt(1.0 - rho**2) * noise[..., t]
    return out


def ess_by_definition(x):
    half = x.shape[1] // 2
    halves = np.concatenate([x[:, :half], x[:, -half:]])
    covariance = autocovariance(halves).mean(axis=0)
    within = covariance[0] * half / (half - 1.0)
    total = covariance[0] + halves.mean(axis=1).var(ddof=1)
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    time, last = -1.0, math.inf
    for k in range(half // 2):
        pair = rho[2 * k] + rho[2 * k + 1]
        if pair <= 0.0:
            time += max(rho[2 * k], 0.0)
            break
        last = min(last, pair)
        time += 2.0 * last
    return halves.size / max(time, 1.0 / math.log10(halves.size))


def r_hat_by_definition(x):
    half = x.shape[1] // 2
    halves = np.concatenate([x[:, :half], x[:, -half:]])

    def ratio(values):
        z = norm.ppf((rankdata(values).reshape(values.shape) - 0.375) / (values.size + 0.25))
        return math.sqrt(z.mean(axis=1).var(ddof=1) / z.var(axis=1, ddof=1).mean() + (half - 1.0) / half)

    return max(ratio(halves), ratio(np.abs(halves - np.median(halves))))


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.5, 0.99])  # sums that end at once, and beyond the lags that are products
@pytest.mark.parametrize("shape", [(4, 500), (1, 9), (3, 27), (2, 101)])
def test_effective_sample_sizes_are_those_of_the_definition(rho, shape):
    x = chains(1, rho, (2 * AT_ONCE + 3, *shape))
    expected = [ess_by_definition(each) for each in x]
    np.testing.assert_allclose(effective_sample_sizes(x), expected, rtol=1e-10)
    assert effective_sample_size(x[0]) == effective_sample_sizes(x)[0]


@pytest.mark.parametrize("digits", [15, 1])  # many ties
@pytest.mark.parametrize("shape", [(4, 500), (1, 9), (3, 28)])
def test_r_hats_are_those_of_the_definition(digits, shape):
    x = np.round(chains(2, 0.5, (AT_ONCE + 3, *shape)), digits)
    np.testing.assert_allclose(r_hats(x), [r_hat_by_definition(each) for each in x], rtol=1e-12)
    assert r_hat(x[0]) == r_hats(x)[0]


def test_quantities_that_stand_still_stand_beside_others():
    x = chains(3, 0.5, (4, 2, 100))
    x[1] = 7.0
    x[2] = np.array([[1.0], [2.0]])
    assert effective_sample_sizes(x)[1] == 200.0 and effective_sample_sizes(x)[2] < 3.0
    assert r_hats(x)[1] == 1.0 and r_hats(x)[2] == math.inf
    np.testing.assert_array_equal(r_hats(x)[[0, 3]], r_hats(x[[0, 3]]))


@pytest.mark.parametrize("values", [np.zeros((2, 3)), np.zeros((0, 2, 9)), np.zeros((1, 2, 3))])
def test_other_shapes_are_refused(values):
    for function in (effective_sample_sizes, r_hats):
        with pytest.raises(ValueError, match="series"):
            function(values)
