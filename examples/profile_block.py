"""See which operators of some training steps take the time, and which layer calls them.

PYTHONPATH=src $(opperf env python torch) examples/profile_block.py
"""

import torch
from torch import nn

from opperf import profiler

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data, labels = torch.rand(64, 256), torch.randint(0, 10, (64,))

# The first steps set things up; three that follow are looked at.
schedule = profiler.schedule(skip=1, warmup=1, active=3)
with profiler.profile(memory=True, shapes=True, modules=True, schedule=schedule) as p:
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(data), labels).backward()
        optimizer.step()
        p.step()

print(p.table(top=8))
print(p.table(by="module"))
p.save("trace.json")  # for Perfetto
