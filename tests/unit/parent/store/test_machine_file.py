"""What is known of a machine, in a file: added to, replaced in, and never half-written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.floor import Floor
from opperf.parent.store.machine_file import FLOORS


def floor(name: str, spread: float = 0.01) -> Floor:
    """Return a floor of an operator."""
    trial = Trial(Case(name, {"data": TensorSpec((4,))}), Side("torch"), "forward")
    return Floor(trial, 1e-3, 15, spread, 0.01, 0.1, 0, 3, "2026-11-21")


def test_a_file_that_is_not_there_holds_no_floor(tmp_path: Path) -> None:
    assert FLOORS.read(tmp_path / "none.json") == {}


def test_a_later_floor_of_the_same_trial_replaces_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "noise" / "machine.json"
    FLOORS.add(path, [floor("exp"), floor("add")])
    FLOORS.add(path, [floor("exp", spread=0.5)])
    known = FLOORS.read(path)
    assert known == {one.key: one for one in (floor("exp", spread=0.5), floor("add"))}


def test_commands_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    names = [f"operator{i}" for i in range(24)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: FLOORS.add(path, [floor(name)]), names))
    assert {one.trial.case.operator for one in FLOORS.read(path).values()} == set(names)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"floors": [1]}', '{"floors": [{"trial": {}}]}', "\x00"])
def test_a_foreign_file_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"machine\.json"):
        FLOORS.read(path)


def test_another_machine_has_a_file_of_its_own(tmp_path: Path) -> None:
    one, other = ({"cpu": name, "cores_usable": 2, "load": [0.1]} for name in "AB")
    assert FLOORS.path(tmp_path, one) == FLOORS.path(tmp_path, {**one, "load": [5.0]})
    assert FLOORS.path(tmp_path, one) != FLOORS.path(tmp_path, other)
    gpus = [[{"name": name, "driver": driver}] for name, driver in (("H100", "1"), ("H100", "2"), ("A100", "1"))]
    assert len({FLOORS.path(tmp_path, {**one, "gpus": those}) for those in (None, *gpus)}) == 3


def test_what_is_known_of_a_gpu_is_not_taken_for_what_is_known_of_another_one_that_is_shown_in_its_place(
    tmp_path: Path,
) -> None:
    both = [{"name": "H100"}, {"name": "A100"}]
    shown = (None, ["H100", "A100"], ["A100"], ["MIG-cc"])
    paths = [FLOORS.path(tmp_path, {"gpus": both, "gpus_visible": names}) for names in shown]
    assert (paths[0], len(set(paths))) == (paths[1], 3)
