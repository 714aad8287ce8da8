"""`--fleet`: trials and comparisons on nodes, which here are objects of this process with children of their own."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.each import check_each
from tests.functional.nodes import changing
from tests.in_process import InProcess

Opperf = Callable[..., Any]
RUN = ("run", "null:steady", "null:noisy", "add", "exp", "--framework", "null", "--size", "small", "--runs", "5")
ON = ("--direction", "forward", "--fleet", "ray")
TRIALS = 4


#: What a node may answer instead of the truth.
LIES = {
    "nothing": changing(lambda answer: answer.update(outcomes=[], comparisons=[])),
    "less": changing(lambda answer: [answer[name].pop() for name in ("outcomes", "comparisons") if answer[name]]),
    "all twice": changing(lambda answer: [answer[name].extend(answer[name]) for name in ("outcomes", "comparisons")]),
    "of another direction": changing(
        lambda answer: [
            (one.get("trial") or one).update(direction="backward") for one in answer["outcomes"] + answer["comparisons"]
        ]
    ),
    "of another side": changing(
        lambda answer: [
            (one["trial"]["side"] if "trial" in one else one["new"]).update(threads=7)
            for one in answer["outcomes"] + answer["comparisons"]
        ]
    ),
    "another shape": changing(lambda answer: answer.update(outcomes=7)),
    "a word too much": changing(lambda answer: answer.update(run="this")),
    "a list": lambda text: "[]",
    "no JSON": lambda text: text[:-1],
    "no text": lambda text: "\ud800",
    "too deep": lambda text: "[" * 100_000,
}


def document(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text())
    return read


def places(path: Path) -> Counter[tuple[str, str]]:
    return Counter((one["case"]["id"], one["facts"]["node"]["name"]) for one in document(path)["records"])


def test_every_trial_is_measured_on_one_node_and_its_record_names_it(
    opperf: Opperf, fleet: Callable[..., InProcess], here: Path
) -> None:
    engine = fleet("old", "new")
    done = opperf(*RUN, *ON, "--processes", 3, "--output", "run.json")
    assert done.code == 0, done.err
    read = document(here / "run.json")
    assert len(places(here / "run.json")) == len(read["records"]) == TRIALS
    assert all(one["metrics"]["time"]["processes"] == 3 for one in read["records"])
    assert all(one["metrics"]["time"]["interval"] for one in read["records"])
    nodes = read["run"]["environment"]["nodes"]
    assert {one["facts"]["node"]["name"] for one in read["records"]} == set(nodes)
    assert all(node["machine"]["cpu"] in ("old", "new") for node in nodes.values())
    assert engine.closed


def test_what_a_dead_node_had_is_measured_by_another(
    opperf: Opperf, fleet: Callable[..., InProcess], here: Path
) -> None:
    fleet("old", "old", deaths={"n0": 1})
    done = opperf(*RUN, *ON, "--output", "run.json")
    assert done.code == 0, done.err
    assert set(places(here / "run.json").values()) == {1}
    assert {name for _, name in places(here / "run.json")} == {"n1"}


def test_what_a_lying_node_had_is_measured_by_another(
    opperf: Opperf, fleet: Callable[..., InProcess], here: Path
) -> None:
    def check(name: str) -> None:
        fleet("old", "old", lie=LIES[name])
        done = opperf(*RUN, *ON, "--output", f"{name}.json")
        assert done.code == 0, done.err
        assert "n0 answered wrongly, and its work goes elsewhere: " in done.err
        assert set(places(here / f"{name}.json").values()) == {1}
        assert len(places(here / f"{name}.json")) == TRIALS
        assert {node for _, node in places(here / f"{name}.json")} == {"n1"}
        assert {one["status"] for one in document(here / f"{name}.json")["records"]} == {"ok"}

    check_each(LIES, check)


def test_a_comparison_that_a_lying_node_had_is_made_by_another(
    opperf: Opperf, fleet: Callable[..., InProcess], here: Path
) -> None:
    words = ("compare", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", "--pairs", "3", "--fleet", "ray")

    def check(name: str) -> None:
        fleet("old", "old", lie=LIES[name])
        done = opperf(*words, "--output", f"{name}.json")
        assert done.code == 0, done.err
        assert [one["node"]["name"] for one in document(here / f"{name}.json")["comparisons"]] == ["n1"]

    check_each(["all twice", "of another side"], check)


def test_replicas_are_records_of_their_own(opperf: Opperf, fleet: Callable[..., InProcess], here: Path) -> None:
    fleet("old", "old", "new")
    done = opperf(*RUN, *ON, "--replicate", 2, "--output", "run.json")
    assert done.code == 0, done.err
    assert set(places(here / "run.json").values()) == {1}
    assert len(places(here / "run.json")) == 3 * TRIALS
    assert "`--replicate 2`: the fleet has 1 of new, 8 cores" in done.err


def test_a_run_whose_nodes_all_died_goes_on_with_others(
    opperf: Opperf, fleet: Callable[..., InProcess], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.parent.measuring.fleet.scheduler.NODE_WAIT", 0.0)
    fleet("old", deaths={"n0": 2})
    done = opperf(*RUN, *ON, "--output", "run.json")
    assert done.code == 3
    assert "no node is left for" in done.err
    first = places(here / "run.json")
    assert 0 < len(first) < TRIALS
    fleet("new")
    done = opperf(*RUN, *ON, "--output", "run.json", "--resume", "run.json", "--force")
    assert done.code == 0, done.err
    assert set(places(here / "run.json").values()) == {1}
    assert len(places(here / "run.json")) == TRIALS
    assert first.items() <= places(here / "run.json").items()


def test_a_comparison_is_of_one_node_and_machines_are_merged(
    opperf: Opperf, fleet: Callable[..., InProcess], here: Path
) -> None:
    fleet("old", "old", "new")
    words = ("compare", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", "--pairs", "5", "--fleet", "ray")
    done = opperf(*words, "--replicate", 2, "--output", "c.json", "--html", "c.html", "--database", "c.sqlite")
    assert done.code == 0, done.err
    assert "across machines" in done.out
    read = document(here / "c.json")
    assert Counter(one["node"]["kind"] for one in read["comparisons"]) == {"old, 8 cores": 2, "new, 8 cores": 1}
    (merged,) = read["machines"]
    assert merged["finding"] == "slower on all machines"
    assert merged["ratio"] == pytest.approx(1.5, rel=0.01)
    assert "slower on all machines" in (here / "c.html").read_text()
    with closing(sqlite3.connect(here / "c.sqlite")) as connection:
        names = {
            name for (name,) in connection.execute("select name from machines join series on machine_id = machines.id")
        }
    assert names == {"old, 8 cores", "new, 8 cores"}


def test_a_gate_judges_each_machine(opperf: Opperf, fleet: Callable[..., InProcess], here: Path) -> None:
    fleet("old", "new")
    words = ("gate", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", "--pairs", "5", "--fleet", "ray")
    assert opperf(*words, "--replicate", 1, "--markdown", "gate.md").code == 1
    repeated = (here / "gate.md").read_text().partition("How to repeat it")[2]
    assert "opperf gate null:steady --base null" in repeated
    assert "--new 'null:steady;slowdown=1.5' --direction forward" in repeated


def test_conditions_choose_nodes(opperf: Opperf, fleet: Callable[..., InProcess], here: Path) -> None:
    fleet("AMD EPYC 7763", "Intel Xeon")
    done = opperf(*RUN, *ON, "--where", "cpu=amd epyc*", "--output", "run.json")
    assert done.code == 0, done.err
    assert {name for _, name in places(here / "run.json")} == {"n0"}
    refusal = opperf(*RUN, *ON, "--where", "gpu=H999", "--replicate", 1)
    assert (refusal.code, "no node of the fleet can be used" in refusal.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--where", "cpu=x"), "`--where` needs `--fleet`"),
        (("--replicate", "2"), "`--replicate` needs `--fleet`"),
        (("--fleet", "ray", "--where", "colour=red"), "`--where` has `colour=red`"),
        (("--fleet", "ray", "--replicate", "0"), "`--replicate` is 0"),
        (("--fleet", "moon"), "`--fleet` is `moon`"),
        (("--fleet", "slurm:many"), "has no number of jobs"),
        (("--fleet", "slurm:2"), "needs `sbatch`"),
    ],
)
def test_what_is_no_fleet_is_one_message(opperf: Opperf, words: tuple[str, ...], message: str) -> None:
    done = opperf(*RUN, *words)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("scheme", ["ray:", "ray://"])
def test_an_address_at_which_nothing_listens_is_told_at_once(opperf: Opperf, scheme: str) -> None:
    pytest.importorskip("ray")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{unused.getsockname()[1]}"
    done = opperf(*RUN, "--fleet", address)
    assert (done.code, done.out) == (3, "")
    assert f"cannot reach Ray at `{address.removeprefix('ray:') if scheme == 'ray:' else address}`" in done.err
    assert "hint: `ray://HOST:10001`" in done.err
    compared = opperf(
        "compare", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", "--pairs", "3", "--fleet", address
    )
    assert (compared.code, compared.out) == (3, "")
    assert compared.err == done.err


def test_code_of_the_users_own_is_refused(opperf: Opperf, here: Path) -> None:
    (here / "mine.py").write_text("import numpy\n\ndef twice(x):\n    return x + x\n")
    done = opperf("run", "mine.py:twice", "--input", "x=4", "--framework", "numpy", "--fleet", "ray")
    assert done.code == 2
    assert "your code is on this machine" in done.err


def test_expectations_are_refused(opperf: Opperf, fleet: Callable[..., InProcess], here: Path) -> None:
    fleet("old")
    done = opperf("gate", "null:steady", "--framework", "null", "--expected", "e.json", "--fleet", "ray")
    assert done.code == 2
    assert "`--fleet` compares live" in done.err
