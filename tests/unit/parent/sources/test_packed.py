"""Traces as files: whatever is packed in them, reading stays within bounds, and what is wrong is told as text."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.sources.execution_trace import node
from opperf.parent.sources.execution_trace.kineto import read_kineto
from opperf.parent.sources.execution_trace.node import check, nodes, process

TRACE = b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}'
#: Bytes that a reader may take, of whatever a file unpacks to.
MOST_MEMORY = 100e6


@pytest.fixture
def memory() -> Iterator[None]:
    """Fail when more memory is taken than reading may."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


def archive(path: Path, members: Mapping[str, bytes], mode: Literal["w:gz", "w"] = "w:gz") -> Path:
    """Write a .tar.gz, or a .tar."""
    with tarfile.open(path, mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("begin", [b"", b'{"schema": "1.1.1-chakra.0.0.4", "nodes": [', b'{"traceEvents": [{"args": '])
def test_a_small_gzip_of_very_many_brackets_is_refused_in_little_memory(begin: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(begin + b"[" * 200_000))
    for read in (lambda: list(nodes(path)), lambda: read_kineto(path)):
        with pytest.raises(InputError, match="nested over 64 deep"):
            read()


@pytest.mark.usefixtures("memory")
def test_a_gzip_of_one_endless_string_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b'{"schema": "' + b"a" * 20_000_000, 1))
    with pytest.raises(InputError, match="a string of over 16,777,216 bytes"):
        check(path)


@pytest.mark.usefixtures("memory")
def test_keys_that_a_parser_would_join_around_each_value_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b'{"' + b"k" * 1_000_000 + b'": {' + b'"a": 1,' * 1_000_000))
    with pytest.raises(InputError, match="a key of over 1,024 bytes"):
        check(path)


def test_a_gzip_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "MOST_UNPACKED", 1_000_000)
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(b" " * 2_000_000))
    with pytest.raises(InputError, match="it unpacks to over 1,"):
        check(path)


def test_an_archive_whose_header_claims_any_size_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("name")
    info.type, info.size = tarfile.XHDTYPE, 1 << 32
    path = tmp_path / "t.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))
    with pytest.raises(InputError, match="it requests 4,294,967,296 bytes at once"):
        check(path)


def test_an_archive_that_a_mac_made_holds_the_trace_alone(tmp_path: Path) -> None:
    members = {"._t.json": b"\x00\x05\x16\x07", "t.json": TRACE, "__MACOSX/._t.json": b"\x00\x05\x16\x07"}
    check(archive(tmp_path / "t.tar.gz", members))


def test_names_in_an_archive_are_told_without_what_a_terminal_acts_on(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there are `a\\u001b\[31m.json`, `b.json`"):
        check(archive(tmp_path / "t.tar.gz", {"a\x1b[31m.json": TRACE, "b.json": TRACE}))


@each("member", ["et/rank_1.json", "rank_1.json"])
def test_a_member_of_an_archive_is_read_by_its_name(member: str, tmp_path: Path) -> None:
    ranks = {f"et/rank_{i}.json": TRACE.replace(b'"nodes"', b'"pid": %d, "nodes"' % i) for i in range(8)}
    for path in (archive(tmp_path / "ranks.tar.gz", ranks), archive(tmp_path / "ranks.tar", ranks, "w")):
        assert process(Path(f"{path}:{member}")) == 1
        with pytest.raises(InputError, match=r"8 \.json in it, expected one; there are `et/rank_0\.json`") as caught:
            check(path)
        assert caught.value.hint == f"name one: `{path}:et/rank_0.json`"


def test_a_member_that_is_not_there_is_told_with_those_near_it(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "ranks.tar.gz", {"et/rank_1.json": TRACE, "et/rank_2.json": TRACE, "x/rank_2.json": TRACE}
    )
    with pytest.raises(InputError, match=r"no member `rank_11\.json` in it, expected one; there are `et/rank_1\.json`"):
        check(Path(f"{path}:rank_11.json"))
    with pytest.raises(InputError, match=r"2 members `rank_2\.json` in it, expected one; there are `et/rank_2\.json`"):
        check(Path(f"{path}:rank_2.json"))


def test_a_file_whose_own_name_has_a_colon_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tar:b.json"
    path.write_bytes(TRACE)
    check(path)


def test_an_archive_of_very_many_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="over 1000 files in it"):
        check(archive(tmp_path / "t.tar.gz", {f"{i}.txt": b"" for i in range(1001)}))


def test_bytes_that_are_no_text_are_told_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b'{"schema": \xff}')
    with pytest.raises(InputError, match="not JSON: lexical error") as caught:
        check(path)
    assert "b'" not in str(caught.value)


def test_an_empty_object_is_told_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="not an execution trace: it is an empty object"):
        check(path)
