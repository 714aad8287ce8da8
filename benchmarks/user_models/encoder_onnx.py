"""Write a layer of an encoder as an ONNX model, with the mask that models of language have; runs where ONNX is.

python encoder_onnx.py FILE
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, LENGTH, WIDTH, WORDS = 2, 16, 32, 100


def encoder() -> Any:
    """Return the model: words and a mask in, vectors out."""
    drawn = np.random.default_rng(0)
    weights = {
        "table": drawn.normal(size=(WORDS, WIDTH)),
        **{name: drawn.normal(size=(WIDTH, WIDTH)) / WIDTH for name in ("wq", "wk", "wv", "wo")},
        "scale": np.array(WIDTH**0.5),
        "one": np.array(1.0),
        "lowest": np.array(np.finfo(np.float32).min),
        "gain": np.ones(WIDTH),
        "shift": np.zeros(WIDTH),
        "root": np.array(2**0.5),
        "half": np.array(0.5),
    }
    constants = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in weights.items()]
    steps: list[tuple[str, list[str], str, dict[str, Any]]] = [
        ("Gather", ["table", "words"], "x", {}),
        *(("MatMul", ["x", f"w{name}"], name, {}) for name in "qkv"),
        ("Transpose", ["k"], "kt", {"perm": [0, 2, 1]}),
        ("MatMul", ["q", "kt"], "products", {}),
        ("Div", ["products", "scale"], "scores", {}),
        ("Sub", ["one", "mask"], "hidden", {}),
        ("Mul", ["hidden", "lowest"], "hiding", {}),
        ("Add", ["scores", "hiding"], "masked", {}),
        ("Softmax", ["masked"], "chances", {"axis": -1}),
        ("MatMul", ["chances", "v"], "mixed", {}),
        ("MatMul", ["mixed", "wo"], "out", {}),
        ("Add", ["x", "out"], "sum", {}),
        ("LayerNormalization", ["sum", "gain", "shift"], "normal", {}),
        ("Div", ["normal", "root"], "smaller", {}),
        ("Erf", ["smaller"], "error", {}),
        ("Add", ["error", "one"], "raised", {}),
        ("Mul", ["normal", "raised"], "gated", {}),
        ("Mul", ["gated", "half"], "vectors", {}),
    ]
    nodes = [helper.make_node(kind, given, [made], made, **more) for kind, given, made, more in steps]
    inputs = [
        helper.make_tensor_value_info("words", TensorProto.INT64, [ROWS, LENGTH]),
        helper.make_tensor_value_info("mask", TensorProto.FLOAT, [ROWS, 1, LENGTH]),
    ]
    results = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "encoder", inputs, results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    onnx.save(encoder(), sys.argv[1])
