"""The documents of MXNet's command line: what frameworks and files say acts in none of them."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest

from opperf.compat.mxnet_opperf.command.documents import render
from opperf.domain.plan import Settings
from opperf.domain.record import Run

EVIL = "=1+1 | <script>\n\x1b[31m ![i](http://x) ::error::no"
FOUND: dict[str, list[dict[str, Any]]] = {
    "dot": [{"inputs": {"lhs": [2, 2], "rhs": EVIL}, "error": EVIL}],
    "relu": [{"inputs": {"data": [4]}, "avg_time_forward_relu": 0.25}],
}
RUN = Run("r", "2026-11-21T08:00:00+00:00", ("x",), Settings(), environment={"machine": {"cpu": EVIL}})


@pytest.mark.parametrize("together", [True, False])
def test_markdown_shows_what_others_wrote_as_it_is(together: bool) -> None:
    text = render(FOUND, RUN, "md", together=together)
    assert text.count("\n") == len(text.splitlines())
    for acts in (r"(?<!\\)<", "\x1b", r"(?<!\\)\]\(", " ::error::"):
        assert not re.search(acts, text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 4  # the head and its rule, and one for each row


def test_csv_has_no_formula_and_numbers_as_they_are() -> None:
    first, second = csv.DictReader(io.StringIO(render(FOUND, RUN, "csv", together=False)))
    assert first["error"].startswith("'=1+1")
    assert "\x1b" not in first["error"]
    assert second["avg_time_forward"] == "0.25"
