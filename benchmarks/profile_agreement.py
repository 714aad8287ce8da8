"""How far a profile agrees with others: with the framework's own report, and with operators measured by themselves.

* Steps of the examples' network run under opperf's profiler, and the framework's own report of the same run is kept.
  Operator by operator, the totals are compared (`agreed_profiles.py`).
* Operators run under opperf's profiler in turn with opperf's engine, which measures them alone, in one process with the
  same tensors (`alternating_profiles.py`). What a call takes in the one is divided by what it takes in the other, right
  before or after; of many such turns the median is judged. The way from Python to the operator is outside of the
  operator's time in a profile, and within that of a call alone: after a millisecond's work on other memory it runs from
  cold caches, and takes several times what it takes between short operators. The profile has it as what lies between
  operators. So the operator is judged with its way, and without.
* Scripts that call one operator and nothing else (`one_operator_*.py`) run under `opperf profile`, each in turn with
  `opperf run` of the same case. These are two processes at two times, and `opperf run` moves from one to the next, too:
  that stands beside them. Both have one thread, and hold on to memory that was freed, but for JAX's profile. What a
  call takes in a profile with the allocator as it comes is told, too.
* A profiler writes down each operator while its clock runs. Short operators show that: so only those that take over
  100 us are judged, and a short one is looked at besides, as a call takes it without the profiler, with it, and as the
  profile has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from report import publish

from opperf.catalog import operator
from opperf.child.backends.common.threads import VARIABLES
from opperf.domain.case import Case
from opperf.domain.profile.event import parents
from opperf.domain.profile.watching import ONE_BY_ONE
from opperf.domain.stats.order import median
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.reports.text import case_text
from opperf.parent.store.documents import read_profile, read_run
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

HERE = Path(__file__).resolve().parent
FRAMEWORKS = ("torch", "mxnet", "jax")
CASES = [operator(name).case("common") for name in ("matmul", "softmax", "conv2d", "add")] + [
    operator("add").case("small")
]
#: Turns of a profiled script and a run, and calls of the operator in a script.
ROUNDS, CALLS = 5, 300
#: The shortest operator that is judged, in seconds; and by how much the two may differ, in percent.
LEAST, MOST_APART, MOST_APART_IN_TOTAL = 100e-6, 10.0, 1.0
#: What is judged of those that alternate, with its column.
ITS_TIMES = {"the operator": "operator apart %", "the operator with the way to it": "call apart %"}
#: Where the profiled script holds on to freed memory, as a run does. JAX's profiler takes memory of its own between two
#: results, so that freed ones are not used again: there the allocator that comes has the fewer fresh pages.
ALLOCATORS = {"torch": "fixed", "mxnet": "fixed", "jax": "default"}
#: What a child of opperf sets for itself: one thread, MXNet's engine.
ALIKE = {
    **dict.fromkeys((*VARIABLES, "NPROC"), "1"),
    "JAX_PLATFORMS": "cpu",
    "MXNET_ENGINE_TYPE": "NaiveEngine",
}
#: How each framework's steps are run that its own report is kept of.
RUNS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "torch": ("torch", ALIKE),
    "mxnet, naive engine": ("mxnet", ALIKE),
    "mxnet, operators one by one": (
        "mxnet",
        {**ALIKE, "MXNET_ENGINE_TYPE": "ThreadedEnginePerDevice", **ONE_BY_ONE},
    ),
    "jax": ("jax", ALIKE),
}


def said(script: str, framework: str, *words: str, variables: Mapping[str, str] = ALIKE) -> Any:
    """Return what a script beside this one prints in a framework's environment."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    command = [str(python), "-W", "ignore", str(HERE / script), *words]
    told = {**os.environ, **variables, "PYTHONPATH": str(package_folder())}
    done = subprocess.run(command, env=told, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def apart(ours: Mapping[str, Sequence[float]], theirs: Mapping[str, Sequence[float]]) -> float:
    """Return by how many percent the total of the operator is off that is off most.

    What one of the two lacks, or counts otherwise, is off by all of it.
    """
    result = [0.0]
    for name in ours.keys() | theirs.keys():
        calls, total = ours.get(name, (0, 0.0))
        own_calls, own_total = theirs.get(name, (0, 0.0))
        if calls != own_calls:
            result.append(100.0)
        elif total != own_total:
            result.append(100 * abs(total - own_total) / max(total, own_total))
    return max(result)


def report_row(name: str, framework: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return how opperf's totals and the framework's own agree."""
    told = said("agreed_profiles.py", framework, "totals", framework, variables=variables)
    ours, theirs = told["ours"], told["theirs"]
    return {
        "program": name,
        "operators": len(ours),
        "calls": sum(calls for calls, _ in ours.values()),
        "total ms": 1e3 * sum(seconds for _, seconds in ours.values()),
        "its own report ms": 1e3 * sum(seconds for _, seconds in theirs.values()),
        "most apart %": apart(ours, theirs),
    }


def opperf(*words: object) -> None:
    """Run a command of opperf, which prints to nobody."""
    command = [sys.executable, "-m", "opperf", *map(str, words)]
    variables = {**os.environ, **ALIKE}
    subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def alone(framework: str, case: Case, folder: Path) -> float:
    """Return what a call takes by itself, in seconds."""
    suite, result = folder / "suite.json", folder / "result.json"
    suite.write_text(json.dumps(Suite("one operator", Path(__file__).name, (SuiteCase(case),)).to_json()))
    asked = ("--framework", framework, "--direction", "forward", "--no-check")
    opperf("run", "--suite", suite, *asked, "--output", result, "--force")
    (record,) = read_run(result).records
    assert record.time is not None
    return record.time.value


def in_profile(framework: str, case: Case, folder: Path, allocator: str) -> tuple[float, float]:
    """Return what a call takes in the profile of a script that does nothing else, in seconds.

    The operator's own time comes first, then what lies between two operators. A run leaves out what the machine
    disturbed, and a profile cannot: so of the operator the usual time is taken, which the two have in common.
    """
    shapes = ["x".join(map(str, case.tensor(name).shape)) for name in case.inputs]
    asked = ("--output", folder, "--allocator", allocator, "--function", "__main__:measured", "--skip", 1, "--calls", 1)
    opperf("profile", *asked, HERE / f"one_operator_{framework}.py", case.operator, CALLS, *shapes)
    (file,) = folder.glob("opperf_profile_*.json")
    profile = read_profile(file)
    file.unlink()
    events = profile.of_kind("operator")
    (step,) = profile.of_kind("step")
    lengths: dict[str, list[int]] = defaultdict(list)
    for event, around in zip(events, parents(events)):
        if around is None:
            lengths[event.name].append(event.duration)
    usual = sum(median(several) * len(several) for several in lengths.values())
    between = step.duration - sum(map(sum, lengths.values()))
    return usual / CALLS / 1e9, between / CALLS / 1e9


def moved(values: Sequence[float]) -> float:
    """Return by how many percent one value usually differs from the one before."""
    return 100 * median([abs(later / earlier - 1) for earlier, later in pairwise(values)])


def single_row(framework: str, case: Case, folder: Path) -> dict[str, Any]:
    """Return how a case compares in a profile and alone, in processes of their own: medians over several turns."""
    taken = [
        (*in_profile(framework, case, folder, ALLOCATORS[framework]), alone(framework, case, folder))
        for _ in range(ROUNDS)
    ]
    return {
        **compare(framework, case, [(by_itself, *seen) for *seen, by_itself in taken]),
        "alone moves %": moved([by_itself for *_, by_itself in taken]),
        "allocator as it comes us": 1e6 * in_profile(framework, case, folder, "default")[0],
    }


def alternating_rows(framework: str) -> list[dict[str, Any]]:
    """Return how cases compare in a profile and alone, in turns of one process."""
    cases = [json.dumps(case.to_json()) for case in CASES]
    result = said("alternating_profiles.py", framework, framework, *cases)
    return [compare(framework, case, turns) for case, turns in zip(CASES, result)]


def compare(framework: str, case: Case, turns: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return a case's row: medians of what a call took alone, in a profile, and between two there, and of ratios."""
    alone, usual, way = (median(seconds) for seconds in zip(*turns))
    return {
        "framework": framework,
        "operator": case.operator,
        "case": case_text(case),
        "alone us": 1e6 * alone,
        "in a profile us": 1e6 * usual,
        "the way to it us": 1e6 * way,
        "operator apart %": 100 * (median([operator / by_itself for by_itself, operator, _ in turns]) - 1),
        "call apart %": 100 * (median([(operator + way) / by_itself for by_itself, operator, way in turns]) - 1),
    }


def cost_row(framework: str) -> dict[str, Any]:
    """Return what a short operator takes, watched and not, and what its profile says."""
    told = said("agreed_profiles.py", framework, "cost", framework)
    return {
        "framework": framework,
        "a call us": 1e6 * told["alone"],
        "profiled us": 1e6 * told["profiled"],
        "in the profile us": 1e6 * told["in the profile"],
        "the script pays us": 1e6 * (told["profiled"] - told["alone"]),
    }


def main() -> None:
    """Measure, print and judge."""
    reports = [report_row(name, *how) for name, how in RUNS.items()]
    alternating = [row for framework in FRAMEWORKS for row in alternating_rows(framework)]
    with tempfile.TemporaryDirectory() as folder:
        singles = [single_row(framework, case, Path(folder)) for framework in FRAMEWORKS for case in CASES]
    figures: dict[str, tuple[float, float, str]] = {
        f"{row['program']}: the total that is furthest from its own report": (
            row["most apart %"],
            MOST_APART_IN_TOTAL,
            "%",
        )
        for row in reports
    }
    for framework in FRAMEWORKS:
        judged = [row for row in alternating if row["framework"] == framework and row["alone us"] >= 1e6 * LEAST]
        for what, key in ITS_TIMES.items():
            worst = max((abs(row[key]) for row in judged), default=0.0)
            figures[f"{framework}: {what}, of over 100 us, in a profile from alone"] = (
                worst,
                MOST_APART,
                "%",
            )
    publish(
        "profile_agreement",
        "ten steps of a network: opperf's totals beside the framework's own",
        reports,
        figures,
        {
            "an operator in a profile, in turn with the operator alone": alternating,
            "the same in processes of their own, one after the other": singles,
            "an addition of 32x32, watched and not": [cost_row(framework) for framework in FRAMEWORKS],
        },
    )


if __name__ == "__main__":
    main()
