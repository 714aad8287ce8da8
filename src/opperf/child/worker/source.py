"""A process that has imported a framework and forks the children of one pair, which then share what that import made.

It runs nothing else, and has one thread: a fork copies no other. Each child gets what a fresh one is started with: a
session, variables, streams and pipes of its own, in a message that comes for it alone. It is forked before the message
for the next one is read, so that no child ever holds a descriptor of another.

From then on the memory of each is its own: what one writes, the others do not see.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import suppress
from typing import Any, NoReturn

from opperf.child.worker.supervision import die_with

#: A message comes in one piece, and none is longer, in bytes.
LONGEST = 1 << 17
#: What comes with it: where the child reads requests and writes answers, what it prints to, and where its end is told.
DESCRIPTORS = 4


def next_child(requests: socket.socket, variables: dict[str, str]) -> list[str]:
    """Return in each child that is asked for, with the words that it is started with; the source itself ends here.

    Threads of the framework would be missing in them: where there are any, each child is started anew, with the
    `variables` that the source was started with.
    """
    ends: dict[int, int] = {}
    process, alone = os.getpid(), len(os.listdir("/proc/self/task")) == 1
    while True:
        text, descriptors, _, _ = socket.recv_fds(requests, LONGEST, DESCRIPTORS)
        if not text:
            _wait_for(ends)
        *pipes, end = descriptors
        child = os.fork()
        if child == 0:
            requests.close()
            _tell(end, os.getpid())  # before its hello: whom signals are sent to is known by then
            for descriptor in (end, *ends.values()):
                os.close(descriptor)
            die_with(process)
            return _become(json.loads(text), pipes, None if alone else variables)
        for descriptor in pipes:
            os.close(descriptor)
        ends[child] = end


def _become(message: dict[str, Any], descriptors: list[int], variables: dict[str, str] | None) -> list[str]:
    """Give this process what a fresh one is started with; with `variables` a fresh one takes its place."""
    os.setsid()
    *pipes, output = descriptors
    for standard in (1, 2):
        os.dup2(output, standard)
    os.close(output)
    words = [*map(str, pipes), *message["words"]]
    if variables is not None:
        for pipe in pipes:
            os.set_inheritable(pipe, True)
        command = [sys.orig_argv[0], "-m", "opperf.child", *words]
        os.execve(command[0], command, {**variables, **message["variables"]})
    os.environ.update(message["variables"])
    sys.argv[1:] = words
    return words


def _wait_for(ends: dict[int, int]) -> NoReturn:
    """Tell how each child ends, and end after the last."""
    while ends:
        child, status = os.wait()
        end = ends.pop(child)
        _tell(end, status)
        os.close(end)
    os._exit(0)


def _tell(end: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody asks any more
        os.write(end, number.to_bytes(4, "little"))
