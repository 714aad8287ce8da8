"""Numbers of a module are found by name, and scaled until data fits; undisclosed sizes are near them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.child.judging.problems.constants import Program
from opperf.child.judging.problems.scale import Sizes, Weight, describe, neighbours, scale
from opperf.domain.errors import InputError

SOURCE = """
batch = 4 * 16
height, width = 512, 256
shape = (batch, 3)
rows = deep = 7
factor = 0.5
flag = True
late = len(shape)
def f():
    inner = 9
"""


def program(folder: Path, source: str) -> Program:
    path = folder / "problem.py"
    path.write_text(source)
    return Program(path)


def test_whole_numbers_of_the_module_are_its_sizes(tmp_path: Path) -> None:
    own = program(tmp_path, SOURCE)
    assert own.constants == {"batch": 64, "height": 512, "width": 256, "shape[1]": 3, "rows": 7}


def test_what_is_computed_of_a_size_follows_it(tmp_path: Path) -> None:
    own = program(tmp_path, SOURCE)
    module = own.run({**own.constants, "batch": 2, "width": 5, "rows": 1})
    assert (module.shape, module.width, module.height, module.deep) == ((2, 3), 5, 512, 1)
    assert own.run(own.constants).shape == (64, 3)


def test_a_file_that_is_not_python_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"problem\.py: not Python"):
        program(tmp_path, "def (:")


def square(sizes: Sizes) -> Weight | None:
    """Weigh a product of a matrix of rows x columns, with weights of columns x columns."""
    if sizes["columns"] % sizes["groups"]:
        return None
    shape = (sizes["rows"], sizes["columns"])
    return Weight(4 * shape[0] * shape[1], 4 * shape[1] ** 2, f"[{sizes['columns']}, {sizes['groups']}]", f"{shape}")


def test_sizes_that_leave_the_model_as_it_is_are_halved_first_and_the_largest_before_others() -> None:
    sizes = {"rows": 4096, "columns": 64, "groups": 8}
    assert scale(sizes, square, 64 * 1024) == {"rows": 256, "columns": 64, "groups": 8}


def test_weights_are_scaled_too_where_that_helps() -> None:
    scaled = scale({"rows": 16, "columns": 1024, "groups": 8}, square, 1 << 20)
    assert scaled == {"rows": 16, "columns": 512, "groups": 8}


def test_equal_sizes_that_have_to_stay_equal_are_halved_together() -> None:
    def tied(sizes: Sizes) -> Weight | None:
        same = sizes["rows"] == sizes["labels"]
        return Weight(8 * sizes["rows"], 0, "", f"{sizes['rows']}") if same else None

    assert scale({"rows": 1000, "labels": 1000}, tied, 1000) == {"rows": 125, "labels": 125}
    assert {"rows": 126, "labels": 126} in neighbours({"rows": 125, "labels": 125}, tied, 1000)


def test_results_that_take_more_than_inputs_are_what_the_budget_is_for() -> None:
    def outer(sizes: Sizes) -> Weight:
        return Weight(sizes["n"], 0, "", f"{sizes['n']}", results=sizes["n"] ** 2)

    assert scale({"n": 1024}, outer, 4096) == {"n": 64}


def test_undisclosed_sizes_are_valid_odd_and_of_the_same_model() -> None:
    sizes = {"rows": 128, "columns": 64, "groups": 8}
    others = neighbours(sizes, square, 1 << 20)
    assert [one["rows"] for one in others] == [129, 65, 127]
    assert {one["columns"] for one in others} == {64}


def test_what_was_scaled_is_told_from_what_to_what() -> None:
    before, after = {"rows": 4096, "columns": 64, "groups": 8}, {"rows": 256, "columns": 64, "groups": 8}
    notes = describe(before, after, (square(before), square(after)), 1 << 16)
    assert len(notes) == 1
    assert notes[0].startswith("scaled `rows` from 4096 to 256: inputs take 65.5 kB, as written 1.05 MB")
    assert describe(after, after, (square(after), square(after)), 1 << 10)[0].startswith("inputs take 65.5 kB, over")
