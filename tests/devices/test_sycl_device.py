"""What holds on a queue that is real: SYCL's CPU device, on which dpnp computes, in threads of Intel's OpenCL."""

from __future__ import annotations

import json
from pathlib import Path

from tests.functional.conftest import current, invoke
from tests.in_environment import printed

DEVICE, SIZE = "opencl:cpu:0", 1024
#: Prints the seconds until a product has returned, and until it is done, in pairs.
SCRIPT = f"""
import json
from time import perf_counter
from opperf.child.backends.array_api.libraries import load
from opperf.domain.plan import Side

library = load("dpnp", Side("array_api:dpnp", device="{DEVICE}"))
data = library.namespace.ones(({SIZE}, {SIZE}), dtype="float32", **library.place)
pairs = []
for _ in range(9):
    library.wait([])
    began = perf_counter()
    result = library.namespace.matmul(data, data)
    returned = perf_counter()
    library.wait([result])
    pairs.append((returned - began, perf_counter() - began))
print(json.dumps(pairs))
"""


def test_time_is_that_of_the_work_and_not_of_the_call_that_leaves_it_in_the_queue(
    one_cache: Path, tmp_path: Path
) -> None:
    # Other work delays some of them, and no work is done sooner than it takes.
    returned, done = map(min, zip(*json.loads(printed("array_api:dpnp", "-c", SCRIPT))))
    assert returned < done / 3
    sizes = (f"--input=lhs={SIZE}x{SIZE}", f"--input=rhs={SIZE}x{SIZE}")
    where = ("--framework", "array_api:dpnp", "--device", DEVICE, "--direction", "forward", "--no-check")
    with current(tmp_path, one_cache):
        (record,) = invoke("run", "matmul", *sizes, *where, "--trial-budget", "0.3", "--format", "json").records
    assert record["side"]["device"] == DEVICE
    assert record["metrics"]["time"]["min"] > 2 * returned
