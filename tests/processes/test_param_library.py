"""PARAM's library in a script of the user's own: a Python that has PyTorch and nothing of opperf's parent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.in_environment import printed

import opperf

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "param_library.py"
#: Own operator, iterator and generator; a layer; a sweep; and what is refused.
SCRIPT = """
import json
import torch
from opperf.compat.param import *
from opperf.domain.errors import InputError

torch.set_num_threads(1)

class Doubled(OperatorInterface):
    def forward(self, data):
        self.out = data * 2
        return self.out
    def create_grad(self):
        self.grad = torch.ones_like(self.out)
    def backward(self):
        self.out.backward(self.grad)

class Once(ConfigIterator):
    steps = 0
    def __next__(self):
        self.steps += 1
        if self.steps > 1:
            raise StopIteration
        return "once", self.configs[self.key][0]

class Twos(DataGenerator):
    def get_data(self, config, device):
        return [torch.full((3,), 2.0, requires_grad=True)], {}

register_operators({"my.doubled": Doubled()})
register_config_iterator("Once", Once)
register_data_generator("Twos", Twos)
options = get_benchmark_options() | {"pass_type": ExecutionPass.BACKWARD, "iteration": 4}
tensor = {"type": "tensor", "dtype": "float", "shape": [2, 3]}
size = {"type": "int", "value": [4, 5], "__range__": ["value"]}
config = BenchmarkConfig(options)
config.load_json(json.dumps({
    "my.doubled": {"input_iterator": "Once", "input_data_generator": "Twos", "config": [{"input": [{"args": []}]}]},
    "torch.nn.Linear": {
        "build_iterator": "RangeConfigIterator",
        "input_data_generator": "PyTorch:DefaultDataGenerator",
        "config": [{"build": [{"args": [{"type": "int", "value": 3}, size]}], "input": [{"args": [tensor]}]}],
    },
}))
said = []
for known in config.op_configs:
    for entry in known.info["config"]:
        builds = known.build_iterator(entry, "build", "cpu") if "build" in entry else [("0", {})]
        for build_id, build in builds:
            args, kwargs = known.build_data_generator().get_data(build, "cpu")
            known.op.build(*args, **kwargs)
            for input_id, given in known.input_iterator(entry, "input", "cpu"):
                args, kwargs = known.input_data_generator().get_data(given, "cpu")
                found = OpExecutor(known.name, known.op, options).run(args, kwargs, f"0|{build_id}|{input_id}")
                counts = {name: len(one["measure.time"]) for name, one in found.items()}
                said.append([known.name, build_id, input_id, list(known.op.forward(*args, **kwargs).shape), counts])
            known.op.cleanup()

def refused(*call):
    try:
        call[0](*call[1:])
    except (InputError, ValueError) as error:
        return str(error)

wrong = [
    refused(make_op_config, "torch.ad", create_op_info(), "cpu"),
    refused(make_op_config, "torch.add", {**create_op_info(), "input_iterator": "Rang"}, "cpu"),
    refused(DefaultDataGenerator().get_data, {"args": [{"type": "tensr"}]}, "cpu"),
    refused(register_operator, "my.doubled", Doubled()),
]
print(json.dumps({"said": said, "wrong": wrong}))
"""


def run(script: Path, folder: Path) -> str:
    """Run a script where PyTorch is, with opperf on its path; return what it prints."""
    return printed("torch", script, folder=folder, PYTHONPATH=str(Path(opperf.__file__).parents[1]))


def test_the_example_of_the_library_runs_where_only_pytorch_is(tmp_path: Path) -> None:
    out = run(EXAMPLE, tmp_path)
    assert [line.split(":")[0] for line in out.splitlines()] == ["forward", "backward"]
    assert out.count("of 10 calls") == 2


def test_own_operators_iterators_and_generators_are_used_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    result: dict[str, Any] = json.loads(run(tmp_path / "script.py", tmp_path).splitlines()[-1])
    both = {"forward": 4, "backward": 4}
    assert result["said"] == [
        ["my.doubled", "0", "once", [3], both],
        ["torch.nn.Linear", "0_0", 0, [2, 4], both],
        ["torch.nn.Linear", "0_1", 0, [2, 5], both],
    ]
    assert [(text or "").partition("\n")[0] for text in result["wrong"]] == [
        "PyTorch has no operator `torch.ad`",
        "no iterator `Rang`",
        "arguments: $.args[0].type: no type `tensr`",
        "operator `my.doubled` is already registered",
    ]
