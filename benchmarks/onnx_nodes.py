"""How many of the single nodes that ONNX Runtime passes in ONNX's own tests run again from a captured suite.

`onnx_node_cases.py` captures each in ONNX Runtime's environment; here each case goes through JSON to a child, as from
a suite file, and is measured by one sample.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from report import publish

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.registry import FRAMEWORKS, split_implementation
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.pool import Pool

SETTINGS = Settings(warmup=0, runs=1, latency=False, memory=False)
#: The most of the nodes that may not run, in per cent.
LIMIT = 2.0
#: Seconds for capturing them all.
TIMEOUT = 900.0


def capture(side: Side) -> list[dict[str, Any]]:
    """Return each single node of the tests."""
    python = interpreter(EnvironmentSpec.parse(side.environment), framework=side.framework)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cases.json")
        subprocess.run(
            [str(python), str(Path(__file__).with_name("onnx_node_cases.py")), str(file)],
            env={**os.environ, "PYTHONPATH": str(package_folder())},
            check=True,
            timeout=TIMEOUT,
        )
        result: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return result


def main() -> None:
    """Run, print and publish."""
    environment = choose_environment(EnvironmentSpec.parse("current"), "onnxruntime").text
    side = Side("onnxruntime", environment=environment, mode=FRAMEWORKS["onnxruntime"].mode)
    tests = capture(side)
    passed = [test for test in tests if test["passed"]]
    left_out = Counter(f"left out: {test['why']}" for test in passed if "case" not in test)
    failed: Counter[str] = Counter()
    with Pool(SETTINGS, print) as pool:
        for test in passed:
            if "case" not in test:
                continue
            case = Case.from_json(test["case"])
            here = replace(side, implementation=split_implementation(case.operator)[1])
            reason = pool.measure(Trial(case, here, "forward"), 0).reason
            if reason is not None:
                failed[f"{reason.slug}: {reason.message[:100]}"] += 1
                print(test["name"], reason.message)
    run = len(passed) - left_out.total() - failed.total()
    rows = [{"of the nodes that ONNX Runtime passes": "run from a suite", "nodes": run}]
    rows += [
        {"of the nodes that ONNX Runtime passes": why, "nodes": count}
        for why, count in (left_out + failed).most_common()
    ]
    held = run + failed.total()
    figures = {
        f"nodes that do not run, of {len(passed)} passed": (100 * (1 - run / len(passed)), LIMIT, "%"),
        f"nodes that do not run, of {held} that a case can hold": (100 * failed.total() / held, LIMIT, "%"),
    }
    publish("onnx_nodes", f"{len(tests)} single nodes of ONNX's tests, {len(passed)} passed", rows, figures)


if __name__ == "__main__":
    main()
