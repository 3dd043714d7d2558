"""Proposals of jumps between models: for each model a mixture of Student t's, drawn from and evaluated point by point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Shapes(NamedTuple):
    """Tuning for M models: the K components of each model's proposal, and the shape of the kernel's moves in it.

    Arrays over models; factors and inverses are (M, K, D, D) for proposals and (M, D, D) for the kernel.
    """

    log_visit: Any  # log v, by which the model to jump to is chosen
    boost: Any  # b
    log_share: Any  # (M, K), of the components
    mean: Any  # (M, K, D)
    factor: Any
    inverse: Any
    log_constant: Any  # (M, K), of the t's density, determinant included
    degrees_of_freedom: Any  # one for all
    size: Any  # (M,) coordinates that are the model's own
    centre: Any  # (M, D)
    root: Any
    root_inverse: Any
    scale: Any  # (M,), the kernel's


def log_proposal(shapes: Shapes, index: Any, position: Any, xp: Any) -> Any:
    """Log density of every point's position under the proposal of the model that `index` names."""
    z = xp.einsum("ckij,ckj->cki", shapes.inverse[index], position[:, None, :] - shapes.mean[index])
    own = xp.arange(position.shape[1])[None, :] < shapes.size[index][:, None]
    nu, d = shapes.degrees_of_freedom, shapes.size[index]
    squared = xp.sum(xp.where(own[:, None, :], z * z, 0.0), axis=2)
    log_t = shapes.log_constant[index] - 0.5 * (nu + d)[:, None] * xp.log1p(squared / nu)
    log_parts = shapes.log_share[index] + log_t
    top = xp.max(log_parts, axis=1)
    mixed = top + xp.log(xp.sum(xp.exp(log_parts - top[:, None]), axis=1))
    spare = xp.where(own, 0.0, position)
    return mixed - 0.5 * xp.sum(spare * spare, axis=1) - 0.5 * (position.shape[1] - d) * np.log(2.0 * np.pi)


def draw_proposal(shapes: Shapes, index: Any, noise: dict[str, Any], xp: Any) -> Any:
    """A position for every point from the proposal of the model that `index` names."""
    edges = xp.cumsum(xp.exp(shapes.log_share[index]), axis=1)
    component = xp.minimum(xp.sum(edges <= noise["component"][:, None], axis=1), edges.shape[1] - 1)
    own = xp.arange(noise["fresh"].shape[1])[None, :] < shapes.size[index][:, None]
    stretch = xp.sqrt(0.5 * shapes.degrees_of_freedom / noise["gamma"])
    z = xp.where(own, stretch[:, None], 1.0) * noise["fresh"]
    return shapes.mean[index, component] + xp.einsum("cij,cj->ci", shapes.factor[index, component], z)
