"""Ray as the engine: one actor on each node, which holds all of its CPUs and GPUs, so that nothing of Ray runs beside.

opperf's files travel as a module of the runtime environment. An actor measures in the main thread of its process: its
children die with that thread. Ray kills actors when their driver ends, however that ends.
"""

from __future__ import annotations

import os
import queue
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import opperf
from opperf.domain.errors import HarnessError, InputError
from opperf.domain.files.json_text import JsonDict
from opperf.parent.measuring.fleet.bootstrap import prepare, requirements
from opperf.parent.measuring.fleet.engine import Broken, Done, Event, Joined, Left, introduced

#: How often nodes that came are looked for, in seconds.
LOOK_EVERY = 5.0
#: How long the first nodes may take to answer, in seconds: an actor waits for its node's CPUs, and pip may run there.
START_LIMIT = 120.0
#: How long a cluster's head may take to accept a connection, in seconds.
CONNECT_LIMIT = 10.0
HINT_OF_ADDRESS = "`ray://HOST:10001` is the address of a cluster's head; `ray status` on it says whether it runs"


class Actor:
    """What runs on a node, in a process of its own."""

    def __init__(self, requirements: Sequence[str]) -> None:
        prepare(requirements)
        # Only now can it be imported.
        from opperf.parent.measuring.fleet.node import Hands

        self._hands = Hands()

    def introduce(self) -> str:
        """Return the facts of the node."""
        return self._hands.introduce()

    def carry_out(self, order: str) -> str:
        """Return the answer to an order."""
        return self._hands.carry_out(order)


class RayEngine:
    """The nodes of a Ray cluster, at an address, or of one that is started on this machine's loopback interface."""

    def __init__(self, address: str | None = None, *, actor: type = Actor) -> None:
        """Start nothing yet; raises `InputError` where Ray is not installed. `actor` is what runs on a node."""
        # Ray would tell its makers that it is used.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is None:
            # Else its servers listen on every interface. On Windows and macOS this is what Ray does by itself.
            os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        try:
            import ray
        except ImportError as error:
            raise InputError(
                "`--fleet ray` needs Ray, which is not installed",
                hint="`pip install 'ray[client]'`",
                slug="no_engine",
            ) from error
        self._ray: Any = ray
        self._address = address
        self._actor = actor
        self._actors: JsonDict = {}
        self._messages: queue.SimpleQueue[tuple[object, Event]] = queue.SimpleQueue()
        self._looked = 0.0
        self._ours = False

    def start(self) -> Sequence[Joined]:
        """Connect, or start a cluster; return the nodes that answered."""
        self._connect()
        self._look()
        nodes: list[Joined] = []
        limit, reason = time.monotonic() + START_LIMIT, ""
        while len(nodes) < len(self._actors) and time.monotonic() < limit:
            for event in self._news(1.0):
                if isinstance(event, Joined):
                    nodes.append(event)
                elif isinstance(event, Left):
                    reason = f": {event.reason}"
        if not nodes:
            raise HarnessError(
                f"no node of the fleet can be used{reason}",
                hint="check `ray status`: opperf needs whole nodes with all CPUs free",
                slug="no_node",
            )
        return nodes

    def _connect(self) -> None:
        ray = self._ray
        if ray.is_initialized():
            return
        if self._address is not None:
            _reach(self._address)
        environment = {"py_modules": [str(Path(opperf.__file__).parent)]}
        common = {"runtime_env": environment, "log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self._address is None:
                ray.init(include_dashboard=False, _node_ip_address="127.0.0.1", **common)
            else:
                ray.init(self._address, **common)
        except Exception as error:  # of no narrower type where a node of Ray's does not start
            raise HarnessError(
                f"cannot reach Ray at `{self._address or 'this machine'}`: {_first_line(error)}",
                hint=HINT_OF_ADDRESS,
                slug="fleet_unreachable",
            ) from error
        self._ours = True

    def _look(self) -> None:
        """Start an actor on each node that has none."""
        self._looked = time.monotonic()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for node in self._ray.nodes():
            name = f"node-{node['NodeID'][:8]}"
            cpus = node["Resources"].get("CPU", 0)
            if not node["Alive"] or not cpus or name in self._actors:
                continue
            actor = (
                self._ray.remote(self._actor)
                .options(
                    num_cpus=cpus,
                    num_gpus=node["Resources"].get("GPU", 0),
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
                )
                .remote(requirements())
            )
            self._actors[name] = actor
            self._when_ready(actor.introduce.remote(), partial(self._on_introduction, name, actor))

    def _when_ready(self, reference: Any, tell: Callable[[Future[str]], None]) -> None:
        reference.future().add_done_callback(tell)

    # These two are called by a thread of Ray's, and only write down what they are told.

    def _on_introduction(self, name: str, actor: object, future: Future[str]) -> None:
        try:
            event: Event = introduced(str(future.result())).joined(name)
        except Exception as error:  # of Ray, of the actor, or of what it has answered
            event = Left(name, _first_line(error))
        self._messages.put((actor, event))

    def _on_end(self, ticket: int, name: str, actor: object, future: Future[str]) -> None:
        error = future.exception()
        if error is None:
            self._messages.put((actor, Done(ticket, str(future.result()))))
        elif isinstance(error, self._ray.exceptions.RayTaskError):
            self._messages.put((actor, Broken(ticket, _last_line(error))))
        else:
            self._messages.put((actor, Left(name, _first_line(error))))

    def submit(self, ticket: int, node: str, order: str) -> None:
        """Have the actor of a node carry out an order."""
        actor = self._actors.get(node)
        if actor is None:
            return  # its `Left` is on the way
        self._when_ready(actor.carry_out.remote(order), partial(self._on_end, ticket, node, actor))

    def events(self, seconds: float) -> Sequence[Event]:
        """Return the events; every few seconds nodes are looked for that came."""
        if time.monotonic() - self._looked > LOOK_EVERY:
            self._look()
        return self._news(seconds)

    def _news(self, seconds: float) -> Sequence[Event]:
        """Return the messages, waiting for the first; those of an actor that is gone are old."""
        news: list[Event] = []
        wait = seconds
        try:
            while True:
                actor, event = self._messages.get(timeout=wait) if wait > 0 else self._messages.get_nowait()
                wait = 0.0
                if not isinstance(event, Left):
                    news.append(event)
                elif self._actors.get(event.name) is actor:
                    del self._actors[event.name]
                    self._ray.kill(actor)  # it may be alive, and only out of reach
                    self._looked = 0.0  # its node may be there, and only its process gone
                    news.append(event)
        except queue.Empty:
            return news

    def close(self) -> None:
        """End every actor, with its children, and leave the cluster, or end it where it was started here."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors = {}
        if self._ours:
            self._ray.shutdown()
            self._ours = False


def _reach(address: str) -> None:
    """Raise `HarnessError` where nothing listens: Ray would look for minutes, and say so in its own log lines."""
    host, colon, port = address.removeprefix("ray://").partition("/")[0].rpartition(":")
    if not colon or not port.isdecimal():
        return  # `auto`, or what Ray alone understands
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_LIMIT).close()
    except (OSError, OverflowError) as error:
        raise HarnessError(
            f"cannot reach Ray at `{address}`: {error}", hint=HINT_OF_ADDRESS, slug="fleet_unreachable"
        ) from error


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


def _last_line(error: BaseException) -> str:
    return str(error).strip().rpartition("\n")[2][:300] or type(error).__name__
