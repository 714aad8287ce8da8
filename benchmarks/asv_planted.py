"""Ten benchmarks of an asv suite that take 5 % longer on one side: opperf finds them, and calls no other changed.

    python benchmarks/asv_planted.py SUITE [--select REGEX] [--environment NUMPY] [--seed NUMBER]

SUITE is the folder that holds `asv.conf.json`. All are timed once, and ten drawn of those whose calls take from 2 us to
5 ms. In a copy of the suite each of the ten is wrapped: its first call tells how many rounds of an empty loop take a
share of its time, which a variable of the side says, and each call is followed by as many. They are none on the base,
so both sides have the same code. A clock that is waited for could not tell 5 % of calls of two microseconds: reading it
takes as long. A planted benchmark is found if opperf calls a case of it slower and none faster. The machine is quiet,
or the figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any

from asv_runs import ENVIRONMENT, FILES, benchmark_folder, opperf
from report import publish

#: How many benchmarks are planted, by how much they are slower, and how many of them have to be found.
PLANTED, SHARE, FOUND = 10, 0.05, 9
#: The seconds of a call from which and up to which a share of it is added.
SHORTEST, LONGEST = 2e-6, 5e-3
#: The variable of a side that says by which share its planted benchmarks are slower.
VARIABLE = "PLANTED_SHARE"
#: What is added to a file: it knows benchmarks by class and method.
PLANT = f"""

def _planted(function):
    import functools, itertools, os, time
    clock, share = time.perf_counter_ns, float(os.environ.get("{VARIABLE}", "0"))

    def shortest(action, *words):
        times, end = [], clock() + 20_000_000
        while len(times) < 5 or (len(times) < 200 and clock() < end):
            start = clock()
            action(*words)
            times.append(clock() - start)
        return min(times)

    def loop(rounds):
        for _ in itertools.repeat(None, rounds):
            pass

    def rounds(words):
        return round(share * shortest(function, *words) / (shortest(loop, 1000) / 1000))

    @functools.wraps(function)
    def planted(self, *words):
        result = function(self, *words)
        try:
            more = self._planted_rounds
        except AttributeError:
            more = self._planted_rounds = rounds((self, *words))
        for _ in itertools.repeat(None, more):
            pass
        return result

    return planted
"""


def candidates(asked: argparse.Namespace) -> list[str]:
    """Return the benchmarks that are methods, all of whose cases take a time to which a share can be added."""
    words = ("run", f"asv:{asked.suite}", "--environment", asked.environment, "--select", asked.select)
    brief = ("--runs", "3", "--warmup", "1", "--no-samples", "--format", "json")
    times: dict[str, list[float]] = defaultdict(list)
    for record in json.loads(opperf(*words, *brief, codes=(0, 3)))["records"]:
        time_of = record["metrics"].get("time")
        times[record["case"]["operator"]].append(time_of["median"] if time_of else 0.0)
    return sorted(
        name
        for name, seconds in times.items()
        if name.count(".") == 2 and SHORTEST < min(seconds) <= max(seconds) < LONGEST
    )


def plant(folder: Path, names: Collection[str]) -> None:
    """Wrap benchmarks in a copy of a suite."""
    for name in names:
        module, kind, method = name.split(".")
        path = folder / f"{module}.py"
        text = path.read_text()
        path.write_text(f"{text}{'' if '_planted(' in text else PLANT}\n{kind}.{method} = _planted({kind}.{method})\n")


def comparisons(asked: argparse.Namespace, names: Collection[str]) -> list[dict[str, Any]]:
    """Compare a release with itself, planted benchmarks slower on the new side."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "benchmarks"
        shutil.copytree(benchmark_folder(asked.suite), folder)
        plant(folder, names)
        output = Path(scratch) / "compared.json"
        sides = [f"{asked.environment};env.{VARIABLE}={share}" for share in (0, SHARE)]
        words = ("--select", asked.select, "--base", sides[0], "--new", sides[1], "--trial-budget", "0.1")
        opperf("compare", f"asv:{folder}", *words, "--output", str(output), codes=(0, 3))
        result: list[dict[str, Any]] = json.loads(output.read_text())["comparisons"]
    return result


def row(name: str, verdicts: Counter[str]) -> dict[str, Any]:
    """Return what was said of the cases of a planted benchmark."""
    words = {word: verdicts[word] for word in ("slower", "inconclusive", "same", "faster")}
    is_found = verdicts["slower"] > 0 == verdicts["faster"]
    return {"benchmark": name, "cases": verdicts.total(), **words, "found": "yes" if is_found else "no"}


def main() -> None:
    """Plant, compare and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--select", default=FILES)
    parser.add_argument("--environment", default=ENVIRONMENT)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    names = candidates(asked)
    planted = random.Random(asked.seed).sample(names, min(PLANTED, len(names)))
    began = time.monotonic()
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    for comparison in comparisons(asked, planted):
        verdicts[comparison["case"]["operator"]][comparison["verdict"]] += 1
    seconds = time.monotonic() - began
    rows = [row(name, verdicts[name]) for name in planted]
    others = sum((count for name, count in verdicts.items() if name not in planted), Counter[str]())
    figures = {
        "planted benchmarks not found": (
            len(planted) - sum(one["found"] == "yes" for one in rows),
            PLANTED - FOUND,
            "",
        ),
        "others called changed": (others["slower"] + others["faster"], 0, f"of {others.total()} cases"),
    }
    more = {"others": [{**others, "seconds of all": seconds}]}
    publish("asv_planted", f"{SHARE:.0%} in ten of {len(names)} benchmarks, {asked.environment}", rows, figures, more)


if __name__ == "__main__":
    main()
