"""docs/add_a_plot.md, followed to the letter in a copy of the repository: one file and one line."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.xdist_group("clone")


def test_the_plot_is_public_and_draws(run, clone, code_of):
    show = code_of("add_a_plot.md")[2]
    run("-c", show + "\nassert 'evaluations' in zhat.plots.__all__")
    assert "likelihood evaluations" in (clone / "evaluations.svg").read_text(encoding="utf-8")
