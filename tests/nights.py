"""A database of made-up nights: builds of two frameworks against their anchors, runs with samples, and a suite.

`matmul` takes 9 % more from the tenth build on; one operator has a name that would act in a page if it could.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from tests.unit.parent.reports.conftest import statistics

from opperf.domain.case import Case
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Warning
from opperf.domain.record import Record, Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.floor import Floor, NoiseRun
from opperf.parent.pages.server.app import application
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

BEGIN = datetime(2026, 10, 1, 3, tzinfo=timezone.utc)
ODD = "<img src=x onerror=alert(1)>"
OPERATORS = ("matmul", "add", "softmax", "layer_norm", "conv2d", "sum", "exp", "take", "sort", ODD)
#: Operations for each byte.
INTENSITY = {"matmul": 80.0, "conv2d": 40.0, "add": 0.1, "softmax": 0.6, "sum": 0.25}
MACHINE = {
    "cpu": "AMD EPYC",
    "cores_logical": 2,
    "cores_usable": 2,
    "memory_total": 2**33,
    "governor": "powersave",
    "kernel": "6.1",
}
CHANGE, SIZE = 10, 1.09


def case(operator: str) -> Case:
    """Return the one case of an operator."""
    return Case(operator, {"data": TensorSpec((1024, 256))})


def archive(
    path: Path | str, *, nights: int = 30, operators: tuple[str, ...] = OPERATORS, runs: bool = True
) -> Archive:
    """Return a database of so many nights, made at this place."""
    store = Archive(Address.of(str(path)))
    rand = random.Random(7)
    for number in range(nights):
        started = (BEGIN + timedelta(days=number)).isoformat()
        store.add(_comparisons(number, started, rand, operators))
        if runs and number % 5 == 0:
            store.add(_run(number, started, rand, operators), samples=True)
    if nights:
        store.add(_noise(operators))
    return store


def _noise(operators: tuple[str, ...]) -> NoiseRun:
    started = BEGIN.isoformat()
    run = Run("floors", started, ("opperf", "noise"), Settings(), environment={"machine": MACHINE})
    floors = []
    for place, operator in enumerate(operators):
        trial, moved = Trial(case(operator), Side("numpy", "numpy"), "forward"), 0.004 + 0.001 * place
        floors.append(Floor(trial, 1e-5, 7, 0.006, moved, 0.03 + 0.002 * place, 0, 3, started))
    return NoiseRun(run, tuple(floors), (), 0.02)


def _level(operator: str, number: int) -> float:
    return SIZE if operator == "matmul" and number >= CHANGE else 1.0


def _comparisons(number: int, started: str, rand: random.Random, operators: tuple[str, ...]) -> ComparisonRun:
    several = []
    for framework, anchor, series in (("torch", "2.11.0", "2.12"), ("numpy", "2.2.0", "2.3")):
        build = f"{series}.dev{number:02}"
        for operator in operators:
            ratio, error = _level(operator, number) * math.exp(rand.gauss(0, 0.004)), 0.004
            interval = (ratio * math.exp(-2 * error), ratio * math.exp(2 * error))
            word = "slower" if interval[0] > 1.02 else "same"
            base, new = (Side(framework, f"{framework}=={version}") for version in (anchor, build))
            pairs = (tuple(math.log(ratio) + rand.gauss(0, 0.008) for _ in range(7)),)
            verdict = Verdict(word, ratio, interval, "both stages agree", 7)
            one = Comparison(case(operator), "forward", base, new, verdict, 1e-3, ratio * 1e-3, log_ratios=pairs)
            several.append(replace(one, base_version=anchor, new_version=build))
    run = Run(f"night-{number:02}", started, ("opperf", "nightly"), Settings(), environment={"machine": MACHINE})
    return ComparisonRun(run, tuple(several))


def _run(number: int, started: str, rand: random.Random, operators: tuple[str, ...]) -> Run:
    facts = [
        {"framework": name, "environment": name, "version": f"{anchor}dev{number:02}"}
        for name, anchor in (("torch", "2.12."), ("numpy", "2.3."))
    ]
    suite = {"name": "small net", "source": "capture:net.py:step", "program": None}
    environment: dict[str, Any] = {"machine": MACHINE, "frameworks": facts, "suite": suite}
    records = []
    for place, operator in enumerate(operators):
        for framework in ("torch", "numpy"):
            base = 1e-5 * 2.2 ** (place % 10) * (1 if framework == "torch" else 1.6) * _level(operator, number)
            records.append(_record(operator, framework, base, place, rand))
    labels = {"branch": "main"}
    return Run(f"run-{number:02}", started, ("opperf", "run"), Settings(), labels, environment, tuple(records))


def _record(operator: str, framework: str, base: float, place: int, rand: random.Random) -> Record:
    walls = [
        [int(1e9 * base * rand.lognormvariate(0.02 * process, 0.03)) + 1 for _ in range(60)] for process in range(3)
    ]
    columns = [{"overhead_ns": 0.0, "calls": [1] * 60, "wall_ns": wall, "cpu_ns": wall} for wall in walls]
    times = statistics(base * 1.02, interval=(base * 0.99, base * 1.05), interval_reason=None, processes=3, samples=180)
    metrics: dict[str, Any] = {"time": times, "memory_peak": Quantity(4e6 + place, "profiler")}
    facts: dict[str, Any] = {}
    if operator in INTENSITY:
        moved = 1e10 * base / (4 if framework == "numpy" else 2) / (INTENSITY[operator] ** 0.5)
        flops = moved * INTENSITY[operator]
        metrics |= {"flops": Quantity(flops, "formula"), "bytes": Quantity(moved, "formula")}
        bound = ("compute", flops / 1e11) if flops / 1e11 > moved / 2.5e10 else ("memory", moved / 2.5e10)
        facts["roofline"] = {"bound": bound[0], "seconds": bound[1]}
    doubts = (Warning("drifting", "the last third of the samples took longer", None),) if place == 3 else ()
    trial = Trial(case(operator), Side(framework, framework), "forward", "suite:small net", 1 + place % 4)
    return Record(trial, "ok", metrics=metrics, warnings=doubts, facts=facts, samples={"time": columns})


@contextmanager
def serving(store: Archive, *, port: int = 0, **more: Any) -> Iterator[str]:
    """Serve a database on a free port of this machine, in a thread; yields the address of the first page."""
    app = application(store, hosts=["127.0.0.1"], **more)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        store.engine.dispose()
