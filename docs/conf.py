"""Sphinx settings of the documentation: `make docs` builds it into site/, warnings are errors."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import house  # noqa: E402
import method_pages  # noqa: E402

import zhat  # noqa: E402

method_pages.write_all(HERE / "generated", HERE.parent)
house.write(HERE / "design.md")

project = "zhat"
author = "The zhat contributors"
copyright = "The zhat contributors"
release = version = zhat.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["generated/README.md"]
root_doc = "index"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "zhat"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"sidebar_hide_name": False}
html_static_path = ["static"]
html_css_files = ["tables.css"]
# Names such as `name` or `Family` stand in several classes and modules; a page that means one of them links it in full.
suppress_warnings = ["ref.python"]
