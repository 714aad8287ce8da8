"""What a backward runs again: which spans, of which module, and from when to when."""

from __future__ import annotations

from opperf.child.backends.torch.recomputation import recomputations
from opperf.domain.profile.event import Event, Profile, parents
from opperf.domain.profile.rows import rows

#: A node that calls `Net.norm` and `Net.act` again, with an addition between them, before it computes the gradient.
NODE = (
    Event("MmBackward0", "operator", 0, 1000, 1, "main", backward=True),
    Event("Net.norm", "module", 100, 100, 1, "main"),
    Event("layer_norm", "operator", 110, 80, 1, "main"),
    Event("add", "operator", 300, 50, 1, "main"),
    Event("Net.act", "module", 400, 100, 1, "main"),
    Event("gelu", "operator", 410, 80, 1, "main"),
    Event("mm", "operator", 600, 300, 1, "main"),
)


def again(*events: Event, nodes: tuple[str, ...]) -> dict[str, str]:
    """Return the module of a node around what is run again, by its name."""
    result, _ = recomputations(events, parents(events), [event.name in nodes for event in events])
    return {event.name: one.module for event, one in zip(events, result) if one is not None}


def test_what_a_node_runs_before_its_last_module_ends_runs_again() -> None:
    names = ("Net.norm", "layer_norm", "add", "Net.act", "gelu")
    assert again(*NODE, nodes=("MmBackward0",)) == dict.fromkeys(names, "Net")


def test_a_list_of_modules_calls_none_of_them() -> None:
    layer = Event("Net.layers.1", "module", 100, 100, 1, "main")
    events = (Event("MmBackward0", "operator", 0, 1000, 1, "main"), layer, Event("Net", "module", 2000, 9, 1, "main"))
    assert again(*events, nodes=("MmBackward0",)) == {"Net.layers.1": "Net"}
    assert again(*events[:2], nodes=("MmBackward0",)) == {"Net.layers.1": "Net.layers"}


def test_a_node_that_calls_no_module_and_a_forward_run_nothing_again() -> None:
    assert again(*(event for event in NODE if event.kind != "module"), nodes=("MmBackward0",)) == {}
    assert again(*NODE, nodes=()) == {}


def test_a_node_within_one_that_recomputes_is_a_backward() -> None:
    inner = (
        Event("GeluBackward0", "operator", 200, 700, 1, "main"),
        Event("gelu_backward", "operator", 250, 100, 1, "main"),
    )
    events = (Event("CheckpointBackward", "operator", 0, 1000, 1, "main"), *NODE[1:3], *inner)
    assert set(again(*events, nodes=("CheckpointBackward", "GeluBackward0"))) == {"Net.norm", "layer_norm"}


def test_the_time_of_python_between_recomputed_operators_is_no_operator_s() -> None:
    _, around = recomputations(NODE, parents(NODE), [event.name == "MmBackward0" for event in NODE])
    assert [(event.begin, event.end, event.module) for event in around] == [(0, 500, "Net")]
    own = {row.name: round(row.own * 1e9) for row in rows(Profile((*NODE, *around)))}
    assert own == {"MmBackward0": 200, "layer_norm": 80, "add": 50, "gelu": 80, "mm": 300}


def test_recomputed_operators_of_a_module_have_a_row_of_their_own() -> None:
    events = (
        Event("gelu", "operator", 0, 5, 1, "main", module="Net.act"),
        Event("gelu", "operator", 10, 7, 1, "main", module="Net.act", recomputed=True),
        Event("gelu_backward", "operator", 20, 3, 1, "main", module="Net.act", backward=True),
    )
    phases = [(row.name, row.calls, row.recomputed, row.backward) for row in rows(Profile(events), "module")]
    assert phases == [("Net.act", 1, True, False), ("Net.act", 1, False, False), ("Net.act", 1, False, True)]
