"""An engine of nodes that are objects of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Protocol

from opperf.domain.errors import OpperfError
from opperf.parent.measuring.fleet.engine import Broken, Done, Event, Joined, Left


class Hand(Protocol):
    """What carries out orders."""

    def carry_out(self, order: str) -> str:
        """Return the outcome of an order."""


class InProcess:
    """Carries out each piece as events are asked for; `deaths` say at which of its pieces a node dies, from 1."""

    def __init__(
        self, nodes: Mapping[str, Joined], hand: Hand, deaths: Mapping[str, int] | None = None, *, back: bool = False
    ) -> None:
        """`back` says that a node which died comes back, with nothing in its hands."""
        self._nodes, self._hand, self._back = dict(nodes), hand, back
        self._deaths = dict(deaths or {})
        self._pieces: deque[tuple[int, str, str]] = deque()
        self._counts = dict.fromkeys(nodes, 0)
        self.closed = False

    def start(self) -> Sequence[Joined]:
        """Return every node."""
        return list(self._nodes.values())

    def submit(self, ticket: int, node: str, order: str) -> None:
        """Keep a piece until events are asked for."""
        self._pieces.append((ticket, node, order))

    def events(self, seconds: float) -> Sequence[Event]:
        """Carry out the piece that was submitted first."""
        if not self._pieces:
            return ()
        ticket, node, order = self._pieces.popleft()
        self._counts[node] += 1
        if self._counts[node] == self._deaths.get(node):
            return [Left(node, "killed"), *([self._nodes[node]] if self._back else [])]
        try:
            return [Done(ticket, self._hand.carry_out(order))]
        except (ValueError, OpperfError) as error:
            return [Broken(ticket, str(error))]

    def close(self) -> None:
        """Take no more."""
        self.closed = True
