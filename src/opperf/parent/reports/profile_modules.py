"""A profile by the modules of the model: a row for each down to a depth, with what it costs in each phase."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from opperf.domain.errors import InputError
from opperf.domain.profile.columns import step_lines
from opperf.domain.profile.event import Profile
from opperf.domain.profile.module_tree import ModuleRow, has_modules, module_rows
from opperf.domain.profile.repetition import courses
from opperf.domain.units import format_bytes, format_count, format_percent, format_seconds
from opperf.parent.reports.compiled_graphs import compiled_section
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table
from opperf.parent.reports.peak_memory import peak_json, peak_section
from opperf.parent.reports.profile import SCHEMA_VERSION, pace_lines, paces_json, processes_lines

#: What a column says, where its title does not.
LEGEND = {
    "modules": "modules: how many equal ones are summed up in `*` or `{}`",
    "optimizer": "optimizer: shared out by trainable parameters, which it updates all together",
    "between": "between: time without any operator: Python, dispatch and the engine of the framework",
    "share": "share: of the time of all phases and of what lies between",
    "allocated": "allocated: in all calls",
    "at peak": "at peak: what of it was alive when the device held the most",
    "device": "device: time of kernels",
}


def _seconds(value: float) -> str:
    return format_seconds(value) if value else ""


COLUMNS: tuple[Column[ModuleRow], ...] = (
    Column("module", "module", lambda row: row.name, least=24),
    Column("level", None, lambda row: row.level),
    Column("modules", "modules", lambda row: row.modules, lambda n: str(n) if n > 1 else "", "right", rank=1),
    Column("calls", "calls", lambda row: row.calls, lambda n: str(n) if n else "", "right", rank=2),
    Column("operators", "operators", lambda row: row.operators, str, "right", rank=3),
    Column("forward_s", "forward", lambda row: row.forward, _seconds, "right"),
    Column("backward_s", "backward", lambda row: row.backward, _seconds, "right"),
    Column("recomputed_s", "recomputed", lambda row: row.recomputed, _seconds, "right"),
    Column("optimizer_s", "optimizer", lambda row: row.optimizer, _seconds, "right"),
    Column("between_s", "between", lambda row: row.between, _seconds, "right"),
    Column("total_s", "total", lambda row: row.total, format_seconds, "right", rank=5),
    Column("share", "share", lambda row: row.share, format_percent, "right"),
    Column("allocated_B", "allocated", lambda row: row.allocated, format_bytes, "right", rank=6),
    Column("at_peak_B", "at peak", lambda row: row.at_peak, format_bytes, "right", rank=4),
    Column("device_s", "device", lambda row: row.device, lambda n: "" if n is None else format_seconds(n), "right"),
    Column("parameters", "parameters", lambda row: row.parameters, format_count, "right", rank=0),
)


def document(profile: Profile, depth: int, top: int | None = None, tokens: int | None = None) -> Document:
    """Return the report; raises `InputError` for a profile that names no modules."""
    if not has_modules(profile):
        frameworks = {str(facts.get("framework")) for facts in profile.processes.values() if facts.get("framework")}
        raise InputError(
            f"the profile{' of ' + ', '.join(sorted(frameworks)) if frameworks else ''} names no modules, so that "
            "`--depth` has nothing to sum up",
            hint="PyTorch names modules, JAX and TensorFlow scopes, MXNet its blocks under the naive engine, unless "
            "`--no-modules` is given; `--by group` needs none",
            slug="no_modules",
        )
    tree = module_rows(profile, depth)
    blocks: list[Block] = [table(COLUMNS, tree, top=top)]
    blocks += [Note(line) for line in (*processes_lines(profile), *step_lines(profile), *pace_lines(profile, tokens))]
    blocks += [Legend(LEGEND), *peak_section(profile, top), *compiled_section(profile)]
    blocks += [Note(f"note: {note}") for note in profile.notes]
    return Document("opperf profile", blocks, partial(_json, profile, depth, tree, tokens))


def _json(profile: Profile, depth: int, tree: tuple[ModuleRow, ...], tokens: int | None) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "processes": {str(number): dict(facts) for number, facts in profile.processes.items()},
        "by": "module",
        "depth": depth,
        "steps": [asdict(course) for course in courses(profile)],
        "rows": [asdict(row) for row in tree],
        **peak_json(profile),
        **paces_json(profile, tokens),
        "notes": list(profile.notes),
    }
