"""What is said of an environment that uv does not build."""

from __future__ import annotations

import pytest

from opperf.parent.workers.build_failures import build_failure

#: What uv says before the cause of a search that ends without a result, and after it.
UNSOLVED = "error: No solution found when resolving dependencies\n  cause: "
END = ", we can conclude that your requirements are unsatisfiable."
BROKEN = """error: Failed to build `numpy==1.8`
  ├─▶ The build backend returned an error
  ╰─▶ exit status: 1
         Traceback (most recent call last):
         RuntimeError: my setup is broken
"""
UNREACHED = """error: Request failed after 3 retries in 5.7s
  cause: error sending request for url (http://127.0.0.1:1/six/)
"""


def no_release(package: str) -> None:
    """An index that has none."""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            f"{UNSOLVED}Because there is no version of numpy==1.99 and you require numpy==1.99{END}",
            "the package index has no numpy 1.99; its newest release for this Python is 2.4.6",
        ),
        (
            f"{UNSOLVED}Because only numpy<=2.5.5 is available and you require numpy>=9{END}",
            "the package index has no numpy>=9; its newest release for this Python is 2.4.6",
        ),
        (
            f"{UNSOLVED}Because numppy was not found in the package registry and you require numppy{END}",
            "the package index has no package `numppy`",
        ),
        (
            f"{UNSOLVED}Because torch==1.0.0 has no wheels with a matching Python ABI tag (e.g., `cp311`){END}",
            "torch 1.0.0 has no wheel for its Python",
        ),
        (
            f"{UNSOLVED}Because you require numpy==2.4.6 and numpy==2.4.5{END}",
            "`numpy==2.4.6` and `numpy==2.4.5` exclude each other",
        ),
        ("error: Distribution not found at: file:///nope.whl", "there is no file `/nope.whl`"),
        ("error: something that nobody met before", "something that nobody met before"),
    ],
)
def test_what_uv_says_is_told_in_a_sentence(text: str, sentence: str) -> None:
    assert build_failure(text, lambda package: "2.4.6") == sentence


def test_an_index_that_does_not_tell_the_newest_release_is_left_out() -> None:
    text = f"{UNSOLVED}Because there is no version of numpy==1.99{END}"
    assert build_failure(text, no_release) == "the package index has no numpy 1.99"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BROKEN, "`numpy==1.8` has no wheel for its Python, and its source does not build"),
        (UNREACHED, "uv could not reach the package index"),
        (f"{UNSOLVED}Because a depends on b<2 and c on b>2{END}", "no releases of its packages go together"),
        ("error: one thing\n  cause: another", "uv could not install it"),
    ],
)
def test_what_the_sentence_leaves_open_stands_below_it(text: str, sentence: str) -> None:
    headline, _, rest = build_failure(text, no_release).partition("\n\nuv says:\n\n")
    assert headline == sentence
    assert rest.splitlines()[-1] == text.strip().splitlines()[-1]


def test_of_a_long_line_three_hundred_letters_are_told() -> None:
    assert build_failure(f"error: {'x' * 400}", no_release) == "x" * 300


@pytest.mark.parametrize("text", ["", "\n", "hint: try again"])
def test_an_installer_that_says_nothing_is_said_to(text: str) -> None:
    assert build_failure(text, no_release) == "uv gave no reason"
