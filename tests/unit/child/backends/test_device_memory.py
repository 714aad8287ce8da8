"""What a framework is told of the memory of a device that it shares with the other side of a comparison."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from opperf.child.backends.array_api.libraries import load
from opperf.child.backends.jax import threads
from opperf.child.backends.tensorflow import devices
from opperf.domain.backend import Unsupported
from opperf.domain.device import SHARERS, memory_share
from opperf.domain.plan import Side

TOTAL = 80_000_000_000
FRACTIONS = ("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of a child whose device another one shares; what is set in a test is forgotten after it."""
    monkeypatch.setattr(os, "environ", {**os.environ, SHARERS: "2"})
    for name in FRACTIONS:
        os.environ.pop(name, None)


def test_those_who_share_a_device_leave_a_tenth_of_it() -> None:
    assert memory_share({SHARERS: "1"}) == 1
    assert [count * memory_share({SHARERS: str(count)}) for count in (2, 3, 8)] == [pytest.approx(0.9)] * 3


@pytest.mark.parametrize("of_user", [None, *FRACTIONS])
def test_jax_takes_its_part_unless_the_user_says_which(of_user: str | None) -> None:
    if of_user is not None:
        os.environ[of_user] = "0.3"
    threads.configure(Side("jax", device="cuda:0"))
    assert {name: os.environ[name] for name in FRACTIONS if name in os.environ} == (
        {FRACTIONS[0]: "0.45"} if of_user is None else {of_user: "0.3"}
    )
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"


class Config:
    """What of `tf.config` says which devices there are, with two GPUs; it notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.experimental = SimpleNamespace(set_memory_growth=lambda *words: self.told.append(("growth", *words)))
        self.gpus = [SimpleNamespace(device_type="GPU") for _ in range(2)]

    def list_physical_devices(self) -> list[Any]:
        return [SimpleNamespace(device_type="CPU"), SimpleNamespace(device_type="XLA_CPU"), *self.gpus]

    def set_visible_devices(self, *words: Any) -> None:
        self.told.append(("visible", *words))

    def set_logical_device_configuration(self, device: Any, configurations: list[int]) -> None:
        self.told.append(("limit", device, *configurations))

    def LogicalDeviceConfiguration(self, memory_limit: int) -> int:  # TensorFlow's own name
        return memory_limit


def test_tensorflow_takes_its_part_of_a_gpu_at_once_and_grows_on_one_that_is_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "gpu_of", lambda name: SimpleNamespace(total_memory=lambda: TOTAL))
    config = Config()
    shown = ("visible", [config.gpus[1]], "GPU")
    limit = devices.choose(config, "cuda:1")
    assert limit == 0.45 * TOTAL
    assert config.told == [shown, ("limit", config.gpus[1], limit >> 20)]
    config.told, os.environ[SHARERS] = [], "1"
    assert devices.choose(config, "cuda:1") is None
    assert config.told == [shown, ("growth", config.gpus[1], True)]


def test_tensorflow_says_how_many_devices_it_sees_and_shows_none_to_a_side_on_the_cpu() -> None:
    config = Config()
    with pytest.raises(Unsupported, match="TensorFlow has no device `cuda:2`"):
        devices.choose(config, "cuda:2")
    devices.choose(config, "cpu")
    assert config.told == [("visible", [], "GPU")]


def test_cupy_has_its_part_for_a_limit_and_gives_its_pool_back(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[str] = []
    pool = SimpleNamespace(
        free_bytes=lambda: 5,
        used_bytes=lambda: 7,
        free_all_blocks=lambda: freed.append(os.environ["CUPY_GPU_MEMORY_LIMIT"]),
    )
    gpu = SimpleNamespace(use=lambda: None, mem_info=(1000, 2000), synchronize=lambda: None)
    module: Any = ModuleType("cupy")
    module.cuda = SimpleNamespace(Device=lambda index: gpu)
    module.asnumpy, module.get_default_memory_pool = list, lambda: pool
    namespace: Any = ModuleType("array_api_compat.cupy")
    namespace.asarray = list
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "array_api_compat", ModuleType("array_api_compat"))
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", namespace)
    library = load("cupy", Side("array_api:cupy", device="cuda:0"))
    assert library.free() == 0.45 * 2000 - 7
    library.trim()
    assert freed == ["45%"]
