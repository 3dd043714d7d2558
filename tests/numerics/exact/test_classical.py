"""Bayes factors of classical tests against R's BayesFactor, published examples, and identities.

The tables were made with R 4.2.2 and BayesFactor 0.9.12-4.4: natural logarithms of `ttest.tstat`, `contingencyTableBF`, `proportionBF` and
`correlationBF`. Left out are t statistics for which R says "t is large; approximation invoked", and R's one-sided correlations, from
which ours differ by up to 0.005 (ours add up to the two-sided ones, see below).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln, hyp2f1

from zhat.numerics.exact import classical

# t, n1, n2 (0: one sample), scale, side, log BF
T = [
    (0.69, 100, 0, 0.5**0.5, 0, -1.9697529764),
    (0.69, 100, 0, 0.5**0.5, 1, -1.5627610275),
    (0.69, 100, 0, 0.5**0.5, -1, -2.6674947163),
    (0.69, 100, 0, 1.0, 0, -2.3028345231),
    (2.03, 100, 0, 0.5**0.5, 0, -0.2352235343),
    (2.03, 100, 0, 0.5**0.5, 1, 0.4336392412),
    (2.03, 100, 0, 0.5**0.5, -1, -3.2721148769),
    (2.03, 100, 0, 1.0, 0, -0.5379672718),
    (3.2, 49, 0, 0.5**0.5, 0, 2.5630448084),
    (3.2, 49, 0, 0.5**0.5, 1, 3.2546455911),
    (3.2, 49, 0, 0.5**0.5, -1, -3.2164075654),
    (3.2, 49, 0, 1.0, 0, 2.3681258376),
    (2.24, 80, 0, 0.5**0.5, 0, 0.2611986973),
    (2.24, 80, 0, 0.5**0.5, 1, 0.9389584354),
    (2.24, 80, 0, 0.5**0.5, -1, -3.2275414903),
    (2.24, 80, 0, 1.0, 0, -0.0240088033),
    (1.0, 10, 0, 0.5**0.5, 0, -0.7659910047),
    (1.0, 10, 0, 0.5**0.5, 1, -0.2837487262),
    (1.0, 10, 0, 0.5**0.5, -1, -1.7327915395),
    (1.0, 10, 0, 1.0, 0, -1.0076719113),
    (4.5, 20, 25, 0.5**0.5, 0, 5.9653535210),
    (4.5, 20, 25, 0.5**0.5, 1, 6.6584142963),
    (4.5, 20, 25, 0.5**0.5, -1, -2.6979287387),
    (4.5, 20, 25, 1.0, 0, 6.0734419669),
    (-2.5, 15, 30, 0.5**0.5, 0, 1.2219621946),
    (-2.5, 15, 30, 0.5**0.5, 1, -2.2750702514),
    (-2.5, 15, 30, 0.5**0.5, -1, 1.8998499761),
    (-2.5, 15, 30, 1.0, 0, 1.1398557365),
    (0.0, 5, 0, 0.5**0.5, 0, -0.9229060034),
    (0.0, 5, 0, 0.5**0.5, 1, -0.9229060034),
    (0.0, 5, 0, 0.5**0.5, -1, -0.9229060034),
    (0.0, 5, 0, 1.0, 0, -1.1750823266),
    (10.0, 1000, 0, 0.5**0.5, 0, 44.1844994889),
    (10.0, 1000, 0, 0.5**0.5, 1, 44.8776466694),
    (10.0, 1000, 0, 1.0, 0, 43.9249558626),
    (2.1, 500, 450, 0.5**0.5, 0, -0.4541847055),
    (2.1, 500, 450, 0.5**0.5, 1, 0.2200780902),
    (2.1, 500, 450, 0.5**0.5, -1, -3.7398847443),
    (2.1, 500, 450, 1.0, 0, -0.7795568330),
    (3.54, 8, 7, 0.5**0.5, 0, 2.3869466122),
    (3.54, 8, 7, 0.5**0.5, 1, 3.0730810769),
    (3.54, 8, 7, 0.5**0.5, -1, -1.8834405009),
    (3.54, 8, 7, 1.0, 0, 2.5189072222),
]
# what is fixed, table, concentration, log BF
TABLES = [
    ("total", [[10, 2], [3, 15]], 1.0, 5.9704331580),
    ("total", [[10, 2], [3, 15]], 2.0, 5.0424933873),
    ("total", [[0, 5], [7, 2]], 1.0, 3.4513871262),
    ("total", [[0, 5], [7, 2]], 2.0, 2.3668854905),
    ("total", [[120, 90], [80, 110]], 1.0, 2.8250508083),
    ("total", [[120, 90], [80, 110]], 2.0, 2.7062418269),
    ("total", [[5, 2, 3], [9, 7, 8]], 1.0, -0.8620538960),
    ("total", [[5, 2, 3], [9, 7, 8]], 2.0, -1.0584632134),
    ("nothing", [[10, 2], [3, 15]], 1.0, 6.2282622673),
    ("nothing", [[10, 2], [3, 15]], 2.0, 5.1493565329),
    ("nothing", [[0, 5], [7, 2]], 1.0, 3.6819107848),
    ("nothing", [[0, 5], [7, 2]], 2.0, 2.4538968675),
    ("nothing", [[120, 90], [80, 110]], 1.0, 3.1102545648),
    ("nothing", [[120, 90], [80, 110]], 2.0, 2.8373192306),
    ("nothing", [[5, 2, 3], [9, 7, 8]], 1.0, -0.3508783335),
    ("nothing", [[5, 2, 3], [9, 7, 8]], 2.0, -0.8555609489),
    ("both", [[10, 2], [3, 15]], 1.0, 5.1419805911),
    ("both", [[10, 2], [3, 15]], 2.0, 4.7830354986),
    ("both", [[0, 5], [7, 2]], 1.0, 2.7656200529),
    ("both", [[0, 5], [7, 2]], 2.0, 2.1696366208),
    ("both", [[120, 90], [80, 110]], 1.0, 1.7824451343),
    ("both", [[120, 90], [80, 110]], 2.0, 2.3169284407),
    ("rows", [[10, 2], [3, 15]], 1.0, 5.6315288164),
    ("rows", [[10, 2], [3, 15]], 2.0, 4.9439125587),
    ("rows", [[0, 5], [7, 2]], 1.0, 3.1710851610),
    ("rows", [[0, 5], [7, 2]], 2.0, 2.3023469694),
    ("rows", [[120, 90], [80, 110]], 1.0, 2.4245484281),
    ("rows", [[120, 90], [80, 110]], 2.0, 2.5569807764),
    ("rows", [[5, 2, 3], [9, 7, 8]], 1.0, -1.1274409062),
    ("rows", [[5, 2, 3], [9, 7, 8]], 2.0, -1.0010311644),
    ("columns", [[10, 2], [3, 15]], 1.0, 5.6114880656),
    ("columns", [[10, 2], [3, 15]], 2.0, 4.9281642017),
    ("columns", [[0, 5], [7, 2]], 1.0, 3.1065466399),
    ("columns", [[0, 5], [7, 2]], 2.0, 2.2615249749),
    ("columns", [[120, 90], [80, 110]], 1.0, 2.4220701735),
    ("columns", [[120, 90], [80, 110]], 2.0, 2.5545511730),
    ("columns", [[5, 2, 3], [9, 7, 8]], 1.0, -1.5398746836),
    ("columns", [[5, 2, 3], [9, 7, 8]], 2.0, -1.2654563746),
]
# successes, trials, null, side, log BF (scale 1/2)
PROPORTIONS = [
    (15, 25, 0.5, 0, -0.4157087147),
    (15, 25, 0.5, 1, 0.0713385595),
    (2, 10, 0.5, 0, 0.6885638004),
    (2, 10, 0.5, 1, -1.3705312854),
    (60, 100, 0.4, 0, 6.1592962121),
    (60, 100, 0.4, 1, 6.8523934450),
    (0, 8, 0.25, 0, 0.4995786503),
    (0, 8, 0.25, 1, -1.0847640976),
]
# r, n, kappa, log BF
CORRELATIONS = [
    (-0.134097204564079, 10, 1, -0.8892480002),
    (-0.134097204564079, 10, 0.333333333333333, -0.4371102898),
    (0.652649152770864, 10, 1, 0.8960286665),
    (0.652649152770864, 10, 0.333333333333333, 0.8560090674),
    (0.575680397511458, 10, 1, 0.3939998812),
    (0.575680397511458, 10, 0.333333333333333, 0.5012825761),
    (0.100428430419836, 30, 1, -1.3499371818),
    (0.100428430419836, 30, 0.333333333333333, -0.7977469179),
    (0.740069508127383, 30, 1, 8.9136848597),
    (0.740069508127383, 30, 0.333333333333333, 8.2322006711),
    (0.137944616053692, 30, 1, -1.2307002045),
    (0.137944616053692, 30, 0.333333333333333, -0.6918012581),
    (0.0946814888966898, 120, 1, -1.6474166086),
    (0.0946814888966898, 120, 0.333333333333333, -1.0517323628),
    (0.729153278448774, 120, 1, 41.8469980361),
    (0.729153278448774, 120, 0.333333333333333, 41.0291158105),
    (0.197146903593853, 120, 1, 0.1306555949),
    (0.197146903593853, 120, 0.333333333333333, 0.6697918240),
]


@pytest.mark.parametrize(("t", "n1", "n2", "scale", "side", "log_bf"), T)
def test_t_is_that_of_r(t, n1, n2, scale, side, log_bf):
    n, df = (n1 * n2 / (n1 + n2), n1 + n2 - 2) if n2 else (n1, n1 - 1)
    found = classical.t_test(t, n, df, scale, side)
    assert found.agrees
    assert found.log_value == pytest.approx(log_bf, abs=1e-6)


@pytest.mark.parametrize(("t", "n"), [(0.0, 5), (2.5, 12), (30.0, 60), (10.0, 1000), (-4.0, 300)])
def test_the_sides_of_t_add_up(t, n):
    both = classical.t_test(t, n, n - 1, 0.7).log_value
    sides = [classical.t_test(t, n, n - 1, 0.7, side).log_value - np.log(2.0) for side in (1, -1)]
    assert np.logaddexp(*sides) == pytest.approx(both, abs=1e-9)


def test_t_with_the_noncentral_t_density():
    t, n, df, scale = 2.2, 17, 16, 0.7
    delta = np.linspace(0.0, 6.0, 40_001)
    density = stats.nct.pdf(t, df, delta * np.sqrt(n)) * 2.0 * stats.cauchy.pdf(delta, 0.0, scale)
    tail = 2.0 * stats.cauchy.sf(6.0, 0.0, scale) * stats.nct.pdf(t, df, 6.0 * np.sqrt(n))
    expected = np.log((np.trapezoid(density, delta) + tail) / stats.t.pdf(t, df))
    assert classical.t_test(t, n, df, scale, 1).log_value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("fixed", "table", "concentration", "log_bf"), TABLES)
def test_tables_are_those_of_r(fixed, table, concentration, log_bf):
    y = np.array(table, float)
    functions = {
        "total": classical.table_joint,
        "nothing": classical.table_poisson,
        "both": classical.table_hypergeometric,
        "rows": classical.table_independent,
        "columns": lambda y, a: classical.table_independent(y.T, a),
    }
    assert functions[fixed](y, concentration).log_value == pytest.approx(log_bf, abs=1e-8)


def test_a_table_with_fixed_rows_is_a_ratio_of_beta_binomials():
    y = np.array([[10.0, 3.0], [2.0, 15.0]])
    apart = sum(betaln(a + 1, b + 1) for a, b in y)
    common = betaln(y[:, 0].sum() + 1, y[:, 1].sum() + 1)
    assert classical.table_independent(y, 1.0).log_value == pytest.approx(apart - common, abs=1e-10)


@pytest.mark.parametrize(("successes", "trials", "null", "side", "log_bf"), PROPORTIONS)
def test_proportions_are_those_of_r(successes, trials, null, side, log_bf):
    found = classical.proportion_logistic(successes, trials, null, 0.5, side)
    assert found.agrees
    assert found.log_value == pytest.approx(log_bf, abs=1e-6)


@pytest.mark.parametrize(("successes", "trials"), [(0, 8), (15, 25), (600, 1000)])
def test_the_sides_of_a_proportion_add_up(successes, trials):
    both = classical.proportion_logistic(successes, trials, 0.4, 0.5).log_value
    sides = [classical.proportion_logistic(successes, trials, 0.4, 0.5, side).log_value - np.log(2.0) for side in (1, -1)]
    assert np.logaddexp(*sides) == pytest.approx(both, abs=1e-8)


def test_a_flat_proportion_is_exact():
    assert classical.proportion_beta(2, 10, 0.5, 1.0, 1.0).log_value == pytest.approx(
        -np.log(11 * 45) + 10 * np.log(2.0), abs=1e-12
    )


@pytest.mark.parametrize(("r", "n", "kappa", "log_bf"), CORRELATIONS)
def test_correlations_are_those_of_r(r, n, kappa, log_bf):
    found = classical.correlation(r, n, kappa)
    assert found.agrees
    assert found.log_value == pytest.approx(log_bf, abs=1e-7)


@pytest.mark.parametrize(("r", "n"), [(0.1, 4), (-0.6, 25), (0.9, 80)])
def test_a_correlation_is_the_hypergeometric_function_of_ly_et_al(r, n):
    expected = (
        0.5 * np.log(np.pi)
        - np.log(2.0)
        + gammaln((n + 1) / 2)
        - gammaln((n + 2) / 2)
        + np.log(hyp2f1((n - 1) / 2, (n - 1) / 2, (n + 2) / 2, r * r))
    )
    assert classical.correlation(r, n, 1.0).log_value == pytest.approx(float(expected), abs=1e-8)
    sides = [classical.correlation(r, n, 1.0, side).log_value - np.log(2.0) for side in (1, -1)]
    assert np.logaddexp(*sides) == pytest.approx(float(expected), abs=1e-8)
