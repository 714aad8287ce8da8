"""What names mean in a child, on the null framework."""

from __future__ import annotations

from pathlib import Path

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.worker.code import Plugins
from opperf.child.worker.names import Names
from opperf.domain.plan import Side


def test_a_path_of_an_operator_that_draws_numbers_is_known_for_it(tmp_path: Path) -> None:
    names = Names(NullBackend(Side("null")), tmp_path, Plugins(tmp_path, ()))
    assert [names.draws(path) for path in ("dropout", "random_normal", "add", "steady")] == [True, True, False, False]
