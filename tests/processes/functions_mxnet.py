"""Run in MXNet's environment: the functions of `opperf.profiler` on MXNet's own profiler; print what they did."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mxnet import nd

from opperf import profiler
from opperf.domain.errors import InputError

SQUARE = nd.ones((512, 512))
FILE = Path(sys.argv[1])
OPERATORS = ("dot", "exp", "relu")


def counts() -> dict[str, int]:
    """Return how often each operator of the script was seen since the last time, without the engine's own."""
    operators = json.loads(profiler.get_summary(reset=True))["Time"].get("operator", {})
    return {name: told["Count"] for name, told in operators.items() if name in OPERATORS}


def refused(attempt: Callable[[], Any]) -> list[str]:
    """Return the slug and the message of what was refused; nothing where it was not."""
    try:
        attempt()
    except InputError as error:
        return [error.slug, error.message]
    return []


result: dict[str, Any] = {"stopped": [refused(profiler.pause), refused(lambda: profiler.set_state("stop"))]}
profiler.set_config(profile_all=True, filename=str(FILE))
result["state"] = refused(lambda: profiler.set_state("go"))

for _ in range(20):
    nd.dot(SQUARE, SQUARE)
profiler.set_state("run")
for _ in range(10):
    nd.relu(SQUARE)
profiler.pause()
for _ in range(10):
    nd.exp(SQUARE)
profiler.resume()
for _ in range(10):
    nd.relu(SQUARE)
result["running"] = [
    refused(lambda: profiler.set_state("run")),
    refused(lambda: profiler.set_config(profile_all=True)),
    refused(profiler.resume),
    refused(profiler.dump),
    refused(lambda: profiler.profile().__enter__()),
]
profiler.set_state("stop")
result["seen"] = counts()

profiler.set_state("run")
nd.relu(SQUARE)
profiler.set_state("stop")
profiler.dumps()
profiler.dump()
profiler.dump()
dumped = json.loads(FILE.read_text())["traceEvents"]
result["dumped"] = [event["name"] for event in dumped if event["ph"] == "B"]
result["ids"] = [event[key] for event in dumped for key in ("pid", "tid", "id") if key in event]
print(json.dumps(result))
