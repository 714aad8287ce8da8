"""Suite files, and what is read as one: checked whole before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

from opperf.errors import InputError
from opperf.sources.mxnet_inputs import is_mxnet_inputs, mxnet_suite
from opperf.suite import Suite


def read_suite(path: Path) -> Suite:
    """Read a suite; raises `InputError` that says what is wrong and where."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}", slug="input") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})", slug="input") from error
    if is_mxnet_inputs(data):
        return mxnet_suite(data, str(path))
    return Suite.from_json(data, str(path))
