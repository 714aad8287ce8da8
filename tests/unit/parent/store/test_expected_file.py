"""Files of expectations."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.plan import Side, Trial
from opperf.parent.documents.judgement import Expectation
from opperf.parent.store.documents import read_expected, write_expected

ONE = Expectation(Trial(Case("null:steady"), Side("null"), "forward"), (1e-6,))


def test_what_is_written_is_read_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_expected(tmp_path / "e.json", [ONE])
    assert read_expected(tmp_path / "e.json") == (ONE,)
    assert [path.name for path in tmp_path.iterdir()] == ["e.json"]


def test_a_missing_file_is_named_with_what_writes_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*e\.json") as caught:
        read_expected(tmp_path / "e.json")
    assert "--update-expected" in (caught.value.hint or "")


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 200_000])
def test_what_is_not_json_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_bytes(content)
    with pytest.raises(InputError, match=r"e\.json: not JSON"):
        read_expected(tmp_path / "e.json")
