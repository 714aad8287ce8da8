"""What is left to the user's own iterators and data generators is asked for, checked, and becomes cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import argument_to_json
from opperf.domain.message.replies import Arguments, Descriptions, Entries
from opperf.domain.message.requests import Iterate
from opperf.domain.tensor import TensorSpec
from opperf.param.cases import ConfigCase, operator_cases
from opperf.param.config import ConfiguredOperator, Workloads
from opperf.param.document import read_config
from opperf.param.grammar import DEFAULT_GENERATOR, RANGE_ITERATOR
from opperf.param.problems import Problems
from opperf.parent.planning.configs import settle

OWN = Workloads(("Mine",), ("Data",), (Path("mine.py"),))
ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
TENSOR = {"type": "tensor", "dtype": "float", "shape": [2]}


class Child:
    """A fake child: its iterator gives what it is told to give, its generator a tensor of what an entry names."""

    def __init__(self, entries: Any = ()) -> None:
        self.entries = entries
        self.asked: list[Any] = []

    def __call__(self, request: Any, /) -> Any:
        self.asked.append(request)
        if isinstance(request, Iterate):
            return Entries(tuple((name, entry) for name, entry in self.entries))
        made = [argument_to_json(TensorSpec((entry.get("rows", 1), 4), "int64")) for entry in request.entries]
        return Descriptions(tuple(Arguments((tensor, 7), {"alpha": 2}) for tensor in made))


def operator(folder: Path, name: str = "torch.add", build: Any = None, **info: Any) -> ConfiguredOperator:
    """Return the one operator of a config."""
    entry = {"input": info.pop("input", [{}]), **({} if build is None else {"build": build})}
    path = folder / "config.json"
    path.write_text(json.dumps({name: {"input_data_generator": DEFAULT_GENERATOR, "config": [entry], **info}}))
    (result,) = read_config(path, OWN).operators
    return result


def cases(known: ConfiguredOperator, child: Child) -> list[ConfigCase]:
    """Settle an operator, in which nothing may be wrong, and return its cases."""
    problems = Problems()
    made = settle(known, child, problems)
    assert problems.mistakes == []
    assert made.is_complete
    return list(operator_cases(made, 0))


def test_an_operator_without_own_code_stays_as_it_is_and_no_child_is_asked(tmp_path: Path) -> None:
    known, child = operator(tmp_path, input=[{"args": [TENSOR]}]), Child()
    assert settle(known, child, Problems()) is known
    assert child.asked == []


def test_the_steps_of_an_iterator_are_entries_with_its_ids(tmp_path: Path) -> None:
    child = Child([[0, {"args": [TENSOR]}], ["b", {"args": [{**TENSOR, "shape": [3]}]}]])
    known = operator(tmp_path, input=[{"anything": 1}], input_iterator="Mine")
    result = cases(known, child)
    assert [made.run_id for made in result] == ["torch.add|0|0|0", "torch.add|0|0|b"]
    assert [made.case.tensor("0").shape for made in result] == [(2,), (3,)]
    assert child.asked == [Iterate("Mine", {"input": [{"anything": 1}]}, "input")]


def test_what_a_layer_is_built_with_may_come_from_an_iterator(tmp_path: Path) -> None:
    child = Child([[5, {"args": [{"type": "int", "value": 3}]}]])
    known = operator(tmp_path, "torch.nn.ReLU", [{}], build_iterator="Mine", input=[{"args": [TENSOR]}])
    (made,) = cases(known, child)
    assert made.run_id == "torch.nn.ReLU|0|5|0"
    assert made.case.attributes == {"build.0": 3}


def test_the_data_of_a_generator_is_described_and_the_case_says_who_makes_it(tmp_path: Path) -> None:
    known = operator(tmp_path, input=[{"rows": 6, "id": "six"}], input_data_generator="Data")
    (made,) = cases(known, Child())
    assert made.run_id == "torch.add|0|0|six"
    assert dict(made.case.inputs) == {"0": TensorSpec((6, 4), "int64"), "1": 7}
    of = json.loads(str(made.case.attributes["made.of"]))
    assert of == {"entry": {"rows": 6, "args": [], "kwargs": {}}, "names": ["0", "1"]}
    assert (made.case.attributes["made.by"], made.case.attributes["alpha"]) == ("Data", 2)


def test_ranges_are_swept_before_a_generator_gets_them(tmp_path: Path) -> None:
    swept = {"type": "int", "value": [1, 3], "__range__": ["value"]}
    ways = {"input_iterator": RANGE_ITERATOR, "input_data_generator": "Data"}
    child = Child()
    result = cases(operator(tmp_path, input=[{"args": [swept]}], **ways), child)
    assert [made.run_id for made in result] == [f"torch.add|0|0|0_{i}" for i in range(3)]
    (asked,) = child.asked
    assert [entry["args"] for entry in asked.entries] == [[{"type": "int", "value": i}] for i in (1, 2, 3)]


def test_positional_arguments_are_named_as_the_case_names_them(tmp_path: Path) -> None:
    schema = [{"args": [{"type": "str", "value": ADD}]}]
    (made,) = cases(operator(tmp_path, "aten::add", schema, input_data_generator="Data"), Child())
    assert json.loads(str(made.case.attributes["made.of"]))["names"] == ["0", "1"]
    (made,) = cases(operator(tmp_path, "dot", input_data_generator="Data"), Neutral())
    assert json.loads(str(made.case.attributes["made.of"]))["names"] == ["lhs", "rhs"]


class Neutral(Child):
    """A fake child whose generator makes two vectors."""

    def __call__(self, request: Any, /) -> Any:
        vectors = (argument_to_json(TensorSpec((3,))),) * 2
        return Descriptions(tuple(Arguments(vectors, {}) for _ in request.entries))


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([], "`Mine` yielded no entry"),
        ([[0, {"args": [{"type": "tensr"}]}]], "no type `tensr`"),
        ([[0, 3]], "found 3, expected an object"),
        ([[None, {}]], "found null, expected an id"),
        ([["a|b", {}]], "expected a short name without `|`"),
        ([[0, {"args": [TENSOR]}], [0, {"args": [TENSOR]}]], "two entries have the id `0`"),
    ],
)
def test_what_an_iterator_gives_wrong_is_a_mistake_of_the_config(entries: Any, told: str, tmp_path: Path) -> None:
    problems = Problems()
    settle(operator(tmp_path, input_iterator="Mine"), Child(entries), problems)
    (only,) = problems.mistakes
    assert told in only.text
    assert only.place.startswith('$["torch.add"].config[0].input')


def test_what_the_code_raises_is_a_mistake_of_the_config(tmp_path: Path) -> None:
    problems = Problems()

    def ask(request: Any, /) -> Any:
        return Descriptions(wrong="`Data` raised KeyError: 'rows'")

    settle(operator(tmp_path, input_data_generator="Data"), ask, problems)
    assert [one.text for one in problems.mistakes] == ["`Data` raised KeyError: 'rows'"]
