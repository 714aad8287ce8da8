"""Run in PyTorch's environment: profile a step of three models, and print which operators ran where, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import GELU, LayerNorm, Linear, Module, ModuleList, ReLU, Sequential
from torch.utils.checkpoint import checkpoint

from opperf.child.backends.torch.watcher import Watcher
from opperf.domain.profile.event import Profile
from opperf.domain.profile.module_tree import OPTIMIZER_ROW, labels, module_rows
from opperf.domain.profile.repetition import OPTIMIZER
from opperf.domain.profile.watching import Watching

WIDTH, HEADS, WORDS, LENGTH = 8, 2, 16, 4


class Mlp(Sequential):  # type: ignore[misc]
    """Two products with an activation between them."""


class Block(Module):  # type: ignore[misc]
    """Attention, and two products with an activation between them, each beside the input."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = LayerNorm(WIDTH), LayerNorm(WIDTH)
        self.mixed, self.out = Linear(WIDTH, 3 * WIDTH), Linear(WIDTH, WIDTH)
        self.up, self.act, self.down = Linear(WIDTH, 2 * WIDTH), GELU(), Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        query, key, value = (
            part.view(LENGTH, HEADS, -1).transpose(0, 1) for part in self.mixed(self.norm1(x)).chunk(3, -1)
        )
        weights = torch.bmm(query, key.transpose(1, 2)).softmax(-1)
        x = x + self.out(torch.bmm(weights, value).transpose(0, 1).reshape(LENGTH, WIDTH))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(Module):  # type: ignore[misc]
    """Three equal layers between an embedding and a head; each layer is computed twice if it is `again`."""

    def __init__(self, again: bool = False) -> None:
        super().__init__()
        self.again = again
        self.words = torch.nn.Embedding(WORDS, WIDTH)
        self.layers = ModuleList(Block() for _ in range(3))
        self.head = Linear(WIDTH, WORDS)

    def forward(self, text: Any) -> Any:
        x = self.words(text)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.again else layer(x)
        return self.head(x)


class Checkpointed(Transformer):
    """A transformer whose layers are computed again in the backward."""


def step_of(model: Any, data: Any) -> Callable[[], None]:
    """Return a training step, whose optimizer updates each parameter by itself."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)

    def step() -> None:
        optimizer.zero_grad()
        model(data).sum().backward()
        optimizer.step()

    return step


def calls(profile: Profile) -> dict[str, dict[str, int]]:
    """Count the calls of each operator, by the row of its module and by its phase."""
    names, spans = labels(profile), profile.of_kind("operator", "task")
    updates = [(span.begin, span.end) for span in spans if OPTIMIZER.match(span.name)]
    result: dict[str, Counter[str]] = {}
    for event in profile.of_kind("operator"):
        updating = any(begin <= event.begin and event.end <= end for begin, end in updates)
        place = OPTIMIZER_ROW if updating else f"{names.get(event.module, '')} {event.phase or 'forward'}".lstrip()
        result.setdefault(place, Counter())[event.name.removeprefix("aten::")] += 1
    return {place: dict(counts) for place, counts in result.items()}


def seen(step: Callable[[], None]) -> dict[str, Any]:
    """Profile a step once it has run before, and return what ran where, beside PyTorch's own sum of times."""
    step()
    watcher = Watcher(Watching(modules=True))
    watcher.start()
    step()
    watcher.stop()
    averages = watcher._windows[0].session.key_averages()
    profile = watcher.take()
    operators = {event.name for event in profile.of_kind("operator")}
    rows = module_rows(profile)
    return {
        "calls": calls(profile),
        "rows": {row.name: [row.modules, row.calls, row.operators, row.parameters] for row in rows},
        "ours": sum(row.total - row.between for row in rows if row.level == 1),
        "theirs": sum(row.self_cpu_time_total / 1e6 for row in averages if row.key in operators),
    }


text = torch.arange(LENGTH)
print(
    json.dumps(
        {
            "mlp": seen(step_of(Mlp(Linear(4, 8), ReLU(), Linear(8, 2)), torch.ones(3, 4))),
            "transformer": seen(step_of(Transformer(), text)),
            "checkpointed": seen(step_of(Checkpointed(again=True), text)),
        }
    )
)
