"""The command `opperf`: its verbs put together.

0 every trial has a record; 2 bad usage or input; 3 the harness failed, or nothing was measured and something failed;
130 on Ctrl-C. `opperf gate` alone adds 1, a regression, and 4, inconclusive; it leaves with 3 when a side could not be
measured. `opperf profile` leaves with the exit code of the script.
"""

from __future__ import annotations

import sys

import typer

from opperf.parent.cli import (
    bisect,
    capture,
    compare,
    config,
    doctor,
    env,
    explore,
    gate,
    history,
    nightly,
    noise,
    operators,
    profile,
    replay,
    run,
    serve,
    show,
)
from opperf.parent.cli.exit import Debug, debuggable, obey, show_tracebacks
from opperf.parent.cli.options import with_values
from opperf.parent.cli.profile import ScriptCommand

app = typer.Typer(
    name="opperf",
    help="Measure deep-learning operators on any framework, with numbers you can trust.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("compare")(compare.compare)
app.command("replay")(replay.replay)
app.command("profile", cls=ScriptCommand, context_settings={"allow_interspersed_args": False})(profile.profile)
app.command("capture")(capture.capture)
app.command("gate")(gate.gate)
app.command("nightly")(nightly.nightly)
app.command("noise")(noise.noise)
app.command("bisect")(bisect.bisect)
app.command("explore")(explore.explore)
app.command("show")(show.show)
app.command("operators")(operators.operators)
app.command("doctor")(doctor.doctor)
app.add_typer(history.app, name="history")
app.command("serve")(serve.serve)
app.add_typer(config.app, name="config")
app.add_typer(env.app, name="env")
debuggable(app, but=("profile",))


@app.callback(invoke_without_command=True)
def version(
    *, version: bool = typer.Option(False, "--version", help="Print the version and exit."), debug: Debug = False
) -> None:
    """Measure deep-learning operators on any framework, with numbers you can trust."""
    if debug:
        show_tracebacks()
    if version:
        from opperf import __version__

        typer.echo(f"opperf {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    sys.argv[1:] = with_values(sys.argv[1:])
    obey(app)
