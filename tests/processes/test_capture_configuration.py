"""Models built by their configurations, in an environment that opperf makes: their shapes, and what is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORKLOADS = Path(__file__).parents[2] / "examples" / "workloads"
Command = Callable[..., subprocess.CompletedProcess[str]]


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
        ({"hidden_size": 767}, "`BertForMaskedLM` cannot be built: The hidden size (767) is not a multiple"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**known, **changes}))
        done = command("capture", f"config:{tmp_path}/config.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr
