"""How long `opperf compare --suite` takes to decide a whole model, and its ten largest cases.

A UNet on PyTorch against itself with neither AVX nor FMA, so that most of its convolutions take more than twice as
long; and a detector with transformers by one thread against two. Both suites are captured from `user_models`. Beside
the wall time stands what the command and its children had of the CPUs until its end: on a busy machine the first says
little, and on a quiet one both are nearly the same.

    python benchmarks/wholes.py [unet] [detector]

One alone leaves the row of the other as it is. Run it on a quiet machine.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from report import RESULTS, publish

MODELS = Path(__file__).with_name("user_models") / "large_torch.py"
#: The new side of each, and the seconds in which the whole is to be decided.
SIDES = {
    "unet": ("torch;env.ONEDNN_MAX_CPU_ISA=SSE41;env.ATEN_CPU_CAPABILITY=default", 60.0),
    "detector": ("torch;threads=2", 120.0),
}
#: How many of the largest cases are decided for their own sake, and in which time.
LARGEST, LARGEST_SECONDS = 10, 120.0


def compare(name: str, new: str, folder: Path) -> dict[str, Any]:
    """Capture a model and compare its suite; return what that took and said."""
    suite, output = folder / f"{name}.json", folder / f"{name}-compared.json"
    opperf = (sys.executable, "-m", "opperf")
    subprocess.run([*opperf, "capture", f"{MODELS}:{name}", "--output", str(suite)], check=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = ("compare", "--suite", str(suite), "--base", "torch;threads=1", "--new", new, "--output", str(output))
    decided, last, pairs = 0.0, "", 0
    with subprocess.Popen([*opperf, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            print(f"{time.monotonic() - began:6.1f} s  {line.rstrip()}", flush=True)
            if match := re.search(r"(\d+) pairs decide the whole: (.*); its", line):
                decided, pairs, last = time.monotonic() - began, int(match[1]), match[2]
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    document = json.loads(output.read_text())
    cases = sorted(document["comparisons"], key=lambda one: -one["count"] * (one["base_time"] or 0.0))
    words_of = [Counter(one["verdict"] for one in several) for several in (cases[:LARGEST], cases[LARGEST:])]
    largest, others = (", ".join(f"{count} {word}" for word, count in words.items()) for words in words_of)
    (whole,) = document["wholes"]
    return {
        "suite": name,
        "cases": len(cases),
        "whole after s": decided or wall,
        "pairs": pairs,
        "it says": last or "open",
        "all after s": wall,
        "CPU s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "ratio": whole["new_time"] / whole["base_time"],
        "largest": largest,
        "others": others,
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Compare, print and judge."""
    file = RESULTS / "wholes.json"
    rows = {row["suite"]: row for row in json.loads(file.read_text())["rows"]} if file.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or SIDES:
            rows[name] = compare(name, SIDES[name][0], Path(folder))
    figures = {
        f"{name}: the whole": (rows[name]["whole after s"], SIDES[name][1], "s") for name in SIDES if name in rows
    }
    if "unet" in rows:
        figures["unet: its largest cases"] = (rows["unet"]["all after s"], LARGEST_SECONDS, "s")
    publish("wholes", "suites of models", [rows[name] for name in SIDES if name in rows], figures)


if __name__ == "__main__":
    main()
