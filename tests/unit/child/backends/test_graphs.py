"""What graphs among the attributes of a node use from around it, told of stand-ins for what `onnx` reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

from opperf.child.backends.onnxruntime import graphs


@dataclass
class Graph:
    """A graph, with the names of its inputs and constants."""

    node: list[Node]
    inputs: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    sparse: list[str] = field(default_factory=list)

    @property
    def input(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self.inputs]

    @property
    def initializer(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self.constants]

    @property
    def sparse_initializer(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(values=SimpleNamespace(name=name)) for name in self.sparse]


@dataclass
class Attribute:
    """An attribute that is a graph, several, or something else."""

    g: Graph | None = None
    graphs: list[Graph] = field(default_factory=list)

    def HasField(self, name: str) -> bool:
        return name == "g" and self.g is not None


@dataclass
class Node:
    """A node, with the names of its inputs and outputs."""

    input: list[str]
    output: list[str]
    attribute: list[Attribute] = field(default_factory=list)
    domain: str = ""


def loop() -> Node:
    """Return a node whose graph makes `sum` of what it is given and what is around it, and has a branch within."""
    branch = Graph([Node(["sum", "bias", "held"], ["inner"], domain="own")], constants=["held"])
    body = Graph(
        [
            Node(["turn", "weight", ""], ["sum"]),
            Node(["flag", "thin"], ["out"], [Attribute(g=branch), Attribute(graphs=[branch])]),
            Node(["weight"], ["again"], domain="other"),
        ],
        inputs=["turn"],
        sparse=["thin"],
    )
    return Node(["count", "flag"], ["result"], [Attribute(), Attribute(g=body)])


def test_what_is_used_from_around_a_node_is_told_once_and_what_its_graphs_make_is_not() -> None:
    assert graphs.outer(loop()) == ["weight", "flag", "bias"]
    assert graphs.outer(Node(["a"], ["b"], [Attribute()])) == []


def test_a_name_is_changed_wherever_a_graph_uses_it_and_nowhere_else() -> None:
    node = loop()
    graphs.rename(node, {name: graphs.outer_name(place) for place, name in enumerate(graphs.outer(node))})
    body = node.attribute[1].g
    assert body is not None
    assert [inner.input for inner in body.node] == [["turn", "outer:0", ""], ["outer:1", "thin"], ["outer:0"]]
    branch = body.node[1].attribute[0].g
    assert branch is not None
    assert branch.node[0].input == ["sum", "outer:2", "held"]
    assert node.input == ["count", "flag"]


def test_the_domains_of_graphs_are_those_of_every_graph_within() -> None:
    assert graphs.domains(loop()) == {"", "own", "other"}
    assert graphs.domains(Node([], [], domain="own")) == set()
