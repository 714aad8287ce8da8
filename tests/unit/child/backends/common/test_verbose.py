"""Lines of oneDNN and MKL: each generation read, everything else passed over."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.child.backends.common.verbose import MARKS, read
from opperf.domain.explanation import Event

V3 = (
    "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src:f32:a:blocked:aBcd16b::f0 "
    "wei:f32:a:blocked:ABcd16b16a::f0,attr-scratchpad:user,alg:convolution_direct,mb4_ic16oc32,0.25"
)
V2 = "dnnl_verbose,exec,cpu,inner_product,x64:gemm:jit,forward_inference,src_f32::blocked:ab:f0,,,mb256ic256oc256,0.5"
V1 = "mkldnn_verbose,exec,convolution,jit:avx2,forward_training,fsrc:nchw fwei:OIhw8i8o,alg:convolution_direct,mb1,2"
STAMPED = "onednn_verbose,v1,1732197600000.5,primitive,exec,cpu,matmul,brg_matmul:avx512_core_bf16,undef,,,,256x256,1"
MKL = "MKL_VERBOSE SGEMM(N,N,256,256,256,0x7ffe,0x5628,256,0x5628,256,0x7ffe,0x5628,256) 384.5us CNR:OFF Dyn:0"


@pytest.mark.parametrize(
    ("line", "name", "by", "seconds"),
    [
        (V3, "convolution", "jit:avx512_core", 0.25e-3),
        (V2, "inner_product", "x64:gemm:jit", 0.5e-3),
        (V1, "convolution", "jit:avx2", 2e-3),
        (STAMPED, "matmul", "brg_matmul:avx512_core_bf16", 1e-3),
        (MKL, "SGEMM", "mkl", 384.5e-6),
    ],
)
def test_a_line_of_every_generation_is_read(line: str, name: str, by: str, seconds: float) -> None:
    (event,) = read(line)
    assert replace(event, seconds=None) == Event(name, "primitive", 1, None, by)
    assert event.seconds == pytest.approx(seconds)


@each(
    "line",
    [
        "onednn_verbose,v1,info,oneDNN v3.12.0 (commit 80afa71)",
        "onednn_verbose,v1,primitive,create:cache_miss,cpu,convolution,jit:avx512_core,forward_training,,,,,0.5",
        "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,exec_time",
        "dnnl_verbose,exec,cpu",
        "dnnl_verbose,exec",
        "MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture, Lnx 2.60GHz lp64",
        "an operator that prints exec,cpu,convolution,jit:avx2",
        "",
    ],
)
def test_what_is_no_execution_is_passed_over(line: str) -> None:
    assert read(line) == []


def test_executions_keep_their_order_between_other_lines() -> None:
    assert [event.name for event in read(f"hello\n{V2}\r\nworld\n  {V3}\n")] == ["inner_product", "convolution"]


def test_a_torn_line_has_no_time() -> None:
    (event,) = read("dnnl_verbose,exec,cpu,softmax,jit:avx2,forw")
    assert event.seconds is None


@given(st.lists(st.tuples(st.sampled_from([*MARKS, "MKL_VERBOSE", ""]), st.text(alphabet=",exec cpu()0.9nus-\n\x00é"))))
def test_no_text_makes_the_reader_raise(pieces: list[tuple[str, str]]) -> None:
    for event in read("\n".join(f"{mark},{rest}" if rest else mark for mark, rest in pieces)):
        assert event.name
        assert event.seconds is None or (math.isfinite(event.seconds) and event.seconds >= 0)
