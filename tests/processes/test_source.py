"""Both children of a pair come of one import where their sides ask the same of it, and share nothing else."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest
from tests.each import check_each

from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.message.requests import Describe, Prepare
from opperf.domain.plan import EXTRA_CALLS, Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.environment import CURRENT
from opperf.parent.workers.compiled_code import NUMBA
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.freezer import Freezer
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.room import probe, room_of, under
from opperf.parent.workers.source import Source, share_import

Until: TypeAlias = Callable[[Callable[[], bool]], None]

DEADLINE = 180.0
NUMPY = Side("numpy")
#: A function of the user's that writes down what its process has, in a file for each process.
LOOK = """
import json, os, resource, sys, threading
from pathlib import Path

def look(x):
    listed = {one: f"/proc/self/fd/{one}" for one in os.listdir("/proc/self/fd")}
    facts = {
        "parent": os.getppid(),
        "leads": os.getpid() == os.getpgrp() == os.getsid(0),
        "descriptors": {number: os.readlink(path) for number, path in listed.items() if os.path.exists(path)},
        "variables": dict(os.environ),
        "threads": threading.active_count(),
        "array": hex(id(sys.modules["numpy"])) if "numpy" in sys.modules else "",
        "limited": resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY,
    }
    print("seen by", os.getpid())
    Path(__file__).with_name(f"{os.getpid()}.json").write_text(json.dumps(facts))
    return x
"""

#: A function of the user's that says in its failure what it finds around it, and leaves a file behind.
LOOK_AROUND = """
import json, os, re
from pathlib import Path

def look(x):
    mark = Path("/tmp/mark")
    listed = [f"/proc/self/fd/{one}" for one in os.listdir("/proc/self/fd") if int(one) > 2]
    facts = {
        "processes": [int(name) for name in os.listdir("/proc") if name.isdecimal()],
        "own": [os.getpid(), os.getppid()],
        "descriptors": [os.readlink(path) for path in listed if os.path.lexists(path)],
        "shared": re.findall("^.* rw.s .*$", Path("/proc/self/maps").read_text(), re.MULTILINE),
        "was there": mark.exists(),
    }
    mark.touch()
    raise RuntimeError(json.dumps(facts))
"""


@contextmanager
def duel(base: Side, new: Side) -> Iterator[Duel]:
    with closing(Duel(base, new, Settings(check="none"), lambda _: None, random.Random(0))) as pair:
        yield pair


def looks(folder: Path, pair: Duel) -> list[dict[str, Any]]:
    """Return what both children of a pair have."""
    (folder / "look.py").write_text(LOOK)
    own = Code(f"{folder / 'look.py'}:look")
    for place, worker in enumerate(pair.workers):
        trial = Trial(Case(str(own), {"x": TensorSpec((8,))}), replace(worker.side, implementation=own), "forward")
        pair._ask(place, Prepare(trial, check="none"))
    return [json.loads((folder / f"{worker.pid}.json").read_text()) for worker in pair.workers]


def test_sides_share_an_import_that_ask_the_same_of_it() -> None:
    def check(row: tuple[Side, Side, bool]) -> None:
        base, new, wanted = row
        assert share_import(base, new) == wanted

    torch = Side("torch")
    check_each(
        [
            (torch, torch, True),
            (torch, replace(torch, mode="compiled"), True),
            (torch, replace(torch, implementation="torch.add"), True),
            (torch, replace(torch, settings={EXTRA_CALLS: "5%"}), True),
            (torch, replace(torch, environment="torch==2.12.0"), False),
            (torch, replace(torch, threads=2), False),
            (torch, replace(torch, allocator="default"), False),
            (torch, replace(torch, settings={"env.MKL_CBWR": "AVX2"}), False),
            (torch, replace(torch, settings={"layout": "1"}), False),
            (replace(torch, settings={"layout": "1"}), replace(torch, settings={"layout": "1"}), False),
            (replace(torch, device="cuda:0"), replace(torch, device="cuda:0"), False),
            (replace(torch, allocator="default"), replace(torch, allocator="default"), False),
            (NUMPY, torch, False),
            (Side("jax"), Side("jax"), False),
            (Side("tensorflow"), Side("tensorflow"), False),
            (Side("a_plugin_s"), Side("a_plugin_s"), False),
        ],
        check,
    )


def test_both_children_come_of_one_import_and_have_nothing_of_each_other(tmp_path: Path) -> None:
    with duel(NUMPY, NUMPY) as pair:
        base, new = looks(tmp_path, pair)
        assert base["parent"] == new["parent"]
        assert base["array"] == new["array"] != ""
        assert base["leads"]
        assert new["leads"]
        assert base["limited"]
        pipes = [{text for text in one["descriptors"].values() if not text.startswith("/")} for one in (base, new)]
        assert not pipes[0] & pipes[1]
        assert len({worker.pid for worker in pair.workers}) == 2
        assert [worker.facts["imported"] for worker in pair.workers] == ["once for both sides"] * 2


def test_a_child_of_a_source_has_what_a_fresh_one_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kinds(facts: dict[str, Any]) -> dict[str, object]:
        files = sorted(re.sub(r"[0-9]+|:.*", "", text) for text in facts["descriptors"].values())
        variables = {name: text for name, text in facts["variables"].items() if name != NUMBA}  # of each process
        return {"files": files, **{name: facts[name] for name in ("threads", "leads", "limited")}, **variables}

    with duel(NUMPY, NUMPY) as pair:
        forked = [kinds(facts) for facts in looks(tmp_path, pair)]
    monkeypatch.setattr("opperf.parent.workers.duel.share_import", lambda *_: False)
    with duel(NUMPY, NUMPY) as pair:
        fresh = [kinds(facts) for facts in looks(tmp_path, pair)]
    for one, other in zip(forked, fresh, strict=True):
        differing = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
        assert not differing, {name: (one.get(name), other.get(name)) for name in differing}


def test_each_pair_has_an_import_of_its_own(tmp_path: Path) -> None:
    parents = []
    for _ in range(2):
        with duel(NUMPY, NUMPY) as pair:
            parents.append(looks(tmp_path, pair)[0]["parent"])
    assert len(set(parents)) == 2


def test_children_whose_framework_has_started_threads_begin_anew(tmp_path: Path) -> None:
    """OpenBLAS starts its own when NumPy is imported, and a fork copies none of them."""
    side = replace(NUMPY, threads=2)
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("OpenBLAS starts no thread on one CPU")
    with duel(side, side) as pair:
        assert not any("imported" in worker.facts for worker in pair.workers)
        assert all(facts["variables"]["OMP_NUM_THREADS"] == "2" for facts in looks(tmp_path, pair))


@pytest.mark.parametrize("ending", ["crash", "exit"])
def test_a_child_that_dies_leaves_the_other_alone(ending: str) -> None:
    side = Side("null")
    trial = Trial(Case(f"null:{ending}"), replace(side, implementation=ending), "forward")
    steady = Trial(Case("add", {"lhs": TensorSpec((8,)), "rhs": TensorSpec((8,))}), side, "forward")
    with duel(side, side) as pair:
        with pytest.raises(WorkerFailure) as failure:
            pair._ask(0, Prepare(trial))
        assert failure.value.slug == ending
        assert pair._ask(1, Prepare(steady)).handle


def test_nothing_of_a_pair_is_left_when_it_ends(until: Until) -> None:
    pair = Duel(Side("null"), Side("null"), Settings(), lambda _: None, random.Random(0))
    source = psutil.Process(pair.workers[0].pid).parent()
    assert source is not None
    processes = [source, *source.parents()[:1], *(psutil.Process(worker.pid) for worker in pair.workers)]
    pair.close()
    until(lambda: not any(process.is_running() for process in processes))


def test_who_a_child_is_has_been_told_by_itself_before_its_hello() -> None:
    script = """
import json, os, signal, socket, sys
from opperf.child.worker import source
requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
pipes, (status, end) = [os.pipe() for _ in range(3)], os.pipe()
message = json.dumps({"words": [], "variables": {}}).encode()
socket.send_fds(requests, [message], [pipes[0][0], pipes[1][1], pipes[2][1], end])
fork = os.fork
def fork_and_stand_still():  # as a source does that gets no CPU
    child = fork()
    if child:
        os.close(end)
        told = int.from_bytes(os.read(status, 4), "little")
        print(told == child, flush=True)
        os._exit(0)
    return child
os.fork = fork_and_stand_still
source.next_child(theirs, {})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE)
    assert done.stdout == "True\n", done.stderr


def test_what_a_side_prints_is_said_of_that_side_alone() -> None:
    side = Side("null")
    trial = Trial(Case("null:abort"), replace(side, implementation="abort"), "forward")
    with duel(side, side) as pair:
        with pytest.raises(WorkerFailure) as failure:
            pair._ask(1, Prepare(trial))
        assert failure.value.signal == "SIGABRT"


def test_an_import_that_fails_is_told_as_ever(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('a broken NumPy')")
    side = replace(NUMPY, settings={"env.PYTHONPATH": str(tmp_path)})
    with pytest.raises((OperatorFailure, WorkerFailure)):
        Duel(side, side, Settings(), lambda _: None, random.Random(0))


def test_a_side_that_asks_for_more_goes_its_own_way(tmp_path: Path) -> None:
    with duel(NUMPY, replace(NUMPY, settings={"env.OWN": "here"})) as pair:
        base, new = looks(tmp_path, pair)
        assert base["parent"] != new["parent"]
        assert [one["variables"].get("OWN") for one in (base, new)] == [None, "here"]


@contextmanager
def roomed(folder: Path, side: Side, count: int = 2) -> Iterator[list[Worker]]:
    """Start children of one source, each in a room of its own that has a folder, and inherits a file."""
    python = interpreter(CURRENT, framework=side.framework)
    room = room_of(python, [folder])
    if "namespaces" not in probe(room):
        pytest.skip("only rooms with namespaces share an import")
    source = Source(most=None)
    file = os.memfd_create("given")
    children = [
        Worker(python, package_folder(), side, Launch(own_path=True, under=under(room), files=(file,), source=source))
        for _ in range(count)
    ]
    try:
        yield children
    finally:
        for child in children:
            child.kill()
        source.retire()
        os.close(file)


def look_around(folder: Path, child: Worker) -> dict[str, Any]:
    """Return what code of the user's finds in a child."""
    (folder / "around.py").write_text(LOOK_AROUND)
    own = Code(f"{folder / 'around.py'}:look")
    trial = Trial(Case(str(own), {"x": TensorSpec((8,))}), replace(child.side, implementation=own), "forward")
    with pytest.raises(OperatorFailure) as failure:
        child.ask(Prepare(trial, check="none"), DEADLINE)
    message = failure.value.message
    assert "{" in message, message
    return dict(json.loads(message[message.index("{") : message.rindex("}") + 1]))


def test_children_of_a_source_in_rooms_find_neither_it_nor_each_other(tmp_path: Path) -> None:
    with roomed(tmp_path, NUMPY) as children:
        for child in children:
            child.greet()
        assert len({child.facts["imported"] for child in children}) == 1
        finds = [look_around(tmp_path, child) for child in children]
        for found in finds:
            assert set(found["processes"]) <= {1, *found["own"]}
            assert not found["shared"]
            assert not found["was there"]
            assert [text for text in found["descriptors"] if text.startswith("/memfd:")] == ["/memfd:given (deleted)"]
        pipes = [{text for text in found["descriptors"] if not text.startswith("/")} for found in finds]
        assert pipes[0]
        assert not pipes[0] & pipes[1]


def test_a_child_of_a_source_in_a_room_is_frozen_alone(tmp_path: Path) -> None:
    with roomed(tmp_path, Side("null")) as children:
        for child in children:
            child.greet()
        for mechanism in ("group", "signals"):
            with Freezer(children[0].pid, children[0].top) as freezer:
                freezer.mechanism = mechanism if freezer.mechanism == "group" else "signals"
                freezer.freeze()
                assert children[1].ask(Describe("add"), DEADLINE)
                freezer.thaw()
        assert children[0].ask(Describe("add"), DEADLINE)


def test_children_of_a_source_that_shares_memory_with_them_begin_anew(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import mmap\nkept = mmap.mmap(-1, 4096)\n")
    with roomed(tmp_path, replace(NUMPY, settings={"env.PYTHONPATH": str(tmp_path)}), 1) as (child,):
        child.greet()
        assert "imported" not in child.facts


def test_a_child_that_nobody_needs_before_it_is_forked_leaves_the_others_alone(tmp_path: Path) -> None:
    with roomed(tmp_path, NUMPY) as children:
        children[0].kill()
        children[1].greet()
        assert children[1].ask(Describe("add"), DEADLINE)


def test_nothing_of_a_source_is_left_when_it_is_retired_and_its_last_child_has_ended(
    tmp_path: Path, until: Until
) -> None:
    with roomed(tmp_path, Side("null")) as children:
        for child in children:
            child.greet()
        below = psutil.Process(os.getpid()).children(recursive=True)
        ours = [one for one in below if children[0].top in [one.pid, *(up.pid for up in one.parents())]]
        assert ours
    until(lambda: not any(one.is_running() for one in ours))


def test_a_source_that_is_closed_ends_before_its_children_are_forked(tmp_path: Path, until: Until) -> None:
    with roomed(tmp_path, NUMPY) as children:
        source = children[0]._process.source  # type: ignore[union-attr]
        source.close()
        assert not source.alive
        until(lambda: all(child._process.poll() is not None for child in children))
