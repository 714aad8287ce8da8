"""The user's own iterators and data generators, asked where they are loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from opperf.child.backends.binding import Call, Parameter
from opperf.child.worker import arguments, workload
from opperf.child.worker.code import Plugins
from opperf.child.worker.workload import Workload
from opperf.domain import workload as registered
from opperf.domain.case import Case, ListOf, argument_from_json
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Entries
from opperf.domain.message.requests import Generate, Iterate
from opperf.domain.tensor import TensorSpec

if TYPE_CHECKING:
    from tests.unit.child.worker.conftest import Arrays

PLUGIN = """
import numpy as np
from opperf.domain.workload import ConfigIterator, DataGenerator, register_config_iterator, register_data_generator

class Counting(ConfigIterator):
    count = 0
    def __next__(self):
        self.count += 1
        if self.count > self.configs["until"]:
            raise StopIteration
        return self.count, {"key": self.key, "device": self.device}

class Filled(DataGenerator):
    def get_data(self, config, device):
        config["seen"] = True
        rows = np.full((2, 3), config["value"], config.get("dtype", "float32"))
        return [rows, [rows, (1, None)], config.get("other")], {"text": "x"}

register_config_iterator("Counting", Counting)
register_data_generator("Filled", Filled)
"""


@pytest.fixture
def own(backend: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workload:
    """A child with a plugin that is not loaded yet."""
    for registry in (registered.ITERATORS, registered.GENERATORS):
        monkeypatch.setattr(registry, "_entries", {})
    (tmp_path / "workload_of_a_test.py").write_text(PLUGIN)
    return Workload(backend, Plugins(tmp_path, ["workload_of_a_test.py"]))


def test_an_iterator_gets_the_entry_the_part_and_the_device(own: Workload) -> None:
    entry = {"key": "input", "device": "cpu"}
    assert own.entries(Iterate("Counting", {"until": 2}, "input")) == Entries(((1, entry), (2, entry)))


def test_an_iterator_without_an_end_is_cut_off(own: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "MOST_ENTRIES", 5)
    assert len(own.entries(Iterate("Counting", {"until": 10**9}, "input")).entries) == 5


def test_what_a_generator_makes_is_described(own: Workload) -> None:
    (said,) = own.descriptions(Generate("Filled", ({"value": 1},))).described
    rows = TensorSpec((2, 3))
    assert [argument_from_json(value, "") for value in said.args] == [rows, ListOf((rows, (1, None))), None]
    assert said.kwargs == {"text": "x"}


@pytest.mark.parametrize(
    ("name", "entry", "told"),
    [
        ("Filled", {}, "`Filled` raised KeyError: 'value'"),
        ("Filled", {"value": 1, "other": {"a": 1}}, "`Filled` made a value of type `dict`"),
        ("Filed", {"value": 1}, "no data generator `Filed`"),
    ],
)
def test_what_a_generator_makes_wrong_is_told(name: str, entry: dict[str, Any], told: str, own: Workload) -> None:
    assert own.descriptions(Generate(name, (entry,))).wrong == told


def test_what_an_iterator_does_wrong_is_told(own: Workload) -> None:
    wrong = own.entries(Iterate("Counting", {"until": "x"}, "input")).wrong
    assert (wrong or "").startswith("`Counting` raised TypeError")


def test_a_plugin_that_cannot_be_loaded_is_told_each_time(backend: Arrays, tmp_path: Path) -> None:
    (tmp_path / "broken_workload.py").write_text("1 / 0\n")
    own = Workload(backend, Plugins(tmp_path, ["broken_workload.py"]))
    entries, made = own.entries(Iterate("Any", {}, "input")), own.descriptions(Generate("Any", ({},)))
    for wrong in (entries.wrong, made.wrong):
        assert wrong == "cannot load `broken_workload.py`: ZeroDivisionError: division by zero"


def test_a_case_is_called_with_what_its_generator_makes(own: Workload, backend: Arrays) -> None:
    of = '{"entry": {"value": 7}, "names": ["0", "1", "2"]}'
    case = Case("x", {"0": TensorSpec((2, 3))}, {"text": "x", "made.by": "Filled", "made.of": of})
    call = arguments.call_of(case, "fake.identity", {})
    assert call == Call("fake.identity", (Parameter("0", neutral="0"),), (Parameter("text", neutral="text"),))
    bound = arguments.bind(case, call, None, backend, 0, own.arguments(case))
    assert (bound.arguments[0] == np.full((2, 3), 7)).all()
    assert bound.keywords == {"text": "x"}


def test_a_case_of_nobody_is_made_as_it_says(own: Workload) -> None:
    assert own.arguments(Case("x", {"0": TensorSpec((2,))})) == {}


def test_a_case_of_a_generator_that_is_not_there_is_refused(backend: Arrays) -> None:
    case = Case("x", {}, {"made.by": "Gone", "made.of": '{"entry": {}, "names": []}'})
    with pytest.raises(InputError, match="no data generator `Gone`"):
        Workload(backend, Plugins(Path(), [])).arguments(case)
