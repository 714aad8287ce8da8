"""What opperf says on a GPU, beside what others say there: each row of the table in `docs/how-to/gpu.md`.

    python benchmarks/gpu.py [--device cuda:0] [--only NAME]...

Each part is an opperf command, or several, in processes of their own; one that fails is a row that says so. PyTorch
with Triton is needed, JAX, CuPy and `ncu` are used where they are. It takes seven minutes on an H200.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results") / "gpu.json"
#: An addition that keeps an H100 busy for some 20 us, and its Triton copies: the second does 5 % more work.
SIZE = 4 * 1024 * 1024
OWN = """
import torch, triton, triton.language as tl
import opperf

@triton.jit
def body(x, y, z, n, rounds: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    mask = at < n
    one, other = tl.load(x + at, mask=mask), tl.load(y + at, mask=mask)
    for _ in range(rounds):
        one = one * other + other
    tl.store(z + at, one, mask=mask)

def launch(x, y, rounds):
    z = torch.empty_like(x)
    body[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), rounds, 1024)
    return z

@opperf.operator(framework="torch", sizes={"common": {"x": (SIZE,), "y": (SIZE,)}})
def shorter(x, y):
    return launch(x, y, 200)

@opperf.operator(framework="torch", sizes={"common": {"x": (SIZE,), "y": (SIZE,)}})
def longer(x, y):
    return launch(x, y, 210)

@opperf.operator(framework="torch", sizes={"common": {"x": (64, 64)}})
def out_of_range(x):
    return torch.nn.functional.embedding(torch.full((8,), 1 << 20, device=x.device), x)
""".replace("SIZE,", f"{SIZE},")
#: The same additions, timed by others in one process.
OTHERS = f"""
import json, torch
from triton.testing import do_bench, do_bench_cudagraph
from own import launch
x, y = (torch.rand({SIZE}, device="DEVICE") for _ in "xy")
def add(): return torch.add(x, y)
def short(): return launch(x, y, 200)
def long(): return launch(x, y, 210)
calls = dict(add=add, shorter=short, longer=long)
print(json.dumps({{name: dict(do_bench=do_bench(call, return_mode="median") / 1e3) for name, call in calls.items()}}
                 | dict(graph=dict(add=do_bench_cudagraph(add, return_mode="median") / 1e3))))
"""
#: What `ncu` looks at: the tenth addition.
ALONE = f"""
import torch
x, y = (torch.rand({SIZE}, device="DEVICE") for _ in "xy")
for _ in range(10): torch.add(x, y)
torch.cuda.synchronize()
"""
METRICS = ("time", "latency", "device", "device_cold", "launch_gap", "memory_peak")


class Bench:
    """Commands on one device, in a folder of their own."""

    def __init__(self, device: str, folder: Path) -> None:
        self.device = device
        self.folder = folder
        (folder / "own.py").write_text(OWN)

    def opperf(self, *words: str) -> dict[str, Any]:
        """Run opperf; return its document, or why there is none."""
        place = self.folder / "result.json"
        place.unlink(missing_ok=True)
        command = [sys.executable, "-m", "opperf", *words, "--output", str(place)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=400, check=False)
        print(done.stdout, done.stderr, file=sys.stderr, sep="\n")
        return json.loads(place.read_text()) if place.exists() else {"failed": (done.stderr or done.stdout)[-2000:]}

    def records(self, *words: str) -> list[dict[str, Any]]:
        """Run `opperf run`; return a row of each record."""
        document = self.opperf("run", "--direction", "forward", *words)
        if "failed" in document:
            return [document]
        return [_row(record) for record in document["records"]]

    def contests(self, *words: str) -> list[dict[str, Any]]:
        """Run `opperf compare`; return a row of each comparison."""
        document = self.opperf("compare", "--direction", "forward", *words)
        if "failed" in document:
            return [document]
        shown = ("verdict", "ratio", "interval", "clock", "reason")
        return [
            {"operator": one["case"]["operator"], **{key: one.get(key) for key in shown}}
            for one in document["comparisons"]
        ]

    def python(self, code: str, *before: str) -> str:
        """Run code that names `DEVICE`; return what it prints."""
        command = [*before, sys.executable, "-c", code.replace("DEVICE", self.device)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=200, check=False)
        return done.stdout if done.returncode == 0 else done.stdout + done.stderr[-2000:]

    @property
    def torch(self) -> str:
        """The side of PyTorch on the device."""
        return f"torch;device={self.device}"


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    metrics = record.get("metrics") or {}
    facts = record.get("facts") or {}
    return {
        "operator": record["case"]["operator"],
        "framework": record["side"]["framework"],
        "on": record["side"]["device"],
        "status": record["status"],
        **({"reason": record["reason"]} if record.get("reason") else {}),
        **{name: metrics[name].get("median", metrics[name].get("value")) for name in METRICS if name in metrics},
        "kernels": [(one["name"][:60], one["calls"], one["seconds"]) for one in facts.get("kernels") or ()],
        "gpu": facts.get("gpu"),
        "warnings": [warning["slug"] for warning in record.get("warnings") or ()],
    }


def doctor(bench: Bench) -> object:
    """What it finds."""
    command = [sys.executable, "-m", "opperf", "doctor"]
    done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True, timeout=100, check=False)
    return (done.stdout + done.stderr).splitlines()


def operators(bench: Bench) -> object:
    """Four operators in PyTorch and JAX."""
    sides = ("--framework", "torch", "--framework", "jax", "--device", bench.device)
    return bench.records("add", "softmax", "matmul", "conv2d", *sides)


def unnamed(bench: Bench) -> object:
    """Which device each framework gets where none is named."""
    sides = ("--framework", "torch", "--framework", "jax", "--framework", "array_api:cupy")
    return bench.records("add", *sides, "--trial-budget", "0.1")


def beside_others(bench: Bench) -> object:
    """Calls of some 20 us and more, by opperf, by `do_bench` and by `ncu`."""
    own = ["own.py:shorter", "own.py:longer"]
    rows = bench.records("add", "--input", str(SIZE), "--framework", "torch", "--device", bench.device)
    rows += bench.records(*own, "--framework", "torch", "--device", bench.device)
    result: dict[str, object] = {"opperf": rows, "do_bench": bench.python(OTHERS)}
    if shutil.which("ncu"):
        words = ("ncu", "--csv", "--metrics", "gpu__time_duration.sum", "-k", "regex:elementwise", "-c", "12")
        result["ncu"] = bench.python(ALONE, *words, "--clock-control", "none").splitlines()[-4:]
    return result


def planted(bench: Bench) -> object:
    """Five per cent more work in a Triton kernel, and none."""
    base, new = (f"own.py:{name};framework={bench.torch}" for name in ("shorter", "longer"))
    return bench.contests("--base", base, "--new", new) + bench.contests("--base", base, "--new", base)


def identical(bench: Bench) -> object:
    """Operators beside themselves."""
    names = ("add", "exp", "softmax", "sum", "matmul", "layer_norm", "gelu", "cumsum", "conv2d", "sort")
    return bench.contests(*names, "--base", bench.torch, "--new", bench.torch)


def jax_beside_itself(bench: Bench) -> object:
    """Two children of JAX on one GPU."""
    side = f"jax;device={bench.device}"
    return bench.contests("add", "matmul", "--base", side, "--new", side)


def late_error(bench: Bench) -> object:
    """A call that breaks the context of CUDA, and the trial after it."""
    return bench.records("own.py:out_of_range", "add", "exp", "--framework", "torch", "--device", bench.device)


def graphs(bench: Bench) -> object:
    """CUDA graphs."""
    sides = ("--framework", "torch", "--device", bench.device, "--mode", "cuda_graph")
    return bench.records("add", "softmax", "matmul", *sides)


def cold(bench: Bench) -> object:
    """Emptied caches."""
    return bench.records("add", "softmax", "--framework", "torch", "--device", bench.device, "--cache", "cold")


def order(bench: Bench) -> object:
    """The same operator as the first trial of a child and as the last."""
    sides = ("--framework", "torch", "--device", bench.device)
    return bench.records("exp", *sides) + bench.records("add", "tanh", "softmax", "exp", *sides)


def peaks(bench: Bench) -> object:
    """The machine's limits, and a large product beside them."""
    command = [sys.executable, "-m", "opperf", "doctor", "--peaks"]
    done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True, timeout=200, check=False)
    sizes = ("--input", "lhs=4096x4096", "--input", "rhs=4096x4096", "--dtype", "bf16")
    rows = bench.records("matmul", *sizes, "--framework", "torch", "--device", bench.device)
    return [(done.stdout + done.stderr).splitlines(), rows]


PARTS: tuple[Callable[[Bench], object], ...] = (
    *(doctor, operators, unnamed, beside_others, planted, identical, jax_beside_itself, late_error, graphs, cold),
    *(order, peaks),
)


def results(bench: Bench, names: list[str]) -> Iterator[tuple[str, object]]:
    """Yield what each part shows; a part that fails shows its error."""
    for part in PARTS:
        if names and part.__name__ not in names:
            continue
        began = time.monotonic()
        try:
            shown = part(bench)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            shown = {"failed": repr(error)}
        yield part.__name__, {"shows": part.__doc__, "seconds": round(time.monotonic() - began, 1), "result": shown}


def main() -> None:
    """Run the parts; write after each one what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", choices=[one.__name__ for one in PARTS])
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    done: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, result in results(Bench(chosen.device, Path(folder)), chosen.only):
            done[name] = result
            chosen.output.write_text(json.dumps(done, indent=1) + "\n")


if __name__ == "__main__":
    main()
