"""Run in ONNX Runtime's environment: the single nodes of ONNX's own tests that it passes, each as it is captured.

python onnx_node_cases.py FILE

Tests are given to ONNX Runtime as NumPy's arrays. What it raises, or computes otherwise than ONNX says, is not passed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from opperf.child.backends.onnxruntime.model_file import ModelFile
from opperf.child.backends.onnxruntime.node import IR_VERSION
from opperf.child.backends.onnxruntime.program import session
from opperf.domain.errors import InputError
from opperf.domain.plan import Side

SIDE = Side("onnxruntime")
#: How far a result may be off, relative and absolute; as ONNX's tests have it, but for numbers near zero.
RTOL, ATOL = 1e-3, 1e-6


def rows() -> Iterator[dict[str, Any]]:
    """Yield each single node: whether it is passed, and then its case or why there is none."""
    for test in collect_testcases(None):
        model = test.model
        if len(model.graph.node) != 1:
            continue
        inputs, outputs = ([_array(value) for value in values] for values in test.data_sets[0])
        made = dict(zip([one.name for one in model.graph.input], inputs))
        result: dict[str, Any] = {"name": test.name, "passed": _passes(model, made, outputs)}
        yield result | (_capture(model, made) if result["passed"] else {})


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if hasattr(value, "data_type") else value


def _passes(model: Any, made: dict[str, Any], expected: Sequence[Any]) -> bool:
    model.ir_version = min(model.ir_version, IR_VERSION)
    try:
        results = session(model.SerializeToString(), SIDE).run(None, made)
        return len(results) == len(expected) and all(map(_alike, results, expected))
    except Exception:  # whatever it raises, it does not pass
        return False


def _alike(result: Any, expected: Any) -> bool:
    if isinstance(result, list):
        return len(result) == len(expected) and all(map(_alike, result, expected))
    ours, theirs = np.asarray(result), np.asarray(expected)
    if ours.dtype.kind in "fc":
        return ours.shape == theirs.shape and bool(np.allclose(ours, theirs, RTOL, ATOL, equal_nan=True))
    return bool(np.array_equal(ours, theirs))


def _capture(model: Any, made: dict[str, Any]) -> dict[str, Any]:
    try:
        calls = ModelFile(model, {}, SIDE).capture_nodes(made)
    except InputError as error:
        return {"why": error.message}
    if not calls:
        return {"why": "a constant, which is no work"}
    return {"why": calls[0].why} if calls[0].case is None else {"case": calls[0].case.to_json()}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(list(rows())), encoding="utf-8")
