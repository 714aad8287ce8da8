"""From a config that was read to the cases that it describes, each with its run id.

The run id is PARAM's: `OPERATOR|CONFIG|BUILD|INPUT`, with the numbers of the entries, and behind a sweep's entry the
number of the combination (`torch.add|0|0|1_3`).

The inputs of PARAM's batched embedding bags are made of the batch size and the pooling factor that a config says. The
arguments of their build, in order, are PARAM's: number of tables, rows, dimension, pooling mode, whether samples are
weighted, and the precision of the tables; the optimizer and its settings go by name.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from opperf.catalog import catalog
from opperf.domain.case import Argument, Case, Device, DType, ListOf, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import BUILD_PREFIX, MADE_BY, MADE_OF, parse_device
from opperf.domain.tensor import TensorSpec, parse_dtype
from opperf.param.config import ConfiguredOperator, Entry, ParamConfig, Spec
from opperf.param.names import EMBEDDINGS, Meaning, Schema, read_schema
from opperf.param.problems import Problems, quote
from opperf.param.sweeps import (
    TooMany,
    as_swept,
    axes,
    combinations,
    entry_of,
    in_line,
    size,
    uneven,
)

REALS, WHOLES, UNSIGNED, SINGLE = (0.0, 1.0), (-10.0, 10.0), (0.0, 10.0), (-10.0, 10.0)
#: Distributions that lie within bounds; the others have bounds of their own unless they are told.
WITH_BOUNDS = ("uniform", "constant", "sorted", "reversed")


def argument(spec: Mapping[str, Any], seed: str) -> Argument:
    """Return the argument that a checked part of a config describes."""
    kind = spec["type"]
    if kind == "tensor":
        return _tensor(spec)
    if kind == "none":
        return None
    if kind in ("genericlist", "tuple"):
        items = tuple(argument(inner, f"{seed}[{i}]") for i, inner in enumerate(spec["value"]))
        return ListOf(items) if kind == "genericlist" else items
    if "value_range" in spec:
        return _draw(spec["value_range"], kind, seed)
    value: Any = spec.get("value", "")  # only a string may leave it out
    if kind == "device":
        return Device(parse_device(value))
    if kind == "dtype":
        return DType(parse_dtype(value))
    return float(value) if kind in ("float", "double") else value


def _draw(bounds: Sequence[float], kind: str, seed: str) -> float:
    generator = random.Random(seed)
    low, high = bounds
    return generator.randint(int(low), int(high)) if kind in ("int", "long") else generator.uniform(low, high)


def _tensor(spec: Mapping[str, Any]) -> TensorSpec:
    shape, dtype = tuple(spec["shape"]), parse_dtype(spec["dtype"])
    distribution = spec.get("values", "uniform")
    plain = TensorSpec(shape, dtype)
    bounds = spec.get("value_range")
    if bounds is not None:
        # A range of whole numbers has both its ends; the tensor's leaves the upper one out.
        low, high = bounds
        bounds = (float(low), float(high)) if plain.is_float else (float(math.ceil(low)), float(math.floor(high) + 1))
    elif distribution.startswith(WITH_BOUNDS) or distribution.startswith("sparse"):
        bounds = _usual(plain)
    return TensorSpec(
        shape,
        dtype,
        strides=tuple(spec["strides"]) if "strides" in spec else _strides(shape, spec.get("memory_format")),
        values=distribution,
        range=None if dtype == "bool" else bounds,
        requires_grad=False if spec.get("requires_grad") is False else None,
    )


def _usual(tensor: TensorSpec) -> tuple[float, float]:
    if not tensor.is_float:
        return UNSIGNED if tensor.dtype.startswith("u") else WHOLES
    return REALS if tensor.shape else SINGLE


def _strides(shape: Sequence[int], memory_format: str | None) -> tuple[int, ...] | None:
    """Return the strides of a memory format: channels, the second dimension, lie next to each other."""
    if memory_format in (None, "contiguous_format"):
        return None
    order = [0, *range(2, len(shape)), 1]
    strides, step = [0] * len(shape), 1
    for place in reversed(order):
        strides[place], step = step, step * max(1, shape[place])
    return tuple(strides)


#: Cases of one config: more than anyone waits for.
MOST_CASES = 100_000


@dataclass(frozen=True)
class ConfigCase:
    """A case of a config. `meaning` says which framework's it is, and its path there.

    `config` is what PARAM writes of it: `build` and `input` as in the file, of this case alone.
    """

    run_id: str
    case: Case
    meaning: Meaning
    config: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ArgumentSet:
    """The arguments of a build or an input, without ranges; `spec` has them as the file writes them."""

    id: str
    spec: Spec
    args: tuple[Argument, ...] = ()
    kwargs: Mapping[str, Argument] | None = None


class Mistake(Exception):
    """What the arguments of one entry cannot be."""


def cases(config: ParamConfig, seed: int) -> Iterator[ConfigCase]:
    """Yield the cases of a config, in PARAM's order; the seed decides random arguments."""
    for operator in config.operators:
        yield from operator_cases(operator, seed)


def operator_cases(operator: ConfiguredOperator, seed: int) -> Iterator[ConfigCase]:
    """Yield the cases of one operator of a config; raises `Mistake`."""
    for number, entry in enumerate(operator.entries):
        for build, call in _pairs(entry, f"{seed}/{operator.name}/{number}"):
            place = f"{number}|{build.id if build else 0}" if operator.batch is None else operator.batch
            case, meaning, names = _case(operator, build, call)
            description = call.spec.described
            if description is not None:
                of = json.dumps({"entry": entry_of(call.spec), "names": list(names)}, sort_keys=True)
                case = replace(case, attributes={**case.attributes, MADE_BY: description.generator, MADE_OF: of})
            run_id = f"{operator.name}|{place}|{call.id}"
            line = in_line(entry, build.spec if build else None, call.spec, bags=meaning.path == EMBEDDINGS)
            yield ConfigCase(run_id, case, meaning, line)


def check(operator: ConfiguredOperator, problems: Problems) -> None:
    """Look for what only the whole of an operator's entry shows: sweeps that do not end, arguments that do not fit."""
    total = 0
    for number, entry in enumerate(operator.entries):
        place = f"{operator.place}.config[{number}]"
        counts = []
        for part, specs in (("build", entry.builds or ()), ("input", entry.inputs)):
            counts.append(sum(_count(spec, f"{place}.{part}[{i}]", problems) for i, spec in enumerate(specs)))
            twice = [name for name, times in Counter(spec.id for spec in specs if spec.id).items() if times > 1]
            for name in twice:
                problems.add(f"{place}.{part}", f"two entries have the id {quote(name)}")
        total += counts[1] * (counts[0] if entry.builds else 1)
    if total > MOST_CASES:
        problems.add(operator.place, f"the ranges make {total} cases, expected {MOST_CASES} at most")
    if problems.mistakes:
        return
    for number, entry in enumerate(operator.entries):
        alone = ConfiguredOperator(operator.name, operator.place, operator.meaning, (entry,))
        try:
            ids = Counter(case.run_id for case in operator_cases(alone, 0))
        except (Mistake, InputError) as mistake:
            problems.add(f"{operator.place}.config[{number}]", getattr(mistake, "message", str(mistake)))
            continue
        for name in [name for name, times in ids.items() if times > 1][:1]:
            problems.add(f"{operator.place}.config[{number}]", f"two cases have the id {quote(name)}")


def _count(spec: Spec, place: str, problems: Problems) -> int:
    """Return how many combinations a spec has."""
    if spec.described is not None:
        return 1
    try:
        axes_of_spec = axes(spec)
    except TooMany:
        problems.add(place, f"a range has more steps than anyone waits for, expected {MOST_CASES} at most")
        return 0
    group = uneven(axes_of_spec)
    if group is not None:
        problems.add(place, f"the sweeps of {quote(group)} go on together, but are not equally long")
    return size(axes_of_spec)


def _pairs(entry: Entry, seed: str) -> Iterator[tuple[ArgumentSet | None, ArgumentSet]]:
    """Yield each thing to build with each of its inputs."""
    builds = (
        [None] if entry.builds is None else list(_argument_sets(entry.builds, f"{seed}/build", swept=entry.swept[0]))
    )
    for build in builds:
        for call in _argument_sets(entry.inputs, f"{seed}/{build.id if build else 0}/input", swept=entry.swept[1]):
            yield build, call


def _argument_sets(specs: Sequence[Spec], seed: str, *, swept: bool) -> Iterator[ArgumentSet]:
    for label, spec in named_specs(specs, swept=swept):
        if spec.described is not None:
            yield ArgumentSet(label, spec, spec.described.args, spec.described.kwargs)
            continue
        args = tuple(argument(entry, f"{seed}/{label}/{place}") for place, entry in enumerate(spec.args))
        kwargs = {name: argument(entry, f"{seed}/{label}/{name}") for name, entry in (spec.kwargs or {}).items()}
        yield ArgumentSet(label, spec, args, kwargs)


def named_specs(specs: Sequence[Spec], *, swept: bool) -> Iterator[tuple[str, Spec]]:
    """Yield each spec without ranges, with its part of the run id."""
    for i, spec in enumerate(specs):
        if spec.described is not None:
            yield spec.id or str(i), spec
            continue
        several = swept and not (spec.id is not None and not axes(spec))
        for n, one in enumerate(combinations(spec)):
            yield f"{spec.id or i}_{n}" if several else spec.id or str(i), as_swept(one) if swept else one


def _case(
    operator: ConfiguredOperator, build: ArgumentSet | None, call: ArgumentSet
) -> tuple[Case, Meaning, Sequence[str]]:
    """Return the case of a build and an input, what it is a case of, and the names of the positional arguments.

    Raises `Mistake`.
    """
    meaning = operator.meaning
    if meaning.is_own:
        case, names = _own_case(meaning, build, call)
        return case, meaning, names
    if meaning.implementation is None:
        case, names = _neutral(meaning.path, build, call)
        return case, meaning, names
    name = f"{meaning.framework}:{meaning.path}"
    parameters = {} if build is None else _build(build)
    if meaning.path == EMBEDDINGS:
        args = () if build is None else build.args
        wrong = mistake(args, call.args)
        if wrong is not None:
            raise Mistake(wrong)
        return bags_case(name, args, call.args, parameters), meaning, ()
    if operator.name.startswith("aten::") and build is not None and (build.args or build.kwargs):
        return _with_schema(operator.name, build, call)
    inputs = _by_place(call.args)
    return Case(name, inputs, {**parameters, **(call.kwargs or {})}), meaning, list(inputs)


def _by_place(args: Sequence[Argument]) -> dict[str, Argument]:
    return {str(i): value for i, value in enumerate(args)}


def _build(build: ArgumentSet) -> dict[str, Argument]:
    """Return the arguments of a build among the attributes of a case; what takes none is built all the same."""
    return {f"{BUILD_PREFIX}{name}": value for name, value in {**_by_place(build.args), **(build.kwargs or {})}.items()}


def _neutral(name: str, build: ArgumentSet | None, call: ArgumentSet) -> tuple[Case, Sequence[str]]:
    """Return the case of an operator of the catalog: positional arguments in the order of its inputs and attributes.

    Beside it, the names of these.
    """
    definition = catalog()[name]
    if build is not None:
        raise Mistake(f"`{name}` of the catalog takes no `build`")
    default = definition.case("common")
    words = [*definition.inputs, *(word for word in default.attributes if word not in definition.inputs)]
    if len(call.args) > len(words):
        raise Mistake(f"found {len(call.args)} arguments, expected {len(words)} at most: {', '.join(words)}")
    arguments = {**dict(zip(words, call.args)), **(call.kwargs or {})}
    unknown = [word for word in call.kwargs or {} if word not in words or words.index(word) < len(call.args)]
    if unknown:
        raise Mistake(
            f"`{name}` has no argument `{unknown[0]}`, or it stands among `args` too; it takes {', '.join(words)}"
        )
    missing = [word for word in default.inputs if word not in arguments]
    if missing:
        raise Mistake(f"`{name}` without `{missing[0]}`; it takes {', '.join(words)}")
    return definition.case_of({**default.attributes, **arguments}), words[: len(call.args)]


def _own_case(meaning: Meaning, build: ArgumentSet | None, call: ArgumentSet) -> tuple[Case, Sequence[str]]:
    """Return the case of a function of the user's own, by the names of its parameters; and those by position."""
    name = meaning.path.rpartition(":")[2]
    if build is not None:
        raise Mistake(f"`{name}`, an operator of your own, takes no `build`")
    if len(call.args) > len(meaning.arguments):
        raise Mistake(f"found {len(call.args)} arguments, and `{name}` takes {len(meaning.arguments)} by position")
    twice = [word for word in call.kwargs or {} if word in meaning.arguments[: len(call.args)]]
    if twice:
        raise Mistake(f"`{twice[0]}` stands among `args` too")
    arguments = {**dict(zip(meaning.arguments, call.args)), **(call.kwargs or {})}
    inputs = {word: value for word, value in arguments.items() if any(True for _ in tensors_of(value))}
    others = {word: value for word, value in arguments.items() if word not in inputs}
    return Case(meaning.path, inputs, others), meaning.arguments[: len(call.args)]


def _with_schema(name: str, build: ArgumentSet, call: ArgumentSet) -> tuple[Case, Meaning, Sequence[str]]:
    """Return the case of a registered operator whose build is its schema string, and the overload that it names."""
    text = build.args[0] if len(build.args) == 1 and not build.kwargs else None
    schema = read_schema(text) if isinstance(text, str) else None
    if schema is None or schema.path.partition(".")[0] != name.partition(".")[0]:
        text_of_schema = quote(text) if isinstance(text, str) else "other arguments"
        raise Mistake(f"found {text_of_schema} in `build`, expected the schema string of `{name}` alone")
    case, names = _call(schema, call)
    return case, Meaning("torch", schema.path), names


def _call(schema: Schema, call: ArgumentSet) -> tuple[Case, Sequence[str]]:
    if len(call.args) > len(schema.names):
        raise Mistake(f"found {len(call.args)} arguments, expected {len(schema.names)} at most, as the schema says")
    keywords = dict(zip(schema.names[schema.positional :], call.args[schema.positional :]))
    twice = [word for word in call.kwargs or {} if word in keywords]
    if twice:
        raise Mistake(f"`{twice[0]}` stands among `args` too")
    inputs = _by_place(call.args[: schema.positional])
    return Case(f"torch:{schema.path}", inputs, {**keywords, **(call.kwargs or {})}), [*inputs, *keywords]


#: What the build takes by position, and the input.
BUILD = ("num_tables", "rows", "dim", "pooling", "weighted", "weights_precision")
INPUT = ("batch_size", "pooling_factor")


def mistake(build: Sequence[Argument], call: Sequence[Argument]) -> str | None:
    """Return the fault in the arguments of embedding bags; None where there is none."""
    if len(build) < len(BUILD) or len(call) != len(INPUT):
        words = ", ".join(BUILD)
        return f"found {len(build)} and {len(call)} arguments, expected `build` with {words} and `input` with {INPUT}"
    if not all(_counts(value) for value in (*build[:3], *call)):
        return "found another value, expected whole numbers >= 1, or lists of them, one for each table"
    if not isinstance(build[0], int) or not isinstance(call[0], int):
        return "expected one number of tables and one batch size"
    lists = [value for value in (*build[1:3], call[1]) if isinstance(value, ListOf)]
    if any(len(value.items) != build[0] for value in lists):
        return f"expected lists of {build[0]} numbers, one for each table"
    if isinstance(call[1], ListOf) and len(set(call[1].items)) > 1:
        return "found several pooling factors, expected the same one for all tables"
    return None


def bags_case(
    name: str, build: Sequence[Argument], call: Sequence[Argument], arguments: Mapping[str, Argument]
) -> Case:
    """Return the case of checked arguments: indices into all tables, offsets of the bags, weights where there are."""
    tables, rows, batch = int(_first(build[0])), _least(build[1]), int(_first(call[0]))
    pooling = int(_first(call[1]))
    bags = tables * batch
    inputs: dict[str, Argument] = {
        "0": TensorSpec((bags * pooling,), "int64", range=(0.0, float(rows))),
        # Rising by the pooling factor, from 0 to the number of indices.
        "1": TensorSpec((bags + 1,), "int64", values="sorted", range=(0.0, float((bags + 1) * pooling))),
    }
    if build[4] is True:
        inputs["2"] = TensorSpec((bags * pooling,), "float32", values="normal", requires_grad=False)
    return Case(name, inputs, arguments)


def _counts(value: Argument) -> bool:
    items = value.items if isinstance(value, ListOf) else (value,)
    return bool(items) and all(isinstance(item, int) and not isinstance(item, bool) and item >= 1 for item in items)


def _first(value: Argument) -> int:
    item = value.items[0] if isinstance(value, ListOf) else value
    return item if isinstance(item, int) else 1


def _least(value: Argument) -> int:
    """Return the rows of the smallest table: an index that it has, all tables have."""
    items = value.items if isinstance(value, ListOf) else (value,)
    return min(item for item in items if isinstance(item, int))
