"""Kernels that a framework has for one element type alone compute what the reference does."""

from __future__ import annotations

from tests.conformance.conftest import Bench
from tests.each import each

from opperf.catalog import operator
from opperf.child.judging.reference import Comparison
from opperf.domain.plan import REFERENCE, Side, Trial


@each("name", ["int4_matmul", "int8_weight_matmul"])
def test_weights_of_few_bits_have_a_kernel_in_bfloat16_and_a_composition_beside_it(
    name: str, benches: dict[str, Bench]
) -> None:
    for dtype in ("bfloat16", "float32"):
        case = operator(name).case("small").with_dtype(dtype)
        (result,) = benches["torch"].evaluate(case)
        assert result.dtype == dtype
        comparison = Comparison(Side("numpy", settings=REFERENCE))
        comparison.check(Trial(case, Side("torch"), "forward"), 0, [(result.raw, result.shape, result.dtype)], "it")
