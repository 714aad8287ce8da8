"""Large traces: how much memory reading one takes, and how long, beside what `json.load` takes.

The trace repeats the nodes of a real step, each time with new numbers, until the file is large enough.

    python benchmarks/large_trace.py TRACE [MEGABYTES]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import publish

READ = "from pathlib import Path; from opperf.parent.sources.execution_trace.reading import read_traces; "
PROGRAMS = {
    "opperf replay": READ + "import sys; print(sum(case.count for case in read_traces([Path(sys.argv[1])]).cases))",
    "json.load": "import json, sys; print(len(json.load(open(sys.argv[1]))['nodes']))",
}


def write_large(source: Path, path: Path, size: int) -> None:
    """Write a trace of so many bytes, made of a small one."""
    small: dict[str, Any] = json.loads(source.read_text())
    with path.open("w") as file:
        file.write(f'{{"schema": {json.dumps(small["schema"])}, "nodes": [\n')
        shift, written = 0, 0
        last = max(node["id"] for node in small["nodes"])
        while written < size:
            for node in small["nodes"]:
                moved = {**node, "id": node["id"] + shift, "ctrl_deps": node["ctrl_deps"] + shift}
                written += file.write(("" if written == 0 else ",\n") + json.dumps(moved))
            shift += last
        file.write("\n]}\n")


def main() -> None:
    """Write, read twice, publish."""
    source = Path(sys.argv[1])
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.json"
        write_large(source, path, megabytes * 1_000_000)
        for name, program in PROGRAMS.items():
            began = time.monotonic()
            watched = f"{program}; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
            done = subprocess.run(
                [sys.executable, "-c", watched, str(path)], capture_output=True, text=True, check=True
            )
            count, peak = done.stdout.split()
            rows.append(
                {"reader": name, "file MB": path.stat().st_size / 1e6, "peak MB": int(peak) * 1024 / 1e6,
                 "s": time.monotonic() - began, "nodes or calls": int(count)}
            )  # fmt: skip
    publish(
        "large_trace",
        "reading one large trace, each in a fresh process",
        rows,
        {"peak memory of reading, of the file's size": (100 * rows[0]["peak MB"] / rows[0]["file MB"], 50.0, "%")},
    )


if __name__ == "__main__":
    main()
