"""Names of models as labels."""

from __future__ import annotations

from zhat.report.pictures.names import LONGEST, label


def test_a_plain_name_stays():
    assert label("pima-age") == "pima-age"


def test_a_dollar_sign_begins_no_formula():
    assert label("$x^2$") == r"\$x^2\$"


def test_a_long_name_is_cut_and_shows_it():
    assert label("w" * 200) == "w" * (LONGEST - 1) + "…"
    assert label("w" * LONGEST) == "w" * LONGEST


def test_what_cannot_be_printed_is_left_out():
    assert label("a\nb\tc\x00d") == "abcd"
