"""A result as one file that needs nothing else: its charts as SVG, its tables, where and when it was measured.

The page is whole without its script, which sorts tables and tells numbers, and forbids itself any other and to load
anything. The template engine and the writers of SVG and of tables escape whatever comes from a file.
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from opperf.domain.record import Run
from opperf.parent.pages.charts import STYLE, Chart, figure
from opperf.parent.pages.figures import Result
from opperf.parent.pages.templates import template_engine
from opperf.parent.reports.document import Document
from opperf.parent.reports.formats.html import piece
from opperf.parent.reports.text import one_line

FOLDER = Path(__file__).parent
SCRIPTS = ("tables.js", "charts.js")


def page(result: Result, document: Document, charts: Sequence[Chart]) -> str:
    """Return the page of a result with its report and its charts."""
    script = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        template_engine(FOLDER)
        .get_template("result_page.html")
        .render(
            title=one_line(document.title),
            summary=one_line(document.summary),
            facts={name: one_line(value) for name, value in facts(_run(result)).items()},
            figures=[figure(chart) for chart in charts],
            report=piece(document),
            script=script,
            digest=f"sha256-{digest}",
            style=STYLE + (FOLDER / "page.css").read_text(encoding="utf-8"),
        )
    )


def facts(run: Run) -> dict[str, str]:
    """Return on what, when and how a run was measured."""
    machine = run.machine
    versions = [f"{one.get('framework')} {one.get('version')}" for one in run.frameworks]
    versions += [f"{side}: {one.get('version')}" for side, one in run.sides.items()]
    lines = {
        "measured": run.started,
        "machine": f"{machine.get('cores_usable')} cores of {machine.get('cpu')}" if machine.get("cpu") else "",
        "versions": ", ".join(dict.fromkeys(versions)),
        "labels": ", ".join(f"{name}={value}" for name, value in run.labels.items()),
        "command": shlex.join(run.command),
    }
    return {name: value for name, value in lines.items() if value}


def _run(result: Result) -> Run:
    return result if isinstance(result, Run) else result.run
