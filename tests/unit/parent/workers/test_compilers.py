"""That something is compiled is told: at once, now and then, and at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from opperf.parent.workers.compilers import CompilerWatch, compilers


def told_of(looks: list[tuple[float, list[str]]]) -> list[str]:
    """Return what is told where these processes run at these seconds."""
    lines: list[str] = []
    times = iter([0.0, *(seconds for seconds, _ in looks)])
    names = iter([names for _, names in looks])
    watch = CompilerWatch(1, lines.append, clock=lambda: next(times), look=lambda pid: next(names))
    for _ in looks:
        watch.look()
    watch.close()
    return lines


def test_a_compilation_is_told_with_its_time() -> None:
    assert told_of([(5, []), (10, ["cc1plus", "ninja"]), (15, ["cc1plus"]), (40, ["ld"]), (45, [])]) == [
        "compiling (cc1plus): 10 s so far",
        "compiling (ld): 40 s so far",
        "compiled in about 45 s",
    ]


def test_where_nothing_compiles_nothing_is_told() -> None:
    assert told_of([(5, []), (10, [])]) == []


def test_a_compiler_is_found_below_what_started_it(tmp_path: Path) -> None:
    (tmp_path / "cc1plus").symlink_to(sys.executable)
    script = "import subprocess, sys; subprocess.run([sys.argv[1], '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "cc1plus")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        assert compilers(parent.pid) == ["cc1plus"]
        parent.communicate(b"\n")
