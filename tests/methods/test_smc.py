"""The arithmetic of a tempered run on records written by hand, to twelve digits."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from zhat.results.records import PathRun
from zhat.sampling.tempering import path_sums as sums_of_path
from zhat.sampling.tempering.path_sums import path_sums
from zhat.sampling.tempering.population import increments


def path_run(betas, log_likelihood, memory=None, ancestors=None, n_islands=1):
    rungs = len(log_likelihood)
    first = log_likelihood[0].size
    return PathRun(
        betas=np.asarray(betas, np.float64),
        log_likelihood=tuple(np.asarray(x, np.float64) for x in log_likelihood),
        ancestors=tuple(np.arange(first) if ancestors is None else np.asarray(ancestors) for _ in range(rungs)),
        n_islands=n_islands,
        acceptance=np.ones(rungs),
        correlation=np.zeros(rungs),
        memory=np.zeros(rungs) if memory is None else np.asarray(memory, np.float64),
        n_moves=np.zeros(rungs, np.int64),
        resampled=True,
        final=None,
    )


def test_one_rung_is_a_log_mean_and_its_error():
    log_likelihood = np.log([[1.0, 2.0, 3.0, 6.0]])
    sums = path_sums(path_run([0.0, 1.0], [log_likelihood]))
    weights = np.array([1.0, 2.0, 3.0, 6.0])
    assert sums.log_evidence == pytest.approx(math.log(3.0), abs=1e-12)
    assert sums.se == pytest.approx(weights.std(ddof=1) / (3.0 * 2.0), abs=1e-12)


RNG = np.random.default_rng(0)
THREE = [RNG.normal(size=(1, 12)) for _ in range(3)]
BETAS = [0.0, 0.2, 0.5, 1.0]


def sigmas(rungs=THREE, betas=BETAS):
    out = []
    for x, step in zip(rungs, np.diff(betas), strict=True):
        w = np.exp(step * x[0])
        out.append(w.std(ddof=1) / (w.mean() * math.sqrt(len(w))))
    return np.array(out)


def test_increments_add_up_along_the_path():
    sums = path_sums(path_run(BETAS, THREE))
    steps = zip(THREE, np.diff(BETAS), strict=True)
    expected = sum(logsumexp(step * x) - math.log(12) for x, step in steps)
    assert sums.log_evidence == pytest.approx(expected, abs=1e-12)
    assert sums.se == pytest.approx(math.sqrt((sigmas() ** 2).sum()), abs=1e-12)


def test_memory_correlates_neighbouring_rungs():
    r = np.array([0.0, 0.6, 0.3])
    s = sigmas()
    expected = (s**2).sum() + 2 * (s[0] * s[1] * r[1] + s[0] * s[2] * r[1] * r[2] + s[1] * s[2] * r[2])
    sums = path_sums(path_run(BETAS, THREE, memory=r))
    assert sums.se == pytest.approx(math.sqrt(expected), abs=1e-12)


def test_perfect_memory_adds_errors_instead_of_squares():
    sums = path_sums(path_run(BETAS, THREE, memory=[0.0, 1.0, 1.0]))
    assert sums.se == pytest.approx(sigmas().sum(), abs=1e-12)


def test_the_evidence_of_islands_is_the_mean_of_theirs():
    sums = path_sums(path_run(BETAS, THREE, n_islands=3))
    each = np.zeros(3)
    for x, step in zip(THREE, np.diff(BETAS), strict=True):
        each += logsumexp(step * x.reshape(3, 4), axis=1) - math.log(4)
    np.testing.assert_allclose(sums.islands, each, atol=1e-12)
    assert sums.log_evidence == pytest.approx(logsumexp(each) - math.log(3), abs=1e-12)


def test_states_of_one_particle_count_as_one_chain():
    same = np.repeat(THREE[0], 5, axis=0)
    once, repeated = (path_sums(path_run([0.0, 1.0], [x])) for x in (THREE[0], same))
    assert repeated.log_evidence == pytest.approx(once.log_evidence, abs=1e-12)
    assert repeated.se == pytest.approx(once.se, abs=1e-12)


def test_impossible_particles_count_in_the_mean():
    log_likelihood = np.array([[0.0, 0.0, 0.0, -np.inf]])
    sums = path_sums(path_run([0.0, 1.0], [log_likelihood]))
    assert sums.log_evidence == pytest.approx(math.log(0.75), abs=1e-12)
    assert sums.se == pytest.approx(0.5 / (0.75 * 2.0), abs=1e-12)
    np.testing.assert_array_equal(increments(log_likelihood, 1e-100), log_likelihood)


@pytest.mark.parametrize("shift", [-1e6, 1e6])
def test_shifting_every_rung_shifts_the_evidence_alone(shift):
    a = path_sums(path_run(BETAS, THREE, memory=[0.0, 0.5, 0.5]))
    b = path_sums(path_run(BETAS, [x + shift for x in THREE], memory=[0.0, 0.5, 0.5]))
    assert b.log_evidence - shift == pytest.approx(a.log_evidence, abs=1e-8)
    assert b.se == pytest.approx(a.se, rel=1e-8)


def test_a_constant_likelihood_has_no_error():
    sums = path_sums(path_run([0.0, 1.0], [np.full((1, 50), -7.5)]))
    assert (sums.log_evidence, sums.se) == (-7.5, 0.0)


# -- genealogy ------------------------------------------------------------------------------------------------------


def genealogical_se(run):
    return sums_of_path.genealogical_se(run, path_sums(run).islands)


def test_with_one_rung_descent_is_the_weights_own_error():
    weights = np.array([1.0, 2.0, 3.0, 6.0])
    se, n_ancestors = genealogical_se(path_run([0.0, 1.0], [np.log(weights)[None]]))
    # sum (share - 1/n)^2 n / (n - 1) is the delta method's variance of a mean of n weights.
    assert se == pytest.approx(weights.std(ddof=1) / (weights.mean() * 2.0), abs=1e-12)
    assert n_ancestors == 4


def test_shares_of_the_final_weight_by_hand():
    # Six particles, all descending from the first two of six; final weights 1 .. 6.
    run = path_run([0.0, 0.5, 1.0], [np.zeros((1, 6)), 2.0 * np.log(np.arange(1.0, 7.0))[None]], ancestors=[0, 0, 0, 1, 1, 1])
    se, n_ancestors = genealogical_se(run)
    shares = np.array([6.0 / 21.0, 15.0 / 21.0, 0.0, 0.0, 0.0, 0.0])
    assert se == pytest.approx(math.sqrt(((shares - 1 / 6) ** 2).sum() * 6 / 5), abs=1e-12)
    assert n_ancestors == 2


def test_islands_share_by_their_evidence():
    # Island one has three times the evidence of island two; equal weights within each.
    first = np.log(np.array([[3.0, 3.0, 1.0, 1.0]]))
    run = path_run([0.0, 0.5, 1.0], [2.0 * first, np.zeros((1, 4))], n_islands=2)
    shares = np.array([3.0, 3.0, 1.0, 1.0]) / 8.0
    se, n_ancestors = genealogical_se(run)
    assert se == pytest.approx(math.sqrt(((shares - 0.25) ** 2).sum() * 4 / 3), abs=1e-12)
    assert n_ancestors == 4


def test_one_ancestor_of_all_is_as_unequal_as_it_gets():
    run = path_run([0.0, 0.5, 1.0], [np.zeros((1, 10)), np.zeros((1, 10))], ancestors=np.zeros(10, np.int64))
    se, n_ancestors = genealogical_se(run)
    assert se == pytest.approx(1.0, abs=1e-12)
    assert n_ancestors == 1


def test_what_rounding_adds_in_resampling_is_taken_off():
    # Weights 1, 2, 3 deserve 1/2, 1 and 3/2 copies of three: rounding varies by (1/4 + 0 + 1/4) / 3^2.
    first, last = 2.0 * np.log([[1.0, 2.0, 3.0]]), 2.0 * np.log([[1.0, 1.0, 4.0]])
    run = path_run([0.0, 0.5, 1.0], [first, last], ancestors=[1, 2, 2])
    shares = np.array([0.0, 1.0, 5.0]) / 6.0
    expected = ((shares - 1 / 3) ** 2).sum() * 3 / 2 - 0.5 / 9
    assert genealogical_se(run)[0] == pytest.approx(math.sqrt(expected), abs=1e-12)


def test_less_than_rounding_adds_is_no_error():
    first = 2.0 * np.log([[1.0, 2.0, 3.0]])
    assert genealogical_se(path_run([0.0, 0.5, 1.0], [first, np.zeros((1, 3))]))[0] == 0.0


def test_a_path_that_reached_one_is_complete():
    assert path_run([0.0, 1.0], THREE[:1]).complete
    assert not path_run([0.0, 0.4], THREE[:1]).complete
