"""Suite files: read whole, or refused by name and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.suite_file import read_suite

SUITE = Suite("resnet", "capture", (SuiteCase(Case("abs", {"data": TensorSpec((2,))}), 7, "ü.py:3"),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a suite file is to lie."""
    return tmp_path / "suite.json"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_suite_file_is_read(ascii_only: bool, file: Path) -> None:
    file.write_text(json.dumps(SUITE.to_json(), ensure_ascii=ascii_only), encoding="utf-8")
    assert read_suite(file) == SUITE


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*suite\.json.*: No such file"):
        read_suite(file)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_suite(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"nonsense", b'{"a": 1}}', b"[" * 200_000])
def test_what_is_not_json_is_refused_by_name(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"suite\.json: not JSON"):
        read_suite(file)


def test_what_is_not_text_is_refused_by_name(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"suite\.json: not JSON"):
        read_suite(file)


def test_a_bad_case_is_refused_by_name_and_place(file: Path) -> None:
    content: Any = SUITE.to_json()
    content["cases"][0]["case"]["inputs"]["data"]["dtype"] = "float31"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        read_suite(file)
    assert caught.value.message == f"{file}: cases[0].case.inputs.data: no dtype `float31`"


def test_every_torn_file_is_refused(file: Path) -> None:
    whole = json.dumps(SUITE.to_json()).encode()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_suite(file)
