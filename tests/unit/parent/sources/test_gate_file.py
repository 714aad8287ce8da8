"""Gate files: read whole, or refused by file, key and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.documents.tolerances import Tolerances
from opperf.parent.sources.gate_file import GateFile, find_gate_file, gate_file, nightly_file, overridden
from opperf.parent.sources.gate_keys import EXPECTED_KEYS, KEYS
from opperf.parent.sources.option import Overrides, overrides_of
from opperf.parent.sources.options import GateOptions

FILE = Path("ci/opperf.toml")
WHOLE = """\
suite = "suite.json"
operators = ["add", "mxnet:nd.broadcast_add"]
categories = ["reduction"]
skip = ["*pool*"]
sizes = "small"
dtypes = ["float32", "float16"]
directions = ["forward"]
base = "torch==2.12.0"
new = ["torch", "python=env/bin/python;framework=torch"]
tolerance = "5%"
pairs = 8
budget = "5min"
timeout = 30
inconclusive = "pass"
seed = 3
cpus = "0-1"

[expected]
file = "expected.json"
threshold = 0.2
processes = 7
frameworks = ["torch"]
environments = ["torch==2.12.0", "python=/opt/bin/python"]
devices = ["gpu(0)"]
modes = ["eager", "compiled"]
"""


def refused(text: str, path: Path = FILE) -> InputError:
    """Return the error that a text is refused with."""
    with pytest.raises(InputError) as caught:
        gate_file(text, path)
    return caught.value


def test_every_key_is_read() -> None:
    result = gate_file(WHOLE, FILE)
    assert result == GateFile(
        path=FILE,
        suite=Path("ci/suite.json"),
        operators=("add", "mxnet:nd.broadcast_add"),
        category=("reduction",),
        skip=("*pool*",),
        size=("small",),
        dtype=("float32", "float16"),
        direction=("forward",),
        base="torch==2.12.0",
        new=("torch", f"python={Path('ci/env/bin/python').absolute()};framework=torch"),
        tolerance=Tolerances(0.05),
        pairs=8,
        budget=300.0,
        timeout=30.0,
        inconclusive="pass",
        seed=3,
        cpus="0-1",
        expected=Path("ci/expected.json"),
        threshold=Tolerances(0.2),
        processes=7,
        framework=("torch",),
        environment=("torch==2.12.0", "python=/opt/bin/python"),
        device=("gpu(0)",),
        mode=("eager", "compiled"),
    )


def test_an_empty_file_means_the_defaults() -> None:
    assert gate_file("", FILE) == GateFile(path=FILE)


def test_pyproject_has_a_table_of_opperf() -> None:
    text = '[project]\nname = "mine"\n[tool.opperf]\nbase = "torch"\n[tool.opperf.expected]\nprocesses = 4\n'
    result = gate_file(text, Path("pyproject.toml"))
    assert (result.base, result.processes) == ("torch", 4)


@each(
    ("text", "message", "hint"),
    [
        ("tolerence = 1", "ci/opperf.toml: no key `tolerence`", "did you mean `tolerance`?"),
        ("zzz = 1", "ci/opperf.toml: no key `zzz`", "known: attributes, base, budget, "),
        ("[expected]\nfiles = 1", "ci/opperf.toml: no key `files`", "did you mean `file`?"),
        ("[other]\na = 1", "ci/opperf.toml: no key `other`", "known: "),
        ("expected = 3", "ci/opperf.toml: `expected` is `3`, expected a table", "write `[expected]`"),
        ("suite = 3", "`suite`: found 3, expected a string", None),
        ('suite = ""', "`suite`: found '', expected a string", None),
        ('suite = "a\\u0000b"', "`suite`: found 'a\\x00b', expected a path", None),
        ('operators = ["ad"]', "`operators`: no operator `ad`", "did you mean `add`"),
        ("operators = []", "`operators`: found [], expected one name at least", None),
        ("operators = [3]", "`operators`: found 3, expected a string", None),
        ('categories = ["reductoin"]', "`categories`: no category `reductoin`", "did you mean `reduction`?"),
        ('sizes = "tiny"', "`sizes`: no size `tiny`", "known: small, common, large, skewed"),
        ('dtypes = "float31"', "`dtypes`: no dtype `float31`", "float32"),
        ('directions = "up"', "`directions`: no direction `up`", "known: forward"),
        ('base = ["a", "b"]', "`base`: found ['a', 'b'], expected a string", None),
        ("tolerance = 2", "`tolerance`: the value is `2`, expected a percentage", "write `2%`"),
        ("tolerance = true", "`tolerance`: the value is `True`, expected a number, or a text such as `2%`", None),
        ('tolerance = "2"', "`tolerance`: the value is `2`, expected a percentage", "write `2%`"),
        ('tolerance = "0%"', "`tolerance`: the value is `0%`, expected more than 0%", None),
        ("pairs = 2", "`pairs`: found 2, expected a whole number >= 3", None),
        ("pairs = true", "`pairs`: found True, expected a whole number >= 3", None),
        ('budget = "soon"', "`budget`: the value is `soon`, expected a number and a unit", "write, for example,"),
        ("budget = 0", "`budget`: `--budget` is 0, expected a number > 0", None),
        ("budget = nan", "`budget`: `--budget` is nan, expected", None),
        ("jobs = 0", "`jobs`: the value is `0`, expected `auto` or a whole number >= 1", None),
        ('inconclusive = "maybe"', "`inconclusive`: found 'maybe', expected `pass` or `fail`", None),
        ("inconclusive = []", "`inconclusive`: found [], expected a string", None),
        ("seed = -1", "`seed`: found -1, expected a whole number >= 0", None),
        ("[expected]\nprocesses = 2", "`expected.processes`: found 2, expected a whole number >= 3", None),
        ('[expected]\nframeworks = ["tf"]', "`expected.frameworks`: no framework `tf`", "known: torch"),
        ('[expected]\nenvironments = ["numppy"]', "`expected.environments`: no environment `numppy`", "`numpy`?"),
        ('[expected]\ndevices = "cpu:1"', "`expected.devices`: no device `cpu:1`", "known: cpu"),
        ('[expected]\nmodes = "lazy"', "`expected.modes`: no mode `lazy`", "known: eager, compiled"),
        ("base = ", "ci/opperf.toml: not TOML (", None),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_was_expected(text: str, message: str, hint: str | None) -> None:
    error = refused(text)
    assert error.message.startswith("ci/opperf.toml: ")
    assert message in error.message
    assert (hint is None and error.hint is None) or (hint or "") in (error.hint or "-")


@pytest.mark.parametrize("text", ["", "tool = 3", "[tool]\nother = 1"])
def test_pyproject_without_the_table_is_refused(text: str) -> None:
    assert "no table `[tool.opperf]`" in refused(text, Path("pyproject.toml")).message


def test_pyproject_with_another_value_in_its_place_is_refused() -> None:
    error = refused("[tool]\nopperf = 3", Path("pyproject.toml"))
    assert "`tool.opperf` is `3`, expected a table" in error.message


def test_the_file_of_opperf_comes_before_that_of_the_project(tmp_path: Path) -> None:
    assert find_gate_file(tmp_path) is None
    shared = tmp_path / "pyproject.toml"
    shared.write_text('[project]\nname = "mine"\n')
    assert find_gate_file(tmp_path) is None
    shared.write_text('[tool.opperf]\nbase = "torch"\n')
    assert find_gate_file(tmp_path) == shared
    (tmp_path / "opperf.toml").write_text("")
    assert find_gate_file(tmp_path) == tmp_path / "opperf.toml"


def test_options_override_the_file() -> None:
    options = Overrides[GateOptions]({"tolerance": Tolerances(0.03), "expected": Path("e.json")})
    result = overridden(gate_file(WHOLE, FILE), options)
    assert (result.tolerance, result.base, len(result.new)) == (Tolerances(0.03), "torch==2.12.0", 2)
    assert result.expected == Path("e.json")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("precision", 0.0, "`--precision` is `0.0`, expected more than 0%"),
        ("pairs", 2, "`--pairs`: found 2, expected a whole number >= 3"),
        ("framework", ("tf",), "`--framework`: no framework `tf`"),
    ],
)
def test_a_bad_option_is_told_by_its_name(option: str, value: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        overridden(GateFile(), overrides_of(GateOptions, {option: value}))
    assert caught.value.message.startswith(message)


KEY = st.sampled_from(sorted({*KEYS, *EXPECTED_KEYS, "expected", "nothing"}))
WORDS = ('""', '"a"', '"5%"', '"null"', '"python=x"', '"a:b"', '"torch:"', '"=;="', '"\\u0000"')
VALUE = st.sampled_from(
    [
        *WORDS,
        "3",
        "-1",
        "nan",
        "inf",
        "1e400",
        "true",
        "9" * 20,
        "2026-11-21",
        "[]",
        '["add"]',
        '["a", 3]',
        "[[]]",
        "{}",
    ]
)


def told(text: str) -> str:
    """Return the message that a text is refused with, or what stands for none."""
    try:
        gate_file(text, FILE)
    except InputError as error:
        return error.message
    return "ci/opperf.toml: read"


@given(st.lists(st.tuples(KEY, VALUE), max_size=4), st.booleans())
def test_any_value_of_any_key_is_read_or_refused_by_file(pairs: list[tuple[str, str]], inner: bool) -> None:
    lines = [f"{key} = {value}" for key, value in dict(pairs).items()]
    assert told("\n".join(["[expected]" if inner else "", *lines])).startswith("ci/opperf.toml: ")


@given(st.integers(0, len(WHOLE)), st.integers(0, 20), st.text(max_size=6))
def test_a_mutated_file_is_read_or_refused_by_file(place: int, length: int, instead: str) -> None:
    assert told(WHOLE[:place] + instead + WHOLE[place + length :]).startswith("ci/opperf.toml: ")


def test_operators_have_tolerances_of_their_own_by_name_or_pattern() -> None:
    text = '[tolerance]\n"conv*" = "3%"\nsoftmax = 0.05\n"*" = "1%"\n[expected.threshold]\n"conv*" = "20%"\n'
    result = gate_file(text, FILE)
    assert result.tolerance == Tolerances(0.01, {"conv*": 0.03, "softmax": 0.05})
    assert result.threshold == Tolerances(0.10, {"conv*": 0.2})
    own = nightly_file(
        '[nightly]\noperators = "sum"\nbuild = "numpy"\nanchor = "numpy==1.26.4"\n[nightly.tolerance]\nsum = "4%"', FILE
    )
    assert own.gate.tolerance == Tolerances(0.02, {"sum": 0.04})


def test_an_option_replaces_all_tolerances_of_the_file() -> None:
    file = gate_file('[tolerance]\n"conv*" = "3%"', FILE)
    assert overridden(file, Overrides({"tolerance": Tolerances(0.04)})).tolerance == Tolerances(0.04)
    assert overridden(file, Overrides()).tolerance.own == {"conv*": 0.03}


def test_a_bad_tolerance_of_an_operator_is_refused_by_its_name() -> None:
    message = str(refused('[tolerance]\n"conv*" = "wide"'))
    assert "ci/opperf.toml: `tolerance`" in message
    assert "`conv*`" in message
