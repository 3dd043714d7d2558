"""Banded matrices with a border against dense linear algebra, to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.numerics.fields.arrow import Arrow, Shape, arrow_from_products

SHAPES = [Shape(9, 2, 0), Shape(9, 2, 3), Shape(0, 0, 4), Shape(6, 0, 1), Shape(5, 4, 0), Shape(1, 0, 2), Shape(40, 1, 1)]


def some(shape, seed=3):
    """A positive definite matrix of this shape, dense."""
    rng = np.random.default_rng(seed)
    full = rng.standard_normal((shape.size, shape.size))
    full = full + full.T
    rows, columns = np.indices(full.shape)
    on_line = (rows < shape.line) & (columns < shape.line)
    full[on_line & (np.abs(rows - columns) > shape.half_width)] = 0.0
    return full + (np.abs(full).sum(axis=1).max() + 1.0) * np.eye(shape.size)


def arrow(shape, dense):
    return arrow_from_products(shape, shape.probes() @ dense)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_few_products_give_the_whole_matrix(shape):
    dense = some(shape)
    assert shape.n_probes <= min(2 * shape.half_width + 1, shape.line) + shape.border
    np.testing.assert_allclose(arrow(shape, dense).dense(), dense, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factor_solves_draws_and_measures(shape):
    dense = some(shape)
    factor = arrow(shape, dense).factor()
    vector = np.arange(shape.size) - 1.5
    columns = np.stack([vector, vector**2], axis=1)
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-11)
    np.testing.assert_allclose(factor.solve(vector), np.linalg.solve(dense, vector), atol=1e-12)
    np.testing.assert_allclose(factor.solve(columns), np.linalg.solve(dense, columns), atol=1e-11)
    # L^-T of the unit vectors has the inverse as its square: draws have the right covariance.
    half = factor.backward(np.eye(shape.size))
    np.testing.assert_allclose(half @ half.T, np.linalg.inv(dense), atol=1e-12)
    assert np.sum(factor.transposed(vector) ** 2) == pytest.approx(vector @ dense @ vector, rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_with_vectors(shape):
    dense = some(shape)
    vector = np.sin(np.arange(shape.size))
    np.testing.assert_allclose(arrow(shape, dense).times(vector), dense @ vector, atol=1e-12)


def test_entries_outside_the_band_show_in_a_product():
    shape, dense = Shape(9, 1, 0), some(Shape(9, 3, 0))
    vector = np.sin(np.arange(9.0))
    assert np.abs(arrow(shape, dense).times(vector) - dense @ vector).max() > 0.1


def test_an_indefinite_matrix_has_no_factor_until_its_diagonal_is_enlarged():
    shape = Shape(4, 1, 1)
    dense = some(shape)
    for bad in (0, 4):  # on the line, in the border
        indefinite = dense.copy()
        indefinite[bad, bad] = -1.0
        assert arrow(shape, indefinite).factor() is None
    assert Arrow(shape, np.full((2, 4), np.nan), np.zeros((4, 1)), np.eye(1)).factor() is None
    flat = dense.copy()
    flat[0, 0] = 1e-9
    assert arrow(shape, flat).plus_diagonal(1e12).factor() is not None
