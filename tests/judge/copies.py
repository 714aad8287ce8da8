"""Makes copies of the reference: of as many candidates as one likes, none is faster than itself (way 57)."""

from __future__ import annotations

from pathlib import Path

REFERENCE = Path(__file__).parent / "references" / "softmax.py"


def write_copies(folder: Path, count: int, reference: Path = REFERENCE) -> list[Path]:
    """Write copies of a file, each with a comment of its own, so that no two have the same bytes; returns the paths."""
    text = reference.read_text(encoding="utf-8")
    paths = [folder / f"copy_{number:03d}.py" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"{text}\n\n# Copy {number}.\n", encoding="utf-8")
    return paths
