"""`opperf serve`: pages over a database of results."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Optional

import typer

from opperf.parent.cli import history

Option = typer.Option
#: The fewest characters of a token: no one guesses it.
LEAST = 16


def serve(
    *,
    database: history.Database = None,
    host: Annotated[str, Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(metavar="PORT", help="Port to listen on.", min=0, max=65535)] = 8760,
    token: Annotated[
        Optional[str],
        Option(
            metavar="TOKEN", envvar="OPPERF_TOKEN", help="Secret that visitors need. Any address but loopback does."
        ),
    ] = None,
    name: Annotated[
        Optional[list[str]], Option(metavar="NAME", help="Host name under which pages are asked for. Repeatable.")
    ] = None,
) -> None:
    """Show a database of results as pages.

    They show what changed, operators over builds, runs, suites and machines. It listens on this machine alone, unless
    `--host` and `--token` say otherwise. Needs `pip install "opperf[serve]"`.
    """
    from opperf.domain.errors import InputError
    from opperf.parent.cli.output import tell
    from opperf.parent.history import archive

    check_address(host, token)
    try:
        import uvicorn

        from opperf.parent.pages.server.app import application
    except ImportError as problem:
        hint = '`pip install "opperf[serve]"` brings them'
        raise InputError("the pages need starlette and uvicorn", hint=hint, slug="no_package") from problem
    hosts = [*(name or ()), host, "localhost", "127.0.0.1", "[::1]"]
    with archive(database) as store:
        tell(f"serving {store.address} at http://{host}:{port}/{'?token=TOKEN' if token else ''}")
        uvicorn.run(application(store, hosts=hosts, token=token), host=host, port=port, log_level="warning")


def check_address(host: str, token: str | None) -> None:
    """Raise `InputError` for an address that others reach where no token keeps them out, or one that is too short."""
    from opperf.domain.errors import InputError

    if token is not None and len(token) < LEAST:
        raise InputError(f"the token has {len(token)} characters, expected {LEAST} or more", slug="token")
    if token is None and not _is_loopback(host):
        raise InputError(
            f"others can reach `{host}`, and everyone could read the results",
            hint="`--token` or OPPERF_TOKEN keeps them out; `--host 127.0.0.1` listens on this machine alone",
            slug="token",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
