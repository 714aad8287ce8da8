"""A few calls of a piece of work, each watched alone: what stands before a call is not part of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from opperf.domain.backend import Work


def repeated(
    work: Work, calls: int, wait: Callable[[Any], None], watched: Callable[[], AbstractContextManager[Any]]
) -> None:
    """Call `calls` times, each within `watched()`, at whose end nothing is outstanding."""
    with work.scope():
        for _ in range(calls):
            arguments = work.arguments if work.before is None else work.before()
            wait([])
            with watched():
                result = work.function(*arguments, **work.keywords)
                wait([result])
            del result
