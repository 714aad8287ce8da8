"""Suite files, and what is read as one: checked whole before anything runs."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.files.text_file import read_json
from opperf.domain.suite import Suite
from opperf.parent.sources.mxnet_inputs import is_mxnet_inputs, mxnet_suite


def read_suite(path: Path) -> Suite:
    """Read a suite; raises `InputError` that says what is wrong and where."""
    data = read_json(path)
    if is_mxnet_inputs(data):
        return mxnet_suite(data, str(path))
    return Suite.from_json(data, str(path))
