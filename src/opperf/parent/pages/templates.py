"""How pages are filled: what comes from a file or a program is escaped, and a name that has no value is an error."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def template_engine(folder: Path) -> Environment:
    """Return the engine that fills the templates of a folder."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
