"""`opperf judge --candidates`: many candidates, one after the other or side by side, on NumPy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.functional.conftest import Done

from opperf.domain.errors import HarnessError
from opperf.parent.documents.candidates import Judged
from opperf.parent.measuring.judge.batch import _Job
from opperf.parent.measuring.judge.judge import Judge

Opperf = Callable[..., Done]

ZEROS = "import numpy as np\ndef f(data, axis=-1):\n    return np.zeros_like(data)\n"
EXIT = "import os\ndef f(data, axis=-1):\n    os._exit(3)\n"
AGAINST = ("--against", "softmax", "--framework", "numpy", "--input", "data=4x8")


def write_lines(path: Path, rows: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "source": text}) + "\n" for name, text in rows.items()))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_line_gets_a_verdict_whatever_its_candidate_does(opperf: Opperf, here: Path) -> None:
    candidates = {
        "zeros": ZEROS,
        "exits": EXIT,
        "torn": "def f(:\n",
        "empty": "x = 1\n",
        "deep": "def f(x):" + "(" * 9999,
    }
    done = opperf("judge", "--candidates", write_lines(here / "c.jsonl", candidates), *AGAINST, "--output", "r.jsonl")
    assert done.code == 3, done.err
    verdicts = {row["candidate"]: (row["verdict"], row["evidence"][0]["slug"]) for row in rows_of(here / "r.jsonl")}
    assert verdicts == {
        "zeros": ("wrong", "wrong_values"),
        "exits": ("cheats", "exits"),
        "torn": ("wrong", "load"),
        "empty": ("wrong", "load"),
        "deep": ("wrong", "load"),
    }
    assert "opperf-candidates" not in (here / "r.jsonl").read_text() + done.err
    assert all(row["score"] == 0 for row in rows_of(here / "r.jsonl"))


def test_candidates_lie_in_private_folders_and_are_gone_at_the_end(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(here))
    monkeypatch.setattr("tempfile.tempdir", None)
    spy = (
        "import os\nfolder = os.path.dirname(__file__)\nplace = os.path.dirname(folder)\n"
        "def f(data, axis=-1):\n    raise RuntimeError(' '.join([*os.listdir(folder), *os.listdir(place)]))\n"
    )
    write_lines(here / "c.jsonl", {"a": ZEROS, "spy": spy})
    opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    _, row = rows_of(here / "r.jsonl")
    assert row["reason"].endswith("candidate.py 2"), row["reason"]
    assert not list(here.glob("opperf-candidates*"))


def test_a_folder_is_judged_file_by_file(opperf: Opperf, here: Path) -> None:
    (here / "many").mkdir()
    for name, text in {"b.py": ZEROS, "a.py": ZEROS, "__init__.py": "", "notes.txt": "no"}.items():
        (here / "many" / name).write_text(text)
    done = opperf("judge", "--candidates", "many", *AGAINST, "--output", "r.jsonl")
    assert [row["candidate"] for row in rows_of(here / "r.jsonl")] == ["a.py", "b.py"], done.err


def test_resuming_judges_what_is_new_or_changed_and_drops_a_torn_line(opperf: Opperf, here: Path) -> None:
    command = ("judge", "--candidates", here / "c.jsonl", *AGAINST, "--output", "r.jsonl", "--resume")
    write_lines(here / "c.jsonl", {"one": ZEROS, "two": ZEROS})
    opperf(*command)
    before = (here / "r.jsonl").read_text()
    (here / "r.jsonl").write_text(before + '{"candidate": "thr')
    write_lines(here / "c.jsonl", {"one": ZEROS, "two": EXIT, "three": ZEROS})
    done = opperf(*command)
    rows = rows_of(here / "r.jsonl")
    assert (here / "r.jsonl").read_text().startswith(before)
    assert [(row["candidate"], row["verdict"]) for row in rows[2:]] == [("two", "cheats"), ("three", "wrong")]
    assert [line.partition(":")[0] for line in done.err.splitlines()] == ["one", "two", "three"]


def test_a_constant_that_is_no_input_is_refused_with_the_inputs_that_there_are(opperf: Opperf, here: Path) -> None:
    (here / "a.py").write_text(ZEROS)
    done = opperf("judge", "a.py", *AGAINST, "--constant", "weight")
    message = "error: `--constant weight`: there is no such input\n\nhint: softmax has `data`\n"
    assert (done.code, done.err) == (2, message)
    done = opperf("judge", "a.py", *AGAINST, "--constant", "data")
    assert done.code == 2
    assert "nothing is left to compute" in done.err


def test_candidates_are_judged_on_one_device(opperf: Opperf, here: Path) -> None:
    (here / "a.py").write_text(ZEROS)
    done = opperf("judge", "a.py", *AGAINST, "--device", "cuda:0", "--device", "cpu")
    assert done.code == 2
    assert done.err.startswith("error: `--device` names 2 devices, and candidates are judged on one\n")
    assert opperf("judge", "a.py", *AGAINST, "--device", "cpu").code == 3


def test_resuming_by_other_terms_is_refused(opperf: Opperf, here: Path) -> None:
    write_lines(here / "c.jsonl", {"one": ZEROS})
    opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    done = opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl", "--resume", "--pairs", "7")
    assert done.code == 2
    assert "r.jsonl: line 1 was judged by other terms: pairs was 5 and is 7 now" in done.err
    done = opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl", "--resume", "--room", "none")
    assert 'room was "auto" and is "none" now' in done.err
    done = opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert (done.code, "already exists" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object with an `id`, and a `file` or a `source`"),
        ('{"id": "a"}', "expected an object with an `id`, and a `file` or a `source`"),
        ('{"id": "a", "file": "a.py", "source": "x"}', "expected an object with an `id`"),
        ('{"source": "x"}', "id: found null, expected a text"),
        ('{"id": "a\\n", "source": "x"}', "id: found"),
        ('{"id": "a", "source": 3}', "source: found 3, expected a text"),
        ('{"id": "a", "source": "x", "function": "f()"}', 'function: found "f()", expected a name'),
        ("{", "is not JSON"),
        ('{"id": "z", "source": "x"}', 'the id "z" is that of line 1 as well'),
    ],
)
def test_a_line_that_is_no_candidate_is_bad_input(opperf: Opperf, here: Path, line: str, message: str) -> None:
    (here / "c.jsonl").write_text(f'{{"id": "z", "source": "x"}}\n{line}\n')
    done = opperf("judge", "--candidates", "c.jsonl", *AGAINST)
    assert done.code == 2
    assert "c.jsonl: line 2" in done.err
    assert message in done.err


def test_a_place_without_candidates_is_bad_input(opperf: Opperf, here: Path) -> None:
    assert "there is no such folder or file" in opperf("judge", "--candidates", "none", *AGAINST).err
    assert "there are no Python files" in opperf("judge", "--candidates", here, *AGAINST).err
    assert "`--resume` continues a file" in opperf("judge", "a.py:f", *AGAINST, "--resume").err


def test_where_the_judge_itself_fails_the_batch_goes_on(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge.judge
    failures = iter([HarnessError("the examiner failed: it is out of memory")])

    def fail_once(self: Judge, *words: Any, **others: Any) -> Judged:
        for failure in failures:
            raise failure
        return judge(self, *words, **others)

    monkeypatch.setattr(Judge, "judge", fail_once)
    write_lines(here / "c.jsonl", {"one": ZEROS, "two": ZEROS})
    opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert [(row["verdict"], row["reason"][:33]) for row in rows_of(here / "r.jsonl")] == [
        ("inconclusive", "the judge itself failed: the exam"),
        ("wrong", rows_of(here / "r.jsonl")[1]["reason"][:33]),
    ]


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_an_interrupt_keeps_whole_lines_and_ends_every_child(
    here: Path, one_cache: Path, number: signal.Signals
) -> None:
    write_lines(here / "c.jsonl", {f"{i}": ZEROS for i in range(1000)})
    command = [sys.executable, "-m", "opperf", "judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stderr is not None
        for _ in range(3):
            assert "wrong" in process.stderr.readline()
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        process.communicate()
    assert process.returncode == 128 + number
    _, alive = psutil.wait_procs(children, timeout=120)
    assert not alive
    rows = rows_of(here / "r.jsonl")
    assert 3 <= len(rows) < 1000
    assert {row["verdict"] for row in rows} == {"wrong"}


@pytest.mark.slow  # it starts 120 children
def test_many_candidates_leave_no_descriptor_thread_or_memory(opperf: Opperf, here: Path) -> None:
    own = psutil.Process()
    counts: list[tuple[int, int, int]] = []
    measure = _Job.measure

    def watch(self: _Job, work: Any) -> Any:
        judged = measure(self, work)
        counts.append((own.num_fds(), threading.active_count(), own.memory_info().rss))
        return judged

    write_lines(here / "c.jsonl", {f"{i}": ZEROS for i in range(30)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Job, "measure", watch)
        opperf("judge", "--candidates", "c.jsonl", *AGAINST, "--output", "r.jsonl")
    assert len(rows_of(here / "r.jsonl")) == 30
    early, late = counts[5:15], counts[-10:]
    # A stand has several descriptors and a thread. Some are still on their way out when these are counted, more of them
    # beside other work; what stays is in each count.
    for place, more in enumerate((8, 2, 8 << 20)):
        assert min(one[place] for one in late) <= min(one[place] for one in early) + more
