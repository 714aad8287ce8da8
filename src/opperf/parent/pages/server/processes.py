"""Several processes that answer at one socket: within one, Python makes a page on a single core.

They are forked once everything is loaded, and hold its memory together. They end with the process that forked them,
whatever ends that; and where one of them ends by itself, all do, so that whoever started the server starts it anew.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, NoReturn

from opperf.domain.errors import HarnessError

if TYPE_CHECKING:
    from socket import socket as Socket

    from uvicorn import Config, Server

#: How long a thread may go on while another one waits, in seconds: a thread that adds a run would hold up a page for
#: Python's own 5 ms at each row that the page reads.
TURN = 0.0005


def answer(config: Config, socket: Socket, processes: int) -> None:
    """Answer at a socket until a signal ends that; raises `HarnessError` where a process ends by itself.

    Nothing else may run in this process meanwhile, no thread and no connection: they would be forked.
    """
    if processes == 1:
        _run(config, socket)
        return
    life, end = os.pipe()
    children: set[int] = set()
    try:
        for _ in range(processes):
            child = os.fork()
            if child == 0:
                os.close(end)
                _become(config, socket, life)
            children.add(child)
        ended, status = os.wait()
        children.discard(ended)
        words = f"signal {os.WTERMSIG(status)} ended it" if os.WIFSIGNALED(status) else "it stopped answering"
        raise HarnessError(f"a process of the server is gone: {words}", slug="server")
    finally:
        for child in children:
            os.kill(child, signal.SIGTERM)
        for child in children:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _become(config: Config, socket: Socket, life: int) -> NoReturn:
    """Answer until a signal or the end of the parent; nothing of what the parent has to clean up is touched."""
    try:
        with suppress(KeyboardInterrupt, SystemExit):
            _run(config, socket, life)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


def _run(config: Config, socket: Socket, life: int | None = None) -> None:
    import uvicorn

    sys.setswitchinterval(TURN)
    server = uvicorn.Server(config)
    if life is not None:
        Thread(target=_watch, args=(server, life), daemon=True).start()
    server.run(sockets=[socket])


def _watch(server: Server, life: int) -> None:
    """End a server once nobody holds the other end of a pipe any more: the parent is gone then."""
    os.read(life, 1)
    server.should_exit = True
