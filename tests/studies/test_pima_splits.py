"""Averaged prediction on held-out Pima cases: predictive probabilities, scores, table, picture."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import zhat
from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput
from zhat.seeding import Key
from zhat.studies import pima_splits
from zhat.studies.pima_splits import HEADER, Split, Study
from zhat.zoo.pima import COVARIATES, pima_with_mask

STUDY = Study(
    {
        0.01: (Split(-0.40, -0.50, -0.45, "1 + A", 3), Split(-0.50, -0.55, -0.45, "1 + A", 5)),
        1.0: (Split(-0.40, -0.41, -0.42, "1 + B", 9), Split(-0.42, -0.41, -0.43, "1 + A", 9)),
    },
    n_held_out=100,
)


def test_the_table_and_the_sentence():
    rows = STUDY.rows
    assert len(rows) == 6 and all(len(row) == len(HEADER) for row in rows)
    assert rows[1][:6] == ("0.01", "most probable model", "-0.5250", "0.0354", "+0.0750", "2 of 2")
    assert rows[1][-1] == "1 + A (2 of 2)" and rows[0][-2] == "4 (median)"
    assert "at tau = 0.01 the average beats the most probable model in 2 of 2 splits (by +7.50 nats" in STUDY.sentence
    assert "the full model in 2 (by +1.50)" in STUDY.sentence


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    (path,) = pima_splits.draw(STUDY, tmp_path / "new")
    before = path.read_bytes()
    assert pima_splits.draw(STUDY, tmp_path / "new")[0].read_bytes() == before


def test_predictive_probabilities_are_those_of_another_sampler():
    """Importance sampling with few draws against SMC with its own: the same chances to a hundredth."""
    model = pima_with_mask(1.0)
    mask = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    x = model.data["x"][:20]
    at = zhat.Subsets(model, COVARIATES).at(mask)
    chances = pima_splits._chances(at, mask, x, Key(1))
    draws = posterior_draws(zhat.evidence(at, "smc", seed=2, progress=False))
    weight = np.ones(len(draws.position)) if draws.log_weight is None else np.exp(draws.log_weight - draws.log_weight.max())
    other = weight @ expit((draws.parameters["theta"] * np.r_[1.0, mask]) @ x.T) / weight.sum()
    assert np.abs(chances - other).max() < 0.01


def test_scores_by_hand():
    assert pima_splits._score(np.array([0.8, 0.25]), np.array([1.0, 0.0])) == pytest.approx(0.5 * np.log(0.8 * 0.75))


@pytest.mark.slow
def test_two_splits():
    study = pima_splits.run_splits(seed=3, n_splits=2)
    assert study.n_held_out == 177
    for splits in study.splits.values():
        for split in splits:
            assert -0.65 < split.average < -0.3 and split.n_averaged > 1
    with pytest.raises(BadInput, match="a spread needs two"):
        pima_splits.run_splits(n_splits=1)
