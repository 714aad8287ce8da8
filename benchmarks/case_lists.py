"""How much of a folder of operator logs opperf reads, and how much of that it measures here.

python benchmarks/case_lists.py FOLDER                        reads each `*.txt` below it, and counts what no case holds
python benchmarks/case_lists.py FOLDER --run 300              measures the smallest case of each operator and 300 others
                                                              in PyTorch, and counts statuses by reason

The logs are those of PyTorch's `benchmarks/dynamo/microbenchmarks/operator_inp_logs`, which TritonBench ships too; get
them yourself. Lines are counted apart from opperf's reader, by what they begin with. Measured quickly, on one thread:
what counts is whether a case can be called, not how long that takes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.sources.suite_file import read_suite

SEED = 40
#: Quick settings, and the bytes of inputs beyond which a case is for a larger machine.
RUN = ("--framework", "torch", "--warmup", "0", "--runs", "2", "--timeout", "60")
MOST_BYTES = 1 << 25


def read(folder: Path) -> list[SuiteCase]:
    """Read all logs, print what was read, and return the cases."""
    lines, refused, left_out = 0, 0, Counter[str]()
    cases: list[SuiteCase] = []
    for path in sorted(folder.rglob("*.txt")):
        own = sum(line.startswith("cnt:") for line in path.read_text().splitlines())
        lines += own
        try:
            suite = read_suite(path)
        except InputError as error:
            refused += own
            print(error)
            continue
        cases += suite.cases
        left_out.update({one.reason: one.count for one in suite.left_out})
    calls = sum(entry.count for entry in cases)
    print(f"{lines} lines, {refused} in files that were refused; {len(cases)} cases of {calls} calls")
    for reason, count in left_out.most_common():
        print(f"  {count} calls left out: {reason}")
    return cases


def sample(cases: Iterable[SuiteCase], count: int) -> list[SuiteCase]:
    """Return the smallest case of each operator, and some others, each once."""
    smallest: dict[str, SuiteCase] = {}
    distinct = {entry.case.id: entry for entry in cases}.values()
    several = [entry for entry in distinct if entry.case.input_bytes <= MOST_BYTES]
    print(
        f"{len(distinct)} different cases; {len(distinct) - len(several)} have more than {MOST_BYTES:,} bytes of inputs"
    )
    for entry in sorted(several, key=lambda entry: entry.case.input_bytes):
        smallest.setdefault(entry.case.operator, entry)
    others = random.Random(SEED).sample(several, min(count, len(several)))
    return list({entry.case.id: entry for entry in (*smallest.values(), *others)}.values())


def measure(cases: list[SuiteCase]) -> None:
    """Measure cases, and print how many have which status and reason."""
    with tempfile.TemporaryDirectory() as folder:
        suite, result = Path(folder, "suite.json"), Path(folder, "result.json")
        suite.write_text(json.dumps(Suite("case lists", "sample", tuple(cases)).to_json()))
        command = [sys.executable, "-m", "opperf", "run", "--suite", str(suite), *RUN, "--output", str(result)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        records = json.loads(result.read_text())["records"]
    print(f"{len(records)} measured: {dict(Counter(record['status'] for record in records))}")
    reasons = Counter((record["status"], *_reason(record)) for record in records if record["status"] != "ok")
    for (status, slug, operator, message), count in sorted(reasons.items(), key=lambda item: (item[0][1], -item[1])):
        print(f"  {count} {status} {slug}: {operator}: {message}")


def _reason(record: Mapping[str, object]) -> tuple[str, str, str]:
    reason, case = record["reason"], record["case"]
    if not isinstance(reason, dict) or not isinstance(case, dict):
        raise SystemExit(f"a record without a reason: {record}")
    if reason["slug"] == "short_of_memory":
        return reason["slug"], "", ""
    return reason["slug"], case["operator"], reason["message"].splitlines()[0][:150]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--run", type=int, metavar="N", help="measure the smallest case of each operator, and N others")
    arguments = parser.parse_args()
    everything = read(arguments.folder)
    if arguments.run is not None:
        measure(sample(everything, arguments.run))
