"""Models built by their configurations, in an environment that opperf makes: their shapes, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.parent.workers.interpreters import choose_environment, interpreter, program_environment
from opperf.parent.workers.package import package_folder

WORKLOADS = Path(__file__).parents[2] / "examples" / "workloads"
Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("forked_children")


def test_one_of_two_devices_decodes_with_half_of_the_heads(command: Command, tmp_path: Path) -> None:
    where = f"config:{WORKLOADS}/grouped_query_8b.json"
    usage = ("--phase", "decode", "--batch", 8, "--context", 4096, "--split", 2, "--layers", "one")
    done = command("capture", where, *usage, "--output", tmp_path / "suite.json")
    assert done.returncode == 0, done.stderr
    assert "assumed: one of 2 devices: num_attention_heads 32 to 16, num_key_value_heads 8 to 4" in done.stderr
    written: dict[str, Any] = json.loads((tmp_path / "suite.json").read_text())
    assert written["source"] == "grouped_query_8b:decode, by shapes alone"
    cases = {one["case"]["operator"].removeprefix("torch:aten::"): one["case"]["inputs"] for one in written["cases"]}
    attention = cases["_scaled_dot_product_flash_attention_for_cpu.default"]
    assert (attention["query"]["shape"], attention["key"]["shape"]) == ([8, 16, 1, 128], [8, 4, 4097, 128])
    assert attention["query"]["dtype"] == "bfloat16"
    products = {
        tuple(one["case"]["inputs"]["mat2"]["shape"])
        for one in written["cases"]
        if one["case"]["operator"] == "torch:aten::mm.default"
    }
    assert products == {(4096, 2048), (4096, 512), (2048, 4096), (4096, 7168), (7168, 4096), (4096, 64128)}


def test_what_the_package_does_not_know_is_one_message(command: Command, tmp_path: Path) -> None:
    known = json.loads((WORKLOADS / "encoder_base.json").read_text())
    for changes, message in (
        ({"model_type": "berd"}, "no model_type `berd`\n\nhint: did you mean `bert`"),
        ({"architectures": ["os"]}, "no architecture `os`"),
        ({"layer_norm_eps": "__import__('os')"}, "`BertForMaskedLM` cannot be built: Validation error for field"),
        ({"hidden_size": 767}, "`BertForMaskedLM` cannot be built: The hidden size (767) is not a multiple"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**known, **changes}))
        done = command("capture", f"config:{tmp_path}/config.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def captured_both_ways(package: str) -> dict[str, Any]:
    """Return what tiny models say that a package builds, which run and are followed by shapes alone."""
    environment = choose_environment(program_environment("torch", [package]), "torch")
    done = subprocess.run(
        [
            str(interpreter(environment, framework="torch")),
            str(Path(__file__).with_name("configured_torch.py")),
            package,
        ],
        env={**os.environ, "PYTHONPATH": str(package_folder())},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_a_step_with_an_optimizer_and_a_scan_of_which_few_steps_are_walked_have_the_calls_of_a_run() -> None:
    told = captured_both_ways("transformers")
    adam = "AdamW as PyTorch has it by default: one parameter after the other on a CPU (`foreach` and `fused` are off)"
    scan = (
        "7 steps of a scan run one after the other, as without kernels of its own: 3 are walked, and the others counted"
    )
    assert told["dense:train"][0] == {"forward": 179, "backward": 309, "optimizer": 21 * 10}
    assert told["state_space:prefill"] == [{"forward": 342}, [scan]]
    assert told["state_space:decode"] == [{"forward": 182}, []]
    assert told["state_space:train"][0] == {"forward": 338, "backward": 515, "optimizer": 22 * 10}
    (optimizer, *rest) = told["state_space:train"][1]
    assert (optimizer.startswith(adam), rest) == (True, [scan])


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_each_known_diffusion_model_has_the_calls_of_a_run() -> None:
    told = captured_both_ways("diffusers")
    calls = {name: phases for name, (phases, _) in told.items()}
    assert calls == {
        "DiTTransformer2DModel": {"forward": 202},
        "PixArtTransformer2DModel": {"forward": 210},
        "SD3Transformer2DModel": {"forward": 268},
        "FluxTransformer2DModel": {"forward": 378},
        "UNet2DModel": {"forward": 313},
        "UNet2DConditionModel": {"forward": 485},
    }
    assert told["SD3Transformer2DModel"][1] == ["one step of 4 channels of 8 by 8, and a prompt of 333 words"]


@pytest.mark.slow
def test_models_without_a_size_of_a_head_are_divided_in_their_modules(command: Command, tmp_path: Path) -> None:
    expected = {
        "encoder_base": {(768, 384): 3, (384, 768): 1, (768, 1536): 1, (1536, 768): 1, (768, 768): 1, (768, 15261): 1},
        "state_space_2_8b": {
            (2560, 5120): 1, (2560, 192): 1, (160, 2560): 1, (2560, 2560): 1, (2560, 25140): 1,
        },
        "speech_large": {(1280, 640): 9, (640, 1280): 3, (1280, 2560): 2, (2560, 1280): 2, (1280, 25933): 1},
    }  # fmt: skip
    for workload, products in expected.items():
        usage = ("--context", 8, "--split", 2, "--layers", "one", "--output", tmp_path / f"{workload}.json")
        done = command("capture", f"config:{WORKLOADS}/{workload}.json", *usage)
        assert done.returncode == 0, done.stderr
        assert "assumed: each device has of " in done.stderr
        assert "not in the file" not in done.stderr
        found: dict[tuple[int, ...], int] = {}
        for entry in json.loads((tmp_path / f"{workload}.json").read_text())["cases"]:
            if entry["case"]["operator"] in ("torch:aten::mm.default", "torch:aten::addmm.default"):
                shape = tuple(entry["case"]["inputs"]["mat2"]["shape"])
                found[shape] = found.get(shape, 0) + entry["count"]
        assert found == products


@pytest.mark.slow
def test_a_diffusion_model_that_is_none_is_one_message(command: Command, tmp_path: Path) -> None:
    known = json.loads((WORKLOADS / "diffusion.json").read_text())
    for changes, message in (
        ({"_class_name": "StableDiffusionPipeline"}, "known: UNet2DModel, UNet2DConditionModel, DiTTransformer2DModel"),
        ({"sample_size": None}, "`UNet2DConditionModel` cannot be called: "),
        ({"block_out_channels": [320, 641, 1280, 1280]}, "`UNet2DConditionModel` cannot be built: num_channels (641)"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**known, **changes}))
        done = command("capture", f"config:{tmp_path}/config.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr
