"""`python -m opperf.compat.param`: PARAM's command line, with opperf's measurement behind it."""

from __future__ import annotations

import os
import time
from pathlib import Path

try:
    from opperf.parent.cli.exit import obey
except KeyboardInterrupt:
    raise SystemExit(130) from None


def main() -> None:
    """Run the command line and exit with its code."""
    obey(benchmark)


def benchmark() -> None:
    """Measure a config; raises `InputError` before anything runs for what cannot be understood."""
    from opperf.compat.param.command.lines import output_path
    from opperf.compat.param.command.running import Running
    from opperf.compat.param.command.tools import choose_tools, parser, quiet, warnings
    from opperf.domain.errors import InputError, way_out
    from opperf.param.document import read_config
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.run import leave

    options = parser().parse_args()
    if options.config is None:
        raise InputError("no config", hint="name one: `-c FILE`", slug="input")
    tools = choose_tools(options)
    config = read_config(options.config, lenient=True)
    stamp = f"{os.getpid()}_{int(time.time())}"
    path = output_path(options.output_prefix, stamp, append=options.append)
    take_output(path, force=True, inputs=[Path(options.config)])  # PARAM overwrites existing files, too
    if not quiet(options):
        for note in config.notes:
            tell(f"note: {note}")
        for warning in warnings(options):
            tell(f"warning: {warning}")
    trace = path.with_name(f"{path.stem}_trace.json") if options.profile else None
    try:
        run, cause = Running(options, config, tools).run(path, trace)
    except KeyboardInterrupt:  # while a tool was at work, so that nothing is measured yet
        raise SystemExit(130) from None
    tell(f"wrote {path}")
    if cause is not None:
        raise way_out(cause)
    leave(run, strict=False)


if __name__ == "__main__":
    main()
