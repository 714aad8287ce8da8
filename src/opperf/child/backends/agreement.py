"""Whether two calls returned the same but for rounding: what every backend says of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opperf.domain.backend import HostValue

#: How far two calls of one program may differ, relative and absolute.
RTOL, ATOL = 1e-3, 1e-5


def agree(left: Sequence[HostValue], right: Sequence[HostValue], close: Callable[[HostValue, HostValue], bool]) -> bool:
    """Return whether two lists of values are alike; `close` judges two of one shape and dtype whose bits differ.

    >>> agree([(b"1", (1,), "int8")], [(b"2", (1,), "int8")], lambda one, other: True)
    True
    """
    return len(left) == len(right) and all(
        one == other or (one[1:] == other[1:] and close(one, other)) for one, other in zip(left, right)
    )
