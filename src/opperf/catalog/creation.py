"""Creation of arrays: constants, random numbers and initial weights."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Formula, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, each_output, element_type, none, of_shape, same, tensors, whole, wholes
from opperf.domain.case import Argument, Case, DType
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Operators that make tensors of known values: they fill memory, and what is read is nothing.
#
# Those of one value, and `eye`, cost no arithmetic; a sequence is a multiply-add for each number.

#: Lengths of sequences; the skewed one is prime, which no vector width divides.
LENGTHS = {"small": 1024, "common": 1_048_576, "large": 16_777_216, "skewed": 1_000_003}
FLOAT32 = DType("float32")


def _matrix(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((whole(case, "rows"), whole(case, "columns")), element_type(case)),)


def _space(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((whole(case, "count"),), element_type(case)),)


def _step(case: Case) -> tuple[TensorSpec, ...]:
    start, stop, step = (whole(case, name) for name in ("start", "stop", "step"))
    if step == 0:
        raise InputError(f"`step` of `{case.operator}` is 0", hint="a step forwards or backwards")
    return (TensorSpec((len(range(start, stop, step)),), element_type(case)),)


def _creation(
    name: str,
    summary: str,
    sizes: Mapping[str, Mapping[str, Argument]],
    outputs: Outputs,
    *,
    flops: Formula = none,
    untouched: bool = False,
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `untouched` memory of zeros may come from the system without a byte being written."""
    aliasing = FORWARD_ONLY if untouched else ()
    return Operator(name, "creation", summary, sizes, outputs, flops, aliasing=aliasing, reads=(), aliases=aliases)


def _of_shape(**more: Argument) -> dict[str, dict[str, Argument]]:
    return {size: {"shape": shape, **more, "dtype": FLOAT32} for size, shape in ELEMENTWISE.items()}


def _creation_like(name: str, summary: str, **more: Argument) -> Operator:
    sizes = tensors("data", more=more)
    return _creation(name, summary, sizes, same(), untouched=name == "zeros_like")


_CREATION = (
    _creation(
        "zeros", "zeros (memory that the system has zeroed may not be written)", _of_shape(), of_shape, untouched=True
    ),
    _creation("ones", "ones", _of_shape(), of_shape),
    _creation("full", "one value in every element", _of_shape(value=0.5), of_shape),
    _creation_like("zeros_like", "zeros in the shape of the data"),
    _creation_like("ones_like", "ones in the shape of the data"),
    _creation_like("full_like", "one value in every element, in the shape of the data", value=0.5),
    _creation(
        "arange",
        "integers from `start` up to `stop` (exclusive) by `step`",
        {size: {"start": 0, "stop": count, "step": 1, "dtype": FLOAT32} for size, count in LENGTHS.items()},
        _step,
        flops=each_output(2, _step),
    ),
    _creation(
        "linspace",
        "`count` evenly spaced numbers from `start` to `stop`, both included",
        {size: {"start": 0.0, "stop": 1.0, "count": count, "dtype": FLOAT32} for size, count in LENGTHS.items()},
        _space,
        flops=each_output(2, _space),
    ),
    _creation(
        "eye",
        "a matrix with ones on its diagonal and zeros elsewhere",
        {size: {"rows": rows, "columns": columns, "dtype": FLOAT32} for size, (rows, columns) in ELEMENTWISE.items()},
        _matrix,
        aliases=("identity",),
    ),
)


# Operators that draw numbers: one operation makes each, and to most of them no tensor goes in.


def _random(
    name: str, summary: str, aliases: tuple[str, ...] = (), dtype: str = "float32", **attributes: Argument
) -> Operator:
    sizes = {size: {"shape": shape, "dtype": DType(dtype), **attributes} for size, shape in ELEMENTWISE.items()}
    return Operator(name, "random", summary, sizes, of_shape, each_output(1, of_shape), random=True, aliases=aliases)


def _with_data(
    name: str, summary: str, sizes: Mapping[str, Arguments], outputs: Outputs, flops: Formula, alias: str
) -> Operator:
    """Declare `name`, which draws by a tensor that goes in."""
    return Operator(name, "random", summary, sizes, outputs, flops, random=True, aliases=(alias,))


def _choose(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((case.tensor("data").shape[0], whole(case, "count")), "int64"),)


_RANDOM = (
    _random(
        "random_uniform", "numbers from a uniform distribution over [low, high)", ("uniform", "rand"), low=0.0, high=1.0
    ),
    _random("random_normal", "numbers from a normal distribution", ("normal", "randn"), mean=0.0, std=1.0),
    _random(
        "random_integers",
        "integers from a uniform distribution over [low, high)",
        ("randint",),
        dtype="int64",
        low=0,
        high=1000,
    ),
    _random("random_bernoulli", "ones with a given probability, else zeros", ("bernoulli",), probability=0.5),
    _random("random_poisson", "counts of rare events, `rate` on average", ("poisson",), rate=3.0),
    _random("random_exponential", "times between rare events, `scale` on average", ("exponential",), scale=2.0),
    _random("random_gamma", "numbers from a gamma distribution", ("gamma",), alpha=2.0, scale=1.5),
    _random(
        "random_negative_binomial",
        "failures before `successes` successes, each of the given probability",
        ("negative_binomial",),
        successes=3,
        probability=0.4,
    ),
    _with_data(
        "random_categorical",
        "`count` indices for each row of probabilities, drawn with replacement",
        {
            size: {"data": TensorSpec(shape, range=(0.1, 1.0), values="constant"), "count": 4}
            for size, shape in {**ELEMENTWISE, "large": (8192, 1024)}.items()
        },
        _choose,
        each_output(1, _choose),
        "multinomial",
    ),
    _with_data(
        "shuffle",
        "the rows in a random order",
        tensors("data"),
        same(),
        none,
        "random_permutation",
    ),
)


# Weights before training: drawn numbers whose spread the shape (out, in) decides.
#
# Operations as for other drawn numbers, one each; an orthogonal matrix is drawn and then decomposed (QR), which is 2 m
# n^2 - 2/3 n^3 operations for m rows and n columns, m being the larger.

_Shape = tuple[int, ...]

#: An orthogonal matrix takes the cube of its side.
ORTHOGONAL: Mapping[str, _Shape] = {
    "small": (32, 32),
    "common": (256, 256),
    "large": (1024, 1024),
    "skewed": (20_000, 8),
}


def _weights(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(wholes(case, "shape", 2), element_type(case)),)


_SAMPLER = each_output(1, _weights)


def _decomposition(case: Case) -> int:
    columns, rows = sorted(wholes(case, "shape", 2))
    return rows * columns + 2 * rows * columns**2 - 2 * columns**3 // 3


def _initializer(
    name: str,
    summary: str,
    aliases: tuple[str, ...] = (),
    *,
    shapes: Mapping[str, _Shape] = ELEMENTWISE,
    flops: Formula = _SAMPLER,
    **attributes: Argument,
) -> Operator:
    sizes = {size: {"shape": shape, "dtype": DType("float32"), **attributes} for size, shape in shapes.items()}
    return Operator(name, "initializer", summary, sizes, _weights, flops, random=True, aliases=aliases)


_INITIALIZER = (
    _initializer(
        "xavier_uniform", "a uniform distribution within the square root of 6 / (in + out)", ("glorot_uniform",)
    ),
    _initializer(
        "xavier_normal",
        "a normal distribution whose deviation is the square root of 2 / (in + out)",
        ("glorot_normal",),
    ),
    _initializer("kaiming_uniform", "a uniform distribution within the square root of 6 / in", ("he_uniform",)),
    _initializer(
        "kaiming_normal",
        "a normal distribution whose deviation is the square root of 2 / in",
        ("he_normal", "msra_prelu"),
    ),
    _initializer(
        "truncated_normal", "a normal distribution of deviation `std`, redrawn beyond two deviations", std=0.02
    ),
    _initializer(
        "orthogonal",
        "a matrix with orthonormal columns, or rows where there are fewer of them",
        shapes=ORTHOGONAL,
        flops=_decomposition,
    ),
)


OPERATORS = (*_CREATION, *_RANDOM, *_INITIALIZER)
