"""NaN likelihoods: far from the posterior a note, near it a doubt, by the share of moved draws."""

import pytest

from zhat.missed_mass.nan_check import NanFound
from zhat.results.estimate import Level
from zhat.verdicts.nan import LARGEST_SHARE, nan_status, nan_status_of_family


def found(share, n_near=4096):
    return NanFound(n_nan=12, n_evaluated=75_000, prior_share=0.01, n_near=n_near, near_share=share, example="x=4.2")


@pytest.mark.parametrize(
    ("share", "error", "level"),
    [
        (0.0, 0.003, Level.OK),
        (0.002, 0.003, Level.OK),
        (0.004, 0.003, Level.SUSPECT),
        (0.02, 0.1, Level.SUSPECT),
        (LARGEST_SHARE / 2, None, Level.OK),
        (LARGEST_SHARE * 2, None, Level.SUSPECT),
    ],
)
def test_the_share_near_the_posterior_is_compared_with_the_standard_error(share, error, level):
    status = nan_status(found(share), False, error)
    assert status.level is level
    assert [r.code for r in status.reasons] == (["nan-as-zero"] if level is Level.SUSPECT else [])
    assert [n.code for n in status.notes] == ([] if level is Level.SUSPECT else ["nan-far"])
    assert nan_status(found(share), True, error).level is Level.OK


def test_the_sentences_give_the_counts():
    far = nan_status(found(0.0), False, 0.003).notes[0].sentence
    assert "NaN at 12 of 75,000 points (1 % of the prior draws), and at none of 4,096 points near the posterior" in far
    near = nan_status(found(0.05), False, 0.003).reasons[0].sentence
    assert "NaN at 5 % of 4,096 points near the posterior" in near and "flagged above 0.3 %" in near and "x=4.2" in near
    assert "no draws to see" in nan_status(found(0.0, n_near=0), False, None).notes[0].sentence


def test_nothing_met_says_nothing():
    assert nan_status(NanFound(0, 10, 0.0), False, 0.1).is_ok and not nan_status(NanFound(0, 10, 0.0), False, 0.1).notes
    assert nan_status_of_family(0, False).is_ok
    assert nan_status_of_family(3, False).level is Level.SUSPECT
    assert nan_status_of_family(3, True).level is Level.OK
