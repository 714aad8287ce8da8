"""From what was typed to a selection: one place for every verb that takes operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opperf.planning.selection import Selection


def selection(
    *,
    operators: Sequence[str] | None,
    category: Sequence[str] | None,
    every: bool,
    skip: Sequence[str] | None,
    suite: Path | None,
    dtype: Sequence[str] | None,
    values: Sequence[str] | None,
    random: int | None,
    size: Sequence[str] | None,
    direction: Sequence[str] | None,
    inputs: Sequence[str] | None,
    attribute: Sequence[str] | None,
    plugin: Sequence[Path] | None = None,
    config: Sequence[Path] | None = None,
    **where: Any,
) -> Selection:
    """Return the selection; `where` holds the fields that say on which sides. Raises `InputError`."""
    import typer

    from opperf.planning.selection import Selection
    from opperf.sources.param.document import read_config
    from opperf.sources.plugin_file import with_plugins
    from opperf.sources.user_inputs import pairs

    given = pairs(inputs or (), "--input")
    return Selection(
        operators=with_plugins(
            operators or (),
            plugin or (),
            others=bool(category or every or suite or config),
            note=partial(typer.echo, err=True),
        ),
        categories=category or (),
        every=every,
        skip=skip or (),
        suite=suite,
        configs=[read_config(path) for path in config or ()],
        dtypes=dtype or (),
        values=values or (),
        random=random,
        sizes=size or (),
        directions=direction or (),
        inputs=[given] if given else [],
        attributes=pairs(attribute or (), "--attribute"),
        **where,
    )
