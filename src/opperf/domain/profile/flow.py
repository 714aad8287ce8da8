"""Which call of a forward each backward computes the gradient of."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.profile.event import Event


def links(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Return the places of both ends of each link, forward first; a graph that is kept has several backwards.

    >>> spans = [Event("mul", "operator", 0, 1, 1, "main"),
    ...          Event("MulBackward0", "operator", 5, 1, 1, "engine", backward=True, forward=0)]
    >>> links(spans)
    [(0, 1)]
    """
    targets = {(one.process, one.forward) for one in events if one.forward is not None}
    # Of operators that begin together, the last is the innermost, which made the node.
    sources = {
        (one.process, one.begin): place
        for place, one in enumerate(events)
        if one.kind == "operator" and (one.process, one.begin) in targets
    }
    return [
        (sources[one.process, one.forward], place)
        for place, one in enumerate(events)
        if one.forward is not None and (one.process, one.forward) in sources
    ]
