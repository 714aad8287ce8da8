"""Use PARAM's library in a script of your own: make a config, make its inputs, measure it.

Run it with a Python that has PyTorch: `$(opperf env python torch) param_library.py`, with opperf on its path.
"""

import sys
from importlib.util import find_spec

from opperf.compat.param import (
    ExecutionPass,
    OpExecutor,
    create_bench_config,
    create_op_args,
    create_type,
    get_benchmark_options,
    make_op_config,
)

if find_spec("torch") is None:
    sys.exit(print("no PyTorch in this Python"))

# A product of two matrices.
config = create_bench_config("torch.mm")
left, right = create_type("tensor"), create_type("tensor")
left["shape"], right["shape"] = [128, 64], [64, 32]
config["torch.mm"]["config"][0]["input"].append(create_op_args([left, right], {}))

options = get_benchmark_options()
options |= {"pass_type": ExecutionPass.BACKWARD, "warmup": 2, "iteration": 10}

# The operator, and the arguments of its first entry.
operator = make_op_config("torch.mm", config["torch.mm"], options["device"])
entry = operator.info["config"][0]["input"][0]
args, kwargs = operator.input_data_generator().get_data(entry, options["device"])

for name, metrics in OpExecutor("torch.mm", operator.op, options).run(args, kwargs, "0|0|0").items():
    print(f"{name}: median {metrics['statistics']['median']:.4f} ms of {len(metrics['measure.time'])} calls")
