"""Arguments as PyTorch's tools print them: what is printed is read back, and nothing else is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opperf.domain.case import Argument, Device, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.case_lists.call_text import DTYPES, CallText, read_call

SHORT = {name: short for short, name in DTYPES.items()}
HALF = TensorSpec((2, 3), "float16")


def printed(value: Argument) -> str:
    """Return an argument as the tools print it."""
    if isinstance(value, TensorSpec):
        strides = "" if value.strides is None else f", stride={value.strides!r}"
        return f"T({list(value.shape)}, {SHORT[value.dtype]}{strides})"
    if isinstance(value, DType):
        return SHORT[value.name]
    if isinstance(value, ListOf):
        return f"[{', '.join(map(printed, value.items))}]"
    if isinstance(value, tuple):
        return f"({''.join(f'{printed(item)},' for item in value)})"
    return repr(value)


def text_of(places: list[Argument], names: dict[str, Argument]) -> str:
    """Return a whole call as the tools print it."""
    by_name = ", ".join(f"{name!r}: {printed(value)}" for name, value in names.items())
    return f"({printed(tuple(places))}, {{{by_name}}})"


sizes = st.lists(st.integers(1, 999), max_size=4).map(tuple)
types = st.sampled_from(sorted(SHORT))
tensors = st.builds(TensorSpec, sizes, types) | st.integers(2, 99).map(lambda n: TensorSpec((n, n), "int64", (1, n)))
scalars: st.SearchStrategy[Argument] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.from_regex(r"[a-z ]*", fullmatch=True)
    | types.map(DType)
)
arguments: st.SearchStrategy[Argument] = st.recursive(
    tensors | scalars,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3).map(lambda x: ListOf(tuple(x))),
    max_leaves=6,
)
names = st.dictionaries(st.sampled_from(["alpha", "weight", "keepdim", "approximate"]), arguments)


@given(places=st.lists(arguments, max_size=5), names=names)
def test_a_call_that_is_printed_is_read_back(places: list[Argument], names: dict[str, Argument]) -> None:
    read = read_call(text_of(places, names))
    assert read == CallText({str(place): value for place, value in enumerate(places)}, names)
    assert [type(value) for value in read.places.values()] == [type(value) for value in places]


@given(st.text(alphabet="T([]){}:,'\"0123456789.-+ef16aNone=_ "))
def test_any_text_is_read_or_refused_with_its_column(text: str) -> None:
    refusal = ""
    try:
        read_call(text)
    except InputError as error:
        refusal = error.message
    assert not refusal or refusal.startswith("column ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-inf", -math.inf),
        ("1e-12", 1e-12),
        ("8.0", 8.0),
        ("torch.bool", DType("bool")),
        ("th.float16", DType("float16")),
        ("'bf16'", DType("bfloat16")),
        ("torch.channels_last", 2),
        ("torch.device('cuda:0')", Device("default")),
        ("\"torch.device('cpu')\"", Device("default")),
        ("T([2, 3], f16, [1, 2])", TensorSpec((2, 3), "float16", (1, 2))),
        ("T([2, 3], f16, stride=(3, 1))", HALF),
        ("T([0, 3], f16, stride=(9, 1))", TensorSpec((0, 3), "float16")),
        ("T((2, 3), torch.float16)", HALF),
    ],
)
def test_a_value_is_read_as_it_is_meant(text: str, value: Argument) -> None:
    assert read_call(f"(({text},), {{}})").places == {"0": value}


def test_a_call_may_stand_in_quotes() -> None:
    assert read_call(" '((T([2, 3], f16),), {})'").places == {"0": HALF}


def test_where_memory_is_got_is_not_part_of_a_case() -> None:
    text = "((T([2, 3], f16),), {'dtype': f32, 'layout': torch.strided, 'device': 'cuda', 'pin_memory': False})"
    assert read_call(text).names == {"dtype": DType("float32"), "device": Device("default")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("((1,), {'layout': torch.sparse_coo})", "sparse tensors"),
        ("((ST([2, 3], f16),), {})", "sparse tensors"),
        ("((T([2, 3], torch.qint8),), {})", "tensors of `torch.qint8`"),
        ("((T([2, 3], i4),), {})", "tensors of `i4`"),
        ("((T([2], 'f16; import os'),), {})", "tensors of `f16; import os`"),
        ("((2j,), {})", "complex numbers as arguments"),
        ("((torch.per_tensor_affine,), {})", "`torch.per_tensor_affine` as an argument"),
    ],
)
def test_what_no_case_holds_has_a_reason(text: str, reason: str) -> None:
    assert read_call(text).reasons == (reason,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("((__import__('os').system('true'),), {})", r"column 19: found \"\.system"),
        ("((__import__('os'),), {})", r"column 3: found `__import__`, expected an argument"),
        ("((torch.load('x'),), {})", r"column 3: found `torch.load`, expected an argument"),
        ("((lambda: 1,), {})", r"column 3: found `lambda`"),
        ("((T([2], f16).__class__,), {})", r"column 14: found '.__class__"),
        ("((1 + 1,), {})", r"column 5: found '\+ 1"),
        ("((1, [2 for x in y]), {})", r"column 9: found `for`, expected `\]`"),
        ("((T(2, f16),), {})", r"column 3: found `T`, expected a tensor"),
        ("((T([2, 3], f16, stride=(1,)),), {})", r"column 3: strides \[1\] must hold"),
        ("((T([-2], f16),), {})", r"column 3: shape \[-2\] must hold"),
        ("((1,), {'a': 1, 'a': 2})", r"column 23: found `}`, expected each name once"),
        ("((1,), {})))", r"column 11: found `\)`, expected the end"),
        ("((1,)", r"column 6: found the end, expected `,`"),
        ("", r"column 1: found the end, expected `\(`"),
        (f"(({'9' * 5000},), {{}})", r"expected a whole number of 64 bits"),
        (f"(({'[' * 100_000}", r"expected brackets in brackets, 16 deep at most"),
    ],
)
def test_what_the_grammar_does_not_have_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_call(text)


@pytest.mark.parametrize(
    "tensor",
    ["T([1000000, 1000000], f16)", "T([2, 2], f16, stride=(1000000000000, 1))", f"T([{10**19}, {10**19}], b8)"],
)
def test_a_tensor_of_a_million_million_elements_is_a_mistake(tensor: str) -> None:
    with pytest.raises(
        InputError, match=r"column 3: a tensor of [\d,]+ elements, expected fewer than 1,000,000,000,000"
    ):
        read_call(f"(({tensor},), {{}})")
