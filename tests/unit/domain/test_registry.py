"""Frameworks, implementations and devices by their names."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.domain import code, registry
from opperf.domain.errors import InputError
from opperf.domain.plan import MODES
from opperf.domain.registry import FRAMEWORKS, REAL_FRAMEWORKS, framework, parse_device, split_implementation
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.sources.plugin_file import register_frameworks


@each("name", FRAMEWORKS)
def test_a_framework_runs_in_a_known_mode_by_default(name: str) -> None:
    assert framework(name).mode in MODES


def test_the_null_framework_is_not_real() -> None:
    assert "null" not in REAL_FRAMEWORKS


def test_a_framework_without_neutral_operators_is_not_looked_for() -> None:
    assert "onnxruntime" not in REAL_FRAMEWORKS
    assert split_implementation("onnxruntime:ai.onnx.Gemm") == ("onnxruntime", "ai.onnx.Gemm")


def test_an_unknown_framework_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="numpy") as caught:
        framework("caffe3")
    assert caught.value.slug == "unknown_framework"


@pytest.mark.parametrize(
    ("distribution", "owned"), [("mxnet", True), ("mxnet-mkl", True), ("mxnetx", False), ("torch", False)]
)
def test_flavours_of_a_distribution_bring_the_framework(distribution: str, owned: bool) -> None:
    assert framework("mxnet").owns(distribution) is owned


@each(
    ("name", "split"),
    [
        ("mxnet:nd.broadcast_add", ("mxnet", "nd.broadcast_add")),
        ("torch:torch.add", ("torch", "torch.add")),
        ("array_api:dask.array:dask.array.sum", ("array_api:dask.array", "dask.array.sum")),
        ("torch:aten::add.Tensor", ("torch", "aten::add.Tensor")),
        ("aten::add", (None, "aten::add")),
        ("torch::add", (None, "torch::add")),
        ("other:add", (None, "other:add")),
        ("add", (None, "add")),
    ],
)
def test_an_implementation_is_split_at_a_known_framework(name: str, split: tuple[str | None, str]) -> None:
    assert split_implementation(name) == split


def test_a_prefix_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="names no operator"):
        split_implementation("torch:")


@each(
    ("text", "name"),
    [
        ("cpu", "cpu"),
        ("CPU", "cpu"),
        ("cpu(0)", "cpu"),
        ("cpu:0", "cpu"),
        ("gpu", "cuda:0"),
        ("gpu(2)", "cuda:2"),
        ("cuda", "cuda:0"),
        (" cuda:1 ", "cuda:1"),
        ("cuda:01", "cuda:1"),
        ("mps", "mps:0"),
        ("XPU(2)", "xpu:2"),
        ("level_zero:gpu:1", "level_zero:gpu:1"),
    ],
)
def test_a_device_has_one_name(text: str, name: str) -> None:
    assert parse_device(text) == name


@each("text", ["", "auto", "auto:0", "cpu:1", "gpu:1)", "8", "cuda:x", "cuda:-1", "cuda:0:1", "gpu(1)x"])
def test_an_unknown_device_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no device"):
        parse_device(text)


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("array_api:dpnp==0.18.*", ("dpnp==0.18.*", "numpy", "array-api-compat")),
        ("array_api:dask.array==2026.1.1", ("dask[array]==2026.1.1", "numpy", "array-api-compat")),
        ("array_api:mlx.core", ("mlx[cpu]==0.32.4", "numpy==2.4.6", "array-api-compat==1.16.0")),
    ],
)
def test_an_array_library_has_an_environment_with_its_package(text: str, requirements: tuple[str, ...]) -> None:
    spec = EnvironmentSpec.parse(text)
    assert (spec.framework, spec.requirements) == (text.partition("==")[0], requirements)
    assert spec.is_public == ("*" not in text)


def test_an_array_library_of_the_users_own_is_known_once_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in ("FRAMEWORKS", "PRESETS"):
        monkeypatch.setattr(f"opperf.domain.registry.{table}", dict(getattr(registry, table)))
        monkeypatch.setattr("opperf.parent.sources.plugin_file.FRAMEWORKS", registry.FRAMEWORKS)
    assert split_implementation("array_api:mine.arrays:mine.arrays.add") == (
        None,
        "array_api:mine.arrays:mine.arrays.add",
    )
    register_frameworks([], ["array_api:mine.arrays", "array_api:os;system"])
    assert split_implementation("array_api:mine.arrays:mine.arrays.add")[0] == "array_api:mine.arrays"
    assert (
        registry.PRESETS["array_api:mine.arrays"][1] == ()
    )  # its package may be called anything, so none is installed
    assert "array_api:os;system" not in registry.FRAMEWORKS


def test_the_name_of_an_array_library_is_no_code() -> None:
    assert code.read_operator("array_api:dpnp") == "array_api:dpnp"
    assert isinstance(code.read_operator("array_api:other"), code.Code)
    code.check_name("array_api:dpnp", "a side")
