"""Whatever a config or a trace holds, it is read or refused with a message: no traceback, no hang, nothing unprintable.

`benchmarks/fuzz.py` draws many more of the same files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.parent.sources.conftest import (
    CONFIG,
    CONFIGS,
    KINETO,
    KINETOS,
    TRACE,
    TRACES,
    damaged,
    read_or_refuse_config,
    read_or_refuse_trace,
    written,
)

#: Instead of the list that `tests/conftest.py` sets, so that it has that one too.
UNCHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SOME = settings(max_examples=200, deadline=None, suppress_health_check=UNCHECKED)
FEW = settings(SOME, max_examples=100)


def test_the_files_are_read_as_they_are(tmp_path: Path) -> None:
    config, trace, kineto = (tmp_path / name for name in ("config.json", "trace.json", "kineto.json"))
    for path, whole in ((config, CONFIG), (trace, TRACE), (kineto, KINETO)):
        path.write_bytes(written(whole))
    assert read_or_refuse_config(config)
    assert read_or_refuse_trace(trace, kineto)


@SOME
@given(data=CONFIGS)
def test_a_config_with_mistakes_is_read_or_refused(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(written(data))
    read_or_refuse_config(path)


@FEW
@given(text=damaged(CONFIG))
def test_a_damaged_config_is_read_or_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text)
    read_or_refuse_config(path)


@SOME
@given(data=TRACES)
def test_a_trace_with_mistakes_is_read_or_refused(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(written(data))
    read_or_refuse_trace(path)


@FEW
@given(text=damaged(TRACE) | damaged(KINETO))
def test_a_damaged_trace_is_read_or_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text)
    read_or_refuse_trace(path)


@FEW
@given(data=KINETOS, kept=st.booleans())
def test_a_kineto_trace_with_mistakes_is_read_or_refused(data: Any, kept: bool, tmp_path: Path) -> None:
    trace, kineto = tmp_path / "trace.json", tmp_path / "kineto.json"
    trace.write_bytes(written(TRACE))
    kineto.write_bytes(written(data if kept else [data]))
    read_or_refuse_trace(trace, kineto)


def test_a_config_of_lists_in_lists_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for depth in (200, 900, 100_000):
        path.write_text("[" * depth + "]" * depth)
        assert not read_or_refuse_config(path)
        path.write_text('{"torch.add": {"name": ' + "[" * depth + "]" * depth + "}}")
        assert not read_or_refuse_config(path)


def test_a_trace_of_lists_in_lists_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    for depth in (10, 200, 900, 20_000):
        deep = "[" * depth + "1" + "]" * depth
        kind = "GenericList[" * depth + "Int" + "]" * depth
        inputs = f'{{"values": [{deep}], "shapes": [[]], "types": ["{kind}"]}}'
        node = f'{{"id": 2, "ctrl_deps": 1, "name": "f", "inputs": {inputs}, "attrs": [{{"name": "op_schema",'
        path.write_text(f'{{"schema": "1.1.1-chakra.0.0.4", "nodes": [{node} "value": "f(int[] a) -> ()"}}]}}]}}')
        read_or_refuse_trace(path)
