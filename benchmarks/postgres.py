"""A PostgreSQL server for one benchmark, with the settings that it comes with; it ends with the benchmark."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Where distributions put it; the newest counts.
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@contextmanager
def server() -> Iterator[str | None]:
    """Start a server and yield the address of its database, None where PostgreSQL is not installed."""
    if not INSTALLED:
        yield None
        return
    folder, programs = Path(tempfile.mkdtemp()), INSTALLED[-1]
    # It does not run as root.
    root = os.geteuid() == 0
    if root:
        shutil.chown(folder, "postgres")

    def run(program: str, *words: object) -> None:
        command = shlex.join(map(str, (programs / program, *words)))
        shell = ["su", "postgres", "-s", "/bin/sh", "-c", command] if root else ["sh", "-c", command]
        subprocess.run(shell, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        run("initdb", "-D", folder / "data", "-A", "trust", "-U", "opperf")
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder}"
        run("pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", options, "start")
        yield f"postgresql://opperf@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", folder / "data", "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)
