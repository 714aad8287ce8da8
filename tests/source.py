"""What tests read of opperf's own code."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def trees(root: Path, folder: str = "") -> dict[Path, ast.Module]:
    """Return the syntax tree of each module in a folder of the package at `root`, by its place there."""
    collecting = gc.isenabled()
    gc.disable()  # it would look for what could be dropped of a million nodes, thrice as long as they take to make
    try:
        return {path.relative_to(root): ast.parse(path.read_bytes()) for path in sorted((root / folder).rglob("*.py"))}
    finally:
        if collecting:
            gc.enable()
