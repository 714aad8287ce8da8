"""Which job judges what: each knows its next candidate, and none is left over or judged twice."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.code import Code
from opperf.parent.measuring.judge.batch import Queue
from opperf.parent.measuring.judge.submissions import Submission, of_source, submissions

SOURCE = "def f(x):\n    return x\n"


def several(folder: Path, count: int) -> list[Submission]:
    return [of_source(f"{i}", SOURCE, folder / f"{i}", "softmax") for i in range(count)]


def test_a_job_takes_the_candidate_that_a_stand_waits_for(tmp_path: Path) -> None:
    queue = Queue(several(tmp_path, 4))
    assert queue.take("one").name == "0"
    assert [queue.upcoming("one"), queue.upcoming("two")] == [*several(tmp_path, 3)[1:]]
    assert queue.take("two").name == "2"
    assert queue.take("one").name == "1"
    assert queue.upcoming("one") == queue.upcoming("one") == several(tmp_path, 4)[3]


def test_who_has_nothing_left_takes_what_another_would_judge_next(tmp_path: Path) -> None:
    queue = Queue(several(tmp_path, 2))
    queue.take("one")
    assert queue.upcoming("one") is not None
    assert queue.take("two").name == "1"
    assert queue.upcoming("one") is None


def test_a_source_has_a_file_only_while_it_is_taken(tmp_path: Path) -> None:
    queue = Queue(several(tmp_path / "private", 3))
    taken = queue.take("one")
    assert (tmp_path / "private" / "0" / "candidate.py").read_text() == SOURCE
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "private", tmp_path / "private" / "0")] == [0o700] * 2
    queue.upcoming("one")
    assert sorted(path.name for path in (tmp_path / "private").iterdir()) == ["0", "1"]
    taken.remove()
    assert sorted(path.name for path in (tmp_path / "private").iterdir()) == ["1"]


def test_a_digest_changes_with_the_source_and_the_function(tmp_path: Path) -> None:
    one = of_source("a", SOURCE, tmp_path, "softmax")
    assert one.digest == of_source("b", SOURCE, tmp_path / "elsewhere", "softmax").digest
    assert one.digest != of_source("a", SOURCE + "\n", tmp_path, "softmax").digest
    assert one.digest != of_source("a", SOURCE, tmp_path, "softmax", "g").digest


def test_a_folder_has_a_candidate_in_each_file_and_a_fault_where_there_is_no_function(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("def kernel(x): ...\ndef other(x): ...\n")
    (tmp_path / "a.py").write_text("x = 1\n")
    first, second = submissions(tmp_path, "softmax", tmp_path)
    assert (first.name, first.code, "no public function" in first.fault) == ("a.py", None, True)
    assert (second.name, second.code, second.fault) == ("b.py", Code(f"{tmp_path / 'b.py'}:kernel"), "")
