"""How the pages become a site: `make site`. They are read where they stand, so that their links hold in both places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import opperf

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "opperf"
version = release = opperf.__version__
extensions = ["myst_parser"]
# The source folder is the repository's root, so that README.md and CHANGELOG.md are pages, and examples files.
include_patterns = ["*.md", "docs/**.md", "examples/*.md"]
root_doc = "docs/README"
myst_heading_anchors = 4
# The page of operators goes from its title straight to the third level.
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = f"opperf {release}"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_extra_path = ["site"]  # a first page that leads to `root_doc`

#: The navigation, in order: a title, and the pages under it.
NAVIGATION = {
    "Begin": ("README", "docs/tutorial", "docs/tutorial-nights"),
    "How-to guides": ("docs/how-to/README", "docs/how-to/*"),
    "Reference": ("docs/reference/command-line", "docs/reference/*"),
    "Explanation": ("docs/explanation/measurement", "docs/explanation/*"),
    "Project": ("CONTRIBUTING", "SECURITY", "CHANGELOG", "examples/README"),
}


def navigation() -> str:
    """Return the tables of contents, which hosts that show the Markdown itself would print as code."""
    trees = (
        "\n".join(
            ["```{toctree}", ":hidden:", ":glob:", f":caption: {title}", "", *(f"/{page}" for page in pages), "```"]
        )
        for title, pages in NAVIGATION.items()
    )
    return "\n\n" + "\n\n".join(trees) + "\n"


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the tables of contents at the end of the first page."""
    if page == app.config.root_doc:
        source[0] += navigation()


def setup(app: Sphinx) -> None:
    """Join the navigation to the pages as they are read."""
    app.connect("source-read", add_navigation)
