"""Verdicts as lines: what is on the disk stays, and a judge goes on where it was."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.judging import Evidence, Judged
from opperf.parent.store.judgements import Lines

TERMS = {"against": "softmax", "pairs": 5}
CASE = Case("softmax")


def judged(name: str, verdict: str = "wrong", **details: object) -> Judged:
    return Judged(name, "softmax", CASE, verdict, "", (Evidence("wrong_values", "", "tiny", None, details),))


def test_a_verdict_is_on_the_disk_at_once(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "r.jsonl", TERMS)
    lines.add(judged("a"), "digest")
    (row,) = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    assert (row["candidate"], row["digest"], row["terms"], row["score"]) == ("a", "digest", TERMS, 0.0)
    lines.close()


def test_what_was_judged_is_known_by_name_source_and_case(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "r.jsonl", TERMS)
    lines.add(judged("a"), "old")
    lines.add(judged("a", "same"), "new")
    lines.close()
    lines = Lines(tmp_path / "r.jsonl", TERMS, resume=True)
    assert lines.earlier["a", CASE.id].verdict == "same"
    assert [lines.has("a", digest, CASE.id) for digest in ("new", "old")] == [True, False]
    assert not lines.has("a", "new", "another case")
    lines.close()


def test_a_torn_line_is_dropped_and_written_over(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    lines = Lines(file, TERMS)
    lines.add(judged("a"), "digest")
    lines.close()
    with file.open("a") as torn:
        torn.write('{"candidate": "b", "dig')
    lines = Lines(file, TERMS, resume=True)
    lines.add(judged("c"), "digest")
    lines.close()
    assert [json.loads(line)["candidate"] for line in file.read_text().splitlines()] == ["a", "c"]


def test_numbers_that_json_does_not_have_are_texts(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "r.jsonl", TERMS)
    lines.add(judged("a", found=math.inf, expected=[math.nan, 1.0]), "digest")
    lines.close()
    lines = Lines(tmp_path / "r.jsonl", TERMS, resume=True)
    assert lines.earlier["a", CASE.id].evidence[0].details == {"found": "inf", "expected": ["nan", 1.0]}
    lines.close()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no", "line 1 is not JSON"),
        ("[]", "line 1: this is no verdict of `opperf judge`"),
        ('{"digest": "a"}', "against was null and is"),
        ('{"digest": "a", "terms": {"against": "softmax", "pairs": 7}}', "pairs was 7 and is 5 now"),
        ('{"digest": "a", "terms": {"against": "softmax", "pairs": 5}}', "line 1"),
    ],
)
def test_another_file_is_not_gone_on_with(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(f"{line}\n")
    with pytest.raises(InputError, match=message):
        Lines(file, TERMS, resume=True)
    assert file.read_text() == f"{line}\n"
