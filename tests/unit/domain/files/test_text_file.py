"""Text files: read whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.domain.files.destination import write_text
from opperf.domain.files.text_file import read_json, read_text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a file is to lie."""
    return tmp_path / "run.json"


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot read `.*`: No such file"), (b"\xff", "not JSON"), (b"{", "not JSON")]
)
def test_a_file_without_json_is_told_with_the_hint_of_whoever_reads_it(
    content: bytes | None, said: str, file: Path
) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read_json(file, hint="write one")
    assert (caught.value.hint, caught.value.slug) == ("write one", "input")


def test_objects_are_made_by_whoever_wants_their_pairs(file: Path) -> None:
    write_text(file, '{"a": 1, "a": 2}')
    assert read_json(file, object_pairs_hook=list) == [("a", 1), ("a", 2)]


def test_what_was_written_is_read(file: Path) -> None:
    write_text(file, "ü\n")
    assert read_text(file) == "ü\n"


def test_an_object_that_has_a_key_twice_is_refused(file: Path) -> None:
    write_text(file, '{"dot": [1], "a": {"dot": 1, "dot": 2}}')
    with pytest.raises(InputError, match='the key "dot" occurs twice'):
        read_json(file)


def test_a_file_far_too_large_is_refused_unread(file: Path) -> None:
    with file.open("wb") as empty:
        empty.truncate(1 << 40)
    with pytest.raises(InputError, match=r"a file of 1,099,511,627,776 bytes, expected at most"):
        read_json(file)


def test_a_device_that_never_ends_is_refused() -> None:
    with pytest.raises(InputError, match="it goes on after"):
        read_json(Path("/dev/zero"))


def test_json_nested_too_deep_is_refused_with_its_place(file: Path) -> None:
    write_text(file, "[" * 200_000)
    with pytest.raises(InputError, match=r"run.json: not JSON \(byte 64: lists and objects nested over 64 deep\)"):
        read_json(file)
