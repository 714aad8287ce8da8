"""How many problems of KernelBench opperf opens and answers with their own reference: levels 1 to 3, without a GPU.

python kernelbench.py answers PATH [--lines FILE]
python kernelbench.py verdicts PATH [--lines FILE] [--count N]

PATH is a checkout of https://github.com/ScalingIntelligence/KernelBench. Each file is read by
`kernelbench_problem.py` in PyTorch's environment, in a process of its own, at a small budget. Answers go to a file of
JSON lines as they come; problems that have one there are not read again, so that a run that was ended goes on. What
problems import beside PyTorch and NumPy, which is einops, is found by PYTHONPATH.

For `verdicts`, `opperf judge` holds the references of N drawn problems against themselves, one after the other: a line
has the verdict, why, what was scaled, and the seconds. It should be `same`, or there is a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
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
#: How many problems are judged, and how they are drawn.
COUNT, SEED = 30, 36
#: The verdict is on what is right, and not on a few per cent: beside other work three pairs tell so much.
ROUGHLY = ("--pairs", "3", "--tolerance", "10%")
#: What a problem's own reference may be called: anything else is a fault of the judge.
EXPECTED = ("same", "inconclusive", "void")


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


def problems(checkout: Path) -> dict[int, list[Path]]:
    """Return the files of each level, in order."""
    folder = checkout.absolute() / "KernelBench"
    return {level: sorted((folder / f"level{level}").glob("*.py"), key=number) for level in LEVELS}


def verdicts(files: list[Path], lines: Path) -> list[dict[str, Any]]:
    """Judge the reference of each file that has no line yet against itself, and append a line; return all lines."""
    ready = {line["file"]: line for line in map(json.loads, lines.read_text().splitlines())} if lines.exists() else {}
    for file in files:
        name = f"{file.parent.name}/{file.name}"
        if name not in ready:
            began = time.monotonic()
            ready[name] = {"file": name, **verdict_on(file), "seconds": time.monotonic() - began}
            print(json.dumps(ready[name]), flush=True)
            with lines.open("a", encoding="utf-8") as output:
                output.write(json.dumps(ready[name]) + "\n")
    return [ready[f"{file.parent.name}/{file.name}"] for file in files]


def verdict_on(file: Path) -> dict[str, Any]:
    """Return the verdict on a problem's own reference, or the message of what kept it from being judged."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "judged.json")
        command = [sys.executable, "-m", "opperf", "judge", str(file), "--against", f"kernelbench:{file}"]
        done = subprocess.run(
            [*command, *ROUGHLY, "--output", str(output)], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        if not output.exists():
            return {"verdict": "", "reason": done.stderr.strip()[-500:]}
        (judged,) = json.loads(output.read_text())["judgements"]
    return {key: judged.get(key) for key in ("verdict", "reason", "score", "ring", "pairs", "problem", "stages")}


def main() -> None:
    """Run, print and publish."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("answers", "verdicts"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--lines", type=Path)
    parser.add_argument("--count", type=int, default=COUNT)
    words = parser.parse_args()
    lines = words.lines or Path(f"kernelbench_{words.what}.jsonl")
    if words.what == "answers":
        publish_answers(problems(words.path), lines)
    else:
        publish_verdicts(problems(words.path), lines, words.count)


def publish_verdicts(levels: Mapping[int, Sequence[Path]], lines: Path, count: int) -> None:
    """Judge a sample of all levels, and publish the verdicts."""
    files = [*chain(*levels.values())]
    sample = sorted(random.Random(SEED).sample(files, count), key=files.index)
    judged = verdicts(sample, lines)
    rows: list[dict[str, Any]] = []
    for level in levels:
        counts = Counter(line["verdict"] for line in judged if line["file"].startswith(f"level{level}/"))
        rows.append({"level": level, "problems": counts.total(), **{word: counts[word] for word in EXPECTED}})
    faults = sum(line["verdict"] not in EXPECTED for line in judged)
    figures = {f"verdicts against the reference, of {count}": (float(faults), 0.0, "")}
    others = [line for line in judged if line["verdict"] != "same"]
    reasons = [{key: line[key] for key in ("file", "verdict", "reason")} for line in others]
    publish("kernelbench_verdicts", "Problems of KernelBench, judged", rows, figures, {"not `same`": reasons})


def publish_answers(levels: Mapping[int, Sequence[Path]], lines: Path) -> None:
    """Let every reference answer its own problem, and publish how many do."""
    files = [*chain(*levels.values())]
    results = answers(files, lines)
    rows, reasons = [], Counter[str]()
    for level in LEVELS:
        own = [results[f"level{level}/{file.name}"] for file in levels[level]]
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
