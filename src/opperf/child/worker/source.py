"""A process that has imported a framework and forks children, which then share what that import made.

It runs nothing else, and has one thread: a fork copies no other. Each child gets what a fresh one is started with: a
session, variables, streams and pipes of its own, in a message that comes for it alone. It is forked before the message
for the next one is read, so that no child ever holds a descriptor of another.

From then on the memory of each is its own: what one writes, the others do not see. A child that has a room enters it
before anything else, and before it is told what it will call: it finds neither the source nor another child there. The
source itself never has the code that they load, nor anything that they must not know.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import sys
from contextlib import suppress
from typing import Any, NoReturn

from opperf.child.worker.supervision import die_with

#: A message comes in one piece, and none is longer, in bytes.
LONGEST = 1 << 17
#: What comes with it: where the child reads requests and writes answers, files that it inherits under the numbers that
#: the message names, where it prints to, and where its end is told; so many at most.
DESCRIPTORS = 8


def next_child(requests: socket.socket, variables: dict[str, str]) -> list[str]:
    """Return in each child that is asked for, with the words that it is started with; the source itself ends here.

    Threads of the framework would be missing in them: where there are any, each child is started anew, with the
    `variables` that the source was started with. So is one with a room, where all would share more than an import.
    """
    ends: dict[int, int] = {}
    #: What tells of the end of a child, and its process.
    watched: dict[int, int] = {}
    process, alone, apart = os.getpid(), len(os.listdir("/proc/self/task")) == 1, not _shared_memory()
    while True:
        ready, _, _ = select.select([requests.fileno(), *watched], [], [])
        for descriptor in filter(watched.__contains__, ready):
            _tell_end(*os.waitpid(watched.pop(descriptor), 0), ends)
            os.close(descriptor)
        if requests.fileno() not in ready:
            continue
        text, descriptors, _, _ = socket.recv_fds(requests, LONGEST, DESCRIPTORS)
        if not text:
            _wait_for(ends)
        message, (*pipes, end) = json.loads(text), descriptors
        room = message.get("room")
        afresh = not alone or (room is not None and not (apart and _can_confine(room)))
        child = os.fork()
        if child == 0:
            requests.close()
            _tell(end, os.getpid())  # before its hello: whom signals are sent to is known by then
            for descriptor in (end, *ends.values(), *watched):
                os.close(descriptor)
            die_with(process)
            return _become(message, pipes, variables if afresh else None)
        for descriptor in pipes:
            os.close(descriptor)
        ends[child] = end
        with suppress(OSError, AttributeError):  # where there are none, ends are told when the last child was asked for
            watched[os.pidfd_open(child)] = child


def _shared_memory() -> bool:
    """Whether this process has memory that it and all that it forks could write to."""
    with open("/proc/self/maps", "rb") as maps:
        return any(line.split(maxsplit=2)[1][1:4:2] == b"ws" for line in maps)


def _can_confine(room: dict[str, Any]) -> bool:
    """Whether this interpreter has what a room is made with."""
    from opperf.confinement import entrance  # most children have no room

    return entrance.preload(room["libraries"])


def _become(message: dict[str, Any], descriptors: list[int], variables: dict[str, str] | None) -> list[str]:
    """Give this process what a fresh one is started with; with `variables` a fresh one takes its place."""
    os.setsid()
    *pipes, output = descriptors
    for standard in (1, 2):
        os.dup2(output, standard)
    os.close(output)
    numbers, room = message.get("files", []), message.get("room")
    if room is not None:
        _close_all_but(pipes)
    pipes = _place(pipes, numbers)
    words = [*map(str, pipes), *message["words"]]
    if variables is not None:
        for pipe in (*pipes, *numbers):
            os.set_inheritable(pipe, True)
        command = [*message.get("under", []), sys.orig_argv[0], "-m", "opperf.child", *words]
        os.execve(command[0], command, {**variables, **message["variables"]})
    os.environ.update(message["variables"])
    sys.argv[1:] = words
    if room is not None:
        from opperf.confinement import entrance

        entrance.enter(room, os.getpid())
    return words


def _close_all_but(descriptors: list[int]) -> None:
    """Keep nothing open but these and the standard streams: not what the framework has opened either."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in descriptors:
            with suppress(OSError):  # that of the listing itself
                os.close(descriptor)


def _place(descriptors: list[int], numbers: list[int]) -> list[int]:
    """Give the last descriptors these numbers, and return the others, which may have new ones."""
    if not numbers:
        return descriptors
    above = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(numbers) + 1) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    pipes, files = above[: -len(numbers)], above[-len(numbers) :]
    for descriptor, number in zip(files, numbers):
        os.dup2(descriptor, number, inheritable=False)
        os.close(descriptor)
    return pipes


def _tell_end(child: int, status: int, ends: dict[int, int]) -> None:
    end = ends.pop(child)
    _tell(end, status)
    os.close(end)


def _wait_for(ends: dict[int, int]) -> NoReturn:
    """Tell how each child ends, and end after the last."""
    while ends:
        _tell_end(*os.wait(), ends)
    os._exit(0)


def _tell(end: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody asks any more
        os.write(end, number.to_bytes(4, "little"))
