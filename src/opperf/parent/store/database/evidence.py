"""The comparisons that show a change: those of the build after it, with their pairs and what ran."""

from __future__ import annotations

from sqlalchemy import select

from opperf.domain.record import SCHEMA_VERSION
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.triage import Step, series_hash
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive, comparison_document
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.documents import unpack


def evidence(archive: Archive, step: Step, most: int = 3) -> list[ComparisonRun]:
    """Return the comparisons of the build after a step, run by run, the latest first."""
    table, cases, runs = schema.comparisons, schema.cases.c, schema.runs.c
    base, new, build = schema.series.alias("base"), schema.series.alias("new"), schema.environments.alias("build")
    query = (
        select(
            runs.key, runs.document.label("head"), table.c.document, base.c.side.label("base"),
            new.c.side.label("new"), new.c.direction, new.c.metric, cases.document.label("case"),
        )
        .select_from(table)
        .join(schema.runs, runs.id == table.c.run_id)
        .join(base, base.c.id == table.c.base_series_id)
        .join(new, new.c.id == table.c.new_series_id)
        .join(schema.cases, cases.id == new.c.case_id)
        .join(build, build.c.id == table.c.new_environment_id)
        .where(cases.operator == step.operator, new.c.framework == step.framework, build.c.version == step.after)
        .order_by(table.c.started.desc(), table.c.id)
    )  # fmt: skip
    documents: dict[str, dict[str, object]] = {}
    comparisons: dict[str, list[dict[str, object]]] = {}
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    for row in rows:
        is_of_step = series_hash(row.case["id"], row.direction, row.new, row.metric) == step.series
        if is_of_step and (row.key in comparisons or len(comparisons) < most):
            where = f"run {row.key}"
            documents.setdefault(row.key, unpack(row.head, where))
            comparisons.setdefault(row.key, []).append(comparison_document(row, where))
    return [
        ComparisonRun.from_json(
            {"schema_version": SCHEMA_VERSION, "run": documents[key]["run"], "comparisons": several}, f"run {key}"
        )
        for key, several in comparisons.items()
    ]
