"""The stored log evidences against a second route that never touches the model code: SciPy densities and integrals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, log_ndtr, logsumexp

from zhat import zoo

FIVE = np.array([1.2, -0.4, 0.7, 2.1, 0.3])
SERIES = np.array([0.3, 1.1, 0.4, -0.6, -1.4, -0.2, 0.9, 1.7])
X6, Y6 = np.array([-1, -0.5, 0, 0.5, 1, 1.5]), np.array([0, 0, 1, 0, 1, 1])


def log_trapezoid(log_f, low, high, n=20_001):
    """log of an integral of a smooth function that vanishes at both ends."""
    x = np.linspace(low, high, n)
    return float(logsumexp([log_f(v) for v in x]) + math.log(x[1] - x[0]))


def log_quad(f, low, high, **options):
    return math.log(integrate.quad(f, low, high, epsabs=0, epsrel=1e-13, limit=500, **options)[0])


def multivariate_normal(y, covariance):
    return float(stats.multivariate_normal(np.zeros(len(y)), covariance).logpdf(y))


def line(columns):
    """Normal-inverse-gamma regression marginalises to a multivariate t with 2a degrees of freedom."""
    x = np.stack([np.ones(5), np.arange(-2.0, 3.0)], axis=1)[:, columns]
    y = np.array([-1.9, -1.1, 0.2, 0.8, 2.3])
    return float(stats.multivariate_t(np.zeros(5), (1 / 2) * (np.eye(5) + 10 * x @ x.T), df=4).logpdf(y))


def cosines(n, d):
    x = np.array([[math.cos(math.pi * j * (i + 0.5) / n) for j in range(d)] for i in range(n)])
    return multivariate_normal(np.array([math.sin(i + 1) for i in range(n)]), 0.25 * np.eye(n) + x @ x.T)


def kalman():
    mean, variance, total = 0.0, 1 / (1 - 0.64), 0.0
    for y in SERIES:
        s = variance + 0.25
        total += stats.norm.logpdf(y, mean, math.sqrt(s))
        gain = variance / s
        mean, variance = 0.8 * (mean + gain * (y - mean)), 0.64 * variance * (1 - gain) + 1
    return total


def autoregression():
    def density(phi):
        start = stats.norm.logpdf(SERIES[0], 0, 1 / math.sqrt(1 - phi**2))
        return 0.5 * math.exp(start + np.sum(stats.norm.logpdf(SERIES[1:], phi * SERIES[:-1], 1)))

    return log_quad(density, -1, 1)


def eight_schools():
    y = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
    s = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])

    def at(u):  # on the log scale of tau
        tau = math.exp(u)
        return multivariate_normal(y, np.diag(s**2 + tau**2) + 25) + stats.halfcauchy.logpdf(tau, scale=5) + u

    return log_trapezoid(at, -40, 40, 2001)


def mixture(log_weight):
    y = np.array([-1.5, -0.7, 0.4, 1.1, 2.0])

    def marginal(group):
        return multivariate_normal(group, np.eye(len(group)) + 4) if len(group) else 0.0

    terms = []
    for allocation in itertools.product([False, True], repeat=5):
        first = np.array(allocation)
        terms.append(log_weight(first.sum()) + marginal(y[first]) + marginal(y[~first]))
    return logsumexp(terms)


def logit_likelihood(eta):
    return float(np.sum(Y6 * eta - np.logaddexp(0, eta)))


def logit_with_intercept():
    grid = np.linspace(-24, 24, 481)
    b0, b1 = np.meshgrid(grid, grid, indexing="ij")
    eta = b0[..., None] + b1[..., None] * X6
    logs = (Y6 * eta - np.logaddexp(0, eta)).sum(-1) + stats.norm.logpdf(b0, 0, 2) + stats.norm.logpdf(b1, 0, 2)
    return float(logsumexp(logs) + 2 * math.log(grid[1] - grid[0]))


def poisson():
    a, b, total = 2.0, 1.0, 0.0  # chain rule: every next count is negative binomial
    for y in (3, 0, 2, 4, 1):
        total += stats.nbinom.logpmf(y, a, b / (b + 1))
        a, b = a + y, b + 1
    return total


def exponential():
    a, b, total = 2.0, 1.0, 0.0  # chain rule: every next time is Lomax
    for t in (0.5, 1.3, 0.2, 2.7):
        total += stats.lomax.logpdf(t, a, scale=b)
        a, b = a + 1, b + t
    return total


ROUTES = {
    "E1": lambda: multivariate_normal(FIVE, np.eye(5) + 4),
    "E2": lambda: float(stats.multivariate_t(np.zeros(5), (1 / 2) * (np.eye(5) + 2), df=4).logpdf(FIVE)),
    "E3a": lambda: -math.log(11),
    "E3b": lambda: float(stats.betabinom.logpmf(2, 10, 2, 3)),
    "E4": poisson,
    "E5": exponential,
    "E6": lambda: -math.log(math.comb(10, 2)),
    "E7": lambda: float(betaln(6, 8) - betaln(2, 2)),
    "E8": lambda: line([0, 1]),
    "E8s-none": lambda: line([]),
    "E8s-intercept": lambda: line([0]),
    "E8s-slope": lambda: line([1]),
    "E9a": lambda: cosines(40, 10),
    "E9b": lambda: cosines(60, 50),
    "E10": lambda: log_trapezoid(lambda b: float(np.sum(log_ndtr((2 * Y6 - 1) * X6 * b))) + stats.norm.logpdf(b), -12, 12, 2001),
    "E10c": lambda: math.log(0.25 + math.asin(2 / math.sqrt(10)) / (2 * math.pi)),
    "E11": lambda: log_trapezoid(lambda b: logit_likelihood(X6 * b) + stats.norm.logpdf(b, 0, 2), -24, 24, 2001),
    "E12": logit_with_intercept,
    "E13": lambda: multivariate_normal(
        np.array([0.1, 0.5, 0.9, 0.8, 0.2]),
        np.exp(-0.5 * np.subtract.outer(np.arange(5) / 2, np.arange(5) / 2) ** 2) + 0.01 * np.eye(5),
    ),
    "E14a": kalman,
    "E14b": autoregression,
    "E15": eight_schools,
    "E15n": eight_schools,
    "E16a": lambda: mixture(lambda k: betaln(1 + k, 6 - k)),
    "E16b": lambda: mixture(lambda k: -5 * math.log(2)),
}


def spike_and_slab(d):
    return math.log(100 * math.erf(50 / math.sqrt(2)) ** d + math.erf(5 / math.sqrt(2)) ** d)


def eggbox():
    # Panels of Gauss-Legendre in each direction: the log is taken out of the exponent by its top, 243.
    nodes, weights = np.polynomial.legendre.leggauss(10)
    edges = np.linspace(0, 10 * math.pi, 101)
    half = 0.5 * np.diff(edges)[:, None]
    x = (0.5 * (edges[:-1] + edges[1:])[:, None] + half * nodes).ravel()
    w = (half * weights).ravel() / (10 * math.pi)
    c = np.cos(x / 2)
    return 243 + math.log(w @ np.exp((2 + np.outer(c, c)) ** 5 - 243) @ w)


def shells():
    # Polar coordinates around one centre. The wall at distance 2.5 cuts five sigma of the ring: it shows in the
    # eighth decimal. Integral over r of r N(r; 2, 0.1) up to the wall is elementary.
    def ring(angle):
        z = ((2.5 / math.cos(angle) if abs(angle) < 1 else 9.0) - 2) / 0.1
        return 2 * stats.norm.cdf(z) - 0.1 * stats.norm.pdf(z)

    area = integrate.quad(ring, -math.pi, math.pi, points=[-1, 0, 1], epsabs=0, epsrel=1e-12, limit=500)[0]
    return math.log(2 * area / 144)


def wedding_cake(d):
    return math.log(sum(0.3 * 0.7**i * math.exp(-(0.7 ** (2 * i / d)) / (8 * 0.04)) for i in range(400)))


STRESS_ROUTES = {
    "S1-d20": lambda: spike_and_slab(20),
    "S1-d5": lambda: spike_and_slab(5),
    "S2": eggbox,
    "S3": shells,
    "S4-d2": lambda: wedding_cake(2),
    "S4-d5": lambda: wedding_cake(5),
    "S5": lambda: math.log(0.1**2 / 2),
    "S6": lambda: math.log(1e-8 / 1e-8 + math.log(1 / 1e-8)),
    "S7": lambda: log_trapezoid(
        lambda t: float(np.sum(stats.cauchy.logpdf([-4, -3.5, 3.5, 4], t, 0.5))) + stats.norm.logpdf(t, 0, 5),
        -60,
        60,
        4001,
    ),
    "S8": lambda: log_trapezoid(
        lambda v: 9 * stats.norm.logpdf(0, 0, math.sqrt(1 + math.exp(v))) + stats.norm.logpdf(v, 0, 3), -40, 40, 2001
    ),
    "S9": lambda: -3 * math.log(20),
    "S10": lambda: 3.7,
}


def test_every_exact_and_stress_model_has_a_second_route():
    assert set(ROUTES) == set(zoo.E_IDS)
    assert set(STRESS_ROUTES) == set(zoo.S_IDS)


@pytest.mark.parametrize("id", zoo.E_IDS)
def test_exact_values_agree_with_a_second_route(id):
    # Printed to twelve decimals.
    assert zoo.example(id).log_evidence == pytest.approx(ROUTES[id](), rel=0, abs=3e-12)


@pytest.mark.parametrize("id", zoo.S_IDS)
def test_stress_values_agree_with_a_second_route(id):
    # Printed to nine decimals.
    assert zoo.example(id).log_evidence == pytest.approx(STRESS_ROUTES[id](), rel=0, abs=6e-10)


def test_the_model_without_parameters_gives_the_printed_bayes_factor():
    assert zoo.fixed_mean_log_evidence() == pytest.approx(np.sum(stats.norm.logpdf(FIVE)), abs=3e-12)
    assert zoo.example("E1").log_evidence - zoo.fixed_mean_log_evidence() == pytest.approx(-0.073689790290, abs=3e-12)


def test_the_four_lines_have_the_printed_probabilities():
    logs = np.array([zoo.example(i).log_evidence for i in ("E8s-none", "E8s-intercept", "E8s-slope", "E8")])
    assert np.exp(logs - logsumexp(logs)) == pytest.approx([0.003771, 0.000531, 0.869607, 0.126091], abs=6e-7)


@pytest.mark.parametrize("tau0", [0.0001, 0.01, 0.1, 1.0])
def test_normal_gamma_is_a_multivariate_t(tau0):
    example = zoo.normal_gamma(tau0)
    y = example.model.data
    shape = np.eye(100) + np.ones((100, 100)) / tau0
    # Degrees of freedom 2 a0, shape (b0/a0)(I + 11'/tau0); its determinant and inverse by hand (rank one).
    nu, n = 0.002, 100
    quadratic = float(y @ y - y.sum() ** 2 / (tau0 + n))
    log_t = math.lgamma((nu + n) / 2) - math.lgamma(nu / 2) - n / 2 * math.log(nu * math.pi)
    log_t += -0.5 * math.log(1 + n / tau0) - (nu + n) / 2 * math.log1p(quadratic / nu)
    assert example.log_evidence == pytest.approx(log_t, abs=1e-9)
    assert example.log_evidence == pytest.approx(stats.multivariate_t(np.zeros(n), shape, df=nu).logpdf(y), abs=1e-6)


@pytest.mark.parametrize(
    "settings", [{}, {"n": 7, "seed": 3, "nu": 5.0, "xi": -2.0, "a0": 1.0, "b0": 0.3}, {"y": [4.0], "nu": 0.5}]
)
def test_running_example_by_another_quadrature(settings):
    # Other order: tau is integrated exactly given mu (a t density), mu by adaptive quadrature.
    example = zoo.running_example(**settings)
    y, h = example.model.data, example.model.hyper
    n, a, b = len(y), float(h["a0"]) / 2, float(h["b0"]) / 2

    def log_f(mu):
        b_n = b + 0.5 * np.sum((y - mu) ** 2)
        tau_out = math.lgamma(a + n / 2) - math.lgamma(a) + a * math.log(b) - (a + n / 2) * math.log(b_n)
        return tau_out - n / 2 * math.log(2 * math.pi) + stats.norm.logpdf(mu, h["xi"], 1 / math.sqrt(h["nu"]))

    grid = np.linspace(-60, 60, 12_001)
    centre = grid[np.argmax([log_f(m) for m in grid])]
    top = log_f(centre)
    points = sorted({float(h["xi"]), float(np.mean(y)), float(centre)})
    total = integrate.quad(lambda m: math.exp(log_f(m) - top), -60, 60, points=points, epsrel=1e-12, limit=2000)[0]
    assert example.log_evidence == pytest.approx(top + math.log(total), abs=1e-8)


@pytest.mark.parametrize(("d", "correlation"), [(1, 0.0), (20, 0.9), (100, 0.9), (3, 0.5)])
def test_gaussian_evidence_by_its_eigenvalues(d, correlation):
    m = np.sin(np.arange(d) + 1.0)
    common = m.sum() ** 2 / d  # the part along (1, ..., 1), whose eigenvalue is 1 + (d - 1) correlation
    big, small = 10 + (d - 1) * correlation, 10 - correlation
    quadratic = common / big + (m @ m - common) / small
    exact = -0.5 * (d * math.log(2 * math.pi) + math.log(big) + (d - 1) * math.log(small) + quadratic)
    assert zoo.gaussian(d, correlation).log_evidence == pytest.approx(exact, abs=1e-10)


def test_separated_mixtures_by_a_grid_over_the_means():
    """Two components on a grid in both means: the sum over allocations to ten digits."""
    example = zoo.example("label-switching-2")
    y = np.asarray(example.model.data)
    mu = np.linspace(-40.0, 40.0, 1601)
    each = -0.5 * (y[:, None] - mu) ** 2 - 0.5 * math.log(2.0 * math.pi)
    log_prior = -0.5 * (mu / 6.0) ** 2 - math.log(6.0) - 0.5 * math.log(2.0 * math.pi)
    joint = sum(np.logaddexp(row[:, None], row[None, :]) - math.log(2.0) for row in each)
    joint = joint + log_prior[:, None] + log_prior[None, :]
    grid = joint.max() + math.log(np.exp(joint - joint.max()).sum() * (mu[1] - mu[0]) ** 2)
    assert example.log_evidence == pytest.approx(grid, abs=1e-10)
