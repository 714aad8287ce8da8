"""What a judge costs, and what becomes of copies of the reference.

    python benchmarks/judge.py costs [--framework NAME ...] [--repeats R] [--jobs J]
    python benchmarks/judge.py copies [--framework NAME] [--copies N] [--jobs J] [--pairs P] [--lines FILE]

Wrong, slow and right candidates are judged as a batch, R of each, in random order: what counts is the time from one
verdict to the next, with the wait for a stand. Run it on a machine that does nothing else.

N copies of the reference are another batch, on small inputs: none may be called changed, and the more there are, the
more certain each verdict has to be. P pairs are the first look at a copy, as with `opperf judge --pairs`: with 3 a copy
has up to 8 in the first stage. What it takes is its pairs, in which two stands warm up and rounds are timed; meanwhile
the framework is imported for the next pair, which takes 0.4 s (PyTorch: 1.2 s). Judgements go to FILE as they come: a
run that was ended goes on.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from report import publish

import opperf
from opperf.parent.documents.candidates import Judged

REPEATS, COPIES = 5, 200
#: Pairs of the first look at a copy.
COPY_PAIRS = 3
SHAPE = (256, 256)
#: What copies are of: calls so short that values for them, and the truth about them, cost little beside the stands.
SMALL = (32, 32)
#: Stages of a verdict by their names in a record, and when each is over.
STAGES = ("load", "tiny", "size", "right", "look")
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


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("costs", "copies"))
    parser.add_argument("--framework", action="append", choices=[*SOFTMAX])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--copies", type=int, default=COPIES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=COPY_PAIRS)
    parser.add_argument("--lines", type=Path, default=Path("judge_copies.jsonl"))
    words = parser.parse_args()
    frameworks = words.framework or [*SOFTMAX]
    if words.what == "costs":
        rows = [row for framework in frameworks for row in cost_rows(framework, words.repeats, words.jobs)]
        publish("judge", "what judging takes, in seconds", rows, cost_figures(rows))
    else:
        row = copies_row(frameworks[0], words.copies, words.jobs, words.pairs, words.lines)
        changed = row["faster"] + row["slower"] + row["refused"]
        figures = {f"copies of the reference in {row['framework']} called changed or refused": (changed, 0.0, "copies")}
        publish("judge_copies", "copies of the reference", [row], figures)


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
            **{stage: middle(reached) if (reached := seconds_until(stage, several)) else "" for stage in STAGES},
            "seconds": middle([one.seconds for one in several]),
            "longest": max(one.seconds for one in several),
        }


def seconds_until(stage: str, judgements: Sequence[Judged]) -> list[float]:
    """Return when a stage was over, of each judgement that came so far."""
    return [judged.stages[stage] for judged in judgements if stage in judged.stages]


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
        figures[f"a right one up to its quick look in {framework}"] = (mine["right"]["look"], 5.0, "s")
        figures[f"a verdict in {framework}"] = (mine["right"]["seconds"], 30.0, "s")
    return figures


def copies_row(framework: str, copies: int, jobs: int, pairs: int, lines: Path) -> dict[str, Any]:
    """Return what copies of the reference are called."""
    file = lines.with_suffix(".py")
    file.write_text(SOFTMAX[framework] + CANDIDATES["right"])
    sources = [f"{SOFTMAX[framework]}{CANDIDATES['right']}# copy {i}\n" for i in range(copies)]
    small = {"against": f"{file}:f", "inputs": {"data": SMALL}}
    judgements = judge(framework, sources, jobs, pairs=pairs, output=lines, resume=True, **small)
    counts = Counter(one.verdict for one in judgements)
    words = {word: counts.pop(word, 0) for word in ("same", "inconclusive", "faster", "slower")}
    scores = [one.score for one in judgements if one.score]
    return {
        "framework": framework,
        **words,
        "refused": sum(counts.values()),
        "median score": middle(scores),
        "highest score": max(scores, default=0.0),
        "pairs each": middle([one.pairs for one in judgements]),
        "seconds each": middle([one.seconds for one in judgements]),
        "minutes": sum(one.seconds for one in judgements) / 60,
    }


if __name__ == "__main__":
    main()
