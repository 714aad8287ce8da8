import heapq
import json
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from tests.in_process import InProcess

from opperf.domain.errors import HarnessError, InputError
from opperf.domain.node import Node
from opperf.parent.measuring.fleet.engine import Done, Event, Joined, Left
from opperf.parent.measuring.fleet.scheduler import Result, Scheduler, Task

Places: TypeAlias = list[int]


class Echo:
    """Carries out an order by giving it back; breaks one with a task that it cannot do."""

    def __init__(self, bad: int | None = None) -> None:
        self.bad = bad

    def carry_out(self, order: str) -> str:
        if self.bad in json.loads(order):
            raise ValueError("cannot")
        return order


def nodes(*kinds: str) -> dict[str, Joined]:
    names = [f"n{place}" for place in range(len(kinds))]
    return {name: Joined(Node(name, kind)) for name, kind in zip(names, kinds)}


def checked(places: Sequence[int], text: str) -> Places:
    """Return an answer; raises for one that is not of these tasks."""
    if json.loads(text) != list(places):
        raise InputError("it is of other tasks")
    return list(places)


def results(engine: InProcess, tasks: int | list[Task], *, replicate: int | None = None) -> list[Result[Places]]:
    work = [Task(1.0)] * tasks if isinstance(tasks, int) else tasks
    clock = iter(range(10**9)).__next__
    return list(Scheduler(engine, lambda: float(clock()), checked, replicate=replicate).run(work, json.dumps))


def counts(several: list[Result[Places]]) -> Counter[int]:
    return Counter(task for result in several for task in result.tasks)


def test_each_task_is_done_once_and_the_answer_is_of_its_tasks() -> None:
    several = results(InProcess(nodes("a", "a", "a"), Echo()), 100)
    assert counts(several) == Counter(range(100))
    assert all(result.answer == list(result.tasks) for result in several)
    assert {result.node.name for result in several if result.node} == {"n0", "n1", "n2"}


class Timed(InProcess):
    """Nodes side by side that take a second for a task, by a clock of their own; `n0` takes ten."""

    now = 0.0

    def __init__(self, count: int) -> None:
        super().__init__(nodes(*["a"] * count), Echo())
        self._ends: list[tuple[float, int, str]] = []

    def submit(self, ticket: int, node: str, order: str) -> None:
        seconds = len(json.loads(order)) * (10 if node == "n0" else 1)
        heapq.heappush(self._ends, (self.now + seconds, ticket, order))

    def events(self, seconds: float) -> list[Event]:
        if not self._ends or self._ends[0][0] > self.now + seconds:
            self.now += seconds
            return []
        self.now, ticket, order = heapq.heappop(self._ends)
        return [Done(ticket, order)]


def test_a_node_begins_with_a_short_piece_and_pieces_shrink_as_work_does() -> None:
    engine = Timed(2)
    work = [Task(1.0)] * 400
    several = [
        (result.node.name, len(result.tasks))
        for result in Scheduler(engine, lambda: engine.now, checked).run(work, json.dumps)
        if result.node
    ]
    sizes = [size for name, size in several if name == "n1"]
    assert sorted(several[:2]) == [("n0", 1), ("n1", 1)]
    assert sizes[1] == 60  # a minute is the most
    assert sizes[1:] == sorted(sizes[1:], reverse=True)
    assert sizes[-1] <= 2


def test_little_work_is_for_all_nodes() -> None:
    several = results(InProcess(nodes("a", "a", "a"), Echo()), [Task(0.2)] * 3)
    assert Counter(result.node.name for result in several if result.node) == {"n0": 1, "n1": 1, "n2": 1}


def test_a_slow_node_gets_small_pieces() -> None:
    engine = Timed(2)
    largest: dict[str, int] = {}
    for result in Scheduler(engine, lambda: engine.now, checked).run([Task(1.0)] * 400, json.dumps):
        name = result.node.name if result.node else ""
        largest[name] = max(largest.get(name, 0), len(result.tasks))
    assert largest["n0"] < largest["n1"] / 3


def test_a_piece_is_of_one_group_and_a_node_keeps_to_it() -> None:
    tasks = [Task(1.0, "torch" if place % 2 else "numpy") for place in range(40)]
    several = results(InProcess(nodes("a", "a"), Echo()), tasks)
    assert all(len({tasks[task].group for task in result.tasks}) == 1 for result in several)
    ran = [(result.node.name, tasks[result.tasks[0]].group) for result in several if result.node]
    changes = {name: len({group for node, group in ran if node == name}) for name in ("n0", "n1")}
    assert max(changes.values()) <= 2


def test_what_a_node_had_that_died_is_done_by_others() -> None:
    several = results(InProcess(nodes("a", "a", "a"), Echo(), {"n0": 1, "n2": 2}), 100)
    assert counts(several) == Counter(range(100))
    assert all(result.node is not None for result in several)


def test_a_node_that_comes_back_gets_work_again() -> None:
    several = results(InProcess(nodes("a"), Echo(), {"n0": 2}, back=True), 100)
    assert counts(several) == Counter(range(100))


def test_work_that_has_no_node_left_is_an_error_after_a_while() -> None:
    with pytest.raises(HarnessError, match="no node is left"):
        results(InProcess(nodes("a"), Echo(), {"n0": 2}), 100)


def test_a_task_that_breaks_every_node_is_found_and_given_up() -> None:
    several = results(InProcess(nodes(*["a"] * 40), Echo(bad=17)), 64)
    given_up = [result for result in several if result.node is None]
    assert [list(result.tasks) for result in given_up] == [[17]]
    assert given_up[0].reason is not None
    assert "cannot" in given_up[0].reason
    assert counts(several) == Counter(range(64))


class Lies(InProcess):
    """Nodes of which `n0` answers something else."""

    def __init__(self, lie: str, *names: str) -> None:
        super().__init__(nodes(*names), Echo())
        self._lie, self._tickets = lie, set[int]()

    def submit(self, ticket: int, node: str, order: str) -> None:
        super().submit(ticket, node, order)
        if node == "n0":
            self._tickets.add(ticket)

    def events(self, seconds: float) -> list[Event]:
        return [
            Done(event.ticket, self._lie) if isinstance(event, Done) and event.ticket in self._tickets else event
            for event in super().events(seconds)
        ]


@pytest.mark.parametrize("lie", ["[]", "[7, 7]", "[1000]"])
def test_an_answer_of_other_tasks_is_a_failure_of_its_node_and_the_tasks_go_to_others(lie: str) -> None:
    several = results(Lies(lie, "a", "a"), 100)
    assert counts(several) == Counter(range(100))
    assert {result.node.name for result in several if result.node} == {"n1"}


def test_where_every_node_lies_there_is_no_result() -> None:
    with pytest.raises(HarnessError, match="no node is left"):
        results(Lies("[]", "a"), 3)


class Kills(InProcess):
    """Nodes of which each dies that is given the task 3."""

    def events(self, seconds: float) -> list[Event]:
        if self._pieces and 3 in json.loads(self._pieces[0][2]):
            return [Left(self._pieces.popleft()[1], "out of memory")]
        return list(super().events(seconds))


def test_a_task_that_kills_nodes_costs_few_of_them() -> None:
    several = results(Kills(nodes(*["a"] * 10), Echo()), 50)
    assert [list(result.tasks) for result in several if result.node is None] == [[3]]
    assert counts(several) == Counter(range(50))


def test_with_replicas_each_machine_of_a_kind_does_a_task_once() -> None:
    several = results(InProcess(nodes("a", "a", "a", "b", "b"), Echo()), 30, replicate=2)
    done = Counter((task, result.node) for result in several for task in result.tasks)
    assert set(done.values()) == {1}
    kinds = Counter((task, result.node.kind) for result in several for task in result.tasks if result.node)
    assert kinds == Counter({(task, kind): 2 for task in range(30) for kind in "ab"})


def test_a_kind_with_fewer_machines_than_replicas_uses_all_it_has() -> None:
    several = results(InProcess(nodes("a", "b", "b"), Echo()), 10, replicate=2)
    assert Counter(result.node.kind for result in several for _ in result.tasks if result.node) == {"a": 10, "b": 20}


def test_a_replica_that_comes_back_does_nothing_twice() -> None:
    engine = InProcess(nodes("a", "a"), Echo(), {"n0": 3, "n1": 2}, back=True)
    done = Counter((task, result.node) for result in results(engine, 60, replicate=2) for task in result.tasks)
    assert len(done) == 120
    assert set(done.values()) == {1}


def test_what_was_done_before_is_not_done_again() -> None:
    tasks = [Task(1.0, done_on=[Node("gone", "a")] if place < 7 else ()) for place in range(10)]
    assert counts(results(InProcess(nodes("a"), Echo()), tasks)) == Counter([7, 8, 9])


def test_a_replica_that_was_done_before_is_left_to_the_other_machine() -> None:
    tasks = [Task(1.0, done_on=[Node("n1", "a")])]
    several = results(InProcess(nodes("a", "a"), Echo()), tasks, replicate=2)
    assert [result.node for result in several] == [Node("n0", "a")]


class Slow(InProcess):
    """A node `n0` that never gives back a piece."""

    def events(self, seconds: float) -> list[Event]:
        if self._pieces and self._pieces[0][1] == "n0":
            self._pieces.popleft()
        return list(super().events(seconds))


def test_what_a_slow_node_holds_is_done_by_an_idle_one_and_counts_once() -> None:
    several = results(Slow(nodes("a", "a"), Echo()), 50)
    assert counts(several) == Counter(range(50))
    assert {result.node.name for result in several if result.node} == {"n1"}
