"""What an engine is: it has nodes, takes pieces of work for them as text, and reports what became of each.

Requirements:

* `start` returns when the nodes that are there have answered; those that come later are told as `Joined`.
* A node is given one piece at a time.
* A piece ends with `Done` or `Broken`, or with its node's `Left`; whatever is told of it after that is passed over.
* `close` ends every process that the engine started, on every node, and may be called at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, Union

from opperf.domain.files.json_text import JsonObject
from opperf.domain.node import Node


@dataclass(frozen=True)
class Joined:
    """A node is ready for work; `machine` describes it, `noise` lists what makes it noisy."""

    node: Node
    machine: JsonObject = field(default_factory=dict)
    noise: Sequence[object] = ()


@dataclass(frozen=True)
class Left:
    """A node is gone, with the piece that it had."""

    name: str
    reason: str


@dataclass(frozen=True)
class Done:
    """A piece was carried out; `text` is its outcome."""

    ticket: int
    text: str


@dataclass(frozen=True)
class Broken:
    """A piece failed, although its node is alive."""

    ticket: int
    reason: str


Event: TypeAlias = Union[Joined, Left, Done, Broken]


class Engine(Protocol):
    """Carries pieces of work to nodes."""

    def start(self) -> Sequence[Joined]:
        """Return the nodes; raises `HarnessError` if the engine cannot be reached."""

    def submit(self, ticket: int, node: str, order: str) -> None:
        """Give a node a piece of work."""

    def events(self, seconds: float) -> Sequence[Event]:
        """Return what happened, waiting for the first of it so long."""

    def close(self) -> None:
        """End all that was started."""
