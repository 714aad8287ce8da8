"""Operators that do their worst: each is one failed record, and the run goes on.

Children are real; the commands run in this process.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest
from tests.functional.conftest import current
from tests.processes.conftest import command_here, patience

from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.message.requests import Prepare
from opperf.domain.plan import Trial
from opperf.parent.workers import output
from opperf.parent.workers.process import Worker

Record: TypeAlias = dict[str, Any]

#: What a trial is given that never ends. Seconds.
TIMEOUT = "4"
MEBIBYTE = 2**20


#: What each fault is followed by.
NEXT = {
    "crash": "add", "abort": "subtract", "exit": "multiply", "hang": "divide", "raise": "maximum", "leak": "minimum",
    "flood": "hypot", "garbage": "exp",
}  # fmt: skip


def _measured(*words: str, **variables: str) -> list[Record]:
    """Measure by the command, which must end well, and return the records."""
    fixed = ("--framework", "null", "--size", "small", "--direction", "forward", "--runs", "3", "--format", "json")
    with patience():
        done = command_here("run", *words, *fixed, "--timeout", TIMEOUT, **variables)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    records: list[Record] = json.loads(done.stdout)["records"]
    return records


@pytest.fixture(scope="module")
def records(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """The records of one run, in which an operator follows each fault."""
    with current(tmp_path_factory.mktemp("faults"), one_cache):
        found = _measured(*(name for fault, after in NEXT.items() for name in (f"null:{fault}", after)))
    return {record["case"]["operator"]: record for record in found}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("crash", {"slug": "crash", "signal": "SIGSEGV", "stderr": "about to read address zero"}),
        ("abort", {"slug": "crash", "signal": "SIGABRT", "message": "the child was killed by SIGABRT"}),
        ("exit", {"slug": "exit", "signal": None, "message": "the child ended with exit code 7"}),
        (
            "hang",
            {
                "slug": "timeout",
                "signal": None,
                "message": "not finished within 4 s; opperf killed the child process",
                "hint": "raise the limit with `--timeout`",
            },
        ),
        ("raise", {"slug": "operator_error", "exception": "RuntimeError", "message": "this operator always raises"}),
        ("leak", {"slug": "out_of_memory", "exception": "MemoryError"}),
        ("flood", {"slug": "timeout", "message": "not finished within 4 s; opperf killed the child process"}),
        (
            "garbage",
            {
                "slug": "protocol",
                "message": r"invalid data on the child's pipe: not JSON: b'\x00\xff not a message'",
            },
        ),
    ],
)
def test_a_fault_is_one_failed_record_and_the_next_trial_is_measured(
    script: str, expected: dict[str, Any], records: dict[str, Record]
) -> None:
    failed, after = records[f"null:{script}"], records[NEXT[script]]
    assert (failed["status"], failed["metrics"]) == ("failed", {})
    assert {name: failed["reason"][name] for name in expected} == expected
    assert (after["status"], after["reason"]) == ("ok", None)


def test_each_trial_of_a_run_with_faults_has_its_record_in_order(records: dict[str, Record]) -> None:
    assert list(records) == [name for fault, after in NEXT.items() for name in (f"null:{fault}", after)]


def test_a_flood_leaves_its_last_lines_in_the_record(records: dict[str, Record]) -> None:
    *lines, cut = records["null:flood"]["reason"]["stderr"].splitlines()
    assert lines == ["the same line again and again"] * (output.KEPT_LINES - 1)
    assert cut in lines[0]  # it was ended in the middle of a line


def test_an_exception_comes_with_its_traceback(records: dict[str, Record]) -> None:
    traceback = records["null:raise"]["reason"]["traceback"]
    assert "in raising" in traceback
    assert traceback.endswith("RuntimeError: this operator always raises\n")


def test_each_process_of_a_trial_that_failed_once_is_spared_the_fault() -> None:
    failed, ok = _measured("null:hang", "add", "--processes", "3")
    assert (failed["status"], ok["status"]) == ("failed", "ok")
    assert ok["metrics"]["time"]["processes"] == 3


def test_an_operator_that_asks_for_all_memory_leaves_its_child_usable(
    worker: Callable[..., Worker], trial: Callable[..., Trial]
) -> None:
    child = worker(memory=256 * MEBIBYTE)
    child.greet()
    with pytest.raises(OperatorFailure) as caught:
        child.ask(Prepare(trial("null:leak")), 60)
    assert caught.value.reason.slug == "out_of_memory"
    assert child.ask(Prepare(trial("add")), 60).handle


def test_the_memory_limit_is_set_after_the_framework_is_there_and_above_what_it_holds(
    worker: Callable[..., Worker],
) -> None:
    child = worker(memory=256 * MEBIBYTE)
    child.greet()
    soft, hard = resource.prlimit(child.pid, resource.RLIMIT_DATA)
    status = Path(f"/proc/{child.pid}/status").read_text()
    held = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))
    assert 256 * MEBIBYTE < soft <= held + 256 * MEBIBYTE
    assert hard == resource.getrlimit(resource.RLIMIT_DATA)[1]


def test_a_flood_blocks_nobody_and_fills_neither_the_memory_of_the_parent_nor_the_disk(
    worker: Callable[..., Worker], fake_python: Callable[[str], Path], cache: Path
) -> None:
    python = fake_python(
        """
        for i in range(200):
            os.write(1 + i % 2, b"x" * 2**20)
        say(HELLO)
        sleep()
        """
    )
    child = worker(python)
    files, before = sorted(cache.rglob("*")), psutil.Process().memory_info().rss
    child.greet()
    assert psutil.Process().memory_info().rss - before < 50 * MEBIBYTE
    assert sorted(cache.rglob("*")) == files


def test_what_is_kept_of_a_flood_is_its_end(worker: Callable[..., Worker], fake_python: Callable[[str], Path]) -> None:
    python = fake_python(
        """
        for i in range(100_000):
            print("line", i)
        print("y" * 10_000)
        print()
        """
    )
    with pytest.raises(WorkerFailure, match="the child ended with exit code 0") as caught:
        worker(python).greet()
    lines = (caught.value.stderr or "").splitlines()
    assert lines == [*(f"line {i}" for i in range(99_981, 100_000)), "y" * 500]


def test_a_framework_that_dies_as_it_is_imported_fails_every_trial_of_it(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("import os\nprint('no such instruction', flush=True)\nos.abort()\n")
    dead, alive = _measured("add", "--framework", "numpy", PYTHONPATH=str(tmp_path))
    assert (dead["side"]["framework"], dead["status"], dead["reason"]["signal"]) == ("numpy", "failed", "SIGABRT")
    assert dead["reason"]["message"] == (
        "`numpy` in environment `current` did not start: the child was killed by SIGABRT"
    )
    assert dead["reason"]["stderr"] == "no such instruction"
    assert (alive["side"]["framework"], alive["status"]) == ("null", "ok")


def test_a_framework_that_cannot_be_imported_says_why_and_what_helps(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('libblas.so.3: cannot open shared object file')\n")
    dead, _ = _measured("add", "--framework", "numpy", PYTHONPATH=str(tmp_path))
    assert dead["reason"]["slug"] == "import_failed"
    assert "libblas.so.3: cannot open shared object file" in dead["reason"]["message"]
    assert dead["reason"]["exception"] == "ImportError"
    assert dead["reason"]["hint"] == "try `--environment numpy`, which opperf builds"


def test_doctor_tells_of_a_framework_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('libblas.so.3: cannot open shared object file')\n")
    done = command_here("doctor", "--framework", "numpy", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "cannot be used: libblas.so.3: cannot open shared object file" in done.stdout


def test_an_interpreter_that_cannot_be_started_is_a_failure_of_its_own(worker: Callable[..., Worker]) -> None:
    with pytest.raises(WorkerFailure, match=r"cannot start `/nowhere/python`: .*No such file") as caught:
        worker("/nowhere/python")
    assert caught.value.slug == "spawn"
