"""A large folder of asv's results: how long `opperf history import` takes for it, and how much memory.

The folder has the shape of the public one of SciPy (1,406 files of two machines, 534 MiB, 7,100 series): 205
benchmarks of times with up to 125 combinations of parameters, a sixth of them skipped, and 42 benchmarks of what is no
time. Numbers are drawn. Memory is that of both processes together. The second import meets what is there already.

    python benchmarks/import_size.py [FILES] [FOLDER]

FOLDER is imported in place of the drawn one.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from report import publish

FILES = 1406
#: Of SciPy's files, 826 are of one machine and 580 of the other.
SHARE = 826 / 1406
#: Results of a benchmark, of which the files of a folder each have one.
VARIANTS = 12
TIMES, OTHERS = 205, 42
COLUMNS = [
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"),
]


def write_folder(folder: Path, files: int, generator: random.Random) -> None:
    """Write a folder of so many builds."""
    benchmarks: dict[str, Any] = {"version": 2}
    texts: list[list[str]] = []
    for number in range(TIMES + OTHERS):
        name = f"module{number % 30}.Suite{number}.{'time' if number < TIMES else 'track'}_it"
        shape = [generator.choice([2, 3, 4, 5]) for _ in range(generator.choice([1, 2, 2, 2, 3, 3]))]
        params = [[str(10**i) if axis % 2 else f"'word{i}'" for i in range(n)] for axis, n in enumerate(shape)]
        kind = "time" if number < TIMES else "track"
        benchmarks[name] = {"name": name, "type": kind, "param_names": [f"axis{i}" for i in range(len(shape))]}
        texts.append([f"{json.dumps(name)}: {_row(params, generator)}" for _ in range(VARIANTS)])
    folder.mkdir(parents=True)
    (folder / "benchmarks.json").write_text(json.dumps(benchmarks))
    for number in range(files):
        machine = "first" if number < SHARE * files else "second"
        place = folder / machine
        if not place.exists():
            place.mkdir()
            (place / "machine.json").write_text(json.dumps({"machine": machine, "cpu": machine, "num_cpu": "8"}))
        commit = f"{generator.getrandbits(160):040x}"
        head = {"commit_hash": commit, "env_name": "py", "date": 1_400_000_000_000 + number * 86_400_000}
        start = json.dumps({**head, "result_columns": COLUMNS, "version": 2})[:-1]
        rows = ", ".join(generator.choice(several) for several in texts)
        (place / f"{commit[:8]}-py.json").write_text(f'{start}, "results": {{{rows}}}}}')


def _row(params: list[list[str]], generator: random.Random) -> str:
    """Return the text of the results of a benchmark."""
    count = 1
    for several in params:
        count *= len(several)
    size = 10 ** generator.uniform(-6, 0)
    times = [float("nan") if generator.random() < 0.17 else size * generator.uniform(0.9, 1.1) for _ in range(count)]

    def column(factor: float) -> list[float | None]:
        return [None if time != time else float(f"{time * factor:.5g}") for time in times]

    counts = [None if time != time else generator.randrange(1, 1000) for time in times]
    repeats = [None if time != time else 10 for time in times]
    bounds = map(column, (0.97, 1.03, 0.99, 1.01))
    return json.dumps([times, params, "0" * 64, 1_500_000_000_000, 1.25, *bounds, counts, repeats])


def watch(folder: Path, database: Path) -> dict[str, Any]:
    """Import a folder; return how long it took, and the most memory of all its processes."""
    began, peak = time.monotonic(), 0
    command = [sys.executable, "-m", "opperf", "history", "import", str(folder), "--database", str(database)]
    process = psutil.Popen(command, stderr=subprocess.PIPE, text=True)
    cpu: dict[int, float] = {}
    while process.poll() is None:
        total = 0
        for one in [process, *process.children(recursive=True)]:
            try:
                total += one.memory_info().rss
                cpu[one.pid] = sum(one.cpu_times()[:2])
            except psutil.Error:  # it ended meanwhile
                continue
        peak = max(peak, total)
        time.sleep(0.1)
    lines = process.stderr.read().splitlines()
    if process.returncode != 0:
        raise SystemExit("\n".join(lines))
    (said,) = (line for line in lines if "there already" in line)
    return {"s": time.monotonic() - began, "CPU s": sum(cpu.values()), "peak MB": peak / 1e6, "result": said}


def main() -> None:
    """Write, import twice, publish."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(name) / "results"
        if len(sys.argv) <= 2:
            write_folder(folder, files, random.Random(1))
        paths = [path for path in folder.rglob("*.json") if path.name not in ("machine.json", "benchmarks.json")]
        size = sum(path.stat().st_size for path in paths)
        rows = []
        for what in ("first import", "second import"):
            load = psutil.getloadavg()[0]
            row = watch(folder, Path(name) / "results.db")
            rows.append({"import": what, "files": len(paths), "file MB": size / 1e6, "load before": load, **row})
    publish(
        "import_size",
        "importing a large folder of asv's results",
        rows,
        {
            "time of the first import": (rows[0]["s"], 60.0, "s"),
            "most memory of its processes": (rows[0]["peak MB"], 300.0, "MB"),
        },
    )


if __name__ == "__main__":
    main()
