"""The GPUs of a machine, by an nvidia-smi that answers as NVIDIA's does, and what a child is shown of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opperf.domain.plan import Side
from opperf.parent.workers import gpus
from opperf.parent.workers.gpus import Gpu, Silence, bus_place, identity, inside, outside, variables, visible_names

LISTING = "A, 1024, 570.1, GPU-aa, 00000000:1B:00.0\nB, [N/A], 570.1, GPU-bb, 00000000:9A:00.0\n"


@pytest.fixture(autouse=True)
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tool on PATH, which lists two GPUs, and has time for it."""
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{LISTING}'\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(gpus, "LIMIT", 60.0)
    monkeypatch.setattr(gpus, "DEVICES", tmp_path)
    monkeypatch.setattr(gpus, "DRIVER", tmp_path / "driver")
    gpus._answer.cache_clear()
    return program


def on(device: str, **settings: str) -> Side:
    return Side("torch", device=device, settings=settings)


def test_gpus_are_read_from_nvidia_smi_and_no_record_of_the_machine_names_one() -> None:
    first = Gpu("A", 2**30, "570.1", "GPU-aa", "00000000:1B:00.0")
    assert gpus.present() == [first, Gpu("B", None, "570.1", "GPU-bb", "00000000:9A:00.0")]
    facts = gpus.facts() or []
    assert [set(fact) for fact in facts] == [{"name", "memory", "driver"}] * 2


def test_a_child_sees_the_gpu_of_its_side_alone_and_calls_it_the_first() -> None:
    shown = variables(on("cuda:1"), {})
    assert (shown["CUDA_VISIBLE_DEVICES"], shown["CUDA_DEVICE_ORDER"]) == ("GPU-bb", "PCI_BUS_ID")
    assert inside(on("cuda:1"), shown) == "cuda:0"
    assert outside(["cuda:0", "cpu"], shown, {}) == ["cuda:0", "cuda:1", "cpu"]


@pytest.mark.parametrize(
    ("device", "environment", "shown"),
    [
        ("cuda:0", {"CUDA_VISIBLE_DEVICES": "1"}, "GPU-bb"),  # the user's first one
        ("cuda:1", {"CUDA_VISIBLE_DEVICES": "1"}, None),
        ("cuda:0", {"CUDA_VISIBLE_DEVICES": "MIG-cc,GPU-aa"}, "MIG-cc"),
        ("cuda:0", {"CUDA_VISIBLE_DEVICES": ""}, None),
        ("cuda:2", {}, None),  # the framework says what there is
        ("cpu", {}, None),
        ("late:0", {}, None),
    ],
)
def test_what_the_user_shows_is_counted_and_what_is_not_there_is_left_to_the_framework(
    device: str, environment: dict[str, str], shown: str | None
) -> None:
    found = variables(on(device), environment)
    assert found.get("CUDA_VISIBLE_DEVICES") == shown
    assert inside(on(device), found) == (device if shown is None else "cuda:0")


def test_a_side_that_says_itself_what_is_visible_is_believed() -> None:
    assert "CUDA_VISIBLE_DEVICES" not in variables(on("cuda:0", **{"env.CUDA_VISIBLE_DEVICES": "1"}), {})


def test_a_device_is_called_the_same_by_each_process_whatever_that_is_shown() -> None:
    shown, masked = {"CUDA_VISIBLE_DEVICES": "1"}, {"env.CUDA_VISIBLE_DEVICES": "1"}
    names = [identity(on("cuda:1"), {}), identity(on("cuda:0"), shown), identity(on("cuda:0", **masked), {})]
    assert names == ["GPU-bb"] * 3
    assert [identity(on(device), {}) for device in ("cuda:2", "late:0")] == ["cuda:2", "late:0"]
    # Those of AMD and Intel have several names, and of this machine's none is NVIDIA's.
    others = ("hip:2", "rocm:2", "level_zero:gpu:1", "xpu:1", "opencl:cpu:0")
    assert [identity(on(device), {}) for device in others] == ["cuda:2", "cuda:2", "xpu:1", "xpu:1", "opencl:cpu:0"]


def test_the_gpus_that_are_shown_are_known_by_name_and_a_part_by_its_own() -> None:
    masks = ({"CUDA_VISIBLE_DEVICES": mask} for mask in ("1,0", "MIG-cc", ""))
    assert [visible_names(mask) for mask in masks] == [["B", "A"], ["MIG-cc"], []]
    assert visible_names({}) is None


def test_parts_of_a_gpu_are_told_from_each_other_and_from_the_whole_by_their_profiles(nvidia_smi: Path) -> None:
    listing = "GPU 0: A (UUID: GPU-aa)\n  MIG 1g.10gb     Device  0: (UUID: MIG-cc)\n"
    nvidia_smi.write_text(f"#!/bin/sh\n[ $1 = -L ] && printf '{listing}' || printf '{LISTING}'\n")
    gpus._parts.cache_clear()
    mask = {"CUDA_VISIBLE_DEVICES": "MIG-cc"}
    assert gpus.facts(mask) == [{"name": "MIG 1g.10gb", "memory": None, "driver": "570.1"}]
    assert visible_names(mask) == ["MIG 1g.10gb"]
    assert [fact["name"] for fact in gpus.facts({"CUDA_VISIBLE_DEVICES": "1"}) or ()] == ["A", "B"]


def test_a_gpu_has_a_place_on_the_bus_as_linux_names_it() -> None:
    assert [bus_place(on(device)) for device in ("cuda:1", "cuda:2", "late:0")] == ["0000:9a:00.0", None, None]


def test_a_driver_that_does_not_answer_in_time_is_told_and_no_run_goes_to_the_cpu_in_silence(
    nvidia_smi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvidia_smi.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(gpus, "LIMIT", 0.05)
    with pytest.raises(Silence, match=r"`nvidia-smi` does not answer within 0\.05 s") as told:
        gpus.has_gpu()
    assert "`--device cuda:0`" in (told.value.hint or "")
    assert gpus.facts() is None
    assert "CUDA_VISIBLE_DEVICES" not in variables(on("cuda:0"), {})


INFORMATION = "Model: \t\t NVIDIA {name}\nIRQ:   \t\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n"


def test_where_nvidia_smi_is_silent_or_missing_the_driver_tells_which_gpus_there_are(
    nvidia_smi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = (("0000:1b:00.0", "H100", "GPU-aa", 0), ("0000:9a:00.0", "H100", "GPU-bb", 1), ("0000:9b:00.0", "A", "G", 2))
    for place, name, uuid, minor in told:
        folder = gpus.DRIVER / "gpus" / place
        folder.mkdir(parents=True)
        (folder / "information").write_text(INFORMATION.format(name=name, uuid=uuid, minor=minor))
    (gpus.DRIVER / "version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release\n"
    )
    for minor in (0, 1):  # the third one is not this container's
        (gpus.DEVICES / f"nvidia{minor}").touch()
    nvidia_smi.write_text("#!/bin/sh\nexit 9\n")
    first, second = gpus.present() or ()
    assert (first, second.uuid) == (Gpu("NVIDIA H100", None, "570.86.15", "GPU-aa", "0000:1b:00.0"), "GPU-bb")
    nvidia_smi.unlink()
    monkeypatch.setenv("PATH", str(nvidia_smi.parent))
    assert variables(on("cuda:1"), {})["CUDA_VISIBLE_DEVICES"] == "GPU-bb"


@pytest.mark.parametrize("node", ["kfd", "dri/renderD128", "accel0", "vfio/7"])
def test_a_framework_is_let_look_where_the_system_shows_a_device_of_others(
    node: str, nvidia_smi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvidia_smi.write_text("#!/bin/sh\nexit 9\n")
    assert not gpus.has_gpu()
    (gpus.DEVICES / node).parent.mkdir(exist_ok=True)
    (gpus.DEVICES / node).touch()
    assert gpus.has_gpu()
