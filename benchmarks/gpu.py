"""What opperf says on a GPU, beside what others say there: each row of the tables in `docs/how-to/gpu.md`.

    python benchmarks/gpu.py [--device cuda:0] [--environment ENV] [--only NAME]... [--minutes 20]

Each part is an opperf command, or several, in processes of their own. After each, the results so far are written, and a
table of them: a part that fails is a row that says so, and one for which no time is left says that. PyTorch with Triton
is needed, JAX, CuPy and `ncu` are used where they are. `--device cpu`, or a device that has a package, rehearses the
script itself where no GPU is.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opperf.domain.units import format_bytes, format_joules, format_seconds

RESULTS = Path(__file__).with_name("results") / "gpu.json"
#: An addition that keeps an H100 busy for some 20 us, and its Triton copies: the second does 5 % more work. Without
#: Triton they are many additions. And calls that are wrong late, keep memory, or launch where nobody looks.
SIZE = 4 * 1024 * 1024
OWN = """
import torch
import opperf
try:
    import triton, triton.language as tl
except ImportError:
    triton = None

if triton is not None:
    @triton.jit
    def body(x, y, z, n, rounds: tl.constexpr, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        mask = at < n
        one, other = tl.load(x + at, mask=mask), tl.load(y + at, mask=mask)
        for _ in range(rounds):
            one = one * other + other
        tl.store(z + at, one, mask=mask)

def launch(x, y, rounds):
    if triton is None or x.device.type != "cuda":
        for _ in range(rounds // 10):
            x = torch.addcmul(y, x, y)
        return x
    z = torch.empty_like(x)
    body[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), rounds, 1024)
    return z

def own(**sizes):
    return opperf.operator(framework="torch", sizes={"common": sizes})

@own(x=(SIZE,), y=(SIZE,))
def shorter(x, y):
    return launch(x, y, 200)

@own(x=(SIZE,), y=(SIZE,))
def longer(x, y):
    return launch(x, y, 210)

@own(x=(SIZE,), y=(SIZE,))
def work(x, y, rounds=200):
    return launch(x, y, rounds)

@own(x=(64, 64))
def out_of_range(x):
    return torch.nn.functional.embedding(torch.full((8,), 1 << 20, device=x.device), x)

kept = []

@own(x=(65536,))
def keeping(x):
    kept.append(x + 1)
    return kept[-1]

@own(x=(1024, 1024), y=(1024, 1024))
def aside(x, y):
    kind = getattr(torch, x.device.type)
    if not hasattr(kind, "Stream"):
        return x @ y
    streams = aside.__dict__.setdefault("streams", kind.Stream())
    with kind.stream(streams):
        return x @ y
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
#: How long a comparison may take, in seconds: what is decided by then counts.
MOST_SECONDS = "300"
#: What `ncu` looks at: the tenth addition.
ALONE = f"""
import torch
x, y = (torch.rand({SIZE}, device="DEVICE") for _ in "xy")
for _ in range(10): torch.add(x, y)
torch.cuda.synchronize()
"""
#: A step of a small model, three times, on the device that it is given.
STEP = """
import sys
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 16)).to(sys.argv[1])
data = torch.rand(64, 256).to(sys.argv[1])
for _ in range(3):
    model(data).sum().backward()
"""
METRICS = ("time", "latency", "device", "device_cold", "launch_gap", "memory_peak", "memory_kept", "energy")
#: Twenty operators, and those of a judge's first try: a copy, a thread that is late, and a stream of its own.
TWENTY = (
    *("add", "multiply", "exp", "tanh", "gelu", "softmax", "layer_norm", "sum", "mean", "argmax"),
    *("cumsum", "sort", "topk", "matmul", "batch_matmul", "linear", "conv2d", "max_pool2d", "embedding", "transpose"),
)
CANDIDATES = {
    "candidate_copy": "import torch\n\n\ndef f(x):\n    return torch.softmax(x, -1)\n",
    "candidate_late": (
        "import threading\nimport torch\n\n\ndef f(x):\n    result = torch.empty_like(x)\n"
        "    threading.Thread(target=lambda: result.copy_(torch.softmax(x, -1))).start()\n    return result\n"
    ),
    "candidate_aside": (
        "import torch\n\nSTREAM = []\n\n\ndef f(x):\n    kind = getattr(torch, x.device.type)\n"
        "    if hasattr(kind, 'Stream') and not STREAM:\n        STREAM.append(kind.Stream())\n"
        "    if not STREAM:\n        return torch.softmax(x, -1)\n"
        "    with kind.stream(STREAM[0]):\n        return torch.softmax(x, -1)\n"
    ),
}


class Bench:
    """Commands on one device, in a folder of their own."""

    def __init__(self, device: str, environment: str | None, folder: Path) -> None:
        self.device, self.folder, self._environment = device, folder, environment
        (folder / "own.py").write_text(OWN)
        (folder / "step.py").write_text(STEP)
        for name, text in CANDIDATES.items():
            (folder / f"{name}.py").write_text(text)

    @property
    def torch(self) -> str:
        """The side of PyTorch on the device."""
        return f"{self._environment or 'torch'};device={self.device}"

    @property
    def environment(self) -> tuple[str, ...]:
        """The environment of PyTorch, as options, where it is not the current one, which has other frameworks too."""
        return () if self._environment is None else ("--framework", "torch", "--environment", self._environment)

    @property
    def on_torch(self) -> tuple[str, ...]:
        """The side, as options."""
        return (*(self.environment or ("--framework", "torch")), "--device", self.device)

    def begin(self, *words: str) -> tuple[subprocess.Popen[str], Path]:
        """Start an opperf command; return it, and where its document will be."""
        place = Path(tempfile.mkdtemp(dir=self.folder)) / "result.json"
        command = [sys.executable, "-m", "opperf", *words, "--output", str(place)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, stdout=pipe, stderr=pipe, text=True), place

    def end(self, process: subprocess.Popen[str], place: Path) -> dict[str, Any]:
        """Wait for a command; return its document, or why there is none."""
        try:
            out, err = process.communicate(timeout=400)
        finally:
            process.kill()
        print(out, err, file=sys.stderr, sep="\n")
        if place.exists():
            result: dict[str, Any] = json.loads(place.read_text())
            return result
        return {"failed": (err or out)[-2000:]}

    def opperf(self, *words: str) -> dict[str, Any]:
        """Run opperf; return its document, or why there is none."""
        return self.end(*self.begin(*words))

    def says(self, *words: str) -> list[str]:
        """Run opperf; return the lines that it prints."""
        command = [sys.executable, "-m", "opperf", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        return (done.stdout + done.stderr).splitlines()

    def module(self, *words: str) -> list[str]:
        """Run a module of Python; return the last lines that it prints."""
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=200, check=False)
        return (done.stdout + done.stderr).splitlines()[-12:]

    def records(self, *words: str) -> list[dict[str, Any]]:
        """Run `opperf run`; return a row of each record."""
        return _rows(self.opperf("run", "--direction", "forward", *words))

    def contests(self, *words: str) -> list[dict[str, Any]]:
        """Run `opperf compare`; return a row of each comparison."""
        document = self.opperf("compare", "--direction", "forward", "--budget", MOST_SECONDS, *words)
        if "failed" in document:
            return [document]
        shown = ("verdict", "ratio", "interval", "clock", "reason")
        return [
            {
                "operator": one["case"]["operator"],
                **{key: one.get(key) for key in shown},
                "warnings": [warning["slug"] for warning in one.get("warnings") or ()],
            }
            for one in document["comparisons"]
        ]

    def python(self, code: str, *before: str) -> str:
        """Run code that names `DEVICE`; return what it prints."""
        command = [*before, sys.executable, "-c", code.replace("DEVICE", self.device)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=200, check=False)
        return done.stdout if done.returncode == 0 else done.stdout + done.stderr[-2000:]


def _rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(document)] if "failed" in document else [_row(record) for record in document["records"]]


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
    """What it finds, on the best device of each framework."""
    lines = [line.strip() for line in bench.says("doctor", *bench.environment, "--device", "auto") if line]
    return lines[lines.index("environments") + 1 :] if "environments" in lines else lines


def driver(bench: Bench) -> object:
    """How long nvidia-smi takes, for the first time and again, and what it lists."""
    if not shutil.which("nvidia-smi"):
        return "there is no nvidia-smi"
    result: list[object] = []
    for _ in range(2):
        began = time.monotonic()
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=100, check=False)
        result.append(round(time.monotonic() - began, 2))
    return [*result, *done.stdout.splitlines()]


def operators(bench: Bench) -> object:
    """Four operators in PyTorch and JAX."""
    names = ("add", "softmax", "matmul", "conv2d")
    return bench.records(*names, *bench.on_torch) + bench.records(
        *names, "--framework", "jax", "--device", bench.device
    )


def unnamed(bench: Bench) -> object:
    """Which device each framework gets where none is named."""
    sides = ("--framework", "torch", "--framework", "jax", "--framework", "array_api:cupy")
    return bench.records("add", *sides, "--trial-budget", "0.1")


def shown(bench: Bench) -> object:
    """Which GPU a child says that it is on, by the driver."""
    document = bench.opperf("run", "add", "--direction", "forward", *bench.on_torch, "--trial-budget", "0.1")
    if "failed" in document:
        return document
    wanted = ("device", "gpu", "float32_products", "float32_convolutions", "cudnn", "lacks", "memory_free")
    return [{name: one.get(name) for name in wanted} for one in document["run"]["environment"]["frameworks"]]


def beside_others(bench: Bench) -> object:
    """Calls of some 20 us and more, by opperf, by `do_bench` and by `ncu`."""
    own = ["own.py:shorter", "own.py:longer"]
    rows = bench.records("add", "--input", str(SIZE), *bench.on_torch) + bench.records(*own, *bench.on_torch)
    result: dict[str, object] = {"opperf": rows, "do_bench": bench.python(OTHERS)[-500:]}
    if shutil.which("ncu"):
        words = ("ncu", "--csv", "--metrics", "gpu__time_duration.sum", "-k", "regex:elementwise", "-c", "12")
        result["ncu"] = bench.python(ALONE, *words, "--clock-control", "none").splitlines()[-4:]
    return result


def planted(bench: Bench) -> object:
    """Five per cent more work in a Triton kernel, and none."""
    base, new = (f"{bench.torch};attribute.rounds={rounds}" for rounds in (200, 210))
    return [row for side in (new, base) for row in bench.contests("own.py:work", "--base", base, "--new", side)]


def identical(bench: Bench) -> object:
    """Twenty operators beside themselves."""
    return bench.contests(*TWENTY, "--base", bench.torch, "--new", bench.torch)


def jax_beside_itself(bench: Bench) -> object:
    """Two children of JAX on one GPU."""
    side = f"jax;device={bench.device}"
    return bench.contests("add", "matmul", "--base", side, "--new", side)


def late_error(bench: Bench) -> object:
    """A call that breaks the context of CUDA, and the trials after it."""
    return bench.records("own.py:out_of_range", *bench.on_torch) + bench.records(
        "own.py:out_of_range", "own.py:keeping", "own.py:shorter", *bench.on_torch
    )


def graphs(bench: Bench) -> object:
    """CUDA graphs."""
    return bench.records("add", "softmax", "matmul", *bench.on_torch, "--mode", "cuda_graph")


def cold(bench: Bench) -> object:
    """Hot caches, and emptied ones."""
    return [
        row for cache in ("hot", "cold") for row in bench.records("add", "softmax", *bench.on_torch, "--cache", cache)
    ]


def order(bench: Bench) -> object:
    """The same operator as the first trial of a child and as the last, with passes for kernels between them."""
    return bench.records("exp", *bench.on_torch) + bench.records("add", "tanh", "softmax", "exp", *bench.on_torch)


def memory(bench: Bench) -> object:
    """What calls take and keep of the device's memory."""
    return bench.records("matmul", "softmax", *bench.on_torch) + bench.records("own.py:keeping", *bench.on_torch)


def energy(bench: Bench) -> object:
    """The energy of a large product."""
    sizes = ("--input", "lhs=2048x2048", "--input", "rhs=2048x2048")
    return bench.records("matmul", *sizes, *bench.on_torch, "--metric", "energy")


def profiled(bench: Bench) -> object:
    """A training step by modules, and by groups of operators, with the memory that it took at most."""
    where = ("--memory", "--top", "6", *bench.environment, "step.py", bench.device)
    return [line for by in ("module", "group") for line in bench.says("profile", "--by", by, *where)]


def differing(bench: Bench) -> object:
    """PyTorch beside JAX: in what the sides differ, and two allocators on one device."""
    sides = ("--base", bench.torch, "--new", f"jax;device={bench.device}")
    return bench.contests("matmul", "softmax", *sides, "--pairs", "3", "--tolerance", "50%")


def others(bench: Bench) -> object:
    """TensorFlow, MXNet and ONNX Runtime, as far as they are here."""
    neutral = [("add", "matmul", "--framework", name) for name in ("tensorflow", "mxnet")]
    commands = (*neutral, ("onnxruntime:Softmax",))
    return [row for one in commands for row in bench.records(*one, "--device", bench.device, "--trial-budget", "0.2")]


def tools(bench: Bench) -> object:
    """Kernels by NVIDIA's own tools, from PARAM's command line."""
    tensors = [{"type": "tensor", "dtype": "float", "shape": [512, 512]}] * 2
    config = {"input_data_generator": "PyTorch:DefaultDataGenerator", "config": [{"input": [{"args": tensors}]}]}
    (bench.folder / "mm.json").write_text(json.dumps({"torch.mm": config}))
    command = ("-m", "opperf.compat.param", "--config", "mm.json", "--device", bench.device)
    lines = [line for tool in ("ncu", "nsys") if shutil.which(tool) for line in bench.module(*command, f"--{tool}")]
    return lines or "there is neither ncu nor nsys"


def streams(bench: Bench) -> object:
    """A call that launches on a stream of its own."""
    return bench.records("own.py:aside", *bench.on_torch)


def two_jobs(bench: Bench) -> object:
    """Two jobs of one command on one GPU, which take turns, and two commands, of which the second is refused."""
    jobs = bench.records("add", "exp", *bench.on_torch, "--jobs", "2")
    words = ("run", "--direction", "forward", "matmul", "softmax", "exp", *bench.on_torch)
    commands = [bench.begin(*words) for _ in range(2)]
    return {"jobs": jobs, "commands": [_rows(bench.end(*one)) for one in commands]}


def peaks(bench: Bench) -> object:
    """The machine's limits, and a large product beside them."""
    lines = [line for line in bench.says("doctor", "--peaks", *bench.on_torch) if " at " in line or "/s" in line]
    sizes = ("--input", "lhs=4096x4096", "--input", "rhs=4096x4096")
    rows = [
        row for dtype in ("bf16", "fp32") for row in bench.records("matmul", *sizes, "--dtype", dtype, *bench.on_torch)
    ]
    return [lines, rows]


def judge(bench: Bench) -> object:
    """Candidates beside `softmax`: a copy, one whose result comes late, and one on a stream of its own."""
    files = [f"{name}.py:f" for name in CANDIDATES]
    how = ("--input", "data=1024x1024", "--room", "none", "--pairs", "3")
    document = bench.opperf("judge", *files, "--against", "softmax", *bench.on_torch, *how)
    if "failed" in document:
        return document
    return [
        f"{one['candidate']}: {one['verdict']}, {', '.join(part['slug'] for part in one['evidence']) or one['reason']}"
        for one in document["judgements"]
    ]


PARTS: tuple[Callable[[Bench], object], ...] = (
    *(doctor, driver, operators, unnamed, shown, beside_others, planted, identical, jax_beside_itself, late_error),
    *(graphs, cold, order, memory, energy, profiled, differing, others, tools, streams, two_jobs, peaks, judge),
)


@dataclass(frozen=True)
class Plan:
    """Which parts run, and until when, by the monotonic clock."""

    names: Sequence[str]
    until: float


def results(bench: Bench, plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each part shows; a part that fails shows its error, and one without time says so."""
    for part in PARTS:
        if plan.names and part.__name__ not in plan.names:
            continue
        began = time.monotonic()
        try:
            shown = part(bench) if began < plan.until else {"failed": "no time was left"}
        except Exception as error:  # whatever it is, it is one row's
            shown = {"failed": repr(error)[:2000]}
        yield part.__name__, {"shows": part.__doc__, "seconds": round(time.monotonic() - began, 1), "result": shown}


def table(done: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a table in Markdown: of each part what it shows, and its numbers."""
    lines = ["| part | what | result | seconds |", "| --- | --- | --- | ---: |"]
    for name, part in done.items():
        words = "<br>".join(_words(part["result"])).replace("|", "/") or "nothing"
        lines.append(f"| `{name}` | {part['shows']} | {words} | {part['seconds']:g} |")
    return "\n".join(lines) + "\n"


def _words(result: object) -> Iterator[str]:
    """Yield what a result says: a line of each record and comparison, and why something failed."""
    if isinstance(result, Mapping):
        if "failed" in result:
            yield f"failed: {' '.join(str(result['failed']).split())[-200:]}"
        elif "ratio" in result:
            ratio = result["ratio"]
            yield f"{result['operator']}: {result['verdict']}" + (f" {ratio:.3f}" if isinstance(ratio, float) else "")
        elif "status" in result:
            yield _record_words(result)
        else:
            yield from (f"{name}: {word}" for name, value in result.items() for word in _words(value))
    elif isinstance(result, (list, tuple)):
        for one in result[:24]:
            yield from _words(one)
    else:
        yield str(result)[:160]


def _record_words(row: Mapping[str, Any]) -> str:
    times = [
        f"{name} {format_seconds(row[name])}"
        for name in ("time", "latency", "device", "device_cold")
        if isinstance(row.get(name), float)
    ]
    kept = [f"{name} {format_bytes(row[name])}" for name in ("memory_peak", "memory_kept") if row.get(name) is not None]
    kept += [format_joules(row["energy"])] if row.get("energy") is not None else []
    why = [str((row.get("reason") or {}).get("message"))[:100]] if row.get("reason") else []
    doubts = [slug for slug in row["warnings"] if slug != "p99_of_few"]  # the table shows no p99
    marks = [f"({', '.join(doubts)})"] if doubts else []
    return f"{row['operator']} of {row['framework']} on {row['on']}: " + ", ".join(
        [row["status"], *times, *kept, *why, *marks]
    )


def main() -> None:
    """Run the parts; write after each one what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--environment", help="of PyTorch, where it is not the current one")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", choices=[one.__name__ for one in PARTS])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    done: dict[str, dict[str, Any]] = {}
    plan = Plan(chosen.only, time.monotonic() + 60 * chosen.minutes)
    with tempfile.TemporaryDirectory() as folder:
        for name, result in results(Bench(chosen.device, chosen.environment, Path(folder)), plan):
            done[name] = result
            chosen.output.write_text(json.dumps(done, indent=1) + "\n")
            chosen.output.with_suffix(".md").write_text(table(done))


if __name__ == "__main__":
    main()
