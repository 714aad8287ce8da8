"""What the name of an operator in a config means: a framework's own name, or a neutral one of the catalog.

PARAM's names are PyTorch's, some of them short for something else. A name with a framework before it
(`mxnet:nd.dot`, `numpy:add`) is that framework's, and a neutral one (`softmax`) is measured on any.
"""

from __future__ import annotations

import re
from dataclasses import field

from opperf.catalog import catalog
from opperf.domain.code import Code
from opperf.domain.dataclass import dataclass
from opperf.domain.registry import split_implementation

EMBEDDINGS = "SplitTableBatchedEmbeddingBagsCodegen"
#: The operators that PARAM registers, and the paths at which opperf's backend of PyTorch finds them.
REGISTERED = {
    "torch.add_": "torch.Tensor.add_",
    "torch.clamp_": "torch.Tensor.clamp_",
    **{
        name: name
        for name in (
            "torch.add", "torch.baddbmm", "torch.bmm", "torch.cat", "torch.matmul", "torch.mean", "torch.mm",
            "torch.mul", "torch.nn.functional.relu", "torch.reshape", "torch.nn.AdaptiveAvgPool2d", "torch.nn.Conv2d",
            "torch.nn.Dropout", "torch.nn.MaxPool2d", "torch.nn.ReLU", "torch.nn.Linear", "pytorch.model.alex_net",
            "pytorch.model.resnet", EMBEDDINGS,
        )
    },
}  # fmt: skip
#: How PARAM called operators before; configs of that time are still about.
FORMER = {"pytorch:alex_net": "pytorch.model.alex_net", "split_table_batched_embedding_bags": EMBEDDINGS}
#: What other names of PyTorch begin with; whether there is such a one is known to PyTorch only.
PREFIXES = ("torch.", "aten::")
_SCHEMA = re.compile(r"\s*(?P<path>[A-Za-z_]\w*::[\w.]+)\s*\((?P<arguments>.*)\)\s*->.*", re.DOTALL)


@dataclass(frozen=True)
class Meaning:
    """A framework and a path in it, or a neutral name of the catalog as `path`, on one framework or on any.

    Or it is a function of the user's own, as `code` of a plugin that they named: its name is the `path`, and its
    `arguments` have these names by position.
    """

    framework: str | None
    path: str
    arguments: tuple[str, ...] = field(default=(), repr=False)
    code: Code | None = field(default=None, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether it is a function of the user's own."""
        return self.code is not None

    @property
    def implementation(self) -> str | None:
        """The framework's own path; None for a neutral name and for a function of the user's own."""
        return None if self.framework is None or self.path in catalog() else self.path

    @property
    def certain(self) -> bool:
        """Whether the operator's existence is known without asking a framework."""
        return self.implementation is None or self.path in REGISTERED.values()


def meaning(name: str) -> Meaning | None:
    """Return the meaning of a name, None for one that cannot be.

    >>> meaning("torch.add_"), meaning("mxnet:nd.dot")
    (Meaning(framework='torch', path='torch.Tensor.add_'), Meaning(framework='mxnet', path='nd.dot'))
    """
    name = FORMER.get(name, name)
    if name in REGISTERED:
        return Meaning("torch", REGISTERED[name])
    if name.endswith(":") or not name.isprintable():
        return None
    framework, path = split_implementation(name)
    if framework is not None:
        return Meaning(framework, path)
    if name.startswith(PREFIXES) and name not in PREFIXES:
        return Meaning("torch", name)
    operators = catalog()
    canonical = (
        name if name in operators else next((one.name for one in operators.values() if name in one.aliases), None)
    )
    return None if canonical is None else Meaning(None, canonical)


def known_names() -> list[str]:
    """Return the operators that are known without asking a framework."""
    return [*REGISTERED, *catalog()]


@dataclass(frozen=True)
class Schema:
    """The schema string of a registered operator: its path with the overload, and the names of its arguments.

    `positional` is how many of the names may be given by position; PARAM gives all of them so.
    """

    path: str
    names: tuple[str, ...]
    positional: int


def read_schema(text: str) -> Schema | None:
    """Read a schema string; None for anything else.

    >>> read_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    Schema(path='aten::add.Tensor', names=('self', 'other', 'alpha'), positional=2)
    """
    match = _SCHEMA.fullmatch(text)
    if match is None:
        return None
    names: list[str] = []
    positional: int | None = None
    for argument in split_at_commas(match["arguments"]):
        if argument == "*":
            positional = len(names)
            continue
        name = re.search(r"([A-Za-z_]\w*)\s*(?:=.*)?$", argument, re.DOTALL)
        if name is None:
            return None
        names.append(name[1])
    return Schema(match["path"], tuple(names), len(names) if positional is None else positional)


def split_at_commas(text: str) -> list[str]:
    """Return the parts between commas that stand in no bracket; empty ones are left out.

    >>> split_at_commas("int[2] stride=[1, 1], *, Tensor(a!) out")
    ['int[2] stride=[1, 1]', '*', 'Tensor(a!) out']
    """
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
