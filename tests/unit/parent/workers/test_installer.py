"""What is said of an environment that uv does not build."""

from __future__ import annotations

import pytest

from opperf.parent.workers.installer import complaint

UNSOLVED = """error: No solution found when resolving dependencies
  cause: Because there is not a version of numpy==99.9 and you require numpy==99.9, that cannot be.

hint: look at the requirement
"""
BROKEN = """error: Failed to build `numpy`
  ├─▶ The build backend returned an error
  ╰─▶ exit status: 1
         Traceback (most recent call last):
         RuntimeError: my setup is broken
"""


def test_the_first_line_says_what_went_wrong_and_why() -> None:
    assert complaint(UNSOLVED) == (
        "No solution found when resolving dependencies: Because there is not a version of numpy==99.9 and you require "
        "numpy==99.9, that cannot be."
    )


def test_a_long_complaint_has_its_end_below_its_first_line() -> None:
    headline, _, rest = complaint(BROKEN).partition("\n\nuv says:\n\n")
    assert headline == "Failed to build `numpy`: RuntimeError: my setup is broken"
    assert rest.splitlines()[-1].strip() == "RuntimeError: my setup is broken"


def test_of_a_long_line_three_hundred_letters_are_told() -> None:
    assert complaint(f"error: {'x' * 400}") == "x" * 300


@pytest.mark.parametrize("text", ["", "\n", "hint: try again"])
def test_an_installer_that_says_nothing_is_said_to(text: str) -> None:
    assert complaint(text) == "uv gave no reason"
