"""The catalog's operators by the functions of the array API standard, in whichever library has them.

A table has the name that the standard gives a function, or several to try in turn: a library may have its own function
for what others compose. A composition names the functions that it is made of. What a library lacks becomes the reason
why it has no such operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

from opperf.catalog import catalog
from opperf.child.backends.array_api.libraries import Library
from opperf.child.backends.arrays.operators import (
    CHANGES,
    TERNARY,
    change,
    compositions,
)
from opperf.child.backends.arrays.updates import MADE_OF, Updates
from opperf.child.backends.binding import Binding, ByArguments, Call, Missing, call, rows
from opperf.child.backends.binding import compositions as composed
from opperf.domain.backend import Unsupported

AXIS_KEYWORDS = "axis=axis, keepdims=keepdims"
#: By arguments, those by place and those by name: the operators whose functions take them. Behind `=` stands the name
#: of the function where it is another than the catalog's; of several the first is taken that a library has.
BY_ARGUMENTS: ByArguments = {
    ("data", ""): (
        "abs negative exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt square reciprocal sin cos tan sinh cosh tanh "
        "arcsin=asin arccos=acos arctan=atan arcsinh=asinh arccosh=acosh arctanh=atanh sign floor ceil round trunc "
        "isnan isinf isfinite logical_not bitwise_not=bitwise_invert signbit degrees radians nan_to_num erf erfinv "
        "sigmoid trace=linalg.trace,trace cholesky=linalg.cholesky qr=linalg.qr svd_values=linalg.svdvals "
        "inverse=linalg.inv determinant=linalg.det slogdet=linalg.slogdet eigh_values=linalg.eigvalsh "
        "fft=fft.fft ifft=fft.ifft rfft=fft.rfft irfft=fft.irfft zeros_like ones_like"
    ),
    ("lhs, rhs", ""): (
        "add subtract multiply divide floor_divide remainder power=pow maximum minimum hypot arctan2=atan2 logaddexp "
        "equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor copysign bitwise_and "
        "bitwise_or bitwise_xor left_shift=bitwise_left_shift right_shift=bitwise_right_shift fmod heaviside isclose "
        "broadcast_add=add broadcast_subtract=subtract broadcast_multiply=multiply broadcast_divide=divide "
        "broadcast_power=pow broadcast_maximum=maximum broadcast_minimum=minimum broadcast_equal=equal "
        "broadcast_greater=greater matmul batch_matmul=matmul matrix_vector=matmul matmul_transposed=matmul "
        "outer=linalg.outer,outer dot=vecdot kron"
    ),
    ("data", AXIS_KEYWORDS): (
        "sum mean max min prod std variance=var argmax argmin all any nansum nanprod logsumexp "
        "norm=linalg.vector_norm,linalg.norm"
    ),
    ("data", "axis=axis"): (
        "cumsum=cumulative_sum cumprod=cumulative_prod softmax expand_dims flip concatenate=concat stack"
    ),
    ("data", "axis=axis, descending=descending"): "sort argsort",
    ("data", "offset=offset"): "diagonal=linalg.diagonal,diagonal",
    ("data", "k=offset"): "triu tril",
    ("data", "axes=(-2, -1)"): "fft2=fft.fftn rfft2=fft.rfftn",
    ("data", "axis=2, keepdims=True"): "global_avg_pool1d=mean global_max_pool1d=max",
    ("data", "axis=(2, 3), keepdims=True"): "global_avg_pool2d=mean global_max_pool2d=max",
    ("data", "axis=(2, 3, 4), keepdims=True"): "global_avg_pool3d=mean global_max_pool3d=max",
    ("data", "axis=-2"): "image_flip_left_right=flip",
    ("data", "axis=-3"): "image_flip_top_bottom=flip",
    ("data", "copy=True"): "copy=asarray",
    ("data, indices", "axis=axis"): "take index_select=take gather=take_along_axis",
    ("data, shape", ""): "broadcast_to reshape",
    ("data, minimum, maximum", ""): "clip",
    ("lhs, rhs", "axes=axes"): "tensordot",
    ("matrix, right", ""): "solve=linalg.solve",
    ("data, 0", ""): "relu=maximum",
    ("data, 0, 6", ""): "relu6=clip",
    ("data, 0.0", ""): "softplus=logaddexp",
    ("data, values", ""): "searchsorted",
    ("data, axes", ""): "transpose=permute_dims",
    ("data, axis1, axis2", ""): "swap_axes=swapaxes",
    ("data, axis", ""): "squeeze",
    ("data, shift", "axis=axis"): "roll",
    ("data, repeats", ""): "tile",
    ("data, repeats", "axis=axis"): "repeat",
    ("data, widths", "mode='constant', constant_values=value"): "pad",
    ("data, dtype", ""): "cast=astype",
    ("data, sections", "axis=axis"): "split",
    ("data, value", ""): "full_like",
    ("condition, lhs, rhs", ""): "where",
    ("mask, value, data", ""): "masked_fill=where",
    ("shape", "dtype=dtype"): "zeros ones",
    ("shape, value", "dtype=dtype"): "full",
    ("start, stop, step", "dtype=dtype"): "arange",
    ("start, stop, count", "dtype=dtype"): "linspace",
    ("rows, columns", "dtype=dtype"): "eye",
}
#: By operator: the names of its function, its arguments by place, and those by name.
FUNCTIONS = {row.operator: (row.name.split(","), row.positional, row.keywords) for row in rows(BY_ARGUMENTS)}


#: What is made fit before anything is timed: which argument, how, and the note on the record.
ADAPTED: Mapping[str, tuple[str, Callable[[Any, Any], Any], str]] = {
    "matmul_transposed": (
        "rhs", lambda xp, data: xp.matrix_transpose(data), "the right side is a transposed view, made in advance"
    ),
    "searchsorted": ("data", lambda xp, data: xp.sort(data), "of sorted data, sorted in advance"),
    "eigh_values": (
        "data", lambda xp, data: (data + xp.matrix_transpose(data)) / 2,
        "of the mean of the data and its transpose, precomputed",
    ),
    **{
        name: (
            "matrix" if name == "solve" else "data",
            lambda xp, data: xp.eye(data.shape[0], dtype=data.dtype) + data / data.shape[0],
            "of the identity plus the data over n, precomputed",
        )
        for name in ("inverse", "determinant", "slogdet", "solve")
    },
}  # fmt: skip


def bindings(library: Library, *, immutable: bool) -> Mapping[str, Binding]:
    """Return every operator of the catalog: a function, a composition, or what is missing of it."""
    xp = library.namespace
    composites, steps = compositions(xp), Updates(xp, immutable)
    result = {**TERNARY, **{name: _function(library, name) for name in FUNCTIONS}}
    for name, (function, needs) in composites.items():
        if not isinstance(result.get(name), Call):
            note = f"{', '.join(needs.split()) or 'indexing'} of {library.module.__name__}, composed"
            result[name] = _composition(library, composed(**{name: (function, note)})[name], needs)
    for name, note in MADE_OF.items():
        needs = " ".join(word for word in ("sign", "square", "sqrt", "linalg.norm") if word in note)
        result[name] = _composition(library, steps.binding(name), needs)
    result |= {name: change(name, lambda data, numbers: xp.asarray(numbers, dtype=data.dtype)) for name in CHANGES}
    if not hasattr(xp.ones(1), "mean"):
        means = ("image_adjust_contrast", "image_color_jitter")
        result |= dict.fromkeys(means, Missing("the standard's arrays have no method `mean`"))
    result["ftrl_update"] = Missing("its last step multiplies numbers by booleans, which the standard does not allow")
    result |= {name: Missing(f"{library.module.__name__}: {why}") for name, why in library.lacks.items()}
    rest = Missing("the array API standard has no function for it, and opperf no composition of its functions")
    return {name: result.get(name, rest) for name in catalog()}


def _function(library: Library, operator: str) -> Binding:
    """Return the call of the first of its names that the library has, or the reason why it has none."""
    names, positional, keywords = FUNCTIONS[operator]
    xp, module = library.namespace, library.module
    name = next((name for name in names if _get(xp, name) is not None), None)
    if name is None:
        return Missing(f"{module.__name__} has no `{names[0]}`")
    more: dict[str, Any] = {}
    if operator in ADAPTED:
        argument, adapt, more["note"] = ADAPTED[operator]
        more["adapt"] = {argument: partial(adapt, xp)}
    if "descending" in keywords and not _sorts_both_ways(xp):
        keywords, more["adapt"] = "axis=axis", {"descending": _ascending}
    function = _get(xp, name)
    if _get(module, name) is function:
        return call(f"{module.__name__}.{name}", positional, keywords, **more)
    more.setdefault("note", "of array-api-compat")
    return call(f"{xp.__name__}.{name}", positional, keywords, function=function, **more)


def _composition(library: Library, binding: Binding, needs: str) -> Binding:
    missing = [f"`{name}`" for name in needs.split() if _get(library.namespace, name) is None]
    if not missing:
        return binding
    return Missing(f"{library.module.__name__} has no {' and no '.join(missing)}, which it is made of")


def _get(namespace: Any, name: str) -> Any:
    return reduce(lambda place, word: getattr(place, word, None), name.split("."), namespace)


def _sorts_both_ways(xp: Any) -> bool:
    try:
        xp.sort(xp.ones(1), descending=False)
    except TypeError:
        return False
    return True


def _ascending(descending: bool) -> bool:
    if descending:
        message = "this library sorts in ascending order only"
        raise Unsupported(message, slug="no_such_attribute", hint="leave out `descending`")
    return descending
