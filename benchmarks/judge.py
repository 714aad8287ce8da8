"""What a judge costs, whether its times are those of `opperf run`, and what becomes of copies of the reference.

    python benchmarks/judge.py [--framework NAME ...] [--repeats R] [--copies N] [--jobs J]

Wrong, slow and right candidates are judged as a batch, R of each, in random order: what counts is the time from one
verdict to the next, with the wait for a stand. Functions of 1 us to 5 ms are judged against themselves, and measured by
`run` before and after in the same minutes. N copies of the reference are one batch: none may be called changed. Run it
on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from report import publish

import opperf
from opperf.domain.judging import Judged

REPEATS, COPIES = 5, 200
SHAPE = (256, 256)
#: A softmax by hand for each framework, and what its calls are of.
SOFTMAX = {
    "numpy": "import numpy as np\ndef softmax(x, axis):\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
    "    return e / e.sum(axis, keepdims=True)\n",
    "torch": "import torch\ndef softmax(x, axis):\n    return torch.softmax(x, axis)\n",
}
#: The bodies of candidates, by what they are.
CANDIDATES = {
    "wrong everywhere": "def f(data, axis=-1):\n    return softmax(data, axis) * 1.01\n",
    "wrong at size": "def f(data, axis=-1):\n    y = softmax(data, axis)\n    return y * (1 + 0.01 * (len(y) > 99))\n",
    "raises": "def f(data, axis=-1):\n    raise ValueError(axis)\n",
    "far slower": "def f(data, axis=-1):\n    for _ in range(9):\n        softmax(data, axis)\n"
    "    return softmax(data, axis)\n",
    "right": "def f(data, axis=-1):\n    return softmax(data, axis)\n",
}
WRONG = ("wrong everywhere", "wrong at size", "raises")
#: Elements of a vector whose exponential takes about so long in one thread.
LENGTHS = {"1 us": 8, "20 us": 20_000, "200 us": 200_000, "5 ms": 4_000_000}
EXPONENTIAL = {
    "numpy": "import numpy as np\ndef f(x):\n    return np.exp(x)\n",
    "torch": "import torch\ndef f(x):\n    return torch.exp(x)\n",
}


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--framework", action="append", choices=[*SOFTMAX])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--copies", type=int, default=COPIES)
    parser.add_argument("--jobs", type=int, default=1)
    words = parser.parse_args()
    costs, times, copies = [], [], []
    for framework in words.framework or [*SOFTMAX]:
        if words.repeats:
            costs += [*cost_rows(framework, words.repeats, words.jobs)]
            times += [*time_rows(framework)]
        if words.copies:
            copies.append(copies_row(framework, words.copies, words.jobs))
    figures = {**cost_figures(costs), **time_figures(times)}
    for row in copies:
        changed = row["faster"] + row["slower"] + row["refused"]
        figures[f"copies of the reference in {row['framework']} called changed or refused"] = (changed, 0.0, "copies")
    publish("judge", "what judging takes", costs, figures, {"times beside `run`": times, "copies": copies})


def judge(framework: str, candidates: Sequence[str], jobs: int = 1, **others: Any) -> list[Judged]:
    """Judge sources against the framework's softmax."""
    case = {"inputs": {"data": SHAPE}} if "inputs" not in others else {}
    return list(opperf.judge(candidates, framework=framework, jobs=jobs, **{"against": "softmax", **case, **others}))


def cost_rows(framework: str, repeats: int, jobs: int) -> Iterator[dict[str, Any]]:
    """Yield what candidates of each kind take, in seconds."""
    kinds = [kind for kind in CANDIDATES for _ in range(repeats)]
    random.Random(36).shuffle(kinds)
    judgements = judge(framework, [SOFTMAX[framework] + CANDIDATES[kind] for kind in kinds], jobs)
    for kind in CANDIDATES:
        several = [one for one, other in zip(judgements, kinds) if other == kind]
        verdicts = Counter(one.verdict for one in several)
        yield {
            "framework": framework,
            "candidate": kind,
            "verdicts": ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
            "right after": middle([one.stages["right"] for one in several if "right" in one.stages]),
            "look after": middle([one.stages["look"] for one in several if "look" in one.stages]),
            "seconds": middle([one.seconds for one in several]),
            "longest": max(one.seconds for one in several),
        }


def middle(seconds: Sequence[float]) -> float:
    """Return the median; zero of none."""
    return median(seconds) if seconds else 0.0


def cost_figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float, str]]:
    """Return the figures of what judging costs."""
    figures = {}
    for framework in dict.fromkeys(row["framework"] for row in rows):
        mine = {row["candidate"]: row for row in rows if row["framework"] == framework}
        wrong = max(mine[kind]["seconds"] for kind in WRONG)
        figures[f"a wrong candidate in {framework}"] = (wrong, 1.5, "s")
        figures[f"a right one up to its quick look in {framework}"] = (mine["right"]["look after"], 5.0, "s")
        figures[f"a verdict in {framework}"] = (mine["right"]["seconds"], 30.0, "s")
    return figures


def time_rows(framework: str) -> Iterator[dict[str, Any]]:
    """Yield what calls take in the judge, hot and in a ring, over what they take in `run` just before and after."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reference.py")
        file.write_text(EXPONENTIAL[framework])
        function = f"{file}:f"
        for name, length in LENGTHS.items():
            inputs = {"x": (length,)}
            before = seconds_of(function, framework, inputs)
            (judged,) = judge(framework, [EXPONENTIAL[framework]], against=function, inputs=inputs)
            run = geometric_mean([before, seconds_of(function, framework, inputs)])
            hot, ring = (None if one is None else one.candidate for one in (judged.hot or judged.ring, judged.ring))
            yield {
                "framework": framework,
                "call": name,
                "run": run,
                "hot": hot or 0.0,
                "hot / run": (hot or 0.0) / run,
                "ring / run": (ring or 0.0) / run,
                "verdict": judged.verdict,
            }


def seconds_of(function: str, framework: str, inputs: Mapping[str, object]) -> float:
    """Return what a call takes by `run`, the median over fresh processes."""
    (record,) = opperf.run(function, framework=framework, inputs=inputs, processes=3, latency=False, memory=False)
    if record.time is None:
        raise SystemExit(f"run failed: {record.reason}")
    seconds = record.time.median
    if seconds is None:
        raise SystemExit("run took no clean samples")
    return seconds


def time_figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float, str]]:
    """Return the figures of times beside those of `run`."""
    return {
        f"hot time of {row['call']} in {row['framework']} off that of `run`": (
            100 * abs(row["hot / run"] - 1),
            10.0 if row["call"] == "1 us" else 2.0,
            "%",
        )
        for row in rows
    }


def copies_row(framework: str, copies: int, jobs: int) -> dict[str, Any]:
    """Return what copies of the reference are called."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reference.py")
        file.write_text(SOFTMAX[framework] + CANDIDATES["right"])
        sources = [f"{SOFTMAX[framework]}{CANDIDATES['right']}# copy {i}\n" for i in range(copies)]
        judgements = judge(framework, sources, jobs, against=f"{file}:f", inputs={"data": SHAPE})
    counts = Counter(one.verdict for one in judgements)
    words = {word: counts.pop(word, 0) for word in ("same", "inconclusive", "faster", "slower")}
    scores = [one.score for one in judgements if one.score]
    return {
        "framework": framework,
        **words,
        "refused": sum(counts.values()),
        "median score": middle(scores),
        "highest score": max(scores, default=0.0),
        "seconds each": middle([one.seconds for one in judgements]),
    }


if __name__ == "__main__":
    main()
