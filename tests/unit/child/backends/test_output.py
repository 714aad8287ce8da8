"""What is printed below Python is caught, and only while it is asked for."""

from __future__ import annotations

import ctypes
import os

import pytest

from opperf.child.backends.common.verbose import OutputCapture


def test_what_c_code_prints_is_caught_stretch_by_stretch(capfd: pytest.CaptureFixture[str]) -> None:
    libc = ctypes.CDLL(None)
    libc.printf(b"before\n")
    printed = OutputCapture()
    for word in (b"one\n", b"two\n"):
        with printed.catch():
            libc.printf(word)
        libc.printf(b"between\n")
    libc.fflush(None)
    assert printed.texts == ["one\n", "two\n"]
    assert capfd.readouterr().out == "before\nbetween\nbetween\n"


def test_output_comes_back_to_its_place_when_a_call_raises(capfd: pytest.CaptureFixture[str]) -> None:
    printed = OutputCapture()

    def refused() -> None:
        with printed.catch():
            os.write(1, b"inside")
            raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        refused()
    os.write(1, b"outside")
    assert printed.texts == ["inside"]
    assert capfd.readouterr().out == "outside"


def test_more_than_a_pipe_holds_is_caught() -> None:
    printed = OutputCapture()
    with printed.catch():
        os.write(1, b"x" * 1_000_000)
    assert len(printed.texts[0]) == 1_000_000
