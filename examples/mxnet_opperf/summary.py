"""MXNet's profiler around a loop, and what it saw as JSON: times of operators, and all bytes allocated by device."""

import json

import mxnet as mx

from opperf import profiler

lhs = mx.nd.ones(shape=(1024, 1024))
rhs = mx.nd.ones(shape=(1024, 1024))
lhs.attach_grad()
rhs.attach_grad()
mx.nd.waitall()

profiler.set_config(profile_all=True, aggregate_stats=True)
profiler.set_state("run")
for _ in range(5):
    with mx.autograd.record():
        res = mx.nd.add(lhs, rhs)
    res.backward()
    mx.nd.waitall()
profiler.set_state("stop")

summary = json.loads(profiler.get_summary(reset=True))
print(json.dumps({"Time": summary["Time"]["operator"], "Memory": summary["Memory"]}, indent=2))
