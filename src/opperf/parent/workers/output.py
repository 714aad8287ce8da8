"""What a child prints, of which the last lines are kept for the record of its failure."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import IO

#: How much of a child's output is kept.
KEPT_LINES, KEPT_BYTES = 20, 64 * 1024


class Output:
    """The tail of what a child prints, read by a thread so that no flood can block the child."""

    def __init__(self, stream: IO[bytes], earlier: Output | None = None) -> None:
        """Begin to read; where nothing comes, the tail is that of an `earlier` process, which forked the child."""
        self._earlier = earlier
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._thread = threading.Thread(target=self._drain, args=(stream,), daemon=True)
        self._thread.start()

    def _drain(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 65536):
                self._chunks.append(chunk)
                self._size += len(chunk)
                while self._size - len(self._chunks[0]) > KEPT_BYTES:
                    self._size -= len(self._chunks.popleft())

    def tail(self, wait: float) -> str | None:
        """Return the last lines, after giving the thread a moment to read what is left."""
        self._thread.join(wait)
        text = b"".join(tuple(self._chunks))[-KEPT_BYTES:].decode(errors="replace")
        lines = [line[:500] for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-KEPT_LINES:]) or (None if self._earlier is None else self._earlier.tail(wait))
