"""PARAM's configs: read whole, or refused with every mistake by its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from opperf.domain.case import DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.param.cases import MOST_CASES, ConfigCase, cases
from opperf.param.document import read_config
from opperf.param.grammar import ARGUMENTS, DEFAULT_GENERATOR, EMBEDDING_ITERATOR, RANGE_ITERATOR
from opperf.param.names import EMBEDDINGS, meaning, read_schema
from opperf.param.problems import MOST
from opperf.param.schema import schema

SHARED = Path(__file__).parents[4] / "shared" / "data" / "param_configs"
TENSOR = {"type": "tensor", "dtype": "float", "shape": [2, 3]}


def operator(*args: Any, build: Any = None, sweep: bool = False, **kwargs: Any) -> dict[str, Any]:
    """Return what stands beside an operator's name, with one entry of these arguments."""
    entry: dict[str, Any] = {"input": [{"args": list(args), "kwargs": kwargs}]}
    if build is not None:
        entry["build"] = build
    info: dict[str, Any] = {"input_data_generator": DEFAULT_GENERATOR, "config": [entry]}
    return {**info, "input_iterator": RANGE_ITERATOR} if sweep else info


@pytest.fixture
def result(tmp_path: Path) -> Any:
    """Reads a document and returns its cases."""

    def read(data: Any, seed: int = 0) -> list[ConfigCase]:
        path = tmp_path / "config.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return list(cases(read_config(path), seed))

    return read


@pytest.fixture
def refused(result: Any) -> Any:
    """Reads a document that is refused and returns the message, without the path of the file."""

    def read(data: Any) -> str:
        with pytest.raises(InputError) as caught:
            result(data)
        assert caught.value.slug in ("param_config", "input")
        return caught.value.message.partition("config.json: ")[2] + f"\nhint: {caught.value.hint}"

    return read


# What is read --------------------------------------------------------------------------------------------------------


def test_positional_arguments_are_inputs_by_place_and_the_others_attributes(result: Any) -> None:
    (made,) = result({"torch.add": operator(TENSOR, {"type": "int", "value": 2}, alpha={"type": "float", "value": 1})})
    assert made.run_id == "torch.add|0|0|0"
    assert made.case.operator == "torch:torch.add"
    assert made.case.inputs == {"0": TensorSpec((2, 3), range=(0, 1)), "1": 2}
    assert made.case.attributes == {"alpha": 1.0}


@each(
    ("given", "expected"),
    [
        ({"type": "long", "value": 3}, 3),
        ({"type": "double", "value": 3}, 3.0),
        ({"type": "bool", "value": False}, False),
        ({"type": "str", "value": "sum"}, "sum"),
        ({"type": "str"}, ""),
        ({"type": "none"}, None),
        ({"type": "dtype", "value": "half"}, DType("float16")),
        ({"type": "genericlist", "value": [{"type": "int", "value": 1}]}, ListOf((1,))),
        ({"type": "tuple", "value": [{"type": "int", "value": 1}, TENSOR]}, (1, TensorSpec((2, 3), range=(0, 1)))),
        ({"type": "tensor", "dtype": "int", "shape": [4]}, TensorSpec((4,), "int32", range=(-10, 10))),
        ({"type": "tensor", "dtype": "uint8", "shape": [4]}, TensorSpec((4,), "uint8", range=(0, 10))),
        ({"type": "tensor", "dtype": "bool", "shape": [4]}, TensorSpec((4,), "bool")),
        ({"type": "tensor", "dtype": "double", "shape": []}, TensorSpec((), "float64", range=(-10, 10))),
        ({**TENSOR, "requires_grad": False}, TensorSpec((2, 3), range=(0, 1), requires_grad=False)),
        ({**TENSOR, "requires_grad": True, "name": "weight"}, TensorSpec((2, 3), range=(0, 1))),
        ({**TENSOR, "value_range": [2, 3]}, TensorSpec((2, 3), range=(2, 3))),
        (
            {"type": "tensor", "dtype": "long", "shape": [4], "value_range": [0, 4]},
            TensorSpec((4,), "int64", range=(0, 5)),
        ),
        ({**TENSOR, "values": "normal"}, TensorSpec((2, 3), values="normal")),
        ({**TENSOR, "strides": [1, 2]}, TensorSpec((2, 3), strides=(1, 2), range=(0, 1))),
        (
            {"type": "tensor", "dtype": "float", "shape": [2, 3, 4, 5], "memory_format": "channels_last"},
            TensorSpec((2, 3, 4, 5), strides=(60, 1, 15, 3), range=(0, 1)),
        ),
    ],
)
def test_an_argument_is_what_its_type_says(result: Any, given: Any, expected: Any) -> None:
    (made,) = result({"torch.add": operator(given)})
    assert made.case.inputs["0"] == expected
    assert type(made.case.inputs["0"]) is type(expected)


def test_a_random_number_is_decided_by_the_seed_and_the_place(result: Any) -> None:
    data = {"torch.add": operator(*[{"type": "int", "value_range": [0, 10**9]}] * 2)}
    drawn = [result(data, seed)[0].case.inputs for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0]["0"] != drawn[0]["1"]


def test_a_layer_has_its_build_among_its_attributes_and_each_build_gets_each_input(result: Any) -> None:
    build = [
        {"args": [{"type": "int", "value": n}], "kwargs": {"bias": {"type": "bool", "value": False}}} for n in (3, 4)
    ]
    made = result({"torch.nn.Linear": operator(TENSOR, build=build)})
    assert [one.run_id for one in made] == ["torch.nn.Linear|0|0|0", "torch.nn.Linear|0|1|0"]
    assert made[1].case.attributes == {"build.0": 4, "build.bias": False}


def test_what_is_built_alone_is_called_with_nothing(result: Any) -> None:
    data = {"torch.nn.Identity": {"input_data_generator": DEFAULT_GENERATOR, "config": [{"build": [{"args": []}]}]}}
    assert [one.run_id for one in result(data)] == ["torch.nn.Identity|0|0|0"]


def test_a_schema_string_names_the_overload_and_what_goes_by_name(result: Any) -> None:
    text = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    build = [{"args": [{"type": "str", "value": text}]}]
    (made,) = result({"aten::add": operator(TENSOR, TENSOR, {"type": "int", "value": 1}, build=build)})
    assert (made.meaning.path, list(made.case.inputs), made.case.attributes) == (
        "aten::add.Tensor",
        ["0", "1"],
        {"alpha": 1},
    )


def test_a_schema_with_brackets_and_defaults_is_read() -> None:
    known = read_schema(
        "aten::f(Tensor(a!)[] self, int[2] size=[1, 1], *, float? p=None, str m='a') -> (Tensor, Tensor)"
    )
    assert known is not None
    assert (known.path, known.names, known.positional) == ("aten::f", ("self", "size", "p", "m"), 2)
    assert read_schema("no schema") is None


def test_a_neutral_operator_gets_arguments_in_the_order_of_the_catalog(result: Any) -> None:
    (made,) = result({"softmax": operator(TENSOR, axis={"type": "int", "value": 0})})
    assert made.meaning.framework is None
    assert made.case.attributes == {"axis": 0}
    assert made.case.inputs == {"data": TensorSpec((2, 3), range=(0, 1))}


def test_a_neutral_name_behind_a_framework_is_measured_on_that_one_alone(result: Any) -> None:
    (made,) = result({"numpy:softmax": operator(TENSOR)})
    assert (made.meaning.framework, made.meaning.implementation, made.meaning.certain) == ("numpy", None, True)
    assert (made.case.operator, list(made.case.inputs)) == ("softmax", ["data"])


def test_names_belong_to_their_frameworks() -> None:
    said = {
        name: meaning(name) for name in ("torch.add_", "mxnet:nd.dot", "aten::mm", "torch.linalg.norm", "tor", "jax:")
    }
    told = {name: None if known is None else (known.framework, known.path) for name, known in said.items()}
    assert told == {
        "torch.add_": ("torch", "torch.Tensor.add_"),
        "mxnet:nd.dot": ("mxnet", "nd.dot"),
        "aten::mm": ("torch", "aten::mm"),
        "torch.linalg.norm": ("torch", "torch.linalg.norm"),
        "tor": None,
        "jax:": None,
    }


def test_embedding_bags_get_indices_and_offsets_of_all_tables(result: Any) -> None:
    values = [("int", 2), ("int", 100), ("int", 8), ("int", 0), ("bool", True), ("str", "fp16")]
    build = [{"args": [{"type": kind, "value": value} for kind, value in values]}]
    sizes = [{"type": "int", "value": value} for value in (4, 5)]
    (made,) = result({"SplitTableBatchedEmbeddingBagsCodegen": operator(*sizes, build=build)})
    indices, offsets, weights = made.case.inputs.values()
    assert isinstance(offsets, TensorSpec)
    assert offsets.range is not None
    assert indices == TensorSpec((40,), "int64", range=(0, 100))
    # As many steps of the pooling factor as there are bags, from 0 to the number of indices.
    assert (offsets.values, offsets.range[1] / offsets.elements, offsets.elements) == ("sorted", 5, 9)
    assert isinstance(weights, TensorSpec)


# Sweeps --------------------------------------------------------------------------------------------------------------


def _swept(result: Any, *args: Any) -> list[list[Any]]:
    made = result({"torch.add": operator(*args, sweep=True)})
    assert [one.run_id for one in made] == [f"torch.add|0|0|0_{n}" for n in range(len(made))]
    return [
        [getattr(one.case.inputs[str(i)], "shape", one.case.inputs[str(i)]) for i in range(len(args))] for one in made
    ]


def _range(kind: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "value": value, "__range__": ["value"], **more}


@each(
    ("given", "values"),
    [
        (_range("int", [1, 7, 3]), [1, 4, 7]),
        (_range("int", [1, 3]), [1, 2, 3]),
        (_range("int", [3, 20, "log2"]), [3, 6, 12]),
        (_range("float", [0.1, 0.3, 0.1]), pytest.approx([0.1, 0.2, 0.3])),
        (_range("double", [0.5, 2, "log2"]), [0.5, 1, 2]),
        (_range("bool", [True, False]), [True, False]),
        (_range("str", ["a", "b"]), ["a", "b"]),
        (_range("tuple", [_range("int", [1, 2]), {"type": "int", "value": 5}]), [(1, 5), (2, 5)]),
        ({"type": "int", "value": [5, 2, 9], "__list__": ["value"]}, [5, 2, 9]),
        (
            {**TENSOR, "shape": [[1, 2], 3, [8, 16, "log2"]], "__range__": ["shape"]},
            [(1, 3, 8), (1, 3, 16), (2, 3, 8), (2, 3, 16)],
        ),
    ],
)
def test_a_range_goes_from_its_lower_bound_to_its_upper_one(result: Any, given: Any, values: Any) -> None:
    assert [row[0] for row in _swept(result, given)] == values


def test_the_last_range_goes_fastest_and_grouped_ones_together(result: Any) -> None:
    slow, fast = _range("int", [1, 2], __zip__="both"), _range("int", [5, 6])
    assert _swept(result, slow, fast) == [[1, 5], [1, 6], [2, 5], [2, 6]]
    other = _range("int", [10, 20, 10], __zip__="both")
    assert _swept(result, slow, fast, other) == [[1, 5, 10], [1, 6, 10], [2, 5, 20], [2, 6, 20]]


def test_sizes_are_copied_after_ranges_from_left_to_right(result: Any) -> None:
    first = {**TENSOR, "shape": [[2, 3], 7], "__range__": ["shape"]}
    second = {**TENSOR, "shape": [-1, -1], "__copy__": [{"shape": [0, [0, 0]]}, {"shape": [1, [0, 1]]}]}
    third = {**TENSOR, "shape": [-1], "__copy__": [{"shape": [0, [1, 0]]}]}
    assert _swept(result, first, second, third) == [[(2, 7), (2, 7), (2,)], [(3, 7), (3, 7), (3,)]]


def test_arguments_by_name_and_builds_are_swept_too(result: Any) -> None:
    build = [{"args": [_range("int", [1, 2])]}]
    data = operator(TENSOR, build=build, sweep=True, p=_range("int", [8, 9]))
    made = result({"torch.nn.Linear": {**data, "build_iterator": RANGE_ITERATOR}})
    assert [one.run_id.partition("|")[2] for one in made] == ["0|0_0|0_0", "0|0_0|0_1", "0|0_1|0_0", "0|0_1|0_1"]
    assert [(one.case.attributes["build.0"], one.case.attributes["p"]) for one in made] == [
        (1, 8),
        (1, 9),
        (2, 8),
        (2, 9),
    ]


# What is refused -----------------------------------------------------------------------------------------------------

HERE = '$["torch.add"].config[0].input[0].args[0]'


@each(
    ("given", "message"),
    [
        ({"type": "tensr"}, f"{HERE}.type: no type `tensr`\nhint: did you mean `tensor`"),
        ({"type": 3}, f"{HERE}.type: found 3, expected a string"),
        ({}, f"{HERE}: an argument without `type`"),
        (3, f"{HERE}: found 3, expected an argument"),
        ({"type": "int", "value": "3"}, f'{HERE}.value: found "3", expected a whole number'),
        ({"type": "int", "value": True}, f"{HERE}.value: found true, expected a whole number"),
        ({"type": "int", "value": 10**30}, "expected a whole number below 2^63"),
        ({"type": "int"}, f"{HERE}: found neither of `value`, `value_range`, expected one"),
        ({"type": "int", "value": 1, "value_range": [1, 2]}, f"{HERE}: found both of"),
        (
            {"type": "int", "value_range": [2, 1]},
            f"{HERE}.value_range: found [2, 1], expected [min, max] with min <= max",
        ),
        ({"type": "int", "value": 1, "valeu": 2}, f"{HERE}: no key `valeu` of `int`\nhint: did you mean `value`"),
        ({"type": "int", "value": [1, 2, 1]}, 'for a range, `"__range__": ["value"]` stands beside it'),
        ({"type": "tensor", "shape": [1]}, f"{HERE}: `tensor` without `dtype`"),
        ({**TENSOR, "dtype": "flaot"}, f'{HERE}.dtype: found "flaot", expected one of `bool`'),
        ({**TENSOR, "shape": [2, -1]}, f"{HERE}.shape: found [2, -1], expected a list of whole numbers >= 0"),
        ({**TENSOR, "values": "gaussian"}, f'{HERE}.values: found "gaussian", expected one of `uniform`'),
        ({**TENSOR, "strides": [1]}, f"{HERE}.strides: found [1], expected 2 of them"),
        ({**TENSOR, "memory_format": "channels_last"}, f"{HERE}.memory_format: found"),
        ({"type": "device", "value": "cpu:1"}, f'{HERE}.value: found "cpu:1", expected a device'),
        ({"type": "genericlist", "value": [{"type": "it"}]}, f"{HERE}.value[0].type: no type `it`"),
        (_range("int", [1, 2]), f"{HERE}.__range__: ranges are not swept here\nhint: ask for `RangeConfigIterator`"),
    ],
)
def test_a_mistake_in_an_argument_is_told_with_its_place(refused: Any, given: Any, message: str) -> None:
    assert message in refused({"torch.add": operator(given)})


@each(
    ("given", "message"),
    [
        (_range("int", [1, 2, 0]), f"{HERE}.value: found [1, 2, 0], expected [min, max, step]"),
        (_range("int", [0, 8, "log2"]), f'{HERE}.value: found [0, 8, "log2"], expected'),
        (_range("int", [1, 10**9]), f"the ranges make 1000000000 cases, expected {MOST_CASES} at most"),
        (_range("float", [0, 1, 1e-300]), "a range has more steps than anyone waits for"),
        (
            {**TENSOR, "__range__": ["strides"]},
            f'{HERE}.__range__: found "strides", expected a key to sweep: shape, dtype',
        ),
        ({**TENSOR, "__zip__": "a"}, f'{HERE}.__zip__: found "a", expected a name, beside'),
        ({**TENSOR, "__copy__": [{"shape": [0, [5, 0]]}]}, f"{HERE}.__copy__: found"),
        ({**TENSOR, "shape": [-1, 1], "__copy__": [{"shape": [0, [0, 0]]}]}, "must hold whole numbers >= 0"),
        ({"type": "tuple", "value": [_range("int", [1, 2])]}, f"{HERE}.value[0]: what is in a list is not swept"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(refused: Any, given: Any, message: str) -> None:
    assert message in refused({"torch.add": operator(given, sweep=True)})


@each(
    ("data", "message"),
    [
        ("{", "not JSON"),
        (" ", "not JSON (the file is empty)"),
        ("[" * 100_000, "not JSON"),
        ([], "$: found [], expected an object of operators by name"),
        ({}, "$: no operator in it"),
        ({"softmx": operator(TENSOR)}, "$.softmx: no operator `softmx`\nhint: did you mean `softmax`"),
        ({"torch.add": 3}, '$["torch.add"]: found 3, expected an object'),
        ({"torch.add": {"config": [{"input": [{}]}]}}, '$["torch.add"]: no `input_data_generator`'),
        (
            {"torch.add": {**operator(), "input_iterator": "Range"}},
            "no input iterator `Range`\nhint: did you mean `RangeConf",
        ),
        ({"torch.add": {**operator(), "confg": 1}}, "no key `confg` of an operator\nhint: did you mean `config`"),
        ({"torch.add": {**operator(), "config": []}}, '$["torch.add"].config: found [], expected a list'),
        ({"torch.add": {**operator(), "config": [{"input": []}]}}, ".config[0].input: found [], expected a list"),
        ({"torch.add": {**operator(), "config": [{"inputs": [{}]}]}}, "no key `inputs` of an entry of `config`"),
        (
            {"torch.add": operator(sweep=False, **{"not a name": TENSOR})},
            "`not a name` cannot be the name of an argument",
        ),
        ({"softmax": operator(TENSOR, axs={"type": "none"})}, "`softmax` has no argument `axs`"),
        ({"softmax": operator()}, "`softmax` without `data`"),
        ({"add": operator(TENSOR, TENSOR, build=[{}])}, "`add` of the catalog takes no `build`"),
        (
            {"aten::add": operator(TENSOR, build=[{"args": [TENSOR]}])},
            "expected the schema string of `aten::add` alone",
        ),
        ({"SplitTableBatchedEmbeddingBagsCodegen": operator(TENSOR)}, "expected `build` with num_tables, rows"),
        ('{"torch.add": {"config": [], "config": []}}', '$["torch.add"].config: it is there twice'),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_place(refused: Any, data: Any, message: str) -> None:
    assert message in refused(data)


def test_every_mistake_is_told_at_once_and_many_are_counted(refused: Any) -> None:
    data = {"ad": operator({"type": "int", "value": "x"}), "torch.add": {"config": [{"input": [{"args": []}]}]}}
    told = refused(data)
    assert told.startswith("3 mistakes")
    assert [place in told for place in ("$.ad: ", "$.ad.config[0]", '$["torch.add"]: no `input')] == [True] * 3
    assert "and 10 more" in refused({"torch.add": operator(*[3] * (MOST + 10))})


INT = {"type": "int", "value": 2}
ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def bags(build: list[Any], *args: Any) -> dict[str, Any]:
    """Return a config of embedding bags."""
    wrapped = [
        {"type": "genericlist", "value": [{"type": "int", "value": n} for n in one]}
        if isinstance(one, list)
        else {"type": "bool", "value": one}
        if isinstance(one, bool)
        else {"type": "str", "value": one}
        if isinstance(one, str)
        else {"type": "int", "value": one}
        for one in (*build, *args)
    ]
    entry = {"build": [{"args": wrapped[: len(build)]}], "input": [{"args": wrapped[len(build) :]}]}
    info = {"input_data_generator": DEFAULT_GENERATOR, "build_data_generator": DEFAULT_GENERATOR, "config": [entry]}
    return {EMBEDDINGS: info}


TABLES = [2, 100, 8, 0, False, "fp32"]


@each(
    ("data", "message"),
    [
        (bags(TABLES, 4), "found 6 and 1 arguments, expected `build` with num_tables"),
        (bags([2, 0, *TABLES[2:]], 4, 3), "expected whole numbers >= 1, or lists of them"),
        (bags([[2, 2], *TABLES[1:]], 4, 3), "expected one number of tables and one batch size"),
        (bags([2, [100, 100, 100], *TABLES[2:]], 4, 3), "expected lists of 2 numbers, one for each table"),
        (bags(TABLES, 4, [3, 5]), "found several pooling factors"),
        ({"add": operator(TENSOR, TENSOR, INT)}, "found 3 arguments, expected 2 at most: lhs, rhs"),
        (
            {"aten::add": operator(TENSOR, TENSOR, INT, INT, build=[{"args": [{"type": "str", "value": ADD}]}])},
            "found 4 arguments, expected 3 at most, as the schema says",
        ),
        (
            {"aten::add": operator(TENSOR, TENSOR, INT, alpha=INT, build=[{"args": [{"type": "str", "value": ADD}]}])},
            "`alpha` stands among `args` too",
        ),
        (
            {"torch.add": operator({**TENSOR, "strides": [3, 1], "memory_format": "channels_last"})},
            "found both of `strides` and `memory_format`",
        ),
        ({"torch.add": operator({"type": "genericlist", "value": 3})}, "found 3, expected a list"),
        ({"torch.add": {**operator(TENSOR), "configs": []}}, "found both of"),
        ({"op_name": 3, "build_id": 4, "op_info": operator(TENSOR)}, "$.build_id: found 4, expected a string"),
        ({"op_name": "torch.add", "op_infos": {}, "op_info": operator(TENSOR)}, "no key `op_infos`"),
        ({"torch.add": {**operator(TENSOR), "input_iterator": EMBEDDING_ITERATOR}}, "it is made for `Split"),
    ],
)
def test_arguments_that_no_operator_takes_are_refused(refused: Any, data: Any, message: str) -> None:
    assert message in refused(data)


def test_two_entries_of_one_id_are_refused(refused: Any) -> None:
    info = operator()
    info["config"][0]["input"] = [{"id": "a"}, {"id": "a"}]
    assert "two entries have the id `a`" in refused({"torch.add": info})


# Older files ---------------------------------------------------------------------------------------------------------


def test_older_words_are_read_with_a_note(tmp_path: Path) -> None:
    info = operator(TENSOR)
    old = {"input_data_generator": "PyTorch::DefaultDataGenerator", "configs": info["config"]}
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"torch.add": old}))
    config = read_config(path)
    assert len(list(cases(config, 0))) == 1
    assert config.notes == (
        "`PyTorch::DefaultDataGenerator` is read as `PyTorch:DefaultDataGenerator`",
        "`configs` is read as `config`",
    )


def test_a_file_of_run_batch_keeps_its_ids(result: Any) -> None:
    info = operator(TENSOR)
    info["config"][0]["input"][0]["id"] = "2_34"
    (made,) = result({"op_name": "torch.add", "build_id": "1:2", "op_info": info, "run_options": {"device": "cuda"}})
    assert made.run_id == "torch.add|1|2|2_34"


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="PARAM's own configs, which opperf may not ship, are not beside this checkout"
)
def test_the_configs_that_param_ships_are_read() -> None:
    counts = {path.stem: len(list(cases(read_config(path), 0))) for path in sorted(SHARED.glob("*.json"))}
    assert counts == {
        "alex_net": 1, "batch_example": 1, "mm": 8, "simple_add": 1, "simple_add_range": 33, "simple_mm": 1,
        "simple_mm_range": 121, "split_table_batched_embeddings_ops": 1,
    }  # fmt: skip


# The schema ----------------------------------------------------------------------------------------------------------


def test_the_schema_describes_every_type_and_every_reference_leads_somewhere() -> None:
    made: Any = schema()
    assert set(ARGUMENTS) <= set(made["$defs"])
    text = json.dumps(made)
    names = {part.partition('"')[0] for part in text.split("#/$defs/")[1:]}
    assert names <= set(made["$defs"])
