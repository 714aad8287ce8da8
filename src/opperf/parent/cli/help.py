"""Help in groups: what to measure, where, how precisely, and what comes out; the same groups in every command."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from typer.core import TyperCommand

from opperf.parent.cli import options
from opperf.parent.sources.options import Building, Deciding, OnFleet, Sampling, What, Where

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter


def _names(*groups: type, more: tuple[str, ...] = ()) -> frozenset[str]:
    return frozenset([*(one.name for group in groups for one in fields(group)), *more])


#: The titles of groups, and the parameters in each; others stand under `OTHERS`, and what every command has is last.
GROUPS = {
    "What": _names(What, more=("config", "operators")),
    "Where": _names(Where, Building, OnFleet, more=("base", "new", "cpus", "jobs", "share_device")),
    "How precisely": _names(
        Sampling,
        Deciding,
        more=("budget", "timeout", "seed", "metric", "clock", "loop", "check", "no_check", "explain", "compile_cache"),
    ),
    "Output": _names(options.Keeping, options.Report, more=("top",)),
}
LAST, OTHERS = frozenset({"help", "debug"}), "Options"
#: A command with fewer options has them in one list.
LEAST = 16


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups where they are many."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write arguments, then the options of each group."""
        records = [(one, one.get_help_record(ctx)) for one in self.get_params(ctx)]
        arguments = [record for one, record in records if record and one.param_type_name == "argument"]
        named_records = [
            (one.name or "", record) for one, record in records if record and one.param_type_name == "option"
        ]
        sections = {"Arguments": arguments}
        if len(named_records) < LEAST:
            sections[OTHERS] = [record for _, record in named_records]
        else:
            grouped = frozenset[str]().union(*GROUPS.values(), LAST)
            sections[OTHERS] = [record for name, record in named_records if name not in grouped]
            sections |= {
                title: [record for name, record in named_records if name in names] for title, names in GROUPS.items()
            }
            sections["Help"] = [record for name, record in named_records if name in LAST]
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
