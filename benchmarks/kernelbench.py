"""How many problems of KernelBench opperf opens and answers with their own reference: levels 1 to 3, without a GPU.

python kernelbench.py PATH [LINES]
python kernelbench.py judge LINES FILE...

PATH is a checkout of https://github.com/ScalingIntelligence/KernelBench. Each file is read by
`kernelbench_problem.py` in PyTorch's environment, in a process of its own, at a small budget. Answers go to LINES as
they come; files that have one there are not read again, so that a run that was ended goes on. What problems import
beside PyTorch and NumPy, which is einops, is found by PYTHONPATH.

With `judge`, `opperf judge` holds the reference of each file against itself, one after the other: a line of LINES has
the verdict, why, what was scaled, and the seconds. It should be `same`, or there is a reason. Give it a quiet machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from report import publish

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

LEVELS = (1, 2, 3)
#: Bytes that inputs, results and weights of a problem may take, where its sizes can make them so small.
BUDGET = 2_000_000
#: The most that may not be answered, in per cent: what draws random numbers in each call has no answer.
LIMIT = 5.0
#: Seconds that judging one problem may take.
DEADLINE = 1800


def number(path: Path) -> int:
    """Return the number of a problem, which its name begins with."""
    match = re.match(r"\d+", path.name)
    return int(match[0]) if match else 0


def answers(files: list[Path], lines: Path) -> dict[str, dict[str, Any]]:
    """Return what became of each file, by level and name."""
    ready = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    names = {one["file"] for one in ready}
    rest = [file for file in files if f"{file.parent.name}/{file.name}" not in names]
    if rest:
        python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
        script = Path(__file__).with_name("kernelbench_problem.py")
        fresh = lines.with_suffix(".part")
        command = [str(python), str(script), str(BUDGET), str(fresh), *map(str, rest)]
        path = os.pathsep.join([str(package_folder()), *filter(None, [os.environ.get("PYTHONPATH")])])
        subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True)
        ready += [json.loads(line) for line in fresh.read_text().splitlines()]
        lines.write_text("".join(json.dumps(one) + "\n" for one in ready))
        fresh.unlink()
    return {one["file"]: one for one in ready}


def judge(lines: Path, files: list[Path]) -> None:
    """Judge the reference of each file that has no line yet against itself, and append a line."""
    ready = {json.loads(line)["file"] for line in lines.read_text().splitlines()} if lines.exists() else set()
    for file in files:
        name = f"{file.parent.name}/{file.name}"
        if name not in ready:
            began = time.monotonic()
            line = {"file": name, **verdict_on(file), "seconds": time.monotonic() - began}
            print(json.dumps(line), flush=True)
            with lines.open("a", encoding="utf-8") as output:
                output.write(json.dumps(line) + "\n")


def verdict_on(file: Path) -> dict[str, Any]:
    """Return the verdict on a problem's own reference, or the message of what kept it from being judged."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "judged.json")
        command = [sys.executable, "-m", "opperf", "judge", str(file), "--against", f"kernelbench:{file}"]
        done = subprocess.run(
            [*command, "--output", str(output)], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        if not output.exists():
            return {"verdict": "", "reason": done.stderr.strip()[-500:]}
        (judged,) = json.loads(output.read_text())["judgements"]
    return {key: judged.get(key) for key in ("verdict", "reason", "score", "ring", "pairs", "problem", "stages")}


def main() -> None:
    """Run, print and publish."""
    if sys.argv[1] == "judge":
        judge(Path(sys.argv[2]), [Path(file).absolute() for file in sys.argv[3:]])
    else:
        publish_all()


def publish_all() -> None:
    """Let every reference answer its own problem, and publish how many do."""
    folder = Path(sys.argv[1], "KernelBench")
    lines = Path(sys.argv[2] if len(sys.argv) > 2 else "kernelbench.jsonl")
    files = [file for level in LEVELS for file in sorted((folder / f"level{level}").glob("*.py"), key=number)]
    results = answers(files, lines)
    rows, reasons = [], Counter[str]()
    for level in LEVELS:
        own = [results[f"level{level}/{file.name}"] for file in files if file.parent.name == f"level{level}"]
        good = [one for one in own if not one["reason"]]
        rows.append(
            {
                "level": level,
                "files": len(own),
                "answered by their own reference": len(good),
                "scaled": sum(one["scaled"] for one in good),
                "weights or results over the budget": sum(one["over_budget"] for one in good),
                "inputs drawn by the problem": sum(one["drawn_by_itself"] for one in good),
                "with undisclosed sizes": sum(one["hidden"] > 0 for one in good),
                "agreeing in float64": sum(not one["float64"] for one in good),
            }
        )
        reasons.update(f"{one['file']}: {one['reason']}" for one in own if one["reason"])
    missing = 100 * len([one for one in results.values() if one["reason"]]) / len(files)
    figures = {f"problems that are not answered, of {len(files)}": (missing, LIMIT, "%")}
    more = {"not answered": [{"problem": name, "times": count} for name, count in reasons.items()]}
    wide = [{"problem": one["file"], "reason": one["float64"]} for one in results.values() if one.get("float64")]
    publish("kernelbench", "Problems of KernelBench", rows, figures, {**more, "not as in float64": wide})


if __name__ == "__main__":
    main()
