"""Measure the limits of this machine: how fast each framework moves bytes and multiplies matrices on it.

They are operators of the catalog, measured like any other trial; the best sample counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Optional

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.codec import read_as
from opperf.domain.measurement import Quantity
from opperf.domain.peaks import MOVE, PRODUCT, Rate
from opperf.domain.plan import Plan, Settings, Side, Trial
from opperf.domain.record import Record, Statistics
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.summary import arithmetic
from opperf.parent.measuring.progress import Progress
from opperf.parent.measuring.session import Interrupted, Options, Session
from opperf.parent.planning.selection import Selection
from opperf.parent.store.machine_file import RATES
from opperf.parent.workers import machine
from opperf.parent.workers.package import cache_folder

#: One writes into a new tensor, one in place: whichever is faster at a size is its peak.
MOVERS = ("copy", "relu_inplace")
#: Rows of 4 KB: tensors from 16 KB, inside any cache, to 512 MB, outside any that a machine's users have to themselves.
ROWS = (4, 32, 256, 2048, 16384, 131072)
#: The share of the memory that a tensor may take.
MEMORY_SHARE = 16
#: Rows of the square matrices, by element type; half precision is slow where a processor lacks it.
PRODUCTS = {"float32": (1024,), "float64": (1024,), "bfloat16": (512,), "float16": (512,)}
#: And on a device beside the CPU, where a product of few rows takes less than its launch: the fastest counts.
PRODUCTS_OF_DEVICE = dict.fromkeys(PRODUCTS, (1024, 2048, 4096, 8192))


def measure(
    sides: Sequence[Side],
    settings: Settings,
    progress: Progress,
    plugins: Sequence[Path] = (),
    doubt: str | None = None,
) -> list[Rate]:
    """Measure each side, keep what was found for this machine, and return it.

    What a framework does not have, such as half precision, is left out. `plugins` provide further frameworks. `doubt`
    says what keeps the machine busy: then a rate is marked with it, and replaces none that is higher.
    """
    path = RATES.path(cache_folder(), machine.facts())
    RATES.prove(path)
    trials = [Trial(case, side, "forward", "peaks") for side in sides for case in cases(side.device)]
    with Session(Selection(plugins=plugins), settings, progress) as session:
        try:
            run = session.run(Plan(tuple(trials), settings), Options(keep_samples=False))
        except Interrupted as stopped:
            raise stopped.cause from None
    rates = [replace(rate, doubt=doubt) for record in run for rate in rates_of(record, run.started)]
    stored = RATES.read(path)
    RATES.add(path, [one for one in rates if not (doubt and one.key in stored and stored[one.key].rate > one.rate)])
    return rates


def cases(device: str = "cpu") -> Iterator[Case]:
    """Yield what is measured on a device: each way to move bytes at each size, then products."""
    memory = read_as(Optional[int], machine.facts().get("memory_total"), "memory_total") or 0
    for rows in ROWS:
        tensor = TensorSpec((rows, 1024))
        if tensor.nbytes * MEMORY_SHARE <= memory or rows == ROWS[0]:
            for name in MOVERS:
                yield replace(operator(name).case("common"), inputs={"data": tensor})
    for dtype, sizes in (PRODUCTS if device == "cpu" else PRODUCTS_OF_DEVICE).items():
        for rows in sizes:
            square = TensorSpec((rows, rows), dtype)
            yield replace(operator("matmul").case("common"), inputs={"lhs": square, "rhs": square})


def rates_of(record: Record, moment: str) -> Iterator[Rate]:
    """Yield the rate that a record shows, by the kernels' own time where there is one: none where it has no time."""
    case, side = record.trial.case, record.trial.side
    kind, metric = (PRODUCT, "flops") if case.operator == "matmul" else (MOVE, "bytes")
    count = record.metrics.get(metric)
    busy = record.metrics.get("device")
    time = busy if isinstance(busy, Statistics) else record.time
    least = None if time is None else time.min
    if not least or not isinstance(count, Quantity):
        return
    tensor = next(case.tensors())
    yield Rate(
        kind=kind,
        operator=case.operator,
        dtype=arithmetic(record, tensor.dtype),
        size=int(count.value) if kind == MOVE else tensor.shape[0],
        rate=count.value / least,
        framework=side.framework,
        device=side.device,
        threads=side.threads,
        measured=moment,
    )
