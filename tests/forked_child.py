"""The process that children of a framework are forked from, when tests ask for it (`forked_children.py`).

It has imported all of such a child's code, and its framework, and from then on waits for requests, in its only thread.
What it forks is what `python -m opperf.child` would be: a child of the test process, in a session of its own, with the
variables, the folder, the arguments and the descriptors that the request brings.
"""

from __future__ import annotations

import gc
import io
import json
import os
import socket
import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

#: What a child of the null framework imports for some of its work.
MODULES = ("opperf.child.measure.instructions", "opperf.catalog.valid_values")
#: What a child imports to build a model, by the library that its environment has for that.
OF_MODELS = {
    "transformers": ("transformers.modeling_utils", "transformers.models.auto.configuration_auto"),
    "diffusers": ("diffusers.models.modeling_utils",),
}
#: A request comes in one piece, and none is longer.
LONGEST = 1 << 20


def preload(side_json: str) -> None:
    """Import the code of a child and its framework, and measure an operator of the null framework.

    What a child makes on first use is made then. A framework that cannot be imported is left for the child to tell.
    """
    gc.disable()
    child = import_module("opperf.child.__main__")
    for module in MODULES:
        import_module(module)
    requests, plan = import_module("opperf.domain.message.requests"), import_module("opperf.domain.plan")
    side = plan.Side.from_json(json.loads(side_json))
    # Other work on the machine leaves none of them out, so that each trial has a time: how long it is tells nothing.
    vars(import_module("opperf.child.measure.block"))["clean"] = lambda sample, threads: True
    if side.framework == "null":
        measure_null(child, requests, plan)
    else:
        if side.allocator == "fixed":
            import_module("opperf.child.measure.host").fix_allocator()
        # How many threads run shows at once, where nobody measures.
        vars(import_module("opperf.child.backends.common.threads"))["WATCHED_NS"] = 1_000_000
        with suppress(Exception):
            import_module("opperf.child.backends").load_runtime(side)
            if side.is_reference:
                import_module("opperf.child.judging.reference")
            elif side.framework == "numpy":  # the tables of others may hold what a fork lacks
                import_module("opperf.child.backends.binding").bindings("numpy")
            if " + keras" in side.environment:
                keras = import_module("opperf.child.backends.keras")
                keras.configure(side.framework, side.device)
                import_module("keras")
            for library, modules in OF_MODELS.items():
                if f" + {library}" in side.environment:
                    os.environ["HF_HUB_OFFLINE"] = "1"  # as the child has it
                    for module in ("opperf.child.backends.torch.abstract", *modules):
                        import_module(module)
    gc.freeze()  # a collection would look at all of it in each child, and copy what they share
    gc.enable()


def measure_null(child: ModuleType, requests: ModuleType, plan: ModuleType) -> None:
    """Measure an operator of the null framework."""
    line = import_module("opperf.domain.message.wire").request_line
    side = plan.Side("null")
    operators = dict(import_module("opperf.catalog").catalog())
    case = operators["add"].case("small")
    asked = [
        requests.Prepare(plan.Trial(case, side, "forward")),
        requests.Measure(1, plan.Settings()),
        requests.Turn(1, 1),
        requests.Release(1),
    ]
    lines = b"".join(line(number, request) for number, request in enumerate(asked, 1))
    child._serve(io.BytesIO(lines), io.BytesIO(), side, requests.Limits(None, None, os.getcwd(), ()))


def fork_on_request(requests: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork a child for each request until no more can come; returns in a child alone, with what was requested.

    It is forked by a process that ends at once: its parent is then the test process, which has asked the kernel for it.
    """
    while True:
        text, descriptors, _, _ = socket.recv_fds(requests, LONGEST, 4)
        if not text:
            os._exit(0)  # a framework takes a second to end by itself
        reads_gate, writes_gate = os.pipe()
        between = os.fork()
        if between == 0:
            if os.fork() != 0:
                os._exit(0)
            os.close(writes_gate)
            os.read(reads_gate, 1)  # it ends when the child has its parent, whom it will look for
            os.close(reads_gate)
            requests.close()
            return json.loads(text), descriptors
        os.waitpid(between, 0)
        for descriptor in (*descriptors, reads_gate, writes_gate):
            os.close(descriptor)


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Give this process what a fresh one is started with, and tell the test process that it has started."""
    reads, writes, output, started = descriptors
    os.setsid()
    die_with(request["parent"])
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["variables"])
    package = os.path.realpath(request["folder"])  # where the program lies, which Python names without links
    sys.path[:2] = [package, request["folder"]]
    sys.argv = [f"{package}/opperf/child/__main__.py", str(reads), str(writes), *request["words"]]
    for standard in (1, 2):
        os.dup2(output, standard)
    os.close(output)
    os.write(started, str(os.getpid()).encode())
    os.close(started)


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as `-m` has it
    preload(sys.argv[2])
    from opperf.child.worker.supervision import die_with

    become(*fork_on_request(socket.socket(fileno=int(sys.argv[1]))))
    child = sys.modules["opperf.child.__main__"]
    child._leave(child.main(sys.argv[1:]))
