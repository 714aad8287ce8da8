"""What a framework's own operators compute and move, counted by the framework, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.conftest import Bench

from opperf.domain.case import Case
from opperf.domain.plan import Settings
from opperf.domain.tensor import TensorSpec

QUICK = Settings(warmup=1, runs=3, latency=False, memory=False)
SQUARE = TensorSpec((32, 64))
BYTES = SQUARE.nbytes


def counts(bench: Bench, operator: str, direction: str = "forward", **arguments: Any) -> tuple[int | None, int | None]:
    """Return the operations and bytes of one call; arguments that are no tensors are attributes."""
    inputs = {name: value for name, value in arguments.items() if isinstance(value, (TensorSpec, tuple))}
    attributes = {name: value for name, value in arguments.items() if name not in inputs}
    case, path = Case(operator, inputs, attributes), operator.partition(":")[2]
    facts = bench.measure(case, direction, settings=QUICK, implementation=path).facts
    return facts.get("flops"), facts.get("bytes")


def test_pytorch_counts_a_product_and_its_tensors(benches: dict[str, Bench]) -> None:
    other = TensorSpec((64, 16))
    result = counts(benches["torch"], "torch:aten::mm.default", self=SQUARE, mat2=other)
    assert result == (2 * 32 * 64 * 16, BYTES + other.nbytes + 32 * 16 * 4)


@pytest.mark.parametrize(
    ("operator", "arguments", "moved"),
    [
        ("aten::add.Tensor", {"self": SQUARE, "other": SQUARE}, 3 * BYTES),
        ("aten::add_.Tensor", {"self": SQUARE, "other": SQUARE}, 3 * BYTES),
        ("aten::t.default", {"self": SQUARE}, 0),
        ("aten::zero_.default", {"self": SQUARE}, BYTES),
        ("aten::ones_like.default", {"self": SQUARE}, BYTES),
        ("aten::cat.default", {"tensors": (SQUARE, SQUARE)}, 4 * BYTES),
        (
            "aten::embedding.default",
            {"weight": TensorSpec((1000, 64)), "indices": TensorSpec((8,), "int64", range=(0, 1000))},
            2 * 8 * 64 * 4 + 8 * 8,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bytes_of_pytorch_are_those_that_a_call_must_read_and_write(
    operator: str, arguments: dict[str, Any], moved: int, benches: dict[str, Bench]
) -> None:
    assert counts(benches["torch"], f"torch:{operator}", **arguments) == (None, moved)


def test_xla_counts_a_product_and_its_tensors(benches: dict[str, Bench]) -> None:
    flops, moved = counts(benches["jax"], "jax:jax.numpy.inner", a=SQUARE, b=SQUARE)
    assert flops == 2 * 32 * 32 * 64
    assert moved is not None
    assert moved >= 2 * BYTES + 32 * 32 * 4


def test_what_the_framework_does_not_count_has_no_counts(benches: dict[str, Bench]) -> None:
    assert counts(benches["mxnet"], "mxnet:nd.smooth_l1", data=SQUARE) == (None, None)
    assert counts(benches["torch"], "torch:aten::add.Tensor", "backward", self=SQUARE, other=SQUARE) == (None, None)
