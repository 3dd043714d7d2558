"""The documentation builds without a warning; in a browser nothing sticks out and nothing is fetched from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("furo")
pytest.importorskip("myst_parser")

pytestmark = pytest.mark.xdist_group("site")  # built once, by one worker

ROOT = Path(__file__).parents[2]
PAGES = ("index", "tutorial", "reference", "json", "methods", "trust", "design", "friel_wyse")
PAGES += ("howto/choose_a_method", "generated/nested")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", "--builder", "html", "-d", str(folder / "trees")]
    words += [str(ROOT / "docs"), str(folder / "html")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_page_is_built(site):
    for page in ROOT.glob("docs/**/*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), page


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_and_stand_alone(browser, site, page, width):
    seen = browser.look(site / f"{page}.html", width)
    assert seen.overflowing == []
    assert [address for address in seen.requests if not address.startswith(("file:", "data:"))] == []
    assert seen.complaints == []
