"""Whether a trial fits into memory: what is counted, where free memory is read, and what a refusal says."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.catalog import operator
from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure import host
from opperf.child.worker import inputs, room
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

CASE = Case("add", {"lhs": TensorSpec((10, 10)), "rhs": TensorSpec((10, 10))})


def test_a_forward_needs_its_inputs_and_outputs_and_what_making_the_largest_input_takes() -> None:
    assert room.bytes_needed(CASE, operator("add"), "forward") == {"inputs": 800, "making them": 1200, "outputs": 400}


def test_what_a_call_changes_is_there_twice() -> None:
    case = Case("add_inplace", CASE.inputs)
    assert room.bytes_needed(case, operator("add_inplace"), "forward")["copies of what it changes"] == 400


@pytest.mark.parametrize("direction", ["backward", "forward_backward"])
def test_a_backward_needs_cotangents_and_gradients_too(direction: str) -> None:
    result = room.bytes_needed(CASE, operator("add"), direction)
    assert (result["cotangents"], result["gradients"]) == (400, 800)


def test_of_an_unknown_operator_only_inputs_and_their_gradients_are_counted() -> None:
    whole = Case("f", {"data": TensorSpec((10,)), "index": TensorSpec((10,), "int64")})
    assert room.bytes_needed(whole, None, "backward") == {
        "inputs": 120, "making them": 240, "outputs": 0, "cotangents": 0, "gradients": 40,
    }  # fmt: skip


def test_shapes_that_do_not_fit_together_are_left_to_the_framework() -> None:
    case = Case("matmul", {"lhs": TensorSpec(()), "rhs": TensorSpec((4,))})
    assert room.bytes_needed(case, operator("matmul"), "forward")["outputs"] == 0


def test_an_output_that_is_its_own_cotangent_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_COTANGENT", 399)
    assert room.bytes_needed(CASE, operator("add"), "backward")["cotangents"] == 0


@pytest.mark.parametrize("free", ["1200", "1999"])
def test_a_trial_that_fits_the_device_is_not_refused(free: str) -> None:
    room.check_room(NullBackend(Side("null", settings={"free": free})), CASE, operator("add"), "forward")


def test_a_trial_that_does_not_fit_the_device_is_refused_with_both_figures() -> None:
    backend = NullBackend(Side("null", settings={"free": "1199"}))
    with pytest.raises(Unsupported) as caught:
        room.check_room(backend, CASE, operator("add"), "forward")
    assert caught.value.slug == "short_of_memory"
    assert str(caught.value) == (
        "it needs at least 1.20 kB of memory (inputs 800 B, outputs 400 B), but only 1.20 kB is available"
    )


class OnTheHost(NullBackend):
    """Tensors in the machine's memory."""

    def free_memory(self) -> int | None:
        return None


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the files of the system lie."""
    monkeypatch.setattr(host, "MEMORY", tmp_path / "MEMORY")
    groups = tuple((tmp_path / f"LIMIT{version}", tmp_path / f"USED{version}") for version in (2, 1))
    monkeypatch.setattr(host, "GROUPS", groups)
    monkeypatch.setattr(room, "SMALL", 0)
    return tmp_path


def test_of_a_small_trial_nobody_asks_how_much_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda: 0)
    room.check_room(OnTheHost(Side("null")), CASE, operator("add"), "forward")


def test_the_machines_free_memory_is_what_linux_calls_available(system: Path) -> None:
    (system / "MEMORY").write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:       2 kB\n")
    assert host.free_bytes() == 2048
    with pytest.raises(Unsupported, match=r"making them 1\.20 kB.* but only 2\.05 kB is available"):
        room.check_room(OnTheHost(Side("null")), CASE, operator("add"), "forward")


@pytest.mark.parametrize("version", [2, 1])
@pytest.mark.parametrize(
    ("limit", "free"), [("1500\n", 500), ("max\n", 2048), ("9000\n", 2048), ("9223372036854771712\n", 2048)]
)
def test_a_containers_limit_counts_where_it_is_narrower(limit: str, free: int, version: int, system: Path) -> None:
    (system / "MEMORY").write_text("MemAvailable: 2 kB\n")
    (system / f"LIMIT{version}").write_text(limit)
    (system / f"USED{version}").write_text("1000\n")
    assert host.free_bytes() == free


@pytest.mark.parametrize("text", [None, "", "MemFree: 1 kB\n", "MemAvailable: many\n"])
def test_a_system_that_tells_nothing_refuses_nothing(text: str | None, system: Path) -> None:
    if text is not None:
        (system / "MEMORY").write_text(text)
    assert host.free_bytes() is None
    room.check_room(OnTheHost(Side("null")), CASE, operator("add"), "forward")


def test_making_a_tensor_takes_its_random_bits_several_times() -> None:
    assert inputs.making_bytes(TensorSpec((100,), "int8")) == 3 * 800
    assert inputs.making_bytes(TensorSpec((100,), "float16")) == 3 * 400
    assert inputs.making_bytes(TensorSpec((100,), "string")) == 3 * 3200
    assert inputs.making_bytes(TensorSpec((inputs.MOST_DRAWN + 1,), "int8")) == 2 * (inputs.MOST_DRAWN + 1)
