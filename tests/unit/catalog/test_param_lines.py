"""What PARAM does with a config beyond running it: its lines, its former names, and what it skips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import each
from tests.unit.catalog.test_param_config import SHARED, TABLES, TENSOR, bags, operator

from opperf.domain.errors import InputError
from opperf.param.cases import cases
from opperf.param.document import read_config
from opperf.param.grammar import DEFAULT_GENERATOR, EMBEDDING_ITERATOR
from opperf.param.names import EMBEDDINGS

ALEX_NET = {"pytorch.model.alex_net": operator(TENSOR, build=[])}


@pytest.fixture
def config(tmp_path: Path) -> Any:
    """Reads a document as a config."""

    def read(document: Any, *, lenient: bool = False) -> Any:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(document))
        return read_config(path, lenient=lenient)

    return read


@pytest.fixture
def lines(config: Any) -> Any:
    """Reads a document and returns the `config` of each line."""
    return lambda document: [made.config for made in cases(config(document), 0)]


def calls(entries: list[Any], **more: Any) -> dict[str, Any]:
    """Return what stands beside an operator's name, with these entries of `input`."""
    return {"input_data_generator": DEFAULT_GENERATOR, **more, "config": [{"input": entries}]}


# Lines ---------------------------------------------------------------------------------------------------------------


def test_a_line_says_what_the_file_says_and_nothing_else(lines: Any) -> None:
    entries = [{"id": "a", "args": [TENSOR], "kwargs": {}}, {"args": [{"type": "int", "value": 2, "name": "n"}]}, {}]
    assert lines({"torch.add": calls(entries)}) == [{"build": None, "input": entry} for entry in entries]


@each("build", [None, [], [{"args": [{"type": "int", "value": 3}], "kwargs": {}}], [{"args": []}]])
def test_a_build_that_says_nothing_stays_as_it_is_written(build: Any, lines: Any) -> None:
    document = {"torch.nn.ReLU": operator(TENSOR)}
    document["torch.nn.ReLU"]["config"][0]["build"] = build
    (line,) = lines(document)
    assert line["build"] == (build[0] if build else build)


def test_a_line_of_a_sweep_has_the_arguments_that_there_are(lines: Any) -> None:
    swept = {"type": "int", "value": [1, 2], "__range__": ["value"]}
    entries = [{"id": "a", "args": [TENSOR, swept], "kwargs": {}}, {"args": [], "kwargs": {"k": swept}}]
    made = lines({"torch.add": calls(entries, input_iterator="RangeConfigIterator")})
    integers = [{"type": "int", "value": value} for value in (1, 2)]
    assert [line["input"] for line in made] == [
        *({"args": [TENSOR, one]} for one in integers),
        *({"kwargs": {"k": one}} for one in integers),
    ]


def test_a_line_of_embedding_bags_has_what_param_makes_their_data_of(lines: Any) -> None:
    document = bags(TABLES, 4, 3)
    document[EMBEDDINGS]["input_iterator"] = EMBEDDING_ITERATOR
    (line,) = lines(document)
    assert [one["value"] for one in line["input"]["args"]] == [2, 100, 8, 4, 3, False, "fp32"]
    assert line["input"]["kwargs"] == {}
    assert line["build"] == document[EMBEDDINGS]["config"][0]["build"][0]


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="PARAM's own configs, which opperf may not ship, are not beside this checkout"
)
def test_lines_of_the_configs_that_param_ships_repeat_their_entries(lines: Any) -> None:
    compared = 0
    for path in sorted(SHARED.glob("*.json")):
        document = json.loads(path.read_text())
        operators = document if "op_info" not in document else {document["op_name"]: document["op_info"]}
        if all("input_iterator" not in info for info in operators.values()):
            entries = [
                (entry, one) for info in operators.values() for entry in info["config"] for one in entry["input"]
            ]
            assert lines(document) == [{"build": entry.get("build"), "input": one} for entry, one in entries]
            compared += len(entries)
    assert compared == 12


# Former names --------------------------------------------------------------------------------------------------------


@each(
    ("former", "now", "document"),
    [
        ("pytorch:alex_net", "pytorch.model.alex_net", ALEX_NET),
        ("split_table_batched_embedding_bags", EMBEDDINGS, bags(TABLES, 4, 3)),
    ],
)
def test_a_former_name_of_an_operator_means_the_present_one(former: str, now: str, document: Any, config: Any) -> None:
    result = config({former: document[now]})
    (made,) = cases(result, 0)
    # A reader of the results looks for the name that the file has.
    assert (made.case.operator, made.run_id.partition("|")[0]) == (f"torch:{now}", former)
    assert f"`{former}` is read as `{now}`" in result.notes


def test_former_names_of_what_goes_through_embedding_bags_and_makes_them_are_read(config: Any) -> None:
    document = bags(TABLES, 4, 3)[EMBEDDINGS]
    document["input_iterator"] = "SplitTableBatchedEmbeddingInputIterator"
    document["input_data_generator"] = "SplitTableBatchedEmbeddingInputDataGenerator"
    assert len(list(cases(config({"split_table_batched_embedding_bags": document}), 0))) == 1


# What is skipped -----------------------------------------------------------------------------------------------------


@each(
    ("wrong", "note"),
    [
        ({"config": [{"input": [{"args": []}]}]}, ": no `input_data_generator`"),
        ({"input_data_generator": DEFAULT_GENERATOR}, ".config: found null"),
        ({"input_data_generator": DEFAULT_GENERATOR, "config": []}, ".config: found []"),
        ({"input_data_generator": DEFAULT_GENERATOR, "config": [{"build": []}]}, ".config[0]: no `input`"),
        (calls([]), ".config[0].input: found []"),
        (calls([{"args": [3]}]), ".args[0]: found 3"),
        (7, ": found 7"),
    ],
)
def test_param_skips_an_operator_that_is_written_wrongly_beside_a_sound_one(wrong: Any, note: str, config: Any) -> None:
    document = {"torch.mm": wrong, "torch.add": operator(TENSOR)}
    result = config(document, lenient=True)
    assert [made.run_id for made in cases(result, 0)] == ["torch.add|0|0|0"]
    (told,) = result.notes
    assert told.startswith('$["torch.mm"]')
    assert note in told
    assert told.endswith("; skipped")


def test_param_gives_an_operator_up_where_its_input_is_missing(config: Any) -> None:
    info = operator(TENSOR)
    info["config"] += [{"build": []}, *info["config"]]
    result = config({"torch.add": info}, lenient=True)
    assert [made.run_id for made in cases(result, 0)] == ["torch.add|0|0|0"]


def test_a_file_with_mistakes_alone_is_refused_all_the_same(config: Any) -> None:
    with pytest.raises(InputError, match="2 mistakes") as caught:
        config({"schema": "1.1", "pid": 7, "torch.mm": {"config": []}}, lenient=True)
    assert "$.pid: found 7" in caught.value.message
