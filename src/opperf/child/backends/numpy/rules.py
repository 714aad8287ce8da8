"""What NumPy's functions are given, and which of them compute nothing that could be timed."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends import array_rules
from opperf.child.backends.notation import Rule, alike
from opperf.child.backends.numpy import random_rules
from opperf.child.backends.signatures import Rules

#: Functions that NumPy alone has.
OWN: Mapping[str, Rule] = {
    "copyto": ("dst: n,n | src: n,n", {}),
    "einsum_path": ("subscripts = 'ij,jk,kl->il' | operand0: n,n | operand1: n,n | operand2: n,n", {}),
    "lib.stride_tricks.sliding_window_view": ("x: n,n", {"window_shape": (4, 4)}),
    "putmask": ("a: n,n | mask: n,n bool | values: n", {}),
    "real_if_close": ("a: n,n complex64 zeros", {}),
    "row_stack": ("tup: [n,n; n,n]", {}),
}
#: Functions whose arguments older versions of NumPy do not name.
UNNAMED: Mapping[str, Rule] = {
    **alike("a: n,n", {}, "array", "asanyarray", "asarray", "asfortranarray", "empty_like"),
    **alike("a: n,n | b: n,n", {}, "inner", "may_share_memory", "shares_memory"),
    "empty": ("", {"shape": lambda side: (side, side)}),
}
#: By the beginning of a path; what it ends in is the name that a rule stands under.
AREAS: Mapping[str, Rules] = {
    "numpy.random.Generator.": Rules(random_rules.RULES, array_rules.ATTRIBUTES),
    "numpy.": Rules({**array_rules.RULES, **OWN, **UNNAMED}, array_rules.ATTRIBUTES),
}

#: Why functions are not measured, and their names.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "it calls a Python function that it is given, and nothing but that is timed": (
        "apply_along_axis", "apply_over_axes", "fromfunction", "frompyfunc", "mask_indices", "piecewise", "fromiter",
    ),
    "it writes or reads text": (
        "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
        "format_float_scientific", "fromstring", "typename",
    ),
    "it answers a question about element types or shapes, and sees no elements": (
        "broadcast_shapes", "can_cast", "common_type", "isdtype", "issubdtype", "min_scalar_type", "mintypecode",
        "promote_types", "result_type", "isscalar", "iterable",
    ),
    "it asks or sets how NumPy works": (
        "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "printoptions",
    ),
    "it computes with dates, which no tensor of opperf holds": (
        "busday_count", "busday_offset", "datetime_as_string", "datetime_data", "is_busday", "isnat",
    ),
    "it makes an array of somebody else's memory, or an iterator": ("from_dlpack", "frombuffer", "nested_iters"),
    "it makes an object of a class that NumPy advises against": ("asmatrix", "bmat"),
    "it makes generators, not numbers": ("random.Generator.spawn",),
}  # fmt: skip
