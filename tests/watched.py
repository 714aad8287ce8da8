"""Progress that a test reads: what a terminal would show, in lines."""

from __future__ import annotations

from opperf.parent.measuring.progress import Silent


class Watched(Silent):
    """Writes down what is shown, as if there were a terminal."""

    def __init__(self) -> None:
        """Have shown nothing."""
        self.lines: list[str] = []

    def compare(self, what: str, count: int, total: int, left: str) -> bool:
        """Write down the pairs."""
        self.lines.append(f"{what}: {count} of {total}")
        return True

    def step(self, what: str, count: int, total: int) -> None:
        """Write down the steps."""
        self.lines.append(f"{what}: {count} of {total}")

    def close(self) -> None:
        """Write down the end."""
        self.lines.append("close")
