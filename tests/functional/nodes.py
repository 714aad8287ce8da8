"""Nodes of a fleet that are objects of this process, with children of their own; some die, and some lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeGuard

from tests.in_process import InProcess

from opperf.parent.measuring.fleet.engine import Done, Event, Joined
from opperf.parent.measuring.fleet.node import Hands


def machine(cpu: str) -> dict[str, Any]:
    return {"cpu": cpu, "cores_logical": 8, "memory_total": 1 << 34}


Lie: TypeAlias = Callable[[str], str]


class Lying(InProcess):
    """Nodes of which `n0` answers with a lie, made of the truth."""

    def __init__(self, nodes: dict[str, Joined], hands: Hands, lie: Lie) -> None:
        super().__init__(nodes, hands)
        self._lie = lie
        self._tickets: set[int] = set()

    def submit(self, ticket: int, node: str, order: str) -> None:
        super().submit(ticket, node, order)
        if node == "n0":
            self._tickets.add(ticket)

    def events(self, seconds: float) -> Sequence[Event]:
        return [
            Done(event.ticket, self._lie(event.text)) if self._is_lie(event) else event
            for event in super().events(seconds)
        ]

    def _is_lie(self, event: Event) -> TypeGuard[Done]:
        return isinstance(event, Done) and event.ticket in self._tickets


def changing(change: Callable[[dict[str, Any]], object]) -> Lie:
    """Return the lie that changes something of an answer."""

    def lie(text: str) -> str:
        answer = json.loads(text)
        change(answer)
        return json.dumps(answer)

    return lie
