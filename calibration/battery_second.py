"""A second set of problems outside the zoo: science, plateaus, many modes, and black boxes, each with its truth by a formula or a quadrature.

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
from battery_problems import LOG_2PI, Problem, flat, log_normal, log_simpson_2d, log_trapezoid
from scipy import special, stats

import zhat

# -- sinusoids, outliers, counts -----------------------------------------------------------------------------------------------------


def orbit(n: int = 80, amplitude: float = 1.5) -> tuple[Any, float]:
    """A circular orbit in radial velocities: one frequency peak as narrow as a thousandth of its range, aliases around it."""
    rng = np.random.default_rng(21)
    t = np.sort(rng.uniform(0, 600, n))
    y = amplitude * np.cos(2 * np.pi * 0.1371 * t + 0.4) + rng.normal(size=n)

    def log_likelihood(p: Any, y: Any) -> Any:
        phase = 2.0 * jnp.pi * p["f"] * t
        return jnp.sum(log_normal(y, p["c"] + p["a"] * jnp.cos(phase) + p["b"] * jnp.sin(phase), 1.0))

    prior = {"f": dist.Uniform(0.001, 0.5), "a": dist.Normal(0, 2), "b": dist.Normal(0, 2), "c": dist.Normal(0, 2)}
    f = np.linspace(0.001, 0.5, 60_001)
    values = np.empty_like(f)
    for i, freq in enumerate(f):
        x = np.stack([np.cos(2 * np.pi * freq * t), np.sin(2 * np.pi * freq * t), np.ones(n)], axis=1)
        values[i] = _linear(x, y, 2.0)
    return zhat.Model(log_likelihood, prior, data=y), log_trapezoid(values, f[1] - f[0]) - math.log(0.499)


def _linear(x: np.ndarray, y: np.ndarray, tau: float) -> float:
    """Log evidence of y ~ N(x b, 1), b ~ N(0, tau^2)."""
    precision = np.eye(x.shape[1]) / tau**2 + x.T @ x
    b = x.T @ y
    half = 0.5 * b @ np.linalg.solve(precision, b) - 0.5 * np.linalg.slogdet(precision)[1]
    return float(half - x.shape[1] * math.log(tau) - 0.5 * y @ y - 0.5 * len(y) * LOG_2PI)


def two_sinusoids(n: int = 50) -> tuple[Any, float]:
    """Two sinusoids whose order is free: two mirrored modes, and ridges where one of the two fits noise."""
    rng = np.random.default_rng(8)
    t = np.linspace(0, 10, n)
    y = 1.2 * np.cos(2 * np.pi * 0.8 * t) + 0.9 * np.sin(2 * np.pi * 1.3 * t) + rng.normal(size=n)

    def log_likelihood(p: Any, y: Any) -> Any:
        phase = 2.0 * jnp.pi * p["f"][:, None] * t
        return jnp.sum(log_normal(y, p["a"] @ jnp.cos(phase) + p["b"] @ jnp.sin(phase), 1.0))

    prior = {
        "f": dist.Uniform(0.2, 2.0).expand([2]).to_event(1),
        "a": dist.Normal(0, 1).expand([2]).to_event(1),
        "b": dist.Normal(0, 1).expand([2]).to_event(1),
    }
    f = np.linspace(0.2, 2.0, 721)
    waves = np.stack([np.cos(2 * np.pi * f[:, None] * t), np.sin(2 * np.pi * f[:, None] * t)], axis=1)
    values = np.empty((len(f), len(f)))
    for i in range(len(f)):
        x = np.concatenate([np.broadcast_to(waves[i], waves.shape), waves], axis=1)  # frequencies, 4, t
        precision = np.eye(4) + x @ x.transpose(0, 2, 1)
        b = x @ y
        values[i] = (
            0.5 * np.sum(b * np.linalg.solve(precision, b[..., None])[..., 0], axis=1) - 0.5 * np.linalg.slogdet(precision)[1]
        )
    weights = np.ones(len(f))
    weights[[0, -1]] = 0.5
    values += np.log(weights)[:, None] + np.log(weights)
    step = f[1] - f[0]
    truth = log_simpson_2d(values, step, step) - 2 * math.log(1.8) - 0.5 * y @ y - 0.5 * n * LOG_2PI
    return zhat.Model(log_likelihood, prior, data=y), truth


def line_with_outliers() -> tuple[Any, float]:
    """A straight line with wild points, the share of which is free: exact over all 2^12 allocations."""
    rng = np.random.default_rng(2)
    x = np.linspace(-1, 1, 12)
    y = 0.5 + 1.5 * x + 0.2 * rng.normal(size=12)
    y[[2, 7, 10]] += [6.0, -5.0, 4.0]
    good, wild = 0.2, 5.0

    def log_likelihood(p: Any, y: Any) -> Any:
        line = p["a"] + p["b"] * x
        terms = [jnp.log1p(-p["q"]) + log_normal(y, line, good), jnp.log(p["q"]) + log_normal(y, line, wild)]
        return jnp.sum(jnp.logaddexp(*terms))

    prior = {"q": dist.Beta(1, 3), "a": dist.Normal(0, 3), "b": dist.Normal(0, 3)}
    design = np.stack([np.ones(12), x], axis=1)
    total = []
    for outlier in itertools.product((False, True), repeat=12):
        sd = np.where(outlier, wild, good)
        k = sum(outlier)
        share = special.betaln(1 + k, 3 + 12 - k) - special.betaln(1, 3)
        total.append(share + _linear(design / sd[:, None], y / sd, 3.0) - np.sum(np.log(sd)))
    return zhat.Model(log_likelihood, prior, data=y), float(special.logsumexp(total))


def zero_inflated() -> tuple[Any, float]:
    """Zero-inflated Poisson counts: a quadrature over share and rate."""
    y = np.concatenate([np.zeros(30), np.random.default_rng(6).poisson(2.5, 20)])
    n_zero, n, total = int((y == 0).sum()), len(y), float(y.sum())

    def log_likelihood(p: Any, y: Any) -> Any:
        poisson = y * jnp.log(p["rate"]) - p["rate"] - jax.scipy.special.gammaln(y + 1.0)
        return jnp.sum(
            jnp.where(y == 0, jnp.logaddexp(jnp.log(p["q"]), jnp.log1p(-p["q"]) + poisson), jnp.log1p(-p["q"]) + poisson)
        )

    prior = {"q": dist.Beta(1, 1), "rate": dist.Gamma(1.0, 0.2)}
    q = (np.arange(2000) + 0.5)[:, None] / 2000
    r = (np.arange(4000) + 0.5)[None, :] * (12.0 / 4000)
    values = n_zero * np.log(q + (1 - q) * np.exp(-r)) + (n - n_zero) * np.log1p(-q)
    values = values - (n - n_zero) * r + total * np.log(r) - special.gammaln(y + 1).sum() + stats.gamma.logpdf(r, 1.0, scale=5.0)
    return zhat.Model(log_likelihood, prior, data=y), log_simpson_2d(values, 1 / 2000, 12.0 / 4000)


def rare_events(k: int = 8) -> tuple[Any, float]:
    """Binomials with no success under Beta(0.2, 0.2): densities that are unbounded at the edge."""
    n = jnp.arange(3.0, 3.0 + 4 * k, 4.0)

    def log_likelihood(p: Any) -> Any:
        return jnp.sum(n * jnp.log1p(-p["p"]))

    truth = float(np.sum(special.betaln(0.2, 0.2 + np.asarray(n)) - special.betaln(0.2, 0.2)))
    return zhat.Model(log_likelihood, lambda: {"p": dist.Beta(0.2, 0.2).expand([k]).to_event(1)}), truth


def epidemic() -> tuple[Any, float]:
    """Logistic growth by an ODE solver that overflows at absurd rates: a quadrature over two parameters."""
    times = jnp.arange(0.0, 12.0)
    y = np.array([3, 4, 8, 11, 22, 30, 47, 60, 71, 80, 88, 86])

    def curve(rate: Any, top: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            for _i in range(10):
                x = x + 0.1 * rate * x * (1.0 - x / top)
            return x, x

        _, xs = jax.lax.scan(step, 2.0 + 0.0 * rate, times)
        return xs

    def log_likelihood(p: Any, y: Any) -> Any:
        mean = curve(p["rate"], p["top"])
        return jnp.sum(y * jnp.log(mean) - mean - jax.scipy.special.gammaln(y + 1.0))

    prior = {"rate": dist.LogNormal(-0.5, 1.5), "top": dist.LogNormal(4.0, 1.0)}
    u, v = np.linspace(math.log(0.3), math.log(1.2), 400), np.linspace(math.log(60), math.log(200), 400)
    grid = jnp.stack([a.ravel() for a in jnp.meshgrid(jnp.exp(u), jnp.exp(v), indexing="ij")])
    found = jax.vmap(lambda g: log_likelihood({"rate": g[0], "top": g[1]}, jnp.asarray(y)))(grid.T)
    values = np.asarray(found).reshape(400, 400) + stats.norm.logpdf(u, -0.5, 1.5)[:, None] + stats.norm.logpdf(v, 4.0, 1.0)
    return zhat.Model(log_likelihood, prior, data=y), log_simpson_2d(values, u[1] - u[0], v[1] - v[0])


# -- plateaus, many modes, many parameters -------------------------------------------------------------------------------------------


def terraces(d: int = 5) -> tuple[Any, float]:
    """A pyramid of steps in the largest coordinate: plateaus at every level, exact volumes."""

    def log_likelihood(p: Any) -> Any:
        return -3.0 * jnp.floor(8.0 * jnp.max(jnp.abs(p["x"])))

    levels = np.arange(8)
    volumes = ((levels + 1) / 8.0) ** d - (levels / 8.0) ** d
    return zhat.Model(log_likelihood, flat(-1, 1, d)), float(special.logsumexp(-3.0 * levels + np.log(volumes)))


def crates(d: int = 3) -> tuple[Any, float]:
    """Ten ridges in every coordinate: a thousand modes in three dimensions."""

    def log_likelihood(p: Any) -> Any:
        return jnp.sum(4.0 * jnp.cos(2.0 * jnp.pi * p["x"]))

    return zhat.Model(log_likelihood, flat(0, 10, d)), d * math.log(special.iv(0, 4.0))


def corners(d: int = 7) -> tuple[Any, float]:
    """A mode in every orthant, of two widths: 128 modes, exact."""

    def one(x: Any) -> Any:
        return jnp.logaddexp(math.log(0.7) + log_normal(x, -2.0, 0.4), math.log(0.3) + log_normal(x, 2.0, 0.2))

    return zhat.Model(lambda p: jnp.sum(one(p["x"])), flat(-5, 5, d)), -d * math.log(10.0)


def wide_shell(d: int = 25) -> tuple[Any, float]:
    """A shell in 25 dimensions."""

    def log_likelihood(p: Any) -> Any:
        return -0.5 * ((jnp.sqrt(jnp.sum(p["x"] ** 2) + 1e-300) - 4.0) / 0.2) ** 2

    r = np.linspace(1e-6, 6.0, 400_001)
    area = math.log(2.0) + 0.5 * d * math.log(math.pi) - special.gammaln(0.5 * d)
    truth = log_trapezoid(-0.5 * ((r - 4.0) / 0.2) ** 2 + (d - 1) * np.log(r) + area, r[1] - r[0]) - d * math.log(12.0)
    return zhat.Model(log_likelihood, flat(-6, 6, d)), truth


def bent(d: int = 20) -> tuple[Any, float]:
    """Normals of which one bends all others: exact, because the map has a unit Jacobian."""

    def log_likelihood(p: Any) -> Any:
        x, b = p["x"][0], p["x"][1:]
        return log_normal(x, 0.0, 1.0) + jnp.sum(log_normal(b, 0.4 * (x**2 - 1.0), 0.5))

    return zhat.Model(log_likelihood, flat(-12, 12, d)), -d * math.log(24.0)


def hierarchy_of_variances(groups: int = 40) -> tuple[Any, float]:
    """Group means with their spread and the noise free: quadrature over both, closed form over the rest (43 parameters)."""
    rng = np.random.default_rng(14)
    y = 1.0 + 0.4 * rng.normal(size=(groups, 1)) + 0.8 * rng.normal(size=(groups, 4))

    def program(y: Any = None) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 2.0))
        tau = numpyro.sample("tau", dist.HalfNormal(1.0))
        sigma = numpyro.sample("sigma", dist.HalfNormal(2.0))
        with numpyro.plate("g", groups):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("y", dist.Normal(theta[:, None], sigma).to_event(1), obs=y)

    t, s = np.linspace(1e-4, 3.0, 900)[:, None], np.linspace(0.3, 2.0, 700)[None, :]
    within = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum()
    values = (
        -0.5 * within / s**2
        - 3 * groups * np.log(s)
        - 2.0 * groups * LOG_2PI
        - 0.5 * groups * math.log(4.0)
        + 0.5 * groups * LOG_2PI
    )
    v = t**2 + s**2 / 4.0
    m, q = y.mean(axis=1).sum(), (y.mean(axis=1) ** 2).sum()
    precision = groups / v + 0.25
    values = values - 0.5 * groups * (LOG_2PI + np.log(v)) - 0.5 * q / v
    values = values + 0.5 * (m / v) ** 2 / precision - 0.5 * np.log(precision) - math.log(2.0)
    values = values + stats.halfnorm.logpdf(t, scale=1.0) + stats.halfnorm.logpdf(s, scale=2.0)
    return zhat.Model.from_numpyro(program, y=y), log_simpson_2d(values, 2.9999 / 899, 1.7 / 699)


def tails_and_peak(d: int = 12) -> tuple[Any, float]:
    """A t with five degrees of freedom and a normal peak elsewhere, of equal mass: no family has both for free."""
    at = 4.0 / math.sqrt(d)

    def log_likelihood(p: Any) -> Any:
        x = p["x"]
        peak = jnp.sum(log_normal(x, at, 0.8))
        constant = math.lgamma(0.5 * (5 + d)) - math.lgamma(2.5) - 0.5 * d * math.log(5.0 * math.pi)
        tails = constant - 0.5 * (5 + d) * jnp.log1p(jnp.sum((x + at) ** 2) / 5.0)
        return jnp.logaddexp(peak, tails)

    # Given its scale the t is normal: its share of the box is an integral over the chi-square quantiles.
    scale = np.sqrt(5.0 / stats.chi2.ppf((np.arange(20_000) + 0.5) / 20_000, 5.0))
    inside = float(np.mean((special.ndtr((12.0 + at) / scale) - special.ndtr((at - 12.0) / scale)) ** d))
    return zhat.Model(log_likelihood, flat(-12, 12, d)), math.log(1.0 + inside) - d * math.log(24.0)


# -- the same as black boxes ---------------------------------------------------------------------------------------------------------


def boxed(problem: Problem) -> Problem:
    """A problem as a function of NumPy arrays that nothing can look into."""

    def made() -> tuple[Any, float]:
        model, truth = problem()
        data = () if model.data is None else (model.data,)
        compiled = jax.jit(lambda p: model.log_likelihood(p, *data))
        prior = model.prior if callable(model.prior) else dict(model.prior)
        return zhat.Model.black_box(lambda p: float(compiled(p)), prior, name="box"), truth

    return made


def gaussian_box(d: int) -> tuple[Any, float]:
    """One clear mode, correlated."""
    cov = 0.2**2 * (0.6 + 0.4 * np.eye(d))
    precision, log_det = np.linalg.inv(cov), np.linalg.slogdet(cov)[1]

    def log_likelihood(p: Any) -> float:
        r = p["x"] - 0.3
        return float(-0.5 * r @ precision @ r - 0.5 * log_det - 0.5 * d * LOG_2PI)

    prior = {"x": dist.Uniform(-5.0, 5.0).expand([d]).to_event(1)}
    return zhat.Model.black_box(log_likelihood, prior, name="box"), -d * math.log(10.0)


def two_widths_box(d: int, broad: float, narrow: float) -> tuple[Any, float]:
    """Two modes of equal mass and unequal width."""

    def log_likelihood(p: Any) -> float:
        x = p["x"]
        one = -0.5 * np.sum((x + 1.0) ** 2) / broad**2 - d * math.log(broad)
        two = -0.5 * np.sum((x - 2.5) ** 2) / narrow**2 - d * math.log(narrow)
        return float(np.logaddexp(one, two) - math.log(2.0) - 0.5 * d * LOG_2PI)

    prior = {"x": dist.Uniform(-5.0, 5.0).expand([d]).to_event(1)}
    return zhat.Model.black_box(log_likelihood, prior, name="box"), -d * math.log(10.0)


def three_widths_box(d: int = 6) -> tuple[Any, float]:
    """Three modes of unequal width, the third with less than a ten thousandth of the prior."""
    modes = ((-1.0, 0.5, 0.4), (2.5, 0.2, 0.3), (-3.3, 0.12, 0.3))

    def log_likelihood(p: Any) -> float:
        terms = [math.log(w) - 0.5 * np.sum((p["x"] - m) ** 2) / s**2 - d * math.log(s) for m, s, w in modes]
        return float(np.logaddexp.reduce(terms) - 0.5 * d * LOG_2PI)

    prior = {"x": dist.Uniform(-5.0, 5.0).expand([d]).to_event(1)}
    return zhat.Model.black_box(log_likelihood, prior, name="box"), -d * math.log(10.0)


SECOND: dict[str, Callable[[], tuple[Any, float]]] = {
    "orbit": orbit,
    "orbit-faint": lambda: orbit(60, 0.5),
    "two-sinusoids": two_sinusoids,
    "line-with-outliers": line_with_outliers,
    "zero-inflated": zero_inflated,
    "rare-events-8": rare_events,
    "epidemic": epidemic,
    "terraces-5": terraces,
    "crates-3": crates,
    "corners-7": corners,
    "shell-25": wide_shell,
    "bent-20": bent,
    "variances-40": hierarchy_of_variances,
    "tails-and-peak-12": tails_and_peak,
    "gaussian-box-6": lambda: gaussian_box(6),
    "gaussian-box-10": lambda: gaussian_box(10),
    "two-widths-box-4": lambda: two_widths_box(4, 0.6, 0.15),
    "two-widths-box-6": lambda: two_widths_box(6, 0.5, 0.2),
    "two-widths-box-10": lambda: two_widths_box(10, 0.5, 0.3),
    "three-widths-box-6": three_widths_box,
    "orbit-box": boxed(orbit),
    "line-with-outliers-box": boxed(line_with_outliers),
    "terraces-box-5": boxed(terraces),
    "bent-box-6": boxed(lambda: bent(6)),
}
