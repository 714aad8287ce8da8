"""Run in ONNX Runtime's environment: write models into a folder.

python onnx_models.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def held(name: str, values: Any, dtype: str = "float32") -> Any:
    """Return a constant of a model."""
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def model(nodes: list[Any], inputs: list[Any], outputs: list[str], constants: list[Any], **more: Any) -> Any:
    """Return a model; its outputs are tensors of whatever shape."""
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "net", inputs, results, constants)
    imports = [helper.make_opsetid("", OPSET), *more.pop("imports", [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **more)


def network() -> Any:
    """Return a network with an open batch, a shape that it computes itself, equal nodes, constants and a branch.

    One of its nodes no case can hold.
    """
    random = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["image", "kernel", "bias"], ["c"], "conv", strides=[1, 1]),
        helper.make_node("Relu", ["c"], ["r1"], "relu1"),
        helper.make_node("Relu", ["c"], ["r2"]),
        helper.make_node("Clip", ["r1", "", "most"], ["clipped"], "clip"),
        helper.make_node("Shape", ["clipped"], ["sizes"], "shape"),
        helper.make_node("Gather", ["sizes", "first"], ["batch"], "gather"),
        helper.make_node("Concat", ["batch", "rest"], ["wanted"], "concat", axis=0),
        helper.make_node("Reshape", ["clipped", "wanted"], ["flat"], "reshape"),
        helper.make_node("Constant", [], ["weights"], "weights", value=held("w", random.random((144, 10)))),
        helper.make_node("Gemm", ["flat", "weights"], ["scores"], "dense", alpha=0.5),
        helper.make_node("Dropout", ["scores"], ["kept", "mask"], "dropout"),
        helper.make_node("Twice", ["kept"], ["doubled"], "twice", domain="own"),
        helper.make_node("Cast", ["image"], ["asked"], "cast", to=TensorProto.BOOL),
        helper.make_node("ReduceMax", ["image"], ["largest"], "largest", keepdims=0),
        helper.make_node("Cast", ["largest"], ["positive"], "positive", to=TensorProto.BOOL),
        helper.make_node("If", ["positive"], ["chosen"], "branch", then_branch=branch("a"), else_branch=branch("b")),
        helper.make_node("SequenceEmpty", [], ["nothing"], "nothing"),
    ]
    constants = [
        held("kernel", random.random((4, 1, 3, 3))),
        held("bias", random.random(4)),
        held("most", 1.0),
        held("first", [0], "int64"),
        held("rest", [144], "int64"),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])
    imports = [helper.make_opsetid("own", 1)]
    return model(nodes, [image], ["doubled", "chosen"], constants, imports=imports, functions=[twice()])


def branch(name: str) -> Any:
    """Return what one side of a branch computes of values around it, in part in a branch of its own."""
    added = [helper.make_node("Add", ["whole", "bias"], ["added"])]
    inner = helper.make_graph(added, "inner", [], [helper.make_tensor_value_info("added", TensorProto.FLOAT, None)])
    nodes = [
        helper.make_node("ReduceMax", ["scores"], ["whole"], keepdims=0),
        helper.make_node("If", ["positive"], [name], then_branch=inner, else_branch=inner),
    ]
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])


def twice() -> Any:
    """Return a function of the model's own."""
    body = [helper.make_node("Add", ["x", "x"], ["y"], "add")]
    return helper.make_function("own", "Twice", ["x"], ["y"], body, [helper.make_opsetid("", OPSET)])


def picky() -> Any:
    """Return a model whose two inputs must have the same length, which neither says."""
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name, size in (("a", "N"), ("b", 3))]
    whole = helper.make_tensor_value_info("places", TensorProto.INT64, ["M"])
    nodes = [
        helper.make_node("Concat", ["a", "b"], ["both"], "concat", axis=0),
        helper.make_node("Gather", ["both", "places"], ["some"], "gather", axis=0),
    ]
    return model(nodes, [*sides, whole], ["some"], [])


def texts() -> Any:
    """Return a model that takes strings, of which it makes a sequence and then numbers."""
    words = helper.make_tensor_value_info("words", TensorProto.STRING, [2])
    nodes = [
        helper.make_node("Identity", ["words"], ["same"], "identity"),
        helper.make_node("SequenceConstruct", ["same", "words"], ["both"], "construct"),
        helper.make_node("SequenceAt", ["both", "place"], ["one"], "at"),
        helper.make_node("Cast", ["one"], ["numbers"], "cast", to=TensorProto.FLOAT),
    ]
    return model(nodes, [words], ["numbers"], [held("place", 1, "int64")])


def several() -> Any:
    """Return a model that takes a sequence."""
    given = helper.make_tensor_sequence_value_info("given", TensorProto.FLOAT, None)
    first = helper.make_node("SequenceAt", ["given", "place"], ["one"])
    return model([first], [given], ["one"], [held("place", 0, "int64")])


def halved() -> Any:
    """Return a model with a value of an element type that NumPy does not have."""
    given = helper.make_tensor_value_info("given", TensorProto.FLOAT, [4])
    nodes = [
        helper.make_node("Cast", ["given"], ["short"], "shorten", to=TensorProto.BFLOAT16),
        helper.make_node("Cast", ["short"], ["long"], "lengthen", to=TensorProto.FLOAT),
        helper.make_node("Relu", ["long"], ["positive"], "relu"),
    ]
    return model(nodes, [given], ["positive"], [])


def masked() -> Any:
    """Return a model that hides scores behind the lowest number of float32, as models of language do."""
    nodes = [
        helper.make_node("Mul", ["hidden", "lowest"], ["mask"], "mask"),
        helper.make_node("Add", ["scores", "mask"], ["masked"], "masked"),
    ]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("hidden", "scores")]
    return model(nodes, given, ["masked"], [held("lowest", np.finfo(np.float32).min)])


def rates() -> Any:
    """Return a model with all of its network in a branch for its rate, as large as no case holds, and in one within.

    The size of its batch is open as -1.
    """
    info, node = helper.make_tensor_value_info, helper.make_node
    large = np.random.default_rng(0).random((256, 512))

    def graph(name: str, nodes: list[Any], outputs: list[str], constants: list[Any]) -> Any:
        results = [info(output, TensorProto.FLOAT, None) for output in outputs]
        return helper.make_graph(nodes, name, [], results, constants)

    inner = [
        node("Relu", ["h"], ["r"], "relu"),
        node("MatMul", ["r", "w"], ["m"], "again"),
    ]
    within = node(
        "If",
        ["loud"],
        ["h2"],
        "volume",
        then_branch=graph("loud", inner, ["m"], [held("w", large.T)]),
        else_branch=graph("quiet", [node("Neg", ["h"], ["n"])], ["n"], []),
    )
    fast = [node("MatMul", ["x", "w"], ["h"], "dense"), within, node("Tanh", ["h2"], ["t"], "tanh")]
    slow = [node("Neg", ["x"], ["s"], "neg"), node("Neg", ["x"], ["s2"], "neg2")]
    nodes = [
        node("Equal", ["rate", "sixteen"], ["is_fast"], "equal"),
        node("Greater", ["rate", "zero"], ["loud"], "greater"),
        node(
            "If",
            ["is_fast"],
            ["y", "z"],
            "rates",
            then_branch=graph("fast", fast, ["t", "w"], [held("w", large)]),
            else_branch=graph("slow", slow, ["s", "s2"], []),
        ),
        node("Abs", ["y"], ["answer"], "abs"),
    ]
    given = [info("x", TensorProto.FLOAT, [-1, 256]), info("rate", TensorProto.INT64, [])]
    return model(nodes, given, ["answer", "z"], [held("sixteen", 16000, "int64"), held("zero", 0, "int64")])


def windows() -> Any:
    """Return a model with all of its network in a loop, as large as no case holds, and in one within; and one empty.

    It turns three times, the one within twice each time. The state that it is given first is a constant.
    """
    info, node = helper.make_tensor_value_info, helper.make_node
    large = np.random.default_rng(0).random((256, 512)) / 256

    def body(name: str, state: str, nodes: list[Any], outputs: list[str], constants: list[Any]) -> Any:
        given = [info(f"{name}_turn", TensorProto.INT64, []), info(f"{name}_on", TensorProto.BOOL, [])]
        given.append(info(state, TensorProto.FLOAT, None))
        on = node("Identity", [f"{name}_on"], [f"{name}_next"], f"{name}_next")
        kinds = {f"{name}_next": TensorProto.BOOL}
        results = [info(output, kinds.get(output, TensorProto.FLOAT), None) for output in (f"{name}_next", *outputs)]
        return helper.make_graph([on, *nodes], name, given, results, constants)

    inner = [node("MatMul", ["h", "w"], ["m"], "up"), node("MatMul", ["m", "v"], ["h2"], "down")]
    constants = [held("w", large), held("v", large.T)]
    outer = [
        node("Gather", ["x", "outer_turn"], ["window"], "window"),
        node("Add", ["state", "window"], ["sum"], "sum"),
        node("Loop", ["two", "", "sum"], ["state2"], "refine", body=body("inner", "h", inner, ["h2"], constants)),
    ]
    nodes = [
        node("Loop", ["three", "yes", "zeros"], ["last", "all"], "windows"),
        node("Loop", ["none", "yes", "zeros"], ["same"], "never"),
        node("Abs", ["all"], ["answer"], "abs"),
    ]
    both = [["state2", "state2"], ["state2"]]
    for one, outputs in zip(nodes, both):
        one.attribute.append(helper.make_attribute("body", body("outer", "state", outer, outputs, [])))
    given = [info("x", TensorProto.FLOAT, [3, 1, 256])]
    more = [held("three", 3, "int64"), held("two", 2, "int64"), held("none", 0, "int64"), held("yes", 1, "bool")]
    return model(nodes, given, ["answer", "last", "same"], [*more, held("zeros", np.zeros((1, 256)))])


def main(folder: Path) -> None:
    """Write them."""
    for made in (network, picky, texts, several, halved, masked, rates, windows):
        onnx.save(made(), folder / f"{made.__name__}.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
