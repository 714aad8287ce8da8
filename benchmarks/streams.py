"""How far from 1 ratios come out beside programs that stream memory, where the truth is known.

    python benchmarks/streams.py [COMPARISONS]

Two functions that go through memory are compared with themselves on more elements, and one with itself, alone and
beside `NEIGHBOURS` processes that add arrays of 64 MB. Those end with this process, or by themselves after a while.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from report import publish

HERE = Path(__file__).parent
COMPARISONS, NEIGHBOURS, LONGEST = 2, 3, 300
STREAM = f"""
import os, time
import numpy as np
a, b = np.ones(8_000_000), np.ones(8_000_000)
parent, end = os.getppid(), time.monotonic() + {LONGEST}
while os.getppid() == parent and time.monotonic() < end:
    np.add(a, b, out=a)
"""
#: What is compared, and the ratio of its work.
KINDS = (("triad", "triad_of_more", 1.1), ("take", "take_of_more", 1.05), ("triad", "triad", 1.0))
#: What a report says at most: ratios come out so many times as far from 1 as they are.
FACTOR = 2.0


@contextmanager
def streams(count: int) -> Iterator[None]:
    """Run so many processes that stream memory, on all CPUs."""
    neighbours = [subprocess.Popen([sys.executable, "-c", STREAM]) for _ in range(count)]
    try:
        yield
    finally:
        for one in neighbours:
            one.kill()
            one.wait()


def compared(base: str, new: str) -> dict[str, Any]:
    """Return opperf's comparison of two functions."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "answer.json"
        sides = [f"stream_functions.py:{name};framework=numpy" for name in (base, new)]
        words = ["compare", "--base", sides[0], "--new", sides[1], "--direction", "forward", "--output", str(output)]
        subprocess.run(
            [sys.executable, "-m", "opperf", *words], cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        (answer,) = json.loads(output.read_text())["comparisons"]
    return dict(answer)


def row(base: str, new: str, truth: float, neighbours: int) -> dict[str, Any]:
    """Return one comparison; `factor` is how many times as far from 1 its ratio is as the truth."""
    answer = compared(base, new)
    ratio, (low, high) = answer["ratio"], answer["interval"]
    return {
        "of": f"{new} over {base}",
        "streams": neighbours,
        "work": truth,
        "ratio": ratio,
        "low": low,
        "high": high,
        "factor": (ratio - 1) / (truth - 1) if truth != 1 else "-",
        "holds": float(low <= truth <= high),
        "verdict": answer["verdict"],
        "warned": "yes" if any(one["slug"] == "beside_streams" for one in answer["warnings"]) else "no",
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Measure, print and judge."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COMPARISONS
    rows = []
    for neighbours in (0, NEIGHBOURS):
        for base, new, truth in KINDS:
            for _ in range(count if neighbours else 1):
                with streams(neighbours):
                    rows.append(row(base, new, truth, neighbours))
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    beside = [one for one in rows if one["streams"]]
    wrong = [
        one
        for one in beside
        if (one["verdict"] in ("faster", "slower")) and (one["work"] == 1 or one["verdict"] == "faster")
    ]
    publish(
        "streams",
        f"ratios of code bound by memory beside {NEIGHBOURS} streams, on {os.cpu_count()} cores",
        rows,
        {
            "wrong verdicts beside streams": (len(wrong), 0, "comparisons"),
            "farthest from 1, as a multiple of the truth": (
                max(one["factor"] for one in beside if one["work"] != 1),
                FACTOR,
                "times",
            ),
        },
    )


if __name__ == "__main__":
    main()
