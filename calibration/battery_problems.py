"""Problems outside the zoo, each with its truth by a closed form, an enumeration or a quadrature over at most two dimensions.

They are never used to choose a setting: a threshold that is tuned on traps is tried here. Each function returns (model, log evidence).
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
from scipy import integrate, special, stats

import zhat

LOG_2PI = math.log(2.0 * math.pi)
Problem = Callable[[], tuple[Any, float]]


def flat(low: float, high: float, d: int) -> Any:
    """A uniform prior of a vector x."""
    return lambda: {"x": dist.Uniform(low, high).expand([d]).to_event(1)}


def log_normal(x: Any, mean: Any, sd: Any) -> Any:
    """Log density of a normal."""
    return -0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd) - 0.5 * LOG_2PI


def log_trapezoid(values: np.ndarray, step: float) -> float:
    """log of the integral of exp(values) over an even grid."""
    return float(special.logsumexp(values) + math.log(step))


def log_simpson_2d(values: np.ndarray, step_a: float, step_b: float) -> float:
    """The same over two dimensions, for integrands that vanish at the edges."""
    return float(special.logsumexp(values) + math.log(step_a) + math.log(step_b))


# -- shells, ridges, plateaus --------------------------------------------------------------------------------------------------------


def shell(d: int, radius: float = 2.0, width: float = 0.1) -> tuple[Any, float]:
    """A Gaussian shell in Uniform(-6, 6)^d."""

    def log_likelihood(p: Any) -> Any:
        r = jnp.sqrt(jnp.sum(p["x"] ** 2) + 1e-300)
        return -0.5 * ((r - radius) / width) ** 2

    r = np.linspace(1e-6, 6.0, 400_001)
    area = math.log(2.0) + 0.5 * d * math.log(math.pi) - special.gammaln(0.5 * d)
    values = -0.5 * ((r - radius) / width) ** 2 + (d - 1) * np.log(r) + area
    return zhat.Model(log_likelihood, flat(-6, 6, d)), log_trapezoid(values, r[1] - r[0]) - d * math.log(12.0)


def shell_and_blob(d: int = 6) -> tuple[Any, float]:
    """Half of the mass on a shell, half in a small blob off its centre."""
    _, z = shell(d)
    shell_mass = z + d * math.log(12.0)

    def log_likelihood(p: Any) -> Any:
        r = jnp.sqrt(jnp.sum(p["x"] ** 2) + 1e-300)
        on = -0.5 * ((r - 2.0) / 0.1) ** 2 - shell_mass
        blob = jnp.sum(log_normal(p["x"], 4.0, 0.3))
        return jnp.logaddexp(on, blob) - math.log(2.0)

    return zhat.Model(log_likelihood, flat(-6, 6, d)), -d * math.log(12.0)


def twisted(d: int, bend: float = 1.0) -> tuple[Any, float]:
    """A curved ridge: x1 ~ N(0, 1.5^2), x_{k+1} ~ N(bend (x_k^2 - 1) / 3, 0.1^2) for pairs; the map has unit Jacobian."""

    def log_likelihood(p: Any) -> Any:
        x = p["x"]
        a, b = x[0::2], x[1::2]
        return jnp.sum(log_normal(a, 0.0, 1.5)) + jnp.sum(log_normal(b, bend * (a**2 - 1.0) / 3.0, 0.1))

    return zhat.Model(log_likelihood, flat(-20, 20, d)), -d * math.log(40.0)


def chained_ridge(d: int = 10) -> tuple[Any, float]:
    """Each coordinate bends on the one before: x_{k+1} ~ N(0.7 sin(2 x_k), 0.15^2), x_1 ~ N(0, 1)."""

    def log_likelihood(p: Any) -> Any:
        x = p["x"]
        return log_normal(x[0], 0.0, 1.0) + jnp.sum(log_normal(x[1:], 0.7 * jnp.sin(2.0 * x[:-1]), 0.15))

    return zhat.Model(log_likelihood, flat(-6, 6, d)), -d * math.log(12.0)


def rosenbrock(d: int = 2) -> tuple[Any, float]:
    """Rosenbrock's function in pairs, Uniform(-5, 5)."""

    def log_likelihood(p: Any) -> Any:
        a, b = p["x"][0::2], p["x"][1::2]
        return -jnp.sum((1.0 - a) ** 2 + 100.0 * (b - a**2) ** 2)

    a = np.linspace(-5, 5, 40_001)
    inner = np.log(0.5 * math.sqrt(math.pi / 100.0) * (special.erf(10 * (5 - a**2)) - special.erf(10 * (-5 - a**2))) + 1e-300)
    pair = log_trapezoid(-((1 - a) ** 2) + inner, a[1] - a[0])
    return zhat.Model(log_likelihood, flat(-5, 5, d)), (d // 2) * pair - d * math.log(10.0)


def disc() -> tuple[Any, float]:
    """A plateau: likelihood one inside a disc of 3 % of the square, e^-20 outside."""

    def log_likelihood(p: Any) -> Any:
        return jnp.where(jnp.sum((p["x"] - 0.3) ** 2) < 0.36, 0.0, -20.0)

    share = math.pi * 0.36 / 36.0
    return zhat.Model(log_likelihood, flat(-3, 3, 2)), math.log(share + (1 - share) * math.exp(-20.0))


def hard_ball(d: int = 4) -> tuple[Any, float]:
    """Likelihood of a Gaussian cut at a radius: zero outside."""

    def log_likelihood(p: Any) -> Any:
        r2 = jnp.sum((p["x"] - 0.5) ** 2)
        return jnp.where(r2 < 1.0, -0.5 * r2 / 0.25, -jnp.inf)

    inside = stats.chi2.cdf(1.0 / 0.25, d)
    return zhat.Model(log_likelihood, flat(-3, 3, d)), math.log(inside) + 0.5 * d * math.log(2 * math.pi * 0.25) - d * math.log(
        6.0
    )


def staircase() -> tuple[Any, float]:
    """Rounded likelihood: counts of a Poisson whose rate is rounded down to tenths."""
    y = np.array([3, 5, 4, 2, 6])

    def log_likelihood(p: Any) -> Any:
        rate = jnp.floor(10.0 * p["rate"]) / 10.0 + 0.05
        return jnp.sum(y * jnp.log(rate) - rate) - float(special.gammaln(y + 1.0).sum())

    grid = np.arange(0, 200) / 10.0 + 0.05
    values = (y[:, None] * np.log(grid) - grid - special.gammaln(y + 1.0)[:, None]).sum(axis=0)
    return zhat.Model(log_likelihood, {"rate": dist.Uniform(0.0, 20.0)}), float(special.logsumexp(values) - math.log(200.0))


# -- mixtures of several scales ------------------------------------------------------------------------------------------------------


def cigar_and_pancake(d: int = 6) -> tuple[Any, float]:
    """Two normals with one centre, long in different directions."""

    def log_likelihood(p: Any) -> Any:
        x = p["x"]
        s1 = jnp.where(jnp.arange(d) < 1, 2.0, 0.05)
        s2 = jnp.where(jnp.arange(d) < d - 1, 0.8, 0.02)
        return jnp.logaddexp(jnp.sum(log_normal(x, 0.0, s1)), jnp.sum(log_normal(x, 0.0, s2))) - math.log(2.0)

    return zhat.Model(log_likelihood, flat(-15, 15, d)), -d * math.log(30.0)


def product_of_mixtures(d: int = 5) -> tuple[Any, float]:
    """Three modes in every coordinate: 3^d modes."""

    def log_likelihood(p: Any) -> Any:
        x = p["x"][:, None]
        at, sd = jnp.array([-3.0, 0.5, 3.0]), jnp.array([0.3, 0.2, 0.4])
        return jnp.sum(jax.scipy.special.logsumexp(log_normal(x, at, sd) + jnp.log(jnp.array([0.3, 0.4, 0.3])), axis=1))

    return zhat.Model(log_likelihood, flat(-6, 6, d)), -d * math.log(12.0)


def log_gamma(d: int = 10) -> tuple[Any, float]:
    """Two coordinates bimodal (log-gamma and normal mixtures), half of the rest log-gamma, half normal."""

    def lg(x: Any, at: float) -> Any:
        return (x - at) - jnp.exp(x - at)

    def log_likelihood(p: Any) -> Any:
        x = p["x"]
        first = jnp.logaddexp(lg(x[0], 10.0), lg(x[0], -10.0)) - math.log(2.0)
        second = jnp.logaddexp(log_normal(x[1], 10.0, 1.0), log_normal(x[1], -10.0, 1.0)) - math.log(2.0)
        half = 2 + (d - 2) // 2
        return first + second + jnp.sum(lg(x[2:half], 10.0)) + jnp.sum(log_normal(x[half:], 10.0, 1.0))

    return zhat.Model(log_likelihood, flat(-30, 30, d)), -d * math.log(60.0)


def heavy_tails(d: int, df: float) -> tuple[Any, float]:
    """A multivariate t in a wide box (truth less than 1e-3 below the whole)."""

    def log_likelihood(p: Any) -> Any:
        q = jnp.sum(p["x"] ** 2)
        constant = special.gammaln(0.5 * (df + d)) - special.gammaln(0.5 * df) - 0.5 * d * math.log(df * math.pi)
        return constant - 0.5 * (df + d) * jnp.log1p(q / df)

    half = 200.0
    # P(all |x_i| < half): average over the scale of the normal's shares.
    u = (np.arange(20_000) + 0.5) / 20_000
    scale = np.sqrt(df / stats.chi2.ppf(u, df))
    inside = np.mean(special.erf(half / scale / math.sqrt(2.0)) ** d)
    return zhat.Model(log_likelihood, flat(-half, half, d)), float(np.log(inside)) - d * math.log(2 * half)


def mixture_by_enumeration() -> tuple[Any, float]:
    """Three normals with known width on ten data, means and weights free: exact over all allocations."""
    y = np.array([-2.1, -1.8, -1.9, 0.1, 0.3, -0.2, 2.2, 2.4, 1.9, 2.0])
    sd, tau = 0.4, 2.0

    def log_likelihood(p: Any) -> Any:
        terms = log_normal(jnp.asarray(y)[:, None], p["mu"], sd) + jnp.log(p["w"])
        return jnp.sum(jax.scipy.special.logsumexp(terms, axis=1))

    def prior() -> Any:
        return {"w": dist.Dirichlet(jnp.ones(3)), "mu": dist.Normal(0.0, tau).expand([3]).to_event(1)}

    counts = np.array(list(itertools.product(range(3), repeat=len(y))), dtype=np.int8)
    total = np.zeros(len(counts))
    n_of = np.zeros((len(counts), 3))
    for k in range(3):
        member = counts == k
        n = member.sum(axis=1)
        s, s2 = member @ y, member @ y**2
        v = 1.0 / (n / sd**2 + 1.0 / tau**2)
        total += -0.5 * n * (LOG_2PI + 2 * math.log(sd)) - 0.5 * s2 / sd**2 + 0.5 * np.log(v) - math.log(tau)
        total += 0.5 * v * (s / sd**2) ** 2
        n_of[:, k] = n
    total += special.gammaln(3.0) - special.gammaln(3.0 + len(y)) + special.gammaln(1.0 + n_of).sum(axis=1)
    return zhat.Model(log_likelihood, prior), float(special.logsumexp(total))


# -- science -------------------------------------------------------------------------------------------------------------------------


def periodogram(n: int = 60, amplitude: float = 0.8) -> tuple[Any, float]:
    """A sinusoid in noise: frequency uniform, two normal amplitudes: dozens of modes along the frequency."""
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0, 30, n))
    y = amplitude * np.sin(2 * np.pi * 0.43 * t) + rng.normal(size=n)

    def log_likelihood(p: Any, y: Any) -> Any:
        phase = 2.0 * jnp.pi * p["f"] * t
        return jnp.sum(log_normal(y, p["a"] * jnp.cos(phase) + p["b"] * jnp.sin(phase), 1.0))

    prior = {"f": dist.Uniform(0.01, 2.0), "a": dist.Normal(0.0, 1.0), "b": dist.Normal(0.0, 1.0)}
    f = np.linspace(0.01, 2.0, 40_001)
    values = np.empty_like(f)
    for i, freq in enumerate(f):
        x = np.stack([np.cos(2 * np.pi * freq * t), np.sin(2 * np.pi * freq * t)], axis=1)
        precision = np.eye(2) + x.T @ x
        b = x.T @ y
        values[i] = 0.5 * b @ np.linalg.solve(precision, b) - 0.5 * np.linalg.slogdet(precision)[1]
    values += -0.5 * y @ y - 0.5 * n * LOG_2PI - math.log(1.99)
    return zhat.Model(log_likelihood, prior, data=y), log_trapezoid(values, f[1] - f[0])


def change_point() -> tuple[Any, float]:
    """Counts with one change of rate at a continuous time: the likelihood is a staircase in the time."""
    rng = np.random.default_rng(3)
    y = np.concatenate([rng.poisson(3.0, 40), rng.poisson(1.2, 60)])
    n = len(y)
    at = np.arange(n) + 0.5

    def log_likelihood(p: Any, y: Any) -> Any:
        rate = jnp.where(at < p["time"], p["early"], p["late"])
        return jnp.sum(y * jnp.log(rate) - rate - jax.scipy.special.gammaln(y + 1.0))

    prior = {"time": dist.Uniform(0.0, 100.0), "early": dist.Gamma(2.0, 1.0), "late": dist.Gamma(2.0, 1.0)}

    def part(s: float, m: int) -> float:
        return float(special.gammaln(2.0 + s) - special.gammaln(2.0) - (2.0 + s) * math.log(1.0 + m))

    edges = np.concatenate([[0.0], at, [100.0]])
    terms = []
    for k in range(n + 1):
        width = edges[k + 1] - edges[k]
        terms.append(math.log(width / 100.0) + part(y[:k].sum(), k) + part(y[k:].sum(), n - k))
    return zhat.Model(log_likelihood, prior, data=y), float(special.logsumexp(terms) - special.gammaln(y + 1.0).sum())


def hierarchy(groups: int, centred: bool, seed: int = 1) -> tuple[Any, float]:
    """Normal group means with known standard errors: mu ~ N(0, 5^2), tau ~ half-Cauchy(2)."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.7, 1.5, groups)
    y = rng.normal(1.0, 0.6, groups) + s * rng.normal(size=groups)

    def program(y: Any = None) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
        tau = numpyro.sample("tau", dist.HalfCauchy(2.0))
        with numpyro.plate("g", groups):
            if centred:
                theta = numpyro.sample("theta", dist.Normal(mu, tau))
            else:
                theta = mu + tau * numpyro.sample("z", dist.Normal(0.0, 1.0))
            numpyro.sample("y", dist.Normal(theta, s), obs=y)

    u = np.linspace(-14.0, 9.0, 2001)
    mu = np.linspace(-25.0, 25.0, 2001)
    tau = np.exp(u)
    values = np.zeros((len(u), len(mu)))
    for yi, si in zip(y, s, strict=True):
        sd = np.hypot(tau, si)[:, None]
        values += -0.5 * ((yi - mu) / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI
    values += stats.norm.logpdf(mu, 0, 5.0) + (stats.halfcauchy.logpdf(tau, scale=2.0) + u)[:, None]
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values, u[1] - u[0], mu[1] - mu[0])


def horseshoe(p: int = 8, centred: bool = False) -> tuple[Any, float]:
    """Means y_j ~ N(beta_j, 1), beta_j ~ N(0, (tau lambda_j)^2), lambda_j and tau half-Cauchy."""
    y = np.array([0.3, -0.8, 4.5, 0.1, -0.5, 6.0, 1.1, -0.2] * (p // 8))

    def program(y: Any = None) -> None:
        tau = numpyro.sample("tau", dist.HalfCauchy(0.5))
        with numpyro.plate("j", p):
            scale = numpyro.sample("scale", dist.HalfCauchy(1.0))
            if centred:
                beta = numpyro.sample("beta", dist.Normal(0.0, tau * scale))
            else:
                beta = tau * scale * numpyro.sample("z", dist.Normal(0.0, 1.0))
            numpyro.sample("y", dist.Normal(beta, 1.0), obs=y)

    u = np.linspace(-25.0, 25.0, 4001)
    v = np.linspace(-25.0, 25.0, 1001)
    lam = np.exp(u)
    prior = stats.halfcauchy.logpdf(lam) + u
    total = np.zeros(len(v))
    for i, t in enumerate(np.exp(v)):
        sd = np.sqrt(1.0 + (t * lam) ** 2)
        for yj in y:
            total[i] += log_trapezoid(prior - 0.5 * (yj / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI, u[1] - u[0])
    total += stats.halfcauchy.logpdf(np.exp(v), scale=0.5) + v
    return zhat.Model.from_numpyro(program, y=y), log_trapezoid(total, v[1] - v[0])


def funnel(d: int = 10, noise: float = 1.0) -> tuple[Any, float]:
    """Neal's funnel as a prior, with observations of its x."""
    y = np.linspace(-1.5, 1.5, d - 1)

    def program(y: Any = None) -> None:
        v = numpyro.sample("v", dist.Normal(0.0, 3.0))
        with numpyro.plate("i", d - 1):
            x = numpyro.sample("x", dist.Normal(0.0, jnp.exp(0.5 * v)))
            numpyro.sample("y", dist.Normal(x, noise), obs=y)

    v = np.linspace(-30.0, 30.0, 20_001)
    sd = np.sqrt(np.exp(v) + noise**2)[:, None]
    values = (-0.5 * (y / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI).sum(axis=1) + stats.norm.logpdf(v, 0, 3.0)
    return zhat.Model.from_numpyro(program, y=y), log_trapezoid(values, v[1] - v[0])


def spike_and_slab_prior(p: int = 8) -> tuple[Any, float]:
    """Continuous spike and slab: beta_j ~ 0.5 N(0, 0.05^2) + 0.5 N(0, 3^2), y_j ~ N(beta_j, 0.5^2)."""
    y = np.array([0.1, 1.2, -0.3, 2.5, 0.0, -1.1, 0.4, 0.8])[:p]

    def log_likelihood(q: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, q["beta"], 0.5))

    def prior() -> Any:
        mixing = dist.Categorical(probs=jnp.ones((p, 2)) / 2)
        parts = dist.Normal(jnp.zeros((p, 2)), jnp.array([0.05, 3.0]) * jnp.ones((p, 2)))
        return {"beta": dist.MixtureSameFamily(mixing, parts).to_event(1)}

    terms = [
        np.logaddexp(stats.norm.logpdf(v, 0, math.hypot(0.5, 0.05)), stats.norm.logpdf(v, 0, math.hypot(0.5, 3.0))) for v in y
    ]
    return zhat.Model(log_likelihood, prior, data=y), float(np.sum(terms) - p * math.log(2.0))


def sparse_dirichlet(k: int = 20) -> tuple[Any, float]:
    """Multinomial counts, most of them zero, under a Dirichlet(0.3)."""
    y = np.zeros(k)
    y[[0, 3, 7, 8]] = [12, 5, 1, 2]

    def log_likelihood(q: Any, y: Any) -> Any:
        return jnp.sum(jax.scipy.special.xlogy(y, q["w"]))

    a = 0.3
    truth = special.gammaln(k * a) - special.gammaln(k * a + y.sum()) + (special.gammaln(a + y) - special.gammaln(a)).sum()
    return zhat.Model(log_likelihood, lambda: {"w": dist.Dirichlet(a * jnp.ones(k))}, data=y), float(truth)


def gaussian(d: int, condition: float = 1.0) -> tuple[Any, float]:
    """y ~ N(x, S) with one observation, x ~ N(0, I): variances from 1 down to 1 / condition."""
    s2 = np.logspace(0.0, -math.log10(condition), d) if condition > 1 else np.full(d, 0.3)
    y = np.sin(1.0 + np.arange(d))
    q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, jnp.asarray(q) @ p["x"], jnp.sqrt(s2)))

    truth = stats.norm.logpdf(y, 0, np.sqrt(1.0 + s2)).sum()
    return zhat.Model(log_likelihood, lambda: {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)}, data=y), float(truth)


def local_level(n: int = 50) -> tuple[Any, float]:
    """A random walk in noise, centred, both standard deviations free: n + 2 parameters."""
    rng = np.random.default_rng(2)
    y = np.cumsum(0.4 * rng.normal(size=n)) + 0.7 * rng.normal(size=n)

    def program(y: Any = None) -> None:
        walk = numpyro.sample("walk", dist.HalfNormal(1.0))
        noise = numpyro.sample("noise", dist.HalfNormal(1.0))
        level = numpyro.sample("level", dist.GaussianRandomWalk(1.0, num_steps=n))
        numpyro.sample("y", dist.Normal(walk * level, noise).to_event(1), obs=y)

    u = np.linspace(-9.0, 2.2, 161)
    values = np.empty((len(u), len(u)))
    kernel = np.minimum.outer(np.arange(1, n + 1), np.arange(1, n + 1)).astype(float)
    w, basis = np.linalg.eigh(kernel)
    z2 = (basis.T @ y) ** 2
    for i, a in enumerate(np.exp(u)):
        for j, b in enumerate(np.exp(u)):
            v = a * a * w + b * b
            values[i, j] = -0.5 * np.sum(z2 / v + np.log(v) + LOG_2PI)
    prior = stats.halfnorm.logpdf(np.exp(u)) + u
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values + prior[:, None] + prior, u[1] - u[0], u[1] - u[0])


def gp_regression(n: int = 25) -> tuple[Any, float]:
    """Length scale and noise of a Gaussian process with unit variance."""
    rng = np.random.default_rng(7)
    x = np.linspace(0, 5, n)
    y = np.sin(2 * x) + 0.3 * rng.normal(size=n)
    square = (x[:, None] - x) ** 2

    def log_likelihood(p: Any, y: Any) -> Any:
        k = jnp.exp(-0.5 * square / p["length"] ** 2) + (p["noise"] ** 2 + 1e-8) * jnp.eye(n)
        factor = jnp.linalg.cholesky(k)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * z @ z - jnp.sum(jnp.log(jnp.diag(factor))) - 0.5 * n * LOG_2PI

    prior = {"length": dist.LogNormal(0.0, 1.0), "noise": dist.HalfNormal(1.0)}
    u, w = np.linspace(-5.0, 5.0, 301), np.linspace(-8.0, 1.6, 301)
    values = np.empty((len(u), len(w)))
    for i, length in enumerate(np.exp(u)):
        eigenvalues, basis = np.linalg.eigh(np.exp(-0.5 * square / length**2))
        z2 = (basis.T @ y) ** 2
        v = np.maximum(eigenvalues, 0.0)[:, None] + np.exp(2 * w) + 1e-8
        values[i] = -0.5 * (z2[:, None] / v + np.log(v) + LOG_2PI).sum(axis=0)
    values += (stats.norm.logpdf(u))[:, None] + stats.halfnorm.logpdf(np.exp(w)) + w
    return zhat.Model(log_likelihood, prior, data=y), log_simpson_2d(values, u[1] - u[0], w[1] - w[0])


def lighthouse() -> tuple[Any, float]:
    """Flashes of a lighthouse: Cauchy likelihood, place and distance."""
    rng = np.random.default_rng(11)
    y = 1.0 + 0.7 * np.tan(rng.uniform(-np.pi / 2, np.pi / 2, 12))

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(jnp.log(p["far"]) - jnp.log(jnp.pi) - jnp.log(p["far"] ** 2 + (y - p["place"]) ** 2))

    prior = {"place": dist.Uniform(-10.0, 10.0), "far": dist.Uniform(0.0, 5.0)}
    a, b = (np.arange(4000) + 0.5) / 4000 * 20 - 10, (np.arange(2000) + 0.5) / 2000 * 5
    values = np.zeros((len(a), len(b)))
    for v in y:
        values += np.log(b) - math.log(math.pi) - np.log(b**2 + (v - a[:, None]) ** 2)
    return zhat.Model(log_likelihood, prior, data=y), log_simpson_2d(values, 20 / 4000, 5 / 2000) - math.log(100.0)


def end_of_range(n: int = 12) -> tuple[Any, float]:
    """Uniform(0, theta) data: the posterior's mode is at an edge of its support."""
    y = np.random.default_rng(4).uniform(0, 3.0, n)
    top = float(y.max())

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.where(p["theta"] >= jnp.max(y), -n * jnp.log(p["theta"]), -jnp.inf)

    truth = math.log(integrate.quad(lambda t: t**-n / 20.0, top, 20.0, epsabs=0, epsrel=1e-10)[0])
    return zhat.Model(log_likelihood, {"theta": dist.Uniform(0.0, 20.0)}, data=y), truth


def kinks(d: int = 8) -> tuple[Any, float]:
    """Laplace errors: a kink in every coordinate, under normal priors."""
    y = np.linspace(-2, 2, d)

    def log_likelihood(p: Any, y: Any) -> Any:
        return jnp.sum(-jnp.abs(y - p["x"]) / 0.1 - math.log(0.2))

    x = np.linspace(-8, 8, 160_001)
    truth = sum(log_trapezoid(-np.abs(v - x) / 0.1 - math.log(0.2) + stats.norm.logpdf(x), x[1] - x[0]) for v in y)
    return zhat.Model(log_likelihood, lambda: {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)}, data=y), truth


def separated(d: int = 2) -> tuple[Any, float]:
    """Logistic regression of perfectly separated classes."""
    x = np.array([-2.0, -1.5, -1.0, -0.4, 0.3, 0.9, 1.4, 2.2])
    y = (x > 0).astype(float)

    def log_likelihood(p: Any, y: Any) -> Any:
        eta = p["a"] + p["b"] * x
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta))

    a, b = np.linspace(-80, 80, 2001), np.linspace(-80, 80, 2001)
    values = np.zeros((len(a), len(b)))
    for xi, yi in zip(x, y, strict=True):
        eta = a[:, None] + b * xi
        values += yi * eta - np.logaddexp(0, eta)
    values += stats.norm.logpdf(a, 0, 10)[:, None] + stats.norm.logpdf(b, 0, 10)
    prior = {"a": dist.Normal(0.0, 10.0), "b": dist.Normal(0.0, 10.0)}
    return zhat.Model(log_likelihood, prior, data=y), log_simpson_2d(values, a[1] - a[0], b[1] - b[0])


def poisson_gamma(groups: int = 100) -> tuple[Any, float]:
    """Gamma rates of Poisson counts with both hyperparameters free: groups + 2 parameters."""
    rng = np.random.default_rng(9)
    y = rng.poisson(rng.gamma(2.0, 1.5, groups))

    def program(y: Any = None) -> None:
        a = numpyro.sample("a", dist.Gamma(2.0, 1.0))
        b = numpyro.sample("b", dist.Gamma(2.0, 1.0))
        with numpyro.plate("g", groups):
            rate = numpyro.sample("rate", dist.Gamma(a, b))
            numpyro.sample("y", dist.Poisson(rate), obs=y)

    u = np.linspace(-5.0, 4.0, 801)
    a, b = np.exp(u)[:, None], np.exp(u)[None, :]
    values = np.zeros((len(u), len(u)))
    for v in y:
        values += special.gammaln(a + v) - special.gammaln(a) - special.gammaln(v + 1.0) + a * np.log(b) - (a + v) * np.log1p(b)
    prior = stats.gamma.logpdf(np.exp(u), 2.0) + u
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values + prior[:, None] + prior, u[1] - u[0], u[1] - u[0])


PROBLEMS: dict[str, Problem] = {
    "shell-3": lambda: shell(3),
    "shell-10": lambda: shell(10),
    "shell-and-blob-6": shell_and_blob,
    "twisted-2": lambda: twisted(2),
    "twisted-10": lambda: twisted(10),
    "chained-ridge-10": chained_ridge,
    "rosenbrock-2": lambda: rosenbrock(2),
    "rosenbrock-8": lambda: rosenbrock(8),
    "disc": disc,
    "hard-ball-4": hard_ball,
    "staircase": staircase,
    "cigar-and-pancake-6": cigar_and_pancake,
    "product-of-mixtures-3": lambda: product_of_mixtures(3),
    "product-of-mixtures-5": product_of_mixtures,
    "log-gamma-10": log_gamma,
    "heavy-tails-3": lambda: heavy_tails(3, 2.0),
    "heavy-tails-20": lambda: heavy_tails(20, 3.0),
    "mixture-enumerated": mixture_by_enumeration,
    "periodogram": periodogram,
    "periodogram-weak": lambda: periodogram(40, 0.4),
    "change-point": change_point,
    "hierarchy-8": lambda: hierarchy(8, True),
    "hierarchy-30-centred": lambda: hierarchy(30, True),
    "hierarchy-30-noncentred": lambda: hierarchy(30, False),
    "hierarchy-198-noncentred": lambda: hierarchy(198, False),
    "horseshoe-8": horseshoe,
    "horseshoe-8-centred": lambda: horseshoe(8, True),
    "funnel-10": funnel,
    "funnel-30": lambda: funnel(30, 0.3),
    "spike-and-slab-prior-8": spike_and_slab_prior,
    "sparse-dirichlet-20": sparse_dirichlet,
    "gaussian-200": lambda: gaussian(200),
    "gaussian-10-stretched": lambda: gaussian(10, 1e8),
    "local-level-50": local_level,
    "gp-regression": gp_regression,
    "lighthouse": lighthouse,
    "end-of-range": end_of_range,
    "kinks-8": kinks,
    "separated": separated,
    "poisson-gamma-100": poisson_gamma,
}
