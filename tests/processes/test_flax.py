"""Modules of flax in a profile: linen's and nnx's, forward and backward."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("flax_models.py")


def test_operators_of_compiled_flax_programs_are_told_by_their_modules(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "opperf", "profile", "--environment", "flax==0.12.8", "--by", "module"]
    done = subprocess.run(
        [*command, "--format", "json", "--output", str(tmp_path), str(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    told = {(row["module"], row["backward"]) for row in rows}
    modules = ("Linen.Dense_0", "Linen.last", "Nnx.blocks.0.dense", "Nnx.blocks.1.dense", "Nnx.head")
    # XLA joins what is small: a gradient may be part of its neighbour's instruction, and is that module's then.
    assert told >= {(module, False) for module in modules}
    assert {module.partition(".")[0] for module, backward in told if backward} >= {"Linen", "Nnx"}
