"""`--html` and `--plot`: pages and pictures beside the report of a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import pytest
from tests.functional.conftest import FEW

Opperf: TypeAlias = Callable[..., Any]

QUICK = ("--framework", "null", "--size", "small", "--direction", "forward", "--runs", "3")

CASE = ("add", "--size", "small", "--direction", "forward", *FEW)
SIDES = ("--base", "null", "--new", "null;slowdown=1.5")


def test_a_run_writes_its_page_and_its_picture(opperf: Opperf, here: Path) -> None:
    done = opperf("run", "add", *QUICK, "--html", "r.html", "--plot", "r.svg")
    assert done.code == 0
    assert "wrote r.html: 1 chart\nwrote r.svg: 2 charts\n" in done.err
    assert "Samples of each process" in (here / "r.html").read_text()
    assert ElementTree.parse(here / "r.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("compare", *SIDES, *CASE),
        ("noise", "--framework", "null", "--repeats", "1", *CASE),
    ],
)
def test_what_a_file_holds_has_the_page_that_its_command_writes(
    words: tuple[str, ...], opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(here / "cache"))  # floors of other tests' machine would stay
    done = opperf(*words, "--output", "c.json", "--html", "c.html")
    assert (done.code, "wrote c.html: 1 chart\n" in done.err) == (0, True)
    assert opperf("show", "c.json", "--html", "again.html").code == 0
    assert (here / "again.html").read_text() == (here / "c.html").read_text()


def test_a_gate_writes_its_page_too(opperf: Opperf, here: Path) -> None:
    done = opperf("gate", *SIDES, *CASE, "--html", "g.html", "--output", "g.json")
    assert done.code == 1
    assert "1 regression in 1 comparison" in (here / "g.html").read_text()
    assert opperf("show", "g.json").out == done.out


def test_nothing_is_measured_where_the_page_would_take_the_place_of_something_else(opperf: Opperf, here: Path) -> None:
    (here / "notes.html").write_text("my own notes")
    refused = opperf("run", "add", *QUICK, "--html", "notes.html")
    assert refused.code == 2
    assert "`notes.html` exists, and is not a report of opperf" in refused.err
    assert refused.out == ""
    assert (here / "notes.html").read_text() == "my own notes"


def test_a_page_takes_the_place_of_a_former_page(opperf: Opperf, here: Path) -> None:
    for _ in range(2):
        assert opperf("run", "add", *QUICK, "--html", "r.html", "--plot", "r.svg").code == 0


def test_page_and_picture_do_not_go_to_one_file(opperf: Opperf) -> None:
    refused = opperf("run", "add", *QUICK, "--html", "r", "--plot", "r")
    assert (refused.code, "the page and the charts would both be written to `r`" in refused.err) == (2, True)


def test_a_picture_is_not_named_after_another_kind_of_picture(opperf: Opperf, here: Path) -> None:
    refused = opperf("run", "add", *QUICK, "--plot", "r.png")
    assert (refused.code, "hint: write `r.svg`" in refused.err, [*here.iterdir()]) == (2, True, [])


def test_where_nothing_was_measured_there_is_a_page_and_no_picture(opperf: Opperf, here: Path) -> None:
    done = opperf("run", "null:raise", *QUICK, "--html", "r.html", "--plot", "r.svg")
    assert done.code == 3
    assert "r.svg was not written" in done.err
    assert "raise" in (here / "r.html").read_text()
    assert not (here / "r.svg").exists()
