"""What replaying a trace costs: the seconds of the whole command, and the memory of its largest process.

The trace of a GPT-2 training step that PARAM ships with its replayer has 8,581 calls, 149 of them unlike, and an
optimizer whose operators take up to 9 GB of inputs.

    python benchmarks/replay_cost.py TRACE
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from report import publish

#: What a replay of such a trace may cost.
SECONDS, GIGABYTES = 100.0, 3.0


def main() -> None:
    """Replay, publish."""
    trace = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "replay.json"
        words = ["replay", str(trace), "--device", "cpu", "--output", str(output), "--top", "5"]
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "opperf", *words], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        document = json.loads(output.read_text())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * 1024 / 1e9
    reasons = Counter(record["reason"]["slug"] for record in document["records"] if record["reason"])
    coverage = document["coverage"]
    publish(
        "replay_cost",
        f"a replay of {trace.name}",
        [
            {
                "calls": coverage["calls"],
                "cases": len(document["records"]),
                "measured calls %": 100 * coverage["share_of_calls"],
                "without a time": ", ".join(f"{count} {slug}" for slug, count in reasons.items()) or "none",
                "s": seconds,
                "CPU s": used.ru_utime + used.ru_stime,
                "peak GB": peak,
            }
        ],
        {"seconds of a replay": (seconds, SECONDS, "s"), "the largest process": (peak, GIGABYTES, "GB")},
    )


if __name__ == "__main__":
    main()
