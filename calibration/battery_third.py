"""A third set of problems outside the zoo, each with its truth by a formula, an enumeration or a quadrature.

They were written after the settings of the default stood, and none was chosen on them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from battery_problems import LOG_2PI, flat, log_normal, log_simpson_2d, log_trapezoid
from battery_second import _linear, boxed
from scipy import special, stats

import zhat

# -- mixtures, changes, lines ----------------------------------------------------------------------------------------------------------


def mixture_with_scale() -> tuple[Any, float]:
    """Three normals of one unknown width on nine data: all allocations at each width."""
    y = np.array([-2.1, -1.8, -2.4, 0.2, 0.5, 0.1, 3.0, 3.3, 2.6])

    def log_likelihood(p: Any, y: Any) -> Any:
        terms = jnp.log(p["w"]) + log_normal(y[:, None], p["m"], p["s"])
        return jnp.sum(jax.scipy.special.logsumexp(terms, axis=1))

    prior = {
        "w": dist.Dirichlet(jnp.full(3, 2.0)),
        "m": dist.Normal(0.0, 3.0).expand([3]).to_event(1),
        "s": dist.HalfNormal(1.0),
    }
    given = np.array(list(itertools.product(range(3), repeat=9)))
    counts = np.stack([(given == k).sum(1) for k in range(3)], axis=1)
    sums = np.stack([((given == k) * y).sum(1) for k in range(3)], axis=1)
    weights = special.gammaln(6.0) - special.gammaln(15.0) + (special.gammaln(2.0 + counts) - special.gammaln(2.0)).sum(1)
    s = np.linspace(0.08, 5.0, 1500)
    values = []
    for width in s:
        precision = counts / width**2 + 1.0 / 9.0
        means = 0.5 * (sums / width**2) ** 2 / precision - 0.5 * np.log(precision * 9.0)
        inside = special.logsumexp(weights + means.sum(1))
        values.append(inside - 0.5 * (y**2).sum() / width**2 - 9 * math.log(width) - 4.5 * LOG_2PI + stats.halfnorm.logpdf(width))
    return zhat.Model(log_likelihood, prior, data=y), log_trapezoid(np.array(values), s[1] - s[0])


def random_mixture(d: int, k: int, seed: int) -> tuple[Any, float]:
    """Normals of unequal mass, width and shape at random places in a wide box."""
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.full(k, 2.0))
    at = rng.uniform(-6, 6, (k, d))
    shape = rng.normal(size=(k, d, d)) * 0.5 + 1.5 * np.eye(d)
    shape *= rng.uniform(0.25, 0.6, (k, 1, 1))
    cov = shape @ shape.transpose(0, 2, 1) / 2.0
    precision, log_det = np.linalg.inv(cov), np.linalg.slogdet(cov)[1]

    def log_likelihood(p: Any) -> Any:
        r = p["x"] - at
        terms = np.log(mass) - 0.5 * jnp.einsum("ki,kij,kj->k", r, precision, r) - 0.5 * log_det - 0.5 * d * LOG_2PI
        return jax.scipy.special.logsumexp(terms)

    return zhat.Model(log_likelihood, flat(-12, 12, d)), -d * math.log(24.0)


def two_changes() -> tuple[Any, float]:
    """Yearly counts with two changes of rate at continuous times, in either order: exact over the pairs of years."""
    rng = np.random.default_rng(31)
    n = 40
    y = np.concatenate([rng.poisson(3.0, 14), rng.poisson(0.8, 16), rng.poisson(2.2, 10)])
    years = jnp.arange(n) + 0.5

    def log_likelihood(p: Any, y: Any) -> Any:
        a, b = jnp.minimum(p["t"][0], p["t"][1]), jnp.maximum(p["t"][0], p["t"][1])
        rate = jnp.where(years < a, p["r"][0], jnp.where(years < b, p["r"][1], p["r"][2]))
        return jnp.sum(y * jnp.log(rate) - rate - jax.scipy.special.gammaln(y + 1.0))

    prior = {
        "t": dist.Uniform(0.0, float(n)).expand([2]).to_event(1),
        "r": dist.Gamma(2.0, 1.0).expand([3]).to_event(1),
    }
    total = np.concatenate([[0], np.cumsum(y)])

    def piece(i: int, j: int) -> float:
        return float(special.gammaln(2.0 + total[j] - total[i]) - (2.0 + total[j] - total[i]) * math.log1p(j - i))

    # The number of years before a time t is k for t in (k - 1/2, k + 1/2), and less wide at both ends.
    width = np.ones(n + 1)
    width[[0, -1]] = 0.5
    terms = []
    for i in range(n + 1):
        for j in range(i, n + 1):
            area = width[i] * width[j] * (2.0 if j > i else 1.0)
            terms.append(math.log(area) + piece(0, i) + piece(i, j) + piece(j, n))
    return zhat.Model(log_likelihood, prior, data=y), float(
        special.logsumexp(terms) - 2 * math.log(n) - special.gammaln(y + 1.0).sum()
    )


def broken_stick() -> tuple[Any, float]:
    """A line whose slope changes at an unknown place: linear given the place."""
    rng = np.random.default_rng(12)
    x = np.sort(rng.uniform(0, 1, 30))
    y = 1.0 + 0.5 * x - 3.0 * np.maximum(x - 0.55, 0.0) + 0.15 * rng.normal(size=30)
    sd = 0.15

    def log_likelihood(p: Any, y: Any) -> Any:
        mean = p["b"][0] + p["b"][1] * x + p["b"][2] * jnp.maximum(x - p["t"], 0.0)
        return jnp.sum(log_normal(y, mean, sd))

    prior = {"t": dist.Uniform(0, 1), "b": dist.Normal(0, 5.0).expand([3]).to_event(1)}
    t = np.linspace(0, 1, 4001)
    values = []
    for at in t:
        design = np.stack([np.ones(30), x, np.maximum(x - at, 0.0)], axis=1)
        values.append(_linear(design / sd, y / sd, 5.0) - 30 * math.log(sd))
    values[0] -= math.log(2)
    values[-1] -= math.log(2)
    return zhat.Model(log_likelihood, prior, data=y), log_trapezoid(np.array(values), t[1] - t[0])


def spectral_lines(n: int = 60) -> tuple[Any, float]:
    """Two lines of known width at unknown places, amplitudes normal: mirrored modes, and one line on noise."""
    rng = np.random.default_rng(4)
    x = np.linspace(0, 10, n)
    y = 3.0 * np.exp(-0.5 * ((x - 3.1) / 0.3) ** 2) + 1.6 * np.exp(-0.5 * ((x - 7.4) / 0.3) ** 2) + rng.normal(size=n)

    def log_likelihood(p: Any, y: Any) -> Any:
        lines = jnp.exp(-0.5 * ((x - p["c"][:, None]) / 0.3) ** 2)
        return jnp.sum(log_normal(y, p["a"] @ lines, 1.0))

    prior = {"c": dist.Uniform(0, 10).expand([2]).to_event(1), "a": dist.Normal(0, 2).expand([2]).to_event(1)}
    c = (np.arange(600) + 0.5) * (10 / 600)
    lines = np.exp(-0.5 * ((x - c[:, None]) / 0.3) ** 2)
    cross, b = lines @ lines.T, lines @ y
    own = np.diag(cross) + 0.25
    det = own[:, None] * own - cross**2
    squared = own[None, :] * b[:, None] ** 2 + own[:, None] * b[None, :] ** 2 - 2.0 * cross * b[:, None] * b
    values = 0.5 * squared / det - 0.5 * np.log(det) - 2.0 * math.log(2.0)
    truth = log_simpson_2d(values, 10 / 600, 10 / 600) - 2 * math.log(10) - 0.5 * y @ y - 0.5 * n * LOG_2PI
    return zhat.Model(log_likelihood, prior, data=y), truth


def two_decays() -> tuple[Any, float]:
    """A sum of two exponential decays: rates over three decades, amplitudes normal."""
    rng = np.random.default_rng(9)
    t = np.linspace(0.0, 8.0, 40)
    y = 2.0 * np.exp(-0.25 * t) + 1.5 * np.exp(-2.0 * t) + 0.05 * rng.normal(size=40)
    sd = 0.05

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, p["a"] @ jnp.exp(-jnp.exp(p["l"])[:, None] * t), sd))

    low, high = math.log(0.02), math.log(20.0)
    prior = {"l": dist.Uniform(low, high).expand([2]).to_event(1), "a": dist.Normal(0, 3).expand([2]).to_event(1)}
    g = low + (np.arange(1500) + 0.5) * (high - low) / 1500
    f = np.exp(-np.exp(g)[:, None] * t) / sd
    z = y / sd
    cross, b = f @ f.T, f @ z
    own = np.diag(cross) + 1.0 / 9.0
    det = own[:, None] * own - cross**2
    squared = own[None, :] * b[:, None] ** 2 + own[:, None] * b[None, :] ** 2 - 2.0 * cross * b[:, None] * b
    values = 0.5 * squared / det - 0.5 * np.log(det) - 2.0 * math.log(3.0)
    step = g[1] - g[0]
    truth = log_simpson_2d(values, step, step) - 2 * math.log(high - low)
    return zhat.Model(log_likelihood, prior, data=y), truth - 0.5 * z @ z - 20 * LOG_2PI - 40 * math.log(sd)


# -- hierarchies -----------------------------------------------------------------------------------------------------------------------


def beta_binomial(groups: int = 60) -> tuple[Any, float]:
    """Success rates of groups under Beta(m k, (1 - m) k): quadrature over m and log k."""
    rng = np.random.default_rng(17)
    n = rng.integers(5, 40, groups)
    y = rng.binomial(n, rng.beta(2.0, 6.0, groups))

    def program(y: Any = None) -> None:
        m = numpyro.sample("m", dist.Beta(1.0, 1.0))
        k = numpyro.sample("k", dist.LogNormal(2.0, 1.0))
        with numpyro.plate("g", groups):
            p = numpyro.sample("p", dist.Beta(m * k, (1.0 - m) * k))
            numpyro.sample("y", dist.Binomial(jnp.asarray(n), p), obs=y)

    m, u = ((np.arange(400) + 0.5) / 400)[:, None], np.linspace(-1.0, 6.0, 500)[None, :]
    a, b = m * np.exp(u), (1.0 - m) * np.exp(u)
    values = stats.norm.logpdf(u, 2.0, 1.0) + 0.0 * m
    for ni, yi in zip(n, y, strict=True):
        choose = special.gammaln(ni + 1) - special.gammaln(yi + 1) - special.gammaln(ni - yi + 1)
        values = values + choose + special.betaln(a + yi, b + ni - yi) - special.betaln(a, b)
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values, 1 / 400, 7.0 / 499)


def slopes(groups: int = 25) -> tuple[Any, float]:
    """Random intercepts and slopes with both spreads free, centred: quadrature over the spreads."""
    rng = np.random.default_rng(23)
    x = np.linspace(-1, 1, 6)
    true = np.array([1.0, -0.5]) + rng.normal(size=(groups, 2)) * [0.8, 0.3]
    y = true[:, :1] + true[:, 1:] * x + 0.5 * rng.normal(size=(groups, 6))

    def program(y: Any = None) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 2.0).expand([2]).to_event(1))
        tau = numpyro.sample("tau", dist.HalfNormal(1.0).expand([2]).to_event(1))
        with numpyro.plate("g", groups):
            b = numpyro.sample("b", dist.Normal(mu, tau).to_event(1))
            numpyro.sample("y", dist.Normal(b[:, :1] + b[:, 1:] * x, 0.5).to_event(1), obs=y)

    # Intercept and slope are orthogonal: the sum of x is zero. Each is a one-way hierarchy.
    squares = np.array([6.0, (x**2).sum()])
    effects = np.stack([y.mean(axis=1), (y * x).sum(axis=1) / squares[1]], axis=1)
    rest = ((y - effects[:, :1] - effects[:, 1:] * x) ** 2).sum()
    truth = -0.5 * rest / 0.25 - 6 * groups * (math.log(0.5) + 0.5 * LOG_2PI) + groups * LOG_2PI
    truth += 0.5 * groups * np.log(0.25 / squares).sum()
    for j in range(2):
        tau = np.linspace(1e-5, 6.0, 20_001)
        v = tau**2 + 0.25 / squares[j]
        e = effects[:, j]
        precision = groups / v + 0.25
        inside = -0.5 * groups * (LOG_2PI + np.log(v)) - 0.5 * (e**2).sum() / v + 0.5 * (e.sum() / v) ** 2 / precision
        inside = inside - 0.5 * np.log(precision) - math.log(2.0) + stats.halfnorm.logpdf(tau)
        inside[0] -= math.log(2.0)
        truth += log_trapezoid(inside, tau[1] - tau[0])
    return zhat.Model.from_numpyro(program, y=y), float(truth)


def poisson_intercepts(groups: int = 100, centred: bool = False) -> tuple[Any, float]:
    """Counts with normal log rates, mean and spread free: Gauss-Hermite sums inside a grid over both."""
    rng = np.random.default_rng(29)
    y = rng.poisson(np.exp(0.7 + 0.6 * rng.normal(size=groups)))

    def program(y: Any = None) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 2.0))
        tau = numpyro.sample("tau", dist.HalfNormal(1.0))
        with numpyro.plate("g", groups):
            if centred:
                log_rate = numpyro.sample("log_rate", dist.Normal(mu, tau))
            else:
                log_rate = mu + tau * numpyro.sample("z", dist.Normal(0.0, 1.0))
            numpyro.sample("y", dist.Poisson(jnp.exp(log_rate)), obs=y)

    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    log_w = np.log(np.maximum(weights, 1e-300)) - 0.5 * LOG_2PI
    m, s = np.linspace(-0.6, 1.8, 160)[:, None, None], np.linspace(1e-4, 2.0, 160)[None, :, None]
    eta = m + s * nodes
    values = stats.norm.logpdf(m[..., 0], 0.0, 2.0) + stats.halfnorm.logpdf(s[..., 0])
    for count, times in zip(*np.unique(y, return_counts=True), strict=True):
        values = values + times * special.logsumexp(count * eta - np.exp(eta) - special.gammaln(count + 1.0) + log_w, axis=2)
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values, 2.4 / 159, (2.0 - 1e-4) / 159)


def horseshoe(p: int = 30) -> tuple[Any, float]:
    """Thirty normal means under a centred horseshoe, five of them far from zero: quadrature over both scales."""
    rng = np.random.default_rng(41)
    y = rng.normal(size=p)
    y[:5] += [6.0, -5.0, 4.5, 7.0, -6.5]

    def program(y: Any = None) -> None:
        tau = numpyro.sample("tau", dist.HalfCauchy(0.5))
        with numpyro.plate("j", p):
            lam = numpyro.sample("lam", dist.HalfCauchy(1.0))
            beta = numpyro.sample("beta", dist.Normal(0.0, tau * lam))
            numpyro.sample("y", dist.Normal(beta, 1.0), obs=y)

    # lam = tan(a): a is uniform on (0, pi/2); so is that of tau / 0.5.
    a = (np.arange(4000) + 0.5) * (0.5 * math.pi / 4000)
    b = (np.arange(1500) + 0.5) * (0.5 * math.pi / 1500)
    lam, values = np.tan(a), []
    for tau in 0.5 * np.tan(b):
        v = 1.0 + (tau * lam) ** 2
        inside = -0.5 * y[:, None] ** 2 / v - 0.5 * np.log(v) - 0.5 * LOG_2PI
        values.append((special.logsumexp(inside, axis=1) - math.log(len(a))).sum())
    return zhat.Model.from_numpyro(program, y=y), float(special.logsumexp(values) - math.log(len(b)))


def funnel_likelihood(d: int = 5) -> tuple[Any, float]:
    """Neal's funnel as a likelihood, v ~ N(0, 2^2), under flat priors that cut its mouth."""

    def log_likelihood(p: Any) -> Any:
        v, x = p["x"][0], p["x"][1:]
        return log_normal(v, 0.0, 2.0) + jnp.sum(log_normal(x, 0.0, jnp.exp(0.5 * v)))

    v = np.linspace(-15, 15, 60_001)
    inside = (d - 1) * np.log(2.0 * special.ndtr(15 / np.exp(0.5 * v)) - 1.0)
    return zhat.Model(log_likelihood, flat(-15, 15, d)), log_trapezoid(
        stats.norm.logpdf(v, 0, 2) + inside, v[1] - v[0]
    ) - d * math.log(30.0)


# -- shells, ridges, plateaus ------------------------------------------------------------------------------------------------------------


def two_shells(d: int) -> tuple[Any, float]:
    """Two shells side by side."""

    def log_likelihood(p: Any) -> Any:
        x = p["x"]

        def one(sign: float) -> Any:
            r = jnp.sqrt((x[0] - sign * 3.5) ** 2 + jnp.sum(x[1:] ** 2) + 1e-300)
            return -0.5 * ((r - 2.0) / 0.1) ** 2 - math.log(0.1) - 0.5 * LOG_2PI

        return jnp.logaddexp(one(1.0), one(-1.0))

    r = np.linspace(1.0, 3.0, 100_001)
    area = math.log(2.0) + 0.5 * d * math.log(math.pi) - special.gammaln(0.5 * d)
    values = stats.norm.logpdf(r, 2.0, 0.1) + (d - 1) * np.log(r) + area
    return zhat.Model(log_likelihood, flat(-6, 6, d)), log_trapezoid(values, r[1] - r[0]) + math.log(2.0) - d * math.log(12.0)


def product_ridge(pairs: int, sd: float = 0.05) -> tuple[Any, float]:
    """Only the products of pairs of parameters are observed: hyperbolas with four arms."""
    y = np.linspace(0.3, 1.2, pairs)

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, p["a"] * p["b"], sd))

    prior = {name: dist.Normal(0, 1).expand([pairs]).to_event(1) for name in "ab"}
    a = np.linspace(-8, 8, 200_001)
    truth = 0.0
    for value in y:
        truth += log_trapezoid(stats.norm.logpdf(a) + stats.norm.logpdf(value, 0, np.sqrt(a**2 + sd**2)), a[1] - a[0])
    return zhat.Model(log_likelihood, prior, data=y), truth


def one_sum(d: int = 20) -> tuple[Any, float]:
    """Only the sum of twenty parameters is observed, precisely."""
    prior = {"x": dist.Normal(0, 1).expand([d]).to_event(1)}
    return zhat.Model(lambda p: log_normal(3.0, jnp.sum(p["x"]), 0.01), prior), float(
        stats.norm.logpdf(3.0, 0, math.sqrt(d + 1e-4))
    )


def rounded_normal(d: int = 6) -> tuple[Any, float]:
    """A normal log likelihood rounded down to even numbers: plateaus that are shells."""

    def log_likelihood(p: Any) -> Any:
        return -2.0 * jnp.floor(0.25 * jnp.sum(p["x"] ** 2) / 0.3**2)

    k = np.arange(200)
    radius = lambda level: 0.3 * np.sqrt(4.0 * level)  # noqa: E731
    ball = 0.5 * d * math.log(math.pi) - special.gammaln(0.5 * d + 1.0)
    volumes = radius(k + 1) ** d - radius(k) ** d
    return zhat.Model(log_likelihood, flat(-4, 4, d)), float(
        special.logsumexp(-2.0 * k + np.log(volumes)) + ball - d * math.log(8.0)
    )


def forbidden(d: int = 5) -> tuple[Any, float]:
    """A normal that is allowed only where all coordinates increase: zero likelihood on most of the prior."""

    def log_likelihood(p: Any) -> Any:
        inside = jnp.all(jnp.diff(p["x"]) > 0.0)
        return jnp.where(inside, jnp.sum(log_normal(p["x"], 0.0, 0.5)), -jnp.inf)

    return zhat.Model(log_likelihood, flat(-5, 5, d)), -math.lgamma(d + 1.0) - d * math.log(10.0)


def narrow(d: int = 12) -> tuple[Any, float]:
    """A normal of width 1e-4 in a box of width twenty."""
    at = np.linspace(-3, 3, d)
    return zhat.Model(lambda p: jnp.sum(log_normal(p["x"], at, 1e-4)), flat(-10, 10, d)), -d * math.log(20.0)


# -- many modes by conflict, tails, closed forms --------------------------------------------------------------------------------------------


def conflict(d: int = 8) -> tuple[Any, float]:
    """Cauchy errors with two data apart in each coordinate: 2^d modes, a product of integrals."""

    def log_likelihood(p: Any) -> Any:
        x = p["x"]
        return jnp.sum(-jnp.log1p((x - 3.0) ** 2 / 0.09) - jnp.log1p((x + 2.0) ** 2 / 0.09))

    x = np.linspace(-40, 40, 800_001)
    one = stats.norm.logpdf(x, 0, 3) - np.log1p((x - 3) ** 2 / 0.09) - np.log1p((x + 2) ** 2 / 0.09)
    return zhat.Model(log_likelihood, {"x": dist.Normal(0, 3).expand([d]).to_event(1)}), d * log_trapezoid(one, x[1] - x[0])


def cauchy_prior(d: int = 10) -> tuple[Any, float]:
    """Normal data far out under Cauchy priors: shrunk a little, tails of the prior matter."""
    y = np.linspace(-8, 12, d)
    model = zhat.Model(
        lambda p, y: jnp.sum(log_normal(y, p["x"], 1.5)), {"x": dist.Cauchy(0, 0.5).expand([d]).to_event(1)}, data=y
    )
    x = np.linspace(-60, 60, 600_001)
    parts = [log_trapezoid(stats.cauchy.logpdf(x, 0, 0.5) + stats.norm.logpdf(v, x, 1.5), x[1] - x[0]) for v in y]
    return model, float(sum(parts))


def categories(k: int = 60) -> tuple[Any, float]:
    """Multinomial counts of sixty categories."""
    y = np.random.default_rng(3).poisson(4.0, k)

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(y * jnp.log(p["w"]))

    truth = special.gammaln(k) - special.gammaln(k + y.sum()) + special.gammaln(1.0 + y).sum()
    return zhat.Model(log_likelihood, {"w": dist.Dirichlet(jnp.ones(k))}, data=y), float(truth)


def correlated(d: int = 50) -> tuple[Any, float]:
    """A noisy observation of a smooth random walk: correlations of 0.99 in fifty dimensions."""
    times = np.arange(d)
    cov = np.exp(-np.abs(times[:, None] - times) / 100.0)
    chol = np.linalg.cholesky(cov)
    y = np.random.default_rng(5).normal(size=d) * 0.3 + 1.0
    prior = {"x": dist.MultivariateNormal(jnp.zeros(d), scale_tril=jnp.asarray(chol))}
    truth = stats.multivariate_normal(np.zeros(d), cov + 0.09 * np.eye(d)).logpdf(y)
    return zhat.Model(lambda p, y: jnp.sum(log_normal(y, p["x"], 0.3)), prior, data=y), float(truth)


def free_degrees() -> tuple[Any, float]:
    """Place, scale and degrees of freedom of t data: quadrature over three."""
    y = stats.t.rvs(3.0, size=40, random_state=np.random.default_rng(6)) * 0.7 + 0.4

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(dist.StudentT(p["nu"], p["m"], p["s"]).log_prob(y))

    prior = {"m": dist.Normal(0, 5), "s": dist.HalfNormal(2.0), "nu": dist.Gamma(2.0, 0.1)}
    m, s = np.linspace(-0.6, 1.4, 120), np.exp(np.linspace(-2.5, 1.2, 120))
    nu = np.exp(np.linspace(-2.0, 5.5, 160))
    values = np.empty((120, 120, 160))
    for i, at in enumerate(m):
        z = ((y - at) / s[:, None]) ** 2
        inside = -0.5 * (nu + 1.0) * np.log1p(z[:, None, :] / nu[None, :, None]).sum(2)
        constant = special.gammaln(0.5 * (nu + 1)) - special.gammaln(0.5 * nu) - 0.5 * np.log(nu * math.pi)
        values[i] = inside + 40 * constant - 39 * np.log(s)[:, None] + stats.halfnorm.logpdf(s, scale=2.0)[:, None]
        values[i] += stats.gamma.logpdf(nu, 2.0, scale=10.0) + np.log(nu) + stats.norm.logpdf(at, 0, 5)
    steps = math.log(m[1] - m[0]) + math.log(3.7 / 119) + math.log(7.5 / 159)
    return zhat.Model(log_likelihood, prior, data=y), float(special.logsumexp(values) + steps)


def bioassay() -> tuple[Any, float]:
    """Four doses of a poison, five animals each: a wide flat prior, a skewed posterior."""
    dose, dead = np.array([-0.86, -0.30, -0.05, 0.73]), np.array([0, 1, 3, 5])

    def log_likelihood(p: Any) -> Any:
        eta = p["a"] + p["b"] * dose
        return jnp.sum(dead * jax.nn.log_sigmoid(eta) + (5 - dead) * jax.nn.log_sigmoid(-eta))

    prior = {"a": dist.Uniform(-20, 20), "b": dist.Uniform(-10, 80)}
    a, b = (np.arange(3000) + 0.5) / 3000 * 40 - 20, (np.arange(4500) + 0.5) / 4500 * 90 - 10
    values = np.zeros((3000, 4500))
    for x, k in zip(dose, dead, strict=True):
        eta = a[:, None] + b * x
        values -= k * np.logaddexp(0, -eta) + (5 - k) * np.logaddexp(0, eta)
    truth = log_simpson_2d(values, 40 / 3000, 90 / 4500) - math.log(40 * 90)
    return zhat.Model(log_likelihood, prior), truth


def eggbox() -> tuple[Any, float]:
    """Feroz's eggbox: eighteen equal peaks."""

    def log_likelihood(p: Any) -> Any:
        return (2.0 + jnp.cos(0.5 * p["x"][0]) * jnp.cos(0.5 * p["x"][1])) ** 5

    x = (np.arange(4000) + 0.5) / 4000 * 10 * math.pi
    values = (2.0 + np.cos(0.5 * x)[:, None] * np.cos(0.5 * x)) ** 5
    return zhat.Model(log_likelihood, flat(0, 10 * math.pi, 2)), float(special.logsumexp(values) - 2 * math.log(4000))


def sampled_process(n: int = 24) -> tuple[Any, float]:
    """Latent values of a Gaussian process and its amplitude, counts observed with normal noise on the square root."""
    rng = np.random.default_rng(33)
    x = np.linspace(0, 1, n)
    kernel = np.exp(-0.5 * ((x[:, None] - x) / 0.2) ** 2) + 1e-6 * np.eye(n)
    chol = np.linalg.cholesky(kernel)
    y = chol @ rng.normal(size=n) * 1.5 + 0.4 * rng.normal(size=n)

    def program(y: Any = None) -> None:
        amplitude = numpyro.sample("amplitude", dist.HalfNormal(2.0))
        noise = numpyro.sample("noise", dist.HalfNormal(1.0))
        z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([n]).to_event(1))
        numpyro.sample("y", dist.Normal(amplitude * (jnp.asarray(chol) @ z), noise).to_event(1), obs=y)

    vals, vectors = np.linalg.eigh(kernel)
    q = (vectors.T @ y) ** 2
    a, s = np.linspace(1e-4, 8.0, 1200)[:, None, None], np.linspace(0.05, 2.5, 900)[None, :, None]
    v = a**2 * vals + s**2
    values = (
        -0.5 * (q / v + np.log(v) + LOG_2PI).sum(2) + stats.halfnorm.logpdf(a[..., 0], scale=2) + stats.halfnorm.logpdf(s[..., 0])
    )
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values, (8.0 - 1e-4) / 1199, 2.45 / 899)


THIRD: dict[str, Callable[[], tuple[Any, float]]] = {
    "mixture-with-scale": mixture_with_scale,
    "random-mixture-8": lambda: random_mixture(8, 12, 1),
    "random-mixture-20": lambda: random_mixture(20, 3, 2),
    "two-changes": two_changes,
    "broken-stick": broken_stick,
    "spectral-lines": spectral_lines,
    "two-decays": two_decays,
    "beta-binomial-60": beta_binomial,
    "slopes-25": slopes,
    "poisson-intercepts-100": poisson_intercepts,
    "poisson-intercepts-100-centred": lambda: poisson_intercepts(100, True),
    "horseshoe-30": horseshoe,
    "funnel-likelihood-5": funnel_likelihood,
    "two-shells-5": lambda: two_shells(5),
    "two-shells-15": lambda: two_shells(15),
    "product-ridge-2": lambda: product_ridge(1),
    "product-ridge-8": lambda: product_ridge(4),
    "one-sum-20": one_sum,
    "rounded-normal-6": rounded_normal,
    "forbidden-5": forbidden,
    "narrow-12": narrow,
    "conflict-8": conflict,
    "cauchy-prior-10": cauchy_prior,
    "categories-60": categories,
    "correlated-50": correlated,
    "free-degrees": free_degrees,
    "bioassay": bioassay,
    "eggbox": eggbox,
    "sampled-process-24": sampled_process,
    "random-mixture-box-4": boxed(lambda: random_mixture(4, 5, 3)),
    "two-shells-box-5": boxed(lambda: two_shells(5)),
    "product-ridge-box-2": boxed(lambda: product_ridge(1)),
    "funnel-likelihood-box-5": boxed(funnel_likelihood),
    "forbidden-box-5": boxed(forbidden),
    "two-changes-box": boxed(two_changes),
    "spectral-lines-box": boxed(spectral_lines),
}
