"""Problems of each format are opened in PyTorch's environment, and answered by candidates that are told data alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import each
from tests.in_environment import printed
from tests.processes.problem_rows import ROWS

SCRIPT = Path(__file__).with_name("problems_torch.py")
NEW = "\nclass ModelNew(Model):\n    pass\n"
TRIANGLE = """
import torch

class Model(torch.nn.Module):
    def forward(self, A, labels):
        return torch.triu(A @ A) * labels[:, None]

N = 400

def get_inputs():
    return [torch.triu(torch.rand(N, N)), torch.randint(0, 2, (N,)).float() * 2 - 1]

def get_init_inputs():
    return []
"""
REFERENCE = """
import torch
from helpers import total
from task import input_t

def ref_kernel(data: input_t):
    values, result = data["values"], data["result"]
    torch.cuda.synchronize()
    return total(values * data["config"]["scale"]).reshape(1)

def generate_input(size, scale, seed):
    assert size != 65
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    values = torch.randn(size, device="cuda:0", generator=generator).cuda()
    return {"values": values, "result": torch.empty(1, device='cuda'), "config": {"scale": scale}}

def check_implementation(data, output):
    return True, ""
"""
TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "helpers.py", "source": "../helpers.py"}
  - {"name": "task.py", "source": "task.py"}
tests:
  - {"size": 10, "scale": 2.0, "seed": 1}
benchmarks:
  - {"size": 64, "scale": 0.5, "seed": 2}
  - {"size": 1000000000000, "scale": 0.5, "seed": 2}
"""
SUBMISSION = """
from task import input_t, output_t

def custom_kernel(data: input_t) -> output_t:
    return (data["values"] * data["config"]["scale"]).sum().reshape(1)
"""
DEFINITION: dict[str, Any] = {
    "name": "rows",
    "axes": {"n": {"type": "var"}, "h": {"type": "const", "value": 4}, "m": {"type": "expr", "expression": "n * 2"}},
    "inputs": {
        "x": {"shape": ["n", "h"], "dtype": "float32"},
        "eps": {"shape": None, "dtype": "float32"},
        "rstd": {"shape": ["m"], "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["n", "h"], "dtype": "float32"}, "z": {"shape": ["m"], "dtype": "float32"}},
    "reference": "def run(x, eps, rstd):\n    return {'z': rstd.sqrt(), 'y': x + eps}\n",
}
RANDOM = {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 0.5}, "rstd": {"type": "random"}}
WORKLOADS = [
    {"uuid": "a", "axes": {"n": 3}, "inputs": RANDOM},
    {"uuid": "b", "axes": {"n": 100}, "inputs": RANDOM, "tolerance": {"max_atol": 0.25}},
    {"uuid": "c", "axes": {"n": 100000}, "inputs": RANDOM},
]
CUSTOM: dict[str, Any] = {
    "name": "index",
    "axes": {"n": {"type": "var"}},
    "custom_inputs_entrypoint": "make",
    "inputs": {"x": {"shape": ["n"], "dtype": "float32"}, "places": {"shape": ["n"], "dtype": "int64"}},
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
    "reference": "import torch\ndef make(axes, device):\n    n = axes['n']\n    places = torch.randperm(n)\n"
    "    return {'x': torch.rand(n, device=device), 'places': places}\ndef run(x, places):\n    return x[places]\n",
}


def solution(source: str, *, fills: bool, language: str = "python") -> dict[str, Any]:
    return {
        "name": "s",
        "definition": "rows",
        "spec": {"language": language, "entry_point": "sub/kernel.py::run", "destination_passing_style": fills},
        "sources": [
            {"path": "sub/kernel.py", "content": "import other_source\n" + source},
            {"path": "sub/other_source.py", "content": "half = 0.5\n"},
        ],
    }


FILES: dict[str, Any] = {
    "level1/1_Rows.py": ROWS,
    "level1/2_Triangle.py": TRIANGLE,
    "level1/3_Raises.py": ROWS.replace("return [torch.randn", "return 1 / 0, [torch.randn"),
    "level1/4_Missing.py": "import no_such_module\n",
    "good.py": ROWS + NEW,
    "triangle.py": TRIANGLE + NEW,
    "unnamed.py": ROWS.replace("self.rows", "self.lines") + NEW,
    "extra.py": ROWS.replace("features, 3)", "features, 3); self.register_buffer('room', torch.zeros(1))") + NEW,
    "shaped.py": ROWS.replace("3)", "4)") + NEW,
    "plainfn.py": "def ModelNew(features):\n    return lambda x, f: x\n",
    "none.py": "def other(data):\n    return data\n",
    "tasks/helpers.py": "def total(values):\n    return values.sum()\n",
    "tasks/sums/task.yml": TASK,
    "tasks/sums/task.py": "import torch\ninput_t = dict\n",
    "tasks/sums/reference.py": REFERENCE,
    "tasks/outside/task.yml": 'files:\n  - {"name": "helpers.py", "source": "../../../../etc/helpers.py"}\n',
    "tasks/outside/reference.py": REFERENCE,
    "submission.py": SUBMISSION,
    "rows/definition.json": DEFINITION,
    "rows/workload.jsonl": "\n".join(map(json.dumps, WORKLOADS)),
    "custom/definition.json": CUSTOM,
    "custom/workload.jsonl": json.dumps(
        {"uuid": "a", "axes": {"n": 50}, "inputs": {"x": {"type": "custom"}, "places": {"type": "custom"}}}
    ),
    "index.py": "def run(x, places):\n    return x.index_select(0, places)\n",
    "returning.json": solution("def run(x, eps, rstd):\n    return x + other_source.half, rstd.sqrt()\n", fills=False),
    "filling.json": solution(
        "def run(x, eps, rstd, y, z):\n    y.copy_(x).add_(eps)\n    z.copy_(rstd).sqrt_()\n", fills=True
    ),
    "cuda.json": solution("", fills=True, language="cuda"),
    "plain.py": "def run(x, eps, rstd, y, z):\n    y.copy_(x).add_(eps)\n    z.copy_(rstd).sqrt_()\n",
    "good.json": DEFINITION,
    "kernels/add__Tensor/add__Tensor_implementation_v1.py": "def add__Tensor_kernel_impl(*args, **kwargs):\n"
    "    return args[0] + kwargs.get('alpha', 1) * args[1]\n",
    "kernels/add__Tensor/trace.txt": "Operator: aten.add.Tensor\n"
    "cnt: 5, ((T([8, 4], f32), T([4], f32)), {'alpha': 2})\n"
    "cnt: 1, ((T([99999, 4], f32), T([4], f32)), {})\n",
    "kernels/no_such__Tensor/no_such__Tensor_implementation_v1.py": "",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("problems")
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return json.loads(printed("torch", SCRIPT, folder))


def test_a_model_is_scaled_and_its_copy_answers_the_same_at_every_size(results: Any) -> None:
    own = results["kernelbench"]
    (case,) = own["cases"]
    assert case["inputs"] == {"x": {"shape": [1024, 5], "dtype": "float32", "values": "normal"}}
    assert case["attributes"] == {"factor": 0.5, "build.features": 5}
    assert own["notes"][0].startswith("scaled `batch` from 8192 to 1024: inputs take 20.5 kB, as written 164 kB")
    assert own["notes"][1] == "2 weights that are one number everywhere were varied, as `norm.weight`"
    assert own["answers"]["good.py"] is True
    assert [1025, 5] in [shapes[0] for shapes in own["hidden"]]
    assert set(own["answers_hidden"]) == {True}
    assert own["wide"] == ["torch.float64"]


@each(
    "file,message",
    [
        ("unnamed.py", "has `lines.bias`, which the reference has not"),
        ("extra.py", "has `room`, which the reference has not"),
        ("shaped.py", "has `norm.bias` of [4] of float32, expected [3] of float32"),
        ("plainfn.py", "the candidate is a function without weights"),
    ],
)
def test_weights_of_other_names_or_shapes_are_refused(results: Any, file: str, message: str) -> None:
    assert message in results["kernelbench"]["answers"][file]


def test_values_that_a_description_does_not_tell_are_drawn_by_the_problem_anew(results: Any) -> None:
    own = results["triangle"]
    assert own["cases"][0]["inputs"]["A"]["shape"] == [50, 50]
    assert own["fresh"] is True
    assert own["answers"] == {"triangle.py": True}
    assert all(len({size for shape in shapes for size in shape}) == 1 for shapes in own["hidden"])


def test_a_task_runs_without_a_gpu_and_its_types_are_there_for_the_candidate(results: Any) -> None:
    own = results["gpumode"]
    assert own["notes"] == [
        "no GPU: `cuda` became `cpu` in 5 places of its files",
        "1 of 2 benchmarks are over the budget, left out",
    ]
    assert [case["inputs"]["data.values"]["shape"] for case in own["cases"]] == [[64], [10]]
    assert own["mutates"] == ["data.result"]
    assert own["answers"]["submission.py"] is True
    assert "has no `custom_kernel`" in own["answers"]["none.py"]
    assert [shapes[0] for shapes in own["hidden"]] == [[33], [63]]
    assert set(own["answers_hidden"]) == {True}
    assert own["fresh"] is True


def test_a_definition_is_answered_by_what_returns_and_by_what_fills(results: Any) -> None:
    own = results["flashinfer"]
    assert own["notes"][0] == "1 of 3 workloads are over the budget, left out"
    assert own["notes"][1].startswith('the tolerance of its own, {"max_atol": 0.25}, is not used')
    assert [case["inputs"]["x"]["shape"] for case in own["cases"]] == [[100, 4], [3, 4]]
    assert own["cases"][0]["inputs"]["rstd"]["range"] == [0.1, 2.0]
    assert own["workload"] == {"definition": "rows", "workload": WORKLOADS[1]}
    assert {**own["answers"], "cuda.json": None} == {
        "returning.json": True,
        "filling.json": True,
        "plain.py": True,
        "cuda.json": None,
    }
    assert "written in cuda" in own["answers"]["cuda.json"]
    assert [shapes[0][0] for shapes in own["hidden"]] == [101, 51, 99]


def test_inputs_of_a_function_of_the_definition_are_drawn_by_it(results: Any) -> None:
    assert results["custom"]["answers"] == {"index.py": True}
    assert results["custom"]["fresh"] is True


def test_an_operator_is_answered_by_the_function_of_its_folder(results: Any) -> None:
    own = results["backendbench"]
    assert [case["inputs"]["argument0"]["shape"] for case in own["cases"]] == [[8, 4]]
    assert list(own["answers"].values()) == [True]
    assert own["notes"] == ["1 of 2 cases are over the budget, left out"]


@each("kind", ["kernelbench", "triangle", "gpumode", "flashinfer", "custom", "backendbench"])
def test_the_reference_beside_candidates_and_a_problem_opened_again_are_the_same(results: Any, kind: str) -> None:
    assert set(results[kind]["beside"]) == {True}
    assert results[kind]["reopened"] is True


@each(
    "name,message",
    [
        ("parts", "/plainfn.py: no `Model`"),
        ("raises", "ZeroDivisionError"),
        ("module", "install `no_such_module` beside PyTorch"),
        ("folder", "cannot read `/rows/task.yml`"),
        ("outside", "found `../../../../etc/helpers.py`, expected a file beside the task"),
        ("operator", "no operator `aten::no_such.Tensor`"),
        ("workloads", "/good.json: no workloads"),
    ],
)
def test_what_is_no_problem_is_one_message(results: Any, name: str, message: str) -> None:
    assert message in results["wrong"][name]
