"""Who measures what: cuts work into pieces for the nodes that are idle, takes back what is lost, counts each task once.

* Pieces shrink as the work does (guided self-scheduling: Polychronopoulos and Kuck, IEEE Transactions on Computers C-36
  (1987), 1425-1439), and are smaller for slow nodes, so that all end together; a node keeps to the group of its last
  piece, whose child is warm.
* A piece that takes far longer than it should is given to an idle node as well; the first outcome counts.
* An answer that is not of its piece is a failure of its node, and the piece is lost as with one that died.
* What is lost with its node is cut anew. A task that was lost twice is a piece of its own, so that one which kills
  nodes is found; it is given up after `MOST_LOSSES` losses.
* With replicas, the nodes of each kind are parted into lanes, and each lane does all of the work: no machine does a
  task twice.

Every step costs the same however many nodes and tasks there are, but for the logarithm of a heap.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import field
from typing import Generic, TypeVar

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import HarnessError, InputError
from opperf.domain.node import Node
from opperf.parent.measuring.fleet.engine import Broken, Done, Engine, Event, Joined, Left

#: The seconds that a piece should take at least, so that carrying it costs little, and at most, so that little is lost.
LEAST_SECONDS, MOST_SECONDS = 1.0, 60.0
#: A piece is a share of what is left for each node: a half, as what is left then halves from piece to piece.
SHARE = 0.5
#: A node is not taken to be faster than this, as a multiple of the seconds that a piece should take.
LEAST_PACE = 0.1
#: A piece is overdue when it takes this many times what it should, and a while longer, in seconds.
OVERDUE, OVERDUE_SECONDS = 2.0, 5.0
#: A task that was lost this often is a piece of its own: it may be what nodes die of, and the others of its piece not.
LOST_IN_COMPANY = 2
#: A task is given up when it was lost this often: by then, three times alone.
MOST_LOSSES = 5
#: A node that breaks this many pieces one after another gets no more: it would break them all.
MOST_BROKEN = 2
#: How long nodes are waited for where there are none, in seconds: a pod or a job that died takes a while to come back.
NODE_WAIT = 300.0
#: The longest wait for an event, in seconds: Ctrl-C is heard between waits.
LONGEST_WAIT = 1.0

A = TypeVar("A")


@dataclass(frozen=True)
class Task:
    """Something to measure: `seconds` is about how long it takes; those of a `group` share a warm child.

    `done_on` are the nodes that have done it before, as a run that is resumed knows.
    """

    seconds: float
    group: Hashable = None
    done_on: Collection[Node] = ()


@dataclass(frozen=True)
class Result(Generic[A]):
    """What became of some tasks, by their places: what `node` answered, or why they were given up."""

    tasks: Sequence[int]
    node: Node | None
    answer: A | None
    reason: str | None = None


@dataclass(eq=False)
class _Piece:
    lane: _Lane
    tasks: list[int]
    group: Hashable
    seconds: float
    copies: int = 0
    done: bool = False


@dataclass(eq=False)
class _Place:
    """A node as the scheduler sees it; `ticket` is of the piece that it has.

    `expected` and `actual` are the seconds that its pieces should have taken, and took.
    """

    node: Node
    lane: _Lane
    ticket: int | None = None
    group: Hashable = None
    broken: int = 0
    expected: float = 0.0
    actual: float = 0.0

    @property
    def pace(self) -> float:
        """How many times longer its pieces took than they should."""
        return max(LEAST_PACE, self.actual / self.expected) if self.expected else 1.0


@dataclass(eq=False)
class _Lane:
    """Nodes that do all of the work once between them: those of one kind, or all where none is told apart."""

    kind: str | None
    queues: dict[Hashable, deque[int]] = field(default_factory=dict)
    losses: dict[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    total: float = 0.0
    open: int = 0
    nodes: int = 0
    idle: deque[_Place] = field(default_factory=deque)
    overdue: list[tuple[float, int, _Piece]] = field(default_factory=list)


class Scheduler(Generic[A]):
    """Hands tasks to the nodes of an engine; `done` counts those of each node, `joined` has what nodes said.

    `read` makes of the places of a piece's tasks and of what a node has answered what is yielded; it raises
    `InputError` for an answer that is not of just these.
    """

    def __init__(
        self,
        engine: Engine,
        clock: Callable[[], float],
        read: Callable[[Sequence[int], str], A],
        *,
        replicate: int | None = None,
        wants: Callable[[Joined], bool] = lambda joined: True,
        note: Callable[[str], None] = lambda text: None,
        least_seconds: float = LEAST_SECONDS,
    ) -> None:
        self._engine, self._clock, self._read, self._replicate = engine, clock, read, replicate
        self._wants, self._note = wants, note
        self._bounds = least_seconds, max(least_seconds, MOST_SECONDS)
        self._places: dict[str, _Place] = {}
        self._lanes: list[_Lane] = []
        self._homes: dict[str, _Lane] = {}
        self._running: dict[int, tuple[_Piece, _Place, float]] = {}
        self._tickets = 0
        self._alone_since = math.inf
        self._expected = self._actual = 0.0
        self.done: dict[str, int] = {}
        self.joined: dict[str, Joined] = {}

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self._places)

    @property
    def left(self) -> float:
        """About how many seconds there are to go."""
        pace = self._actual / self._expected if self._expected else 1.0
        waiting = max((lane.seconds / max(1, lane.nodes) for lane in self._lanes), default=0.0)
        running = max((piece.seconds for piece, _, _ in self._running.values()), default=0.0)
        return pace * (waiting + running / 2)

    def run(self, tasks: Sequence[Task], order: Callable[[Sequence[int]], str]) -> Iterator[Result[A]]:
        """Yield what becomes of the tasks, each once in each lane; raises `HarnessError` where no node is left.

        `order` makes of the places of some tasks what a node is told.
        """
        if not tasks:
            return
        first = [node for node in self._engine.start() if self._wants(node)]
        self._make_lanes(first)
        for arrival in first:
            self._join(arrival)
        self._fill(tasks)
        self._alone_since = self._clock()
        while any(lane.open for lane in self._lanes):
            self._assign(tasks, order)
            for event in self._engine.events(self._wait()):
                yield from self._handle(event, tasks)
            self._check_alone()

    def _make_lanes(self, nodes: Sequence[Joined]) -> None:
        if self._replicate is None:
            self._lanes = [_Lane(None)]
            return
        if not nodes:
            raise HarnessError(
                "no node of the fleet can be used", hint="start one, or change `--where`", slug="no_node"
            )
        kinds: dict[str, int] = {}
        for arrival in nodes:
            kinds[arrival.node.kind] = kinds.get(arrival.node.kind, 0) + 1
        for kind, count in kinds.items():
            if count < self._replicate:
                self._note(f"`--replicate {self._replicate}`: the fleet has {count} of {kind}")
            self._lanes += [_Lane(kind) for _ in range(min(count, self._replicate))]

    def _fill(self, tasks: Sequence[Task]) -> None:
        """Put each task into every lane, but for those in which it was done before."""
        for place, task in enumerate(tasks):
            for lane in self._not_done(task):
                lane.queues.setdefault(task.group, deque()).append(place)
                lane.seconds += task.seconds
                lane.total += task.seconds
                lane.open += 1

    def _not_done(self, task: Task) -> Sequence[_Lane]:
        if self._replicate is None:
            return () if task.done_on else self._lanes
        left = list(self._lanes)
        for node in sorted(task.done_on, key=lambda node: node.name not in self._homes):
            home = self._homes.get(node.name)
            lane_before = home if home in left else next((lane for lane in left if lane.kind == node.kind), None)
            if lane_before is not None:
                left.remove(lane_before)
        return left

    def _join(self, arrival: Joined) -> None:
        if arrival.node.name in self._places:
            return
        lanes = [lane for lane in self._lanes if lane.kind in (None, arrival.node.kind)]
        if not lanes:
            self._note(f"{arrival.node.name} differs from the nodes at the start, and gets no work")
            return
        # One that comes back has done what its lane has done.
        lane = self._homes.setdefault(arrival.node.name, min(lanes, key=lambda lane: lane.nodes))
        place = self._places[arrival.node.name] = _Place(arrival.node, lane)
        self.joined[arrival.node.name] = arrival
        self.done.setdefault(arrival.node.name, 0)
        lane.nodes += 1
        lane.idle.append(place)

    def _assign(self, tasks: Sequence[Task], order: Callable[[Sequence[int]], str]) -> None:
        """Give every idle node a piece, as long as there is one for it."""
        now = self._clock()
        for lane in self._lanes:
            while lane.idle:
                place = lane.idle[0]
                if self._places.get(place.node.name) is not place:
                    lane.idle.popleft()
                    continue
                piece = self._next(lane, place, tasks) or self._overdue(lane, now)
                if piece is None:
                    break
                lane.idle.popleft()
                self._submit(piece, place, now, order(piece.tasks))

    def _next(self, lane: _Lane, place: _Place, tasks: Sequence[Task]) -> _Piece | None:
        if not lane.queues:
            return None
        group = place.group if place.group in lane.queues else next(iter(lane.queues))
        queue = lane.queues.pop(group)
        most = self._bounds[1]
        least = min(self._bounds[0], lane.total / lane.nodes)  # of little work, each node gets some
        # A node shows how fast it is by a short piece first: a long one on a slow node is what all others wait for.
        enough = min(most, max(least, SHARE * lane.seconds / lane.nodes)) / place.pace if place.expected else least
        piece = _Piece(lane, [], group, 0.0)
        while queue and piece.seconds + 1e-9 < enough:  # sums of floats
            alone = lane.losses.get(queue[0], 0) >= LOST_IN_COMPANY
            if alone and piece.tasks:
                break
            piece.tasks.append(queue.popleft())
            piece.seconds += tasks[piece.tasks[-1]].seconds
            if alone:
                break
        if queue:
            lane.queues[group] = queue  # at the end: other nodes begin with other groups
        lane.seconds -= piece.seconds
        return piece

    def _overdue(self, lane: _Lane, now: float) -> _Piece | None:
        while lane.overdue and lane.overdue[0][0] <= now:
            _, _, piece = heapq.heappop(lane.overdue)
            if not piece.done and piece.copies == 1:
                return piece
        return None

    def _submit(self, piece: _Piece, place: _Place, now: float, order: str) -> None:
        self._tickets += 1
        place.ticket, place.group = self._tickets, piece.group
        piece.copies += 1
        self._running[self._tickets] = piece, place, now
        # By what another node would take: only one that is idle gets it.
        pace = self._actual / self._expected if self._expected else 1.0
        due = now + OVERDUE_SECONDS + OVERDUE * pace * piece.seconds
        heapq.heappush(piece.lane.overdue, (due, self._tickets, piece))
        self._engine.submit(self._tickets, place.node.name, order)

    def _wait(self) -> float:
        """Return how long to wait for an event: until a piece is overdue that an idle node could take."""
        due = min((lane.overdue[0][0] for lane in self._lanes if lane.idle and lane.overdue), default=math.inf)
        return max(0.0, min(LONGEST_WAIT, due - self._clock()))

    def _handle(self, event: Event, tasks: Sequence[Task]) -> Iterator[Result[A]]:
        if isinstance(event, Joined):
            if self._wants(event):
                self._join(event)
        elif isinstance(event, Left):
            place = self._places.pop(event.name, None)
            if place is not None:
                yield from self._leave(place, event.reason, tasks)
        elif event.ticket in self._running:
            yield from self._end(event, tasks)

    def _end(self, event: Done | Broken, tasks: Sequence[Task]) -> Iterator[Result[A]]:
        """Take a piece off its node, which gets another; yield its outcome unless that has come from elsewhere."""
        piece, place, began = self._running.pop(event.ticket)
        place.ticket = None
        piece.copies -= 1
        answer = None
        if isinstance(event, Done) and not piece.done:
            try:
                answer = self._read(piece.tasks, event.text)
            except InputError as error:
                event = Broken(event.ticket, error.message)
                self._note(f"{place.node.name} answered wrongly, and its work goes elsewhere: {error.message}")
        if isinstance(event, Broken):
            place.broken += 1
            if place.broken >= MOST_BROKEN:
                self._note(f"{place.node.name} gets no more work: {event.reason}")
                del self._places[place.node.name]
                place.lane.nodes -= 1
            else:
                place.lane.idle.append(place)
            yield from self._lose(piece, event.reason, tasks)
            return
        place.broken = 0
        place.lane.idle.append(place)
        if piece.done:
            return
        piece.done = True
        piece.lane.open -= len(piece.tasks)
        seconds = self._clock() - began
        place.actual, place.expected = place.actual + seconds, place.expected + piece.seconds
        self._actual, self._expected = self._actual + seconds, self._expected + piece.seconds
        self.done[place.node.name] += len(piece.tasks)
        yield Result(piece.tasks, place.node, answer)

    def _leave(self, place: _Place, reason: str, tasks: Sequence[Task]) -> Iterator[Result[A]]:
        place.lane.nodes -= 1
        self._note(f"lost {place.node.name}: {reason}")
        if place.ticket is not None:
            piece, _, _ = self._running.pop(place.ticket)
            piece.copies -= 1
            yield from self._lose(piece, f"lost {place.node.name}: {reason}", tasks)

    def _lose(self, piece: _Piece, reason: str, tasks: Sequence[Task]) -> Iterator[Result[A]]:
        """Give back what is lost; yield what is given up."""
        if piece.done or piece.copies:
            return
        piece.done = True  # its overdue entry points to nothing any more
        lane = piece.lane
        queue = lane.queues.setdefault(piece.group, deque())
        for place in reversed(piece.tasks):
            losses = lane.losses[place] = lane.losses.get(place, 0) + 1
            if losses < MOST_LOSSES:
                queue.appendleft(place)
                lane.seconds += tasks[place].seconds
            else:
                lane.open -= 1
                yield Result([place], None, None, f"lost {losses} times; the last time, {reason}")
        if not queue:
            del lane.queues[piece.group]

    def _check_alone(self) -> None:
        """Raise `HarnessError` when work has waited too long for a node that could do it."""
        now = self._clock()
        if all(lane.nodes or not lane.open for lane in self._lanes):
            self._alone_since = now
        elif now - self._alone_since > NODE_WAIT:
            lane = next(lane for lane in self._lanes if lane.open and not lane.nodes)
            raise HarnessError(
                f"no node{'' if lane.kind is None else f' of {lane.kind}'} is left for the rest"
                f" of the work, after {NODE_WAIT:.0f} s",
                hint="start one, then continue with `--resume`",
                slug="no_node",
            )
