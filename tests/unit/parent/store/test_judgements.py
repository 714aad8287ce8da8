"""Verdicts as lines: what is on the disk stays, and a judge goes on where it was."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings
from opperf.domain.record import Run
from opperf.parent.commands.load import read_value
from opperf.parent.documents.candidates import VERDICTS, Evidence, Judged, JudgedRun, Speed
from opperf.parent.reports import render
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
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


#: What JSON has a form for, and numbers that it has none for; names are texts that UTF-8 can write.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
DETAILS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | TEXTS,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(TEXTS, some, max_size=3),
    max_leaves=6,
)
NUMBERS = st.floats(0, allow_infinity=False)
SPEEDS = st.none() | st.builds(Speed, NUMBERS, NUMBERS, NUMBERS, st.tuples(NUMBERS, NUMBERS))
EVIDENCE = st.builds(
    Evidence, TEXTS, TEXTS, TEXTS, st.none() | st.just(CASE), st.dictionaries(TEXTS, DETAILS, max_size=3)
)
JUDGED = st.builds(
    Judged,
    *(TEXTS, TEXTS, st.just(CASE), st.sampled_from(VERDICTS), TEXTS),
    evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
    ring=SPEEDS,
    hot=SPEEDS,
    judged_by=st.sampled_from([None, "ring", "hot"]),
    constant=st.lists(TEXTS, max_size=2).map(tuple),
    stages=st.dictionaries(TEXTS, NUMBERS, max_size=2),
)


def refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


@given(st.lists(JUDGED, max_size=2))
@settings(deadline=None)
def test_a_document_of_judgements_is_json_by_the_standard_and_reads_back_equal(several: list[Judged]) -> None:
    run = JudgedRun(Run("j1", "2026-11-26T08:00:00+00:00", ("opperf", "judge"), Settings()), tuple(several))
    document = read_value(json.loads(render(run, "json"), parse_constant=refuse), "it")
    assert isinstance(document, JudgedRun)
    assert document.judgements == run.judgements


def test_lines_and_a_database_have_what_was_judged(tmp_path: Path) -> None:
    one = judged("a", found=math.inf, expected=[math.nan, 1.0], allowed=-math.inf)
    lines = Lines(tmp_path / "r.jsonl", TERMS)
    lines.add(one, "digest")
    lines.close()
    json.loads((tmp_path / "r.jsonl").read_text(), parse_constant=refuse)
    lines = Lines(tmp_path / "r.jsonl", TERMS, resume=True)
    assert lines.earlier["a", CASE.id] == one
    lines.close()
    archive = Archive(Address.of(str(tmp_path / "judged.db")))
    archive.add(JudgedRun(Run("j1", "2026-11-26T08:00:00+00:00", ("opperf", "judge"), Settings()), (one,)))
    document = archive.document_json("j1")
    assert document is not None
    stored = read_value({name: value for name, value in document.items() if name != "kind"}, "it")
    assert isinstance(stored, JudgedRun)
    assert stored.judgements == (one,)
