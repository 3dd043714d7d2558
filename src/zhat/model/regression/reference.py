"""Linear models with the reference prior of intercept and sigma: log Z relative to the model with the intercept alone.

The reference prior 1/sigma^2 is improper, and no evidence under it has a meaning of its own. Ratios have: all linear models of one
response share it, and its constant cancels. So the model here is written relative to the one with the intercept alone,

    Z = p(y | model) / p(y | intercept) = integral of  pi(beta, g | sigma) p(alpha, sigma | y, intercept)  L(beta, sigma),
    L = p(y | alpha, beta, sigma) / p(y | alpha, 0, sigma),

where p(alpha, sigma | y, intercept) is the posterior of the model with the intercept alone: normal, inverse gamma, and proper. It
takes the place of the prior, L that of the likelihood, and the product is the posterior of the model times its Bayes factor. Every
method can sample it, and the intercept-only model has log Z = 0. L depends on the data through X'X and X'y, so that a point costs
the same for any number of rows.

Evidences of this kind carry the mark "relative to ..." in their `data_id`: `compare` refuses to mix them with others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.closed_form import ClosedForm
from zhat.model.core import Core
from zhat.model.data import fingerprint, host_arrays
from zhat.model.model import Model
from zhat.model.program import space_of
from zhat.model.regression.design import Design
from zhat.model.regression.priors import JZS, Reference, UnitInformation, ZellnerSiow
from zhat.numerics.exact.g_priors import MOST_BLOCKS, Block, Sums, base_root, log_bf_blocks, log_bf_fixed_g
from zhat.numerics.exact.integrals import Integral


def linear_model(design: Design, prior: Reference, priors: Mapping[str, dist.Distribution], name: str) -> Model:
    """The linear model of a design under a reference prior; `priors` replaces those of single coefficients."""
    design.check_linear()
    own = [name for name in design.names if name in priors]
    blocks = blocks_of(design, prior, own)
    data, hyper = host_arrays(data_of(design, blocks), "data"), host_arrays(_hyper(prior), "hyper")
    program = _Program(design.names, blocks, tuple(_g_names(design, blocks)), dict(priors), design.has_intercept, prior)
    log_likelihood = _LogRatio(design.names)
    core = Core(
        log_likelihood,
        space_of(program, data, hyper),
        black_box=False,
        batched=False,
        made_from=("reference", prior, design.names, str(blocks), design.has_intercept, dict(priors)),
    )
    exact = None
    if not own and (len(blocks) <= MOST_BLOCKS or isinstance(prior, UnitInformation)):
        how = "a formula" if isinstance(prior, UnitInformation) or not blocks else f"quadrature over {len(blocks)} g"
        exact = ClosedForm(_Exact(blocks, prior, design.has_intercept), f"coefficients, intercept and sigma by formulas, {how}")
    return Model(
        log_likelihood, program, data=data, hyper=hyper, name=name, data_id=data_id(design), closed_form=exact, core=core
    )


def data_id(design: Design) -> str:
    """The fingerprint of the response, and what log Z is relative to."""
    null = "the model with the intercept alone" if design.has_intercept else "pure noise around zero"
    return f"{fingerprint(design.target)}, relative to {null}"


def data_of(design: Design, blocks: tuple[Block, ...]) -> dict[str, Any]:
    """Sums over the rows, and the root of the coefficients' prior covariance."""
    sums = design.sums()
    return {
        "n": float(sums.n),
        "yy": sums.yy,
        "mean": float(design.target.mean()),
        "xy": sums.xy,
        "xx": sums.xx,
        "root": base_root(sums, blocks) if design.p else np.zeros((0, 0)),
    }


def blocks_of(design: Design, prior: Reference, own: list[str]) -> tuple[Block, ...]:
    """Which coefficients share a g: under JZS all slopes together and each factor by itself, otherwise all."""
    free = [j for j, name in enumerate(design.names) if name not in own]
    if not free:
        return ()
    if not isinstance(prior, JZS):
        scale = prior.scale if isinstance(prior, ZellnerSiow) else 1.0
        return (Block(tuple(free), scale, by_covariance=True),)
    factors = [[j for j in term.columns if j in free] for term in design.terms if term.is_factor]
    slopes = [j for term in design.terms if not term.is_factor for j in term.columns if j in free]
    blocks = [Block(tuple(columns), prior.factors, by_covariance=False) for columns in factors if columns]
    return (*blocks, *([Block(tuple(slopes), prior.slopes, by_covariance=True)] if slopes else []))


def _g_names(design: Design, blocks: tuple[Block, ...]) -> list[str]:
    if len(blocks) == 1:
        return ["g"]
    terms = {column: term.name for term in design.terms for column in term.columns}
    return ["g[slopes]" if block.by_covariance else f"g[{terms[block.columns[0]]}]" for block in blocks]


def _hyper(prior: Reference) -> dict[str, float] | None:
    if isinstance(prior, JZS):
        return {"slopes": float(prior.slopes), "factors": float(prior.factors)}
    return {"scale": float(prior.scale)} if isinstance(prior, ZellnerSiow) else None


def _scale(block: Block, hyper: Any) -> Any:
    if hyper is None:
        return block.scale
    return hyper["scale"] if "scale" in hyper else hyper["slopes" if block.by_covariance else "factors"]


class _Program:
    """The posterior of intercept and sigma without covariates, then g, then the coefficients, one by one within a block."""

    def __init__(
        self,
        names: tuple[str, ...],
        blocks: tuple[Block, ...],
        g_names: tuple[str, ...],
        priors: dict[str, dist.Distribution],
        has_intercept: bool,
        prior: Reference,
    ) -> None:
        self.names, self.blocks, self.g_names = names, blocks, g_names
        self.priors, self.has_intercept, self.fixed = priors, has_intercept, isinstance(prior, UnitInformation)

    def __call__(self, data: Any, hyper: Any) -> None:
        df = data["n"] - float(self.has_intercept)
        variance = dist.InverseGamma(0.5 * df, 0.5 * data["yy"])
        root = dist.transforms.PowerTransform(0.5)
        sigma = numpyro.sample("sigma", dist.TransformedDistribution(variance, root))
        if self.has_intercept:
            numpyro.sample("Intercept", dist.Normal(data["mean"], sigma / jnp.sqrt(data["n"])))
        for block, g_name in zip(self.blocks, self.g_names, strict=True):
            scale = _scale(block, hyper)
            g = 1.0 if self.fixed else numpyro.sample(g_name, dist.InverseGamma(0.5, 0.5 * scale**2))
            # The root is upper triangular: its rows are walked from the last, which depends on one standard normal alone.
            standard: dict[int, Any] = {}
            for j in reversed(block.columns):
                size = sigma * jnp.sqrt(g)
                mean = size * sum((data["root"][j, k] * standard[k] for k in standard), start=jnp.zeros(()))
                own = size * data["root"][j, j]
                value = numpyro.sample(self.names[j], dist.Normal(mean, own))
                standard[j] = (value - mean) / own
        for name, prior in self.priors.items():
            numpyro.sample(name, prior)


class _LogRatio:
    """Log likelihood minus that of the model without covariates."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __call__(self, params: Any, data: Any, hyper: Any = None) -> Any:
        if not self.names:
            return jnp.zeros(())
        beta = jnp.stack([params[name] for name in self.names])
        return (beta @ data["xy"] - 0.5 * beta @ (data["xx"] @ beta)) / params["sigma"] ** 2


class _Exact:
    """The log Bayes factor against the model without covariates."""

    def __init__(self, blocks: tuple[Block, ...], prior: Reference, has_intercept: bool) -> None:
        self.blocks, self.fixed, self.has_intercept = blocks, isinstance(prior, UnitInformation), has_intercept

    def __call__(self, data: Any, hyper: Any) -> Integral:
        sums = Sums(int(data["n"]), float(data["yy"]), np.asarray(data["xy"]), np.asarray(data["xx"]), self.has_intercept)
        if not self.blocks:
            return Integral.closed_form(0.0)
        if self.fixed:
            p, r2 = len(sums.xy), sums.least_squares()[1]
            return Integral.closed_form(float(log_bf_fixed_g(sums.df, p, r2, sums.n)))
        blocks = tuple(Block(b.columns, float(_scale(b, hyper)), b.by_covariance) for b in self.blocks)
        return log_bf_blocks(sums, blocks)


def refuse_shared(prior: Reference, priors: Mapping[str, Any]) -> None:
    """Refuse priors of intercept or sigma beside a reference prior."""
    for name in ("Intercept", "sigma", "variance", "precision"):
        if name in priors:
            raise BadInput(
                f"priors[{name!r}] with prior={type(prior).__name__}(): there the intercept and sigma share the reference prior; for proper "
                "priors of all parameters give prior=zhat.priors.ScaledNormal(), and replace what you like."
            )
