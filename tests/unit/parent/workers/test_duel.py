"""Where the children of a pair run."""

from __future__ import annotations

import os

import pytest

from opperf.domain.plan import Side
from opperf.parent.workers import duel
from opperf.parent.workers.duel import shared_cpus, starting_cpus


def test_both_sides_share_as_many_cpus_as_the_more_threaded_one_has_threads() -> None:
    usable = sorted(os.sched_getaffinity(0))
    assert shared_cpus(Side("torch"), Side("torch")) == (usable[-1],)
    assert shared_cpus(Side("torch"), Side("torch", threads=2)) == tuple(usable[-2:])


@pytest.mark.parametrize(
    ("threads", "chosen", "variables", "nodes", "apart"),
    [
        (1, None, {}, "0000", (2,)),
        (2, None, {}, "0000", (0, 1)),
        (3, None, {}, "0000", None),  # there are not so many others
        (1, (0,), {}, "0000", None),  # the user chose where children run
        (1, None, {"env.OMP_PROC_BIND": "close"}, "0000", None),  # a runtime binds threads to what it sees when loaded
        (1, None, {}, "0001", None),  # what is read at import would lie in another node's memory
    ],
)
def test_the_second_child_imports_on_other_cpus_of_the_same_node(
    threads: int,
    chosen: tuple[int, ...] | None,
    variables: dict[str, str],
    nodes: str,
    apart: tuple[int, ...] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(duel, "_node", lambda cpu: nodes[cpu])
    for name in duel.BINDING:
        monkeypatch.delenv(name, raising=False)
    new = Side("torch", threads=threads, settings=variables)
    assert starting_cpus(Side("torch"), new, chosen) == apart
