"""Whether `opperf run --replace` predicts what a replaced operator really saves: three models, each timed both ways.

python benchmarks/what_if.py [--framework-python PYTHON]

Each model calls a slow spelling of an operator, for which an equal and faster one exists. opperf captures the model's
step and predicts what the replacement would save. Then the step is really called with the replacement, in turns with
the original, in one process. A prediction is good if it is within 15 % of the time that was saved. Run it on a quiet
machine; it ends with 1 if a prediction is off.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

#: How far a prediction may be from the time that is really saved.
BAR = 0.15
#: A model in three parts: its slow operator, what replaces it, and a step around them that does other work too.
MODEL = """
import sys, time
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
{replacement}

class Net(torch.nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.activation = activation
        self.layers = torch.nn.ModuleList(torch.nn.Linear({width}, {width}) for _ in range({depth}))

    def forward(self, x):
        for layer in self.layers:
            x = self.activation(0.1 * torch.tanh(layer(x)) + 0.9)  # no denormal numbers, which are slow
        return x

def slow(x):
    return {slow}

def fast(x):
    return {fast}

x = torch.randn({rows}, {width})
nets = {{one: Net(one) for one in (slow, fast)}}
nets[fast].load_state_dict(nets[slow].state_dict())

def call(one):
    with torch.no_grad():
        return nets[one](x)

def step():
    return call(slow)

if __name__ == "__main__":
    assert torch.allclose(call(slow), call(fast), rtol=1e-4, atol=1e-5)
    best = {{slow: float("inf"), fast: float("inf")}}
    for _ in range(int(sys.argv[1])):
        for one in (slow, fast):
            call(one)
            begin = time.perf_counter()
            call(one)
            best[one] = min(best[one], time.perf_counter() - begin)
    print(best[slow], best[fast])
"""
MODELS = {
    "power": {
        "operator": "pow",
        "slow": "torch.pow(x, 4.0)",
        "fast": "quartic(x, 4.0)",
        "replacement": "def quartic(self, exponent):\n    square = self * self\n    return square * square\n",
        "function": "quartic",
        "rows": 256,
        "width": 256,
        "depth": 6,
    },
    "remainder": {
        "operator": "remainder",
        "slow": "torch.remainder(x, 0.5)",
        "fast": "rest(x, 0.5)",
        "replacement": "def rest(self, other):\n    return self - torch.floor(self / other) * other\n",
        "function": "rest",
        "rows": 512,
        "width": 128,
        "depth": 8,
    },
    "root": {
        "operator": "pow",
        "slow": "torch.pow(x, 1.5)",
        "fast": "root(x, 1.5)",
        "replacement": "def root(self, exponent):\n    return self * torch.sqrt(self)\n",
        "function": "root",
        "rows": 1024,
        "width": 64,
        "depth": 8,
    },
}


def run(*words: object) -> str:
    """Run a command, and return what it prints."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def environment() -> str:
    """Return the Python that opperf runs PyTorch in."""
    from opperf.parent.documents.environment import EnvironmentSpec
    from opperf.parent.workers.interpreters import interpreter

    return str(interpreter(EnvironmentSpec.parse("torch"), framework="torch"))


def main() -> None:
    """Compare the saving of each model with its prediction."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--framework-python", help="Python with PyTorch; default: that of opperf's environment")
    parser.add_argument("--turns", type=int, default=200, help="turns of each way of the step")
    parser.add_argument("--processes", type=int, default=5, help="pairs of processes of each prediction")
    parser.add_argument("--model", choices=MODELS, action="append", help="only this model; repeatable")
    options = parser.parse_args()
    python = options.framework_python or environment()
    opperf = Path(sys.executable).with_name("opperf")
    misses = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or MODELS:
            model, file, suite = MODELS[name], Path(folder) / f"{name}_model.py", Path(folder) / f"{name}.json"
            file.write_text(MODEL.format(**model), encoding="utf-8")
            run(opperf, "capture", f"{file}:step", "--environment", f"python={python}", "--output", suite)
            words = (
                "run",
                "--suite",
                suite,
                "--replace",
                f"{model['operator']}={file}:{model['function']}",
                "--framework",
                "torch",
            )
            answer = json.loads(run(opperf, *words, "--processes", options.processes, "--format", "json"))["what_if"]
            before, after = map(float, run(python, file, options.turns).split())
            saved = before - after
            off = answer["saved"] / saved - 1
            misses += abs(off) > BAR
            print(
                f"{name}: step {1e3 * before:.3f} ms, replaced {1e3 * after:.3f} ms: saved {1e6 * saved:.0f} us; "
                f"predicted {1e6 * answer['saved']:.0f} us of {1e3 * answer['step']:.3f} ms ({answer['source']}): "
                f"{100 * off:+.1f} %",
                flush=True,
            )
    raise SystemExit(1 if misses else 0)


if __name__ == "__main__":
    main()
