"""Suite files, and what is read as one: checked whole before anything runs."""

from __future__ import annotations

from pathlib import Path

from opperf.sources.mxnet_inputs import is_mxnet_inputs, mxnet_suite
from opperf.suite import Suite
from opperf.text_file import read_json


def read_suite(path: Path) -> Suite:
    """Read a suite; raises `InputError` that says what is wrong and where."""
    data = read_json(path)
    if is_mxnet_inputs(data):
        return mxnet_suite(data, str(path))
    return Suite.from_json(data, str(path))
