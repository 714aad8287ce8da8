"""`opperf serve`: pages over a database of results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.parent.cli import history

if TYPE_CHECKING:
    from socket import socket as Socket

    from opperf.parent.store.database.archive import Archive

Option = typer.Option
#: How long requests that are under way may take once the server is to stop. Seconds.
LAST = 10
#: How long a connection stays open without a request: a proxy that keeps one longer would meet it closed. Seconds.
IDLE = 75


def serve(
    *,
    database: history.Database = None,
    host: Annotated[str, Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(metavar="PORT", help="Port to listen on.", min=0, max=65535)] = 8760,
    token: Annotated[
        Optional[str],
        Option(
            metavar="TOKEN",
            envvar="OPPERF_TOKEN",
            help="Secret that visitors must give. Required unless the address is loopback.",
        ),
    ] = None,
    write: Annotated[bool, Option("--write", help="Let visitors say what a change is to them. Needs a token.")] = False,
    demo: Annotated[
        bool, Option("--demo", help="Serve a made-up month instead of a database, to see every page at once.")
    ] = False,
    name: Annotated[
        Optional[list[str]], Option(metavar="NAME", help="Host name by which visitors reach the pages. Repeatable.")
    ] = None,
    workers: Annotated[
        int, Option(metavar="N", help="Number of processes that answer: one for each core.", min=1, max=64)
    ] = 1,
    access_log: Annotated[
        bool, Option("--access-log", help="Write a line of JSON to stderr for each request.")
    ] = False,
) -> None:
    """Serve a database of results as web pages.

    The pages show changes, operators over builds, runs, suites and machines. Only this machine can reach them unless
    you give `--host` and `--token`. Machines with a token of their own, in $OPPERF_MACHINES or opperf.toml, may add
    runs. Requires `pip install starlette uvicorn`.
    """
    import sys
    from pathlib import Path

    from opperf.domain.errors import InputError
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.demo import NOTICE
    from opperf.parent.commands.history import archive
    from opperf.parent.sources.gate_file import find_machines
    from opperf.parent.sources.machine_tokens import machine_tokens

    check_address(host, token)
    if demo and database is not None:
        hint = "leave one of them out"
        raise InputError("`--demo` serves no database, and `--database` names one", hint=hint, slug="input")
    if write and token is None:
        hint = "set `--token` or OPPERF_TOKEN"
        raise InputError("`--write` needs a token, so that not everybody may write", hint=hint, slug="token")
    try:
        import uvicorn

        from opperf.parent.pages.server.app import application
        from opperf.parent.pages.server.processes import answer
    except ImportError as problem:
        hint = "`pip install starlette uvicorn`"
        raise InputError(
            "`opperf serve` needs starlette and uvicorn, which are not installed", hint=hint, slug="no_package"
        ) from problem
    names = [*(name or ()), host, "localhost", "127.0.0.1", "[::1]"]
    machines = machine_tokens(find_machines(Path()), readers=token)
    with _demo() if demo else archive(database, create=bool(machines)) as store, listen(host, port) as socket:
        place = (
            f"http://{f'[{host}]' if ':' in host else host}:{socket.getsockname()[1]}/{'?token=TOKEN' if token else ''}"
        )
        tell(f"serving {'a made-up month' if demo else store.address} at {place}; stop with Ctrl-C")
        if machines:
            tell(f"machines that may add runs: {', '.join(machines)}")
        app = application(
            store,
            hosts=names,
            token=token,
            write=write,
            machines=machines,
            processes=workers,
            log=sys.stderr if access_log else None,
            notice=NOTICE if demo else "",
            tell=tell,
        )
        config = uvicorn.Config(
            app,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=LAST,
            timeout_keep_alive=IDLE,
        )
        store.engine.dispose()  # each process connects by itself
        answer(config, socket, workers)


@contextmanager
def _demo() -> Iterator[Archive]:
    """Make a database of a made-up month, which is gone afterwards."""
    from tempfile import TemporaryDirectory

    from opperf.parent.commands.demo import fill
    from opperf.parent.commands.history import archive

    with TemporaryDirectory(prefix="opperf-") as folder, archive(f"{folder}/demo.db", create=True) as store:
        fill(store)
        yield store


def listen(host: str, port: int) -> Socket:
    """Return a socket that listens there; raises `InputError` for an address that is taken or invalid."""
    import socket

    from opperf.domain.errors import InputError

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        hint = "choose another `--port`; 0 picks a free one"
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint, slug="listen") from error


def check_address(host: str, token: str | None) -> None:
    """Raise `InputError` for an address that others reach where no token keeps them out, or one that is too short."""
    from opperf.domain.errors import InputError
    from opperf.parent.sources.machine_tokens import LEAST

    if token is not None and len(token) < LEAST:
        raise InputError(f"the token has {len(token)} characters, expected {LEAST} or more", slug="token")
    if token is None and not _is_loopback(host):
        raise InputError(
            f"everyone who can reach `{host}` could read the results",
            hint="set `--token` or OPPERF_TOKEN, or listen on this machine only: `--host 127.0.0.1`",
            slug="token",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
