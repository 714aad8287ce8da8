"""Result files, read whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.files.destination import write_text
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run
from opperf.parent.store.documents import read_run

RECORD = Record(Trial(Case("abs"), Side("null"), "forward"), "failed", Reason("crash", "ü"))
RUN = Run("r1", "2026-11-21", ("opperf", "run"), Settings(), records=(RECORD,))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a result file is to lie."""
    return tmp_path / "run.json"


def test_a_file_is_read_as_it_was_written(file: Path) -> None:
    write_text(file, json.dumps(RUN.to_json(), ensure_ascii=False))
    assert read_run(file) == RUN


def test_a_missing_file_is_bad_input(file: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_run(file)


@pytest.mark.parametrize("content", [b"", b"{", b"text", b"\xff\xfe", b"[" * 200_000])
def test_what_is_not_json_is_refused_by_name(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"run\.json"):
        read_run(file)


def test_every_torn_file_is_refused(file: Path) -> None:
    whole = json.dumps(RUN.to_json()).encode()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_run(file)
