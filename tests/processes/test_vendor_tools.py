"""Scripts under other makers' profilers: stand-ins, and `perf` where the machine lets it look; ranges in PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.in_environment import printed

from opperf.parent.workers.vendor_tools import TOOLS, wrap

#: How long a script here may take before it is called hung. Seconds.
DEADLINE = 300.0
SCRIPT = "import os, sys; print('mine', os.environ.get('PYTHONPERFSUPPORT')); sum(range(3_000_000)); sys.exit(7)"
#: Enters ranges of each kind, and says what PyTorch's profiler does meanwhile and after.
EMITTING = """
import json
import torch
from opperf.domain.backend import Unsupported
from opperf.child.profiling.autostart import emitting

def mode():
    return torch._C._autograd._profiler_type().name if torch.autograd._profiler_enabled() else "NONE"

seen = {"cuda": torch.cuda.is_available()}
for kind in ("nvtx", "itt"):
    try:
        with emitting(kind, "torch"):
            torch.ones(3) + 1
            within = mode()
        seen[kind] = [within, mode()]
    except Unsupported as error:
        seen[kind] = error.slug
print(json.dumps(seen))
"""


def done(command: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=os.environ | variables)


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool on the path is a stand-in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = Path(__file__).with_name("vendor_stand_in.py").read_text(encoding="utf-8")
    for name in TOOLS:
        (folder / name).write_text(f"#!{sys.executable}\n{script}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_takes_its_options_runs_the_script_and_leaves_the_report(tool: str, tmp_path: Path) -> None:
    vendor = wrap(tool, [sys.executable, "-c", SCRIPT], tmp_path)
    ran = done(vendor.command)
    assert (ran.returncode, ran.stderr) == (7, f"{tool}: connected\n")
    assert ran.stdout.split()[0] == "mine"
    report = vendor.report / "options.json" if tool == "vtune" else vendor.report
    given = json.loads(report.read_text())
    expected = {
        "nsys": ("trace", ["cuda", "nvtx", "osrt"]),
        "ncu": ("launch_count", 200),
        "vtune": ("knob", ["sampling-mode=sw"]),
        "perf": ("call_graph", "fp" if sys.version_info >= (3, 12) else "dwarf"),
    }
    name, value = expected[tool]
    assert given[name] == value


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize(("answer", "graph", "asked"), [("True", "fp", "1"), ("False", "dwarf", "None")])
def test_a_python_that_can_is_asked_to_name_its_functions_to_perf(
    answer: str, graph: str, asked: str, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncase "$2" in *version*) echo {answer};; *) exec "{sys.executable}" "$@";; esac\n')
    python.chmod(0o755)
    vendor = wrap("perf", [str(python), "-c", SCRIPT], tmp_path)
    ran = done(vendor.command)
    assert (ran.returncode, ran.stdout) == (7, f"mine {asked}\n")
    assert json.loads(vendor.report.read_text())["call_graph"] == graph


@pytest.mark.skipif(shutil.which("perf") is None, reason="there is no `perf` on this machine")
def test_perf_itself_samples_a_script_and_can_read_what_it_left(tmp_path: Path) -> None:
    vendor = wrap("perf", [sys.executable, "-c", SCRIPT], tmp_path)
    ran = done(vendor.command)
    if "perf_event_open" in ran.stderr or "not permitted" in ran.stderr or "No permission" in ran.stderr:
        pytest.skip(f"the machine does not let `perf` look: {ran.stderr.strip().splitlines()[0]}")
    assert (ran.returncode, ran.stdout.split()[0]) == (7, "mine"), ran.stderr
    read = done(["perf", "report", "--stdio", "--no-children", "--call-graph", "none", "--input", str(vendor.report)])
    assert read.returncode == 0, read.stderr
    assert "python" in read.stdout


def test_operators_of_pytorch_emit_ranges_where_its_build_can() -> None:
    seen = json.loads(printed("torch", "-c", EMITTING).splitlines()[-1])
    assert seen["itt"] == ["ITT", "NONE"]
    assert seen["nvtx"] == (["NVTX", "NONE"] if seen["cuda"] else "no_ranges")
