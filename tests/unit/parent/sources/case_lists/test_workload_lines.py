"""Workloads of FlashInfer-Bench: shapes are those of their definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.suite_file import read_suite

AXES: dict[str, Any] = {"M": {"type": "var"}, "K": {"type": "const", "value": 8}, "N": {"type": "const", "value": 16}}
GEMM: dict[str, Any] = {
    "name": "gemm",
    "op_type": "gemm",
    "axes": AXES,
    "inputs": {"A": {"shape": ["M", "K"], "dtype": "float16"}, "B": {"shape": ["N", "K"], "dtype": "float16"}},
    "outputs": {},
    "reference": "raise SystemExit('this is never run')",
}
NORM: dict[str, Any] = {
    "op_type": "rmsnorm",
    "axes": AXES,
    "inputs": {
        "input": {"shape": ["M", "K"], "dtype": "bfloat16"},
        "weight": {"shape": ["K"], "dtype": "bfloat16"},
        "eps": {"shape": None, "dtype": "float32"},
    },
}


#: Of a cache of 6 pages of 2 tokens, 4 heads of 8 numbers share 2 keys; a latent of 12 numbers has 3 that are turned.
SIZES = {"pages": 6, "page": 2, "heads": 4, "shared": 2, "width": 8, "latent": 12, "turned": 3, "words": 16}
SERVING_INPUTS: dict[str, tuple[list[str] | None, str]] = {
    "q": (["tokens", "heads", "width"], "bfloat16"),
    "k": (["keys", "shared", "width"], "bfloat16"),
    "v": (["keys", "shared", "width"], "bfloat16"),
    "k_cache": (["pages", "page", "shared", "width"], "bfloat16"),
    "v_cache": (["pages", "page", "shared", "width"], "bfloat16"),
    "q_nope": (["tokens", "heads", "latent"], "bfloat16"),
    "q_pe": (["tokens", "heads", "turned"], "bfloat16"),
    "ckv_cache": (["pages", "page", "latent"], "bfloat16"),
    "kpe_cache": (["pages", "page", "turned"], "bfloat16"),
    "qo_indptr": (["edges"], "int32"),
    "kv_indptr": (["edges"], "int32"),
    "kv_indices": (["used"], "int32"),
    "sm_scale": (None, "float32"),
    "probs": (["tokens", "words"], "float32"),
    "top_p": (["tokens"], "float32"),
    "top_k": (["tokens"], "int32"),
}


def serving(kind: str, names: str) -> dict[str, Any]:
    """Return a definition with these inputs."""
    return {
        "op_type": kind,
        "axes": {
            **{name: {"type": "const", "value": size} for name, size in SIZES.items()},
            **{name: {"type": "var"} for name in ("tokens", "keys", "edges", "used")},
        },
        "inputs": {name: dict(zip(("shape", "dtype"), SERVING_INPUTS[name])) for name in names.split()},
    }


def serving_line(**axes: int) -> str:
    """Return a workload whose values are in a file that nobody reads."""
    inputs = {"kv_indptr": {"type": "safetensors", "path": "./missing.safetensors", "tensor_key": "kv_indptr"}}
    return json.dumps({"definition": "gemm", "workload": {"uuid": "1", "axes": axes, "inputs": inputs}})


def line(rows: object = 3, name: str = "gemm", **inputs: object) -> str:
    """Return a workload."""
    return json.dumps({"definition": name, "workload": {"uuid": "1", "axes": {"M": rows}, "inputs": inputs}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a definition, as the data set has it."""
    (tmp_path / "definitions" / "kind").mkdir(parents=True)
    (tmp_path / "workloads" / "kind").mkdir(parents=True)
    return tmp_path


def read(text: str, definition: dict[str, Any], folder: Path) -> Suite:
    """Return the suite of workloads of one definition."""
    (folder / "definitions" / "kind" / "gemm.json").write_text(json.dumps(definition))
    path = folder / "workloads" / "kind" / "gemm.jsonl"
    path.write_text(text)
    return read_suite(path)


def test_workloads_are_cases_of_the_operator_of_their_definition(folder: Path) -> None:
    suite = read(f"{line(3)}\n{line(5)}\n\n{line(3)}\n", GEMM, folder)
    weight = TensorSpec((16, 8), "float16")
    assert suite.cases == tuple(
        SuiteCase(
            Case("matmul_transposed", {"lhs": TensorSpec((rows, 8), "float16"), "rhs": weight}),
            count,
            "gemm",
            ("forward",),
        )
        for rows, count in ((3, 2), (5, 1))
    )


def test_a_scalar_is_an_attribute(folder: Path) -> None:
    (entry,) = read(line(3, eps={"type": "scalar", "value": 1e-6}), NORM, folder).cases
    assert entry.case.operator == "rms_norm"
    assert entry.case.attributes == {"epsilon": 1e-6}
    assert entry.case.inputs["data"] == TensorSpec((3, 8), "bfloat16")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"op_type": "gqa_paged"}, "no operator of opperf is known to be `gqa_paged` of A, B"),
        (
            {"inputs": {**GEMM["inputs"], "A": {"shape": ["M", "K"], "dtype": "float4_e2m1"}}},
            "tensors of `float4_e2m1`",
        ),
    ],
)
def test_workloads_that_no_case_holds_are_counted(change: dict[str, Any], reason: str, folder: Path) -> None:
    suite = read(f"{line(3)}\n{line(5)}", {**GEMM, **change}, folder)
    assert suite.cases == ()
    assert [(one.count, one.reason) for one in suite.left_out] == [(2, reason)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{line()}\nnonsense", r"gemm\.jsonl:2: not JSON"),
        (f"{line()}\n{{}}", r"gemm\.jsonl:2: found \{\}, expected a workload"),
        (line(name="../../etc/passwd"), r"gemm\.jsonl:1: found .*, expected a workload"),
        (line(name="other"), r"gemm\.jsonl:1: no definition `other`"),
        (line("3"), r"gemm\.jsonl:1: the axis \"M\" is \"3\", expected a whole number"),
        (line(-3), r"gemm\.jsonl:1: shape \[-3, 8\]"),
        (line(10**12), r"gemm\.jsonl:1: the input `A` has 8,000,000,000,000 elements, expected fewer than"),
    ],
)
def test_a_mistake_in_a_workload_is_told_with_its_line(text: str, message: str, folder: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(text, GEMM, folder)


def test_decoding_from_pages_is_paged_attention_of_sequences_of_equal_length(folder: Path) -> None:
    definition = serving("gqa_paged", "q k_cache v_cache kv_indptr kv_indices sm_scale")
    (entry,) = read(serving_line(tokens=3, edges=4, used=5), definition, folder).cases
    assert (entry.case.operator, entry.origin) == ("paged_attention", "gemm, sequences of equal length")
    cache = TensorSpec((6, 2, 2, 8), "bfloat16")
    assert entry.case.inputs == {
        "query": TensorSpec((3, 4, 8), "bfloat16"),
        "key_cache": cache,
        "value_cache": cache,
        "page_table": TensorSpec((3, 2), "int64", range=(0, 6)),
        "lengths": TensorSpec((3,), "int64", range=(1, 4), literal=(4, 4, 4)),
    }


def test_latent_attention_from_pages_has_one_head_of_keys(folder: Path) -> None:
    definition = serving("mla_paged", "q_nope q_pe ckv_cache kpe_cache kv_indptr kv_indices sm_scale")
    (entry,) = read(serving_line(tokens=1, edges=2, used=3), definition, folder).cases
    shapes = {name: tensor.shape for name, tensor in entry.case.inputs.items() if isinstance(tensor, TensorSpec)}
    assert (entry.case.operator, entry.origin.rpartition(", ")[2]) == ("paged_attention", "values apart from keys")
    assert shapes == {
        "query": (1, 4, 15),
        "key_cache": (6, 2, 1, 15),
        "value_cache": (6, 2, 1, 12),
        "page_table": (1, 3),
        "lengths": (1,),
    }


def test_sequences_one_after_the_other_share_their_tokens_equally(folder: Path) -> None:
    definition = serving("gqa_ragged", "q k v qo_indptr kv_indptr sm_scale")
    suite = read(
        f"{serving_line(tokens=7, keys=7, edges=4)}\n{serving_line(tokens=7, keys=9, edges=4)}", definition, folder
    )
    (entry,) = suite.cases
    assert (entry.case.operator, entry.case.attributes) == ("variable_length_attention", {"lengths": (3, 2, 2)})
    assert [tensor.shape for tensor in entry.case.inputs.values() if isinstance(tensor, TensorSpec)] == [
        (7, 4, 8), (7, 2, 8), (7, 2, 8),
    ]  # fmt: skip
    assert [one.reason[:36] for one in suite.left_out] == ["more keys than queries of a sequence"]
    suite = read(serving_line(tokens=10**9, keys=10**9, edges=10**8), definition, folder)
    assert [one.reason[:22] for one in suite.left_out] == ["over 65,536 sequences,"]


def test_several_queries_for_each_sequence_are_left_out_and_one_for_each_is_not(folder: Path) -> None:
    definition = serving("gqa_paged", "q k_cache v_cache qo_indptr kv_indptr kv_indices sm_scale")
    suite = read(
        f"{serving_line(tokens=3, edges=4, used=3)}\n{serving_line(tokens=9, edges=4, used=3)}", definition, folder
    )
    assert [entry.case.operator for entry in suite.cases] == ["paged_attention"]
    assert [one.reason[:33] for one in suite.left_out] == ["several queries for each sequence"]


def test_sampling_begins_with_logits_and_an_assumed_share(folder: Path) -> None:
    (entry,) = read(serving_line(tokens=3), serving("sampling", "probs top_p"), folder).cases
    assert (entry.case.operator, entry.case.attributes) == ("top_p_sampling", {"p": 0.9})
    assert entry.origin == "gemm, from logits, with a p of 0.9"
    suite = read(serving_line(tokens=3), serving("sampling", "probs top_k"), folder)
    assert suite.left_out[0].reason == "no operator of opperf is known to be `sampling` of probs, top_k"
