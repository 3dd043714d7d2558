"""Pictures of families of subsets: best models as a map, inclusion as bars; from enumeration, search and jumps alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import zhat
from zhat.errors import BadInput
from zhat.plots import best_models, inclusion
from zhat.spaces.subset_results import SubsetEvidences


@pytest.fixture
def found():
    """Three covariates, the first in every good model; evidences written by hand."""
    masks = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(float)
    log_z = 4.0 * masks[:, 0] - masks[:, 1] + 0.5 * masks[:, 2]
    means = np.zeros((8, 4))
    arrays = (masks, log_z, np.full(8, 0.01), np.full(8, 0.125), means, means, means)
    return SubsetEvidences(("a", "b", "$c^{"), *arrays, (), ())


def test_the_map_has_the_best_model_on_top_and_the_surest_covariate_at_the_left(found, tmp_path):
    figure = Figure()
    ax = best_models(found, figure.subplots(), n=4)
    figure.savefig(tmp_path / "map.png")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", r"\$c^{", "b"]
    shade = np.ma.filled(ax.images[0].get_array().astype(float), np.nan)
    assert shade.shape == (4, 3)
    assert np.isfinite(shade[:, 0]).all() and np.isfinite(shade[0]).tolist() == [True, True, False]
    assert shade[0, 0] == pytest.approx(1.0)


def test_bars_stand_in_order_and_show_doubt(found, tmp_path):
    figure = Figure()
    ax = inclusion(found, figure.subplots())
    figure.savefig(tmp_path / "bars.png")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", r"\$c^{", "b"]
    doubtful = inclusion(replace(found, status=zhat.Status.suspect("several-modes", "b.")), Figure().subplots())
    assert "suspect" in doubtful.get_title()


def test_a_list_of_models_has_no_covariates(found):
    for picture in (best_models, inclusion):
        with pytest.raises(BadInput, match="list of models"):
            picture(replace(found, covariates=()), Figure().subplots())
