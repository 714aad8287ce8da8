"""The process that NVIDIA's tools are started on: which ranges it marks, and what it says of each trial."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.message.own_code import encode_trial
from opperf.domain.plan import Side, Trial
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.variables import child_variables


def batch(folder: Path, framework: str, trials: dict[str, Trial], **calls: int) -> tuple[list[str], dict[str, Any]]:
    """Run a batch; return what it printed, and the outcome of each label."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    file, outcomes = folder / "batch.json", folder / "outcomes.json"
    given = {"side": Side(framework).to_json(), "seed": 0, "folder": str(folder), "filter": "opperf"} | calls
    told = [{"label": label, "trial": encode_trial(trial)} for label, trial in trials.items()]
    file.write_text(json.dumps(given | {"outcomes": str(outcomes), "trials": told}))
    package = package_folder()
    done = subprocess.run(
        [str(python), "-m", "opperf.child.worker.batch", str(file)],
        cwd=package,
        env=child_variables(package, own_path=False, bytecode=False),
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout.splitlines(), json.loads(outcomes.read_text())


def test_each_call_after_the_warm_up_is_in_the_filters_range_and_in_its_own(tmp_path: Path) -> None:
    side = Side("null")
    case = operator("add").case("small")
    trials = {
        "opperf.0.forward": Trial(case, side, "forward"),
        "opperf.1.forward": Trial(Case("raise"), Side("null", implementation="raise"), "forward"),
        "opperf.2.backward": Trial(case, side, "backward"),
    }
    printed, outcomes = batch(tmp_path, "null", trials, warmup=3, iterations=2)
    within = {
        label: ["start opperf", f"start {label}", f"end {label}", "end opperf"]
        for label in ("opperf.0.forward", "opperf.2.backward")
    }
    assert printed == [f"range {text}" for calls in within.values() for text in (*calls, *calls)]
    assert (outcomes["opperf.0.forward"], outcomes["opperf.2.backward"]) == (None, None)
    assert outcomes["opperf.1.forward"]["message"] == "this operator always raises"


def test_pytorch_marks_ranges_or_says_that_its_build_has_none(tmp_path: Path) -> None:
    trials = {"opperf.0.forward": Trial(operator("add").case("small"), Side("torch"), "forward")}
    _, outcomes = batch(tmp_path, "torch", trials, warmup=0, iterations=1)
    failure = outcomes["opperf.0.forward"]
    assert failure is None or failure["slug"] == "no_ranges", failure


def test_a_framework_without_ranges_is_the_reason_of_every_trial(tmp_path: Path) -> None:
    trials = {"opperf.0.forward": Trial(operator("add").case("small"), Side("numpy"), "forward")}
    _, outcomes = batch(tmp_path, "numpy", trials, warmup=0, iterations=1)
    assert outcomes["opperf.0.forward"]["slug"] == "no_ranges"
