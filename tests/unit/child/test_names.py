"""What names mean in a child, on the null framework."""

from __future__ import annotations

from pathlib import Path

from opperf.backends.null.runtime import NullBackend
from opperf.child.code import Plugins
from opperf.child.names import Names
from opperf.plan import Side


def test_a_path_of_an_operator_that_draws_numbers_is_known_for_it(tmp_path: Path) -> None:
    names = Names(NullBackend(Side("null")), tmp_path, Plugins(tmp_path, ()))
    assert [names.draws(path) for path in ("dropout", "random_normal", "add", "steady")] == [True, True, False, False]
