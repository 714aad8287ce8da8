"""What ONNX Runtime promises, which has no neutral operators: right results of nodes as models have them, and time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.conformance.conftest import TIMEOUT, Bench, Tensor, close, exceeds

from opperf.catalog import catalog, operator
from opperf.domain.case import Argument, Case, Graph, ListOf
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Describe, Explain
from opperf.domain.plan import Settings
from opperf.domain.tensor import TensorSpec

QUICK = Settings(warmup=2, runs=5, latency=False)


@pytest.fixture(scope="module")
def bench(benches: dict[str, Bench]) -> Bench:
    """ONNX Runtime in its worker."""
    return benches["onnxruntime"]


def values(*numbers: Any, dtype: str = "float32") -> TensorSpec:
    """Return a vector with these values."""
    return TensorSpec((len(numbers),), dtype, literal=numbers)


def matrix(*rows: tuple[float, ...]) -> TensorSpec:
    """Return a matrix with these rows."""
    return TensorSpec((len(rows), len(rows[0])), literal=tuple(value for row in rows for value in row))


def node(name: str, inputs: dict[str, Argument], **attributes: Argument) -> Case:
    """Return the case of a node of ONNX's own."""
    return Case(f"onnxruntime:ai.onnx.{name}", inputs, attributes)


def path(case: Case) -> dict[str, Any]:
    """Return what of the side names the operator of a case."""
    return {"implementation": case.operator.partition(":")[2]}


def computed(bench: Bench, case: Case) -> list[Tensor]:
    """Return the results of a node."""
    return bench.evaluate(case, **path(case))


def part(number: int, content: bytes) -> bytes:
    """Return one field of a protobuf message; it is short."""
    return bytes([number << 3 | 2, len(content)]) + content


def graph(op_type: str) -> Graph:
    """Return a graph of one node, which is given what is around it."""
    node = part(1, b"outer:0") + part(2, b"result") + part(4, op_type.encode())
    floats = part(1, b"\x08\x01")
    return Graph(part(1, node) + part(2, b"branch") + part(12, part(1, b"result") + part(2, floats)))


def choice(*, of_first: bool) -> Case:
    """Return the case of an `If`, of which one branch negates and the other takes the absolute value."""
    inputs: dict[str, Argument] = {
        "cond": TensorSpec((), "bool", literal=(of_first,)),
        "outer": ListOf((values(1.0, -2.0),)),
    }
    return node("If", inputs, then_branch=graph("Neg"), else_branch=graph("Abs"))


PAIR = ListOf((values(1.0), values(2.0, 3.0)))
ONE, ONES = TensorSpec((1, 1, 1), literal=(1.0,)), TensorSpec((1, 3, 1), literal=(1.0, 1.0, 1.0))
SQUARE = matrix((1.0, 2.0), (3.0, 4.0))
#: Nodes, and what each of their results holds.
NODES: dict[str, tuple[Case, list[list[float]]]] = {
    "an attribute that is a fraction, given as a whole number": (
        node("Gemm", {"A": SQUARE, "B": SQUARE}, alpha=2, transB=1),
        [[10, 22, 22, 50]],
    ),
    "weights that the model holds": (
        node("Gemm", {"A": SQUARE, "B": SQUARE, "C": values(1.0, 2.0)}, constant=(1, 2)),
        [[8, 12, 16, 24]],
    ),
    "constants alone": (node("Add", {"A": values(1.0), "B": values(2.0)}, constant=(0, 1)), [[3]]),
    "an input that is left out": (
        node("Clip", {"input": values(-2.0, 0.0, 5.0), "min": None, "max": TensorSpec((), literal=(1.0,))}),
        [[-2, 0, 1]],
    ),
    "several inputs of one name": (
        node("Concat", {"inputs": ListOf((values(1.0, 2.0), values(3.0)))}, axis=0),
        [[1, 2, 3]],
    ),
    "a shape by its values": (
        node("Reshape", {"data": SQUARE, "shape": values(4, 1, dtype="int64")}),
        [[1, 2, 3, 4]],
    ),
    "several results": (
        node("TopK", {"X": values(5.0, 7.0, 6.0), "K": values(2, dtype="int64")}),
        [[7, 6], [1, 2]],
    ),
    "a result that there need not be": (
        node("Dropout", {"data": values(1.0, 2.0)}, outputs=2),
        [[1, 2], [1, 1]],
    ),
    "the second result alone": (
        node("GRU", {"X": ONE, "W": ONES, "R": ONES}, hidden_size=1, outputs=(False, True)),
        [[0.20482]],
    ),
    "an older version of an operator": (
        node("Slice", {"data": values(1.0, 2.0, 3.0)}, starts=(1,), ends=(3,), opset=9),
        [[2, 3]],
    ),
    "one attribute where a list is meant": (
        node("Squeeze", {"data": TensorSpec((1, 2), literal=(1.0, 2.0))}, axes=0, opset=11),
        [[1, 2]],
    ),
    "an attribute that is a tensor": (
        node("ConstantOfShape", {"input": values(3, dtype="int64")}, value=values(7.0)),
        [[7, 7, 7]],
    ),
    "strings, mapped by attributes": (
        Case(
            "onnxruntime:ai.onnx.ml.LabelEncoder",
            {"X": values("b", "c", dtype="string")},
            {"keys_strings": ("a", "b"), "values_int64s": (1, 2), "default_int64": 0},
        ),
        [[2, 0]],
    ),
    "strings in an attribute that is a tensor": (
        Case(
            "onnxruntime:ai.onnx.ml.LabelEncoder",
            {"X": values("b", "c", dtype="string")},
            {
                "keys_tensor": values("a", "b", dtype="string"),
                "values_tensor": values(1, 2, dtype="int64"),
                "default_tensor": values(0, dtype="int64"),
            },
        ),
        [[2, 0]],
    ),
    "strings that the model holds": (
        node("Equal", {"A": values("a", "b", dtype="string"), "B": values("b", dtype="string")}, constant=1),
        [[0, 1]],
    ),
    "strings of whole numbers": (
        node("Cast", {"input": TensorSpec((2,), "string", values="constant", range=(40, 44))}, to=1),
        [[42, 42]],
    ),
    "one branch of two, of what is around it": (choice(of_first=True), [[-1, 2]]),
    "the other branch": (choice(of_first=False), [[1, 2]]),
    "a branch of what the model holds": (
        replace(choice(of_first=True), attributes={**choice(of_first=True).attributes, "constant": 1}),
        [[-1, 2]],
    ),
    "a tensor of a sequence": (
        node("SequenceAt", {"input_sequence": PAIR, "position": TensorSpec((), "int64", literal=(1,))}),
        [[2, 3]],
    ),
    # What is computed twice does not grow: a result is that of the second call.
    "a sequence": (node("SequenceConstruct", {"inputs": PAIR}), [[1], [2, 3]]),
    "a longer sequence": (
        node("SequenceInsert", {"input_sequence": PAIR, "tensor": values(4.0)}),
        [[1], [2, 3], [4]],
    ),
    "halves": (node("Neg", {"X": values(0.5, -2.0, dtype="float16")}), [[-0.5, 2.0]]),
    "bytes": (
        node("BitwiseNot", {"X": values(0, 1, dtype="uint8")}),
        [[255, 254]],
    ),
    "an operator of ONNX Runtime's own": (
        Case("onnxruntime:com.microsoft.FusedMatMul", {"A": SQUARE, "B": SQUARE}, {"transA": 1}),
        [[10, 14, 14, 20]],
    ),
    "one that it adds to ONNX's own": (
        node("SimplifiedLayerNormalization", {"X": matrix((3.0, 4.0)), "scale": values(1.0, 1.0)}, epsilon=0.0),
        [[0.848528, 1.131371]],
    ),
    "an operator of another domain": (
        Case("onnxruntime:ai.onnx.ml.Scaler", {"X": values(1.0, 2.0)}, {"offset": (1.0,), "scale": (3.0,)}),
        [[0, 3]],
    ),
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_computes_what_onnx_says(name: str, bench: Bench) -> None:
    case, expected = NODES[name]
    answer = [result.values for result in computed(bench, case)]
    assert all(map(close, answer, expected)), answer
    assert len(answer) == len(expected)


def test_strings_go_in_and_come_out(bench: Bench) -> None:
    case = node("StringConcat", {"X": values("a", "", dtype="string"), "Y": values("é", "\n", dtype="string")})
    (result,) = computed(bench, case)
    assert (result.shape, result.texts) == ((2,), ["aé", "\n"])


def test_strings_without_values_are_those_of_the_seed_and_as_long_as_their_range_says(bench: Bench) -> None:
    case = node("Identity", {"input": TensorSpec((50, 2), "string", range=(100, 1000))})
    once, again, other = (bench.evaluate(case, seed=seed, **path(case))[0] for seed in (3, 3, 4))
    assert once.texts == again.texts != other.texts
    assert once.shape == (50, 2)
    assert {(len(text), text.isdigit()) for text in once.texts} == {(3, True)}
    assert len(set(once.texts)) > 80


@pytest.mark.parametrize("name", ["an input that is left out", "one branch of two, of what is around it"])
def test_the_same_case_from_a_file_is_the_same_node(name: str, bench: Bench) -> None:
    case, expected = NODES[name]
    again = Case.from_json(case.to_json())
    assert (again.id, [result.values for result in computed(bench, again)]) == (case.id, expected)


def product(size: int) -> Case:
    """Return a matrix product of that size."""
    square = TensorSpec((size, size))
    return node("MatMul", {"A": square, "B": square})


def test_time_grows_with_the_work(bench: Bench) -> None:
    large, small = product(512), product(256)
    least = partial(bench.least, settings=QUICK)
    assert exceeds(lambda: (least(large, **path(large)), least(small, **path(small))), 2.5)


def test_one_thread_is_one_thread_and_the_facts_say_what_ran(bench: Bench) -> None:
    facts: Any = bench.worker.facts
    assert facts["threads_seen"] <= 1.3
    assert facts["version"]
    assert facts["opset"] >= 21


def test_a_seed_gives_the_same_inputs_again(bench: Bench) -> None:
    case = node("Identity", {"input": TensorSpec((5, 7))})
    once, again, other = (bench.evaluate(case, seed=seed, **path(case))[0].raw for seed in (3, 3, 4))
    assert once == again
    assert once != other


#: What is refused, with the slug and a word of the reason.
REFUSED: dict[str, tuple[Case, str, str, str]] = {
    "a gradient": (product(4), "backward", "no_gradient", "no gradients"),
    "bfloat16": (node("Neg", {"X": TensorSpec((2,), "bfloat16")}), "forward", "no_such_dtype", "bfloat16"),
    "strides": (node("Neg", {"X": TensorSpec((2, 3), strides=(1, 2))}), "forward", "no_strides", "row-major"),
    "a kernel that is not there": (
        node("Relu", {"X": TensorSpec((2,), "int16")}), "forward", "no_such_operator", "Relu"
    ),
    "a map": (
        Case("onnxruntime:ai.onnx.ml.ZipMap", {"X": TensorSpec((1, 2))}, {"classlabels_strings": ("a", "b")}),
        "forward", "no_such_dtype", "map(",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_measured_is_skipped_with_the_reason(name: str, bench: Bench) -> None:
    case, direction, slug, word = REFUSED[name]
    with pytest.raises(OperatorFailure) as caught:
        bench.evaluate(case, direction, **path(case))
    failure = caught.value
    assert (failure.skipped, failure.reason.slug) == (True, slug), failure
    assert word in failure.reason.message


def test_shapes_that_do_not_fit_fail_alone(bench: Bench) -> None:
    wrong = node("MatMul", {"A": TensorSpec((3, 4)), "B": TensorSpec((5, 6))})
    with pytest.raises(OperatorFailure) as caught:
        computed(bench, wrong)
    assert caught.value.reason.exception
    assert computed(bench, product(4))


def test_an_attribute_that_an_operator_does_not_have_is_named(bench: Bench) -> None:
    with pytest.raises(OperatorFailure, match="sideways"):
        computed(bench, node("Softmax", {"input": TensorSpec((2, 3))}, sideways=1))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (node("SequenceLength", {"input_sequence": ListOf(())}), "an empty sequence has no element type"),
        (
            replace(choice(of_first=True), attributes={"then_branch": Graph(b"no graph"), "else_branch": graph("Abs")}),
            "`then_branch` is no graph of ONNX",
        ),
    ],
)
def test_a_sequence_of_nothing_and_a_graph_that_is_none_fail_alone(case: Case, message: str, bench: Bench) -> None:
    with pytest.raises(OperatorFailure, match=message):
        computed(bench, case)
    assert computed(bench, product(4))


@pytest.mark.parametrize("name", ["os.system", "ai.onnx.os.system", "ai.onnx.__class__", "Gemm", "torch.mm"])
def test_a_path_leads_nowhere_outside_of_onnx(name: str, bench: Bench) -> None:
    assert bench.worker.ask(Describe(name), TIMEOUT).path is None


def test_a_name_that_is_not_there_gets_names_near_it(bench: Bench) -> None:
    assert "ai.onnx.Softmax" in bench.worker.ask(Describe("ai.onnx.Sofmax"), TIMEOUT).near


def test_a_neutral_operator_is_missing_with_the_reason(bench: Bench) -> None:
    for name in catalog():
        meaning = bench.worker.ask(Describe(name), TIMEOUT)
        assert (meaning.operator, meaning.path) == (name, None)
        assert "onnxruntime:ai.onnx.Add" in (meaning.reason or "")
    with pytest.raises(OperatorFailure) as caught:
        bench.evaluate(operator("add").case("small"))
    assert caught.value.skipped


def test_what_runs_is_told_by_its_kernel_and_provider(bench: Bench) -> None:
    case = product(8)
    request = Explain(bench.trial(case, "forward", **path(case)), 0)
    (event,) = bench.worker.ask(request, TIMEOUT).events
    assert (event.name, event.kind, event.calls, event.by) == ("MatMul", "kernel", 1.0, "CPUExecutionProvider")
    assert event.seconds is not None
    assert event.seconds > 0
