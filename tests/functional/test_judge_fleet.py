"""`opperf judge --fleet`: sources go out, verdicts come in; the nodes are objects of this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.each import check_each
from tests.functional.conftest import Done
from tests.functional.nodes import changing
from tests.in_process import InProcess

import opperf
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.candidates import Judged as Verdict
from opperf.parent.measuring.fleet.dispatch import _read
from opperf.parent.measuring.fleet.engine import Answer, JudgedSource, Judging, Order
from opperf.parent.measuring.fleet.node import Hands
from opperf.parent.workers.room import Room, probe

Opperf = Callable[..., Done]
Fleet = Callable[..., InProcess]

ZEROS = "import numpy as np\ndef f(data, axis=-1):\n    return np.zeros_like(data)\n"
EXIT = "import os\ndef f(data, axis=-1):\n    os._exit(3)\n"
WORDS = ("--framework", "numpy", "--input", "data=4x8", "--fleet", "ray")
AGAINST = ("--against", "softmax", *WORDS)
#: What a node may answer instead of the truth.
LIES = {
    "nothing": changing(lambda answer: answer.update(judgements=[])),
    "less": changing(lambda answer: answer["judgements"].pop()),
    "one twice": changing(lambda answer: answer["judgements"].append(answer["judgements"][0])),
    "of another candidate": changing(lambda answer: answer["judgements"][0].update(candidate="other")),
    "in another order": changing(lambda answer: answer["judgements"].insert(0, answer["judgements"].pop(1))),
    "of another case": changing(lambda answer: answer["judgements"][0]["case"].update(operator="add")),
    "another shape": changing(lambda answer: answer.update(judgements=7)),
}


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """What nodes are told to do; they work in a folder of their own, where no file of the user's is."""
    every: list[dict[str, Any]] = []
    carry_out = Hands.carry_out
    (tmp_path / "node").mkdir()

    def elsewhere(self: Hands, text: str) -> str:
        every.append(json.loads(text))
        folder = Path.cwd()
        os.chdir(tmp_path / "node")
        try:
            return carry_out(self, text)
        finally:
            os.chdir(folder)

    monkeypatch.setattr(Hands, "carry_out", elsewhere)
    yield every
    assert not list((tmp_path / "node").iterdir())


def write_lines(path: Path, rows: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "source": text}) + "\n" for name, text in rows.items()))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def candidates_of(orders: list[dict[str, Any]]) -> list[str]:
    return [one["name"] for order in orders for one in order["judging"]["candidates"]]


def test_candidates_are_judged_on_nodes_by_their_sources_alone(
    opperf: Opperf, fleet: Fleet, orders: list[dict[str, Any]], here: Path
) -> None:
    engine = fleet("old", "new")
    write_lines(here / "c.jsonl", {"zeros": ZEROS, "exits": EXIT, "empty": "x = 1\n", "torn": "def f(:\n"})
    latin = "# coding: latin-1\ndef f(data, axis=-1):\n    raise RuntimeError('h\u00e4')\n"
    (here / "own.py").write_bytes(latin.encode("latin-1"))
    done = opperf("judge", "own.py:f", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert done.code == 3, done.err
    rows = {row["candidate"]: row for row in rows_of(here / "r.jsonl")}
    causes = {name: (row["verdict"], row["evidence"][0]["slug"]) for name, row in rows.items()}
    assert causes == {
        "own.py:f": ("wrong", "fails"),
        "zeros": ("wrong", "wrong_values"),
        "exits": ("cheats", "exits"),
        "empty": ("wrong", "load"),
        "torn": ("wrong", "load"),
    }
    assert "h\u00e4" in rows["own.py:f"]["reason"]
    assert {row["node"]["name"] for name, row in rows.items() if name != "empty"} <= {"n0", "n1"}
    assert "node" not in rows["empty"]
    assert all(row["room"] for name, row in rows.items() if name != "empty")
    assert sorted(candidates_of(orders)) == ["exits", "own.py:f", "torn", "zeros"]
    assert {order["rule"]["family"] for order in orders} == {5}
    assert "opperf-candidates" not in (here / "r.jsonl").read_text() + done.err
    assert engine.closed


@pytest.mark.slow  # it times
def test_a_reference_in_a_file_travels_too_and_both_are_timed_on_one_node(
    opperf: Opperf, fleet: Fleet, orders: list[dict[str, Any]], here: Path
) -> None:
    fleet("old")
    (here / "ref.py").write_text("import numpy as np\ndef f(data):\n    return np.exp(data)\n")
    loop = "    for _ in range(200):\n        result = np.exp(data)\n    return result\n"
    (here / "slow.py").write_text(f"import numpy as np\ndef f(data):\n{loop}")
    done = opperf("judge", "slow.py", "--against", "ref.py:f", *WORDS, "--output", "j.json")
    assert done.code == 1, done.err
    document = json.loads((here / "j.json").read_text())
    (judged,) = document["judgements"]
    assert (judged["verdict"], judged["node"]["name"], judged["against"]) == ("slower", "n0", "ref.py:f")
    assert judged["ring"]["candidate"] > judged["ring"]["reference"]
    assert document["run"]["environment"]["nodes"]["n0"]["machine"]["cpu"] == "old"
    assert document["run"]["environment"]["sides"]["reference"]
    (order,) = orders
    assert order["judging"]["trial"]["side"]["implementation"] is None
    assert "np.exp" in order["judging"]["reference"]["content"]


def test_what_a_dead_node_had_is_judged_by_another(opperf: Opperf, fleet: Fleet, here: Path) -> None:
    fleet("old", "old", deaths={"n0": 1})
    write_lines(here / "c.jsonl", {"one": ZEROS, "two": ZEROS})
    done = opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert "lost n0" in done.err
    rows = [(row["candidate"], row["verdict"], row["node"]["name"]) for row in rows_of(here / "r.jsonl")]
    assert sorted(rows) == [("one", "wrong", "n1"), ("two", "wrong", "n1")]


def test_what_a_lying_node_had_is_judged_by_another(opperf: Opperf, fleet: Fleet, here: Path) -> None:
    fleet("old", "old", lie=LIES["of another candidate"])
    write_lines(here / "c.jsonl", {"one": ZEROS})
    opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert [(row["candidate"], row["node"]["name"]) for row in rows_of(here / "r.jsonl")] == [("one", "n1")]


def test_an_answer_has_each_judgement_that_was_asked_for_once_and_in_its_place() -> None:
    trial = Trial(Case("softmax"), Side("numpy"), "forward")
    sources = tuple(JudgedSource(name, "f", ZEROS) for name in ("one", "two", "one"))
    order = Order(Settings(), rule=Rule(), judging=Judging("softmax", trial, sources))
    verdicts = tuple(Verdict(one.name, "softmax", trial.case, "wrong", "zeros") for one in sources)
    truth = json.dumps(Answer(judgements=verdicts).to_json())
    assert _read(truth, order).judgements == verdicts

    def check(name: str) -> None:
        with pytest.raises(InputError, match="its answer"):
            _read(LIES[name](truth), order)

    check_each(LIES, check)


def test_resuming_sends_what_has_no_verdict(
    opperf: Opperf, fleet: Fleet, orders: list[dict[str, Any]], here: Path
) -> None:
    command = ("judge", "--candidates", here / "c.jsonl", *AGAINST, "--output", "r.jsonl", "--resume")
    write_lines(here / "c.jsonl", {"one": ZEROS, "two": ZEROS})
    fleet("old")
    opperf(*command)
    orders.clear()
    fleet("old")
    write_lines(here / "c.jsonl", {"one": ZEROS, "two": EXIT, "three": ZEROS})
    done = opperf(*command)
    assert candidates_of(orders) == ["two", "three"]
    assert {order["rule"]["family"] for order in orders} == {3}
    assert [line.partition(":")[0] for line in done.err.splitlines()] == ["one", "two", "three"]
    fleet("old")
    opperf(*command)
    assert len(rows_of(here / "r.jsonl")) == 4
    assert candidates_of(orders) == ["two", "three"]


def lack_rooms(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Have the machine too little for a room so many times."""
    left = iter(range(times))

    def lacking(room: Room) -> tuple[str, ...]:
        for _ in left:
            message = "this machine offers too little for a room: a candidate could read"
            raise InputError(message, hint="with `--room none` there is none", slug="no_room")
        return probe(room)

    monkeypatch.setattr("opperf.parent.measuring.judge.bench.probe", lacking)


def test_work_of_a_node_without_a_room_goes_to_another(
    opperf: Opperf, fleet: Fleet, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lack_rooms(monkeypatch, 1)
    fleet("old", "old")
    write_lines(here / "c.jsonl", {"one": ZEROS})
    opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert [(row["verdict"], row["node"]["name"]) for row in rows_of(here / "r.jsonl")] == [("wrong", "n1")]


def test_where_no_node_has_a_room_the_command_says_so(
    opperf: Opperf, fleet: Fleet, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.parent.measuring.fleet.scheduler.NODE_WAIT", 0.0)
    lack_rooms(monkeypatch, 9)
    fleet("old")
    (here / "a.py").write_text(ZEROS)
    done = opperf("judge", "a.py", *AGAINST)
    assert done.code == 3
    assert "n0 gets no more work: this machine offers too little for a room: a candidate could read" in done.err
    assert "no node is left for the rest of the work" in done.err
    assert "--room none" not in done.err


def test_a_reference_that_needs_more_than_its_file_is_bad_input(
    opperf: Opperf, fleet: Fleet, orders: list[dict[str, Any]], here: Path
) -> None:
    fleet("old")
    (here / "a.py").write_text(ZEROS)
    (here / "beside.py").write_text("")
    (here / "ref.py").write_text("def f(data):\n    import beside\n    return data\n")
    done = opperf("judge", "a.py", "--against", "ref.py:f", *WORDS)
    assert done.code == 2
    assert "error: n0: the reference `ref.py:f` fails: " in done.err
    assert "No module named 'beside'" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.py", *AGAINST, "--room", "none"), "they run there in a room alone"),
        (("a.py", *AGAINST, "--plugin", "a.py"), "a plugin is on this machine"),
        (("a.py", "--against", "kernelbench:a.py", *WORDS), "the files of `kernelbench:a.py` are on this machine"),
        (("package/b.py", *AGAINST), "is in the package"),
        (("a_module:f", *AGAINST), "`a_module:f` is in a module, and `--fleet` sends single files"),
        (("a.py", "--against", "package/b.py:f", *WORDS), "is in the package"),
        (("a.py", "--against", "softmax", "--where", "cpu=old"), "`--where` needs `--fleet`"),
    ],
)
def test_what_does_not_travel_is_refused_before_any_node_works(
    opperf: Opperf, fleet: Fleet, orders: list[dict[str, Any]], here: Path, words: tuple[str, ...], message: str
) -> None:
    fleet("old")
    (here / "package").mkdir()
    for file in ("a.py", "package/b.py", "package/__init__.py"):
        (here / file).write_text(ZEROS)
    done = opperf("judge", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not orders


def test_an_order_names_no_code_outside_its_sources() -> None:
    side = {"framework": "numpy", "implementation": "code:evil.py:f"}
    trial = {"case": {"operator": "code:evil.py:f"}, "side": side, "direction": "forward"}
    judging = {"against": "evil.py:f", "trial": trial, "candidates": []}
    order = Order.from_json({"settings": {}, "judging": judging})
    assert order.judging is not None
    assert not isinstance(order.judging.trial.side.implementation, Code)
    with pytest.raises(InputError):
        Order.from_json({"settings": {}, "judging": {**judging, "candidates": ["evil.py:f"]}})


def test_the_library_judges_on_a_fleet_and_says_on_which_node(fleet: Fleet, orders: list[dict[str, Any]]) -> None:
    engine = fleet("old", "new")
    words: dict[str, Any] = {"framework": "numpy", "inputs": {"data": (4, 8)}}
    several = opperf.judge([ZEROS, EXIT], against="softmax", fleet="ray", where="cpu=new", **words)
    assert [(one.verdict, one.node and one.node.name) for one in several] == [("wrong", "n1"), ("cheats", "n1")]
    assert candidates_of(orders) == ["candidate 1", "candidate 2"]
    assert engine.closed
    with pytest.raises(InputError, match="needs `fleet`"):
        opperf.judge(ZEROS, against="softmax", where="cpu=new", **words)
