"""What a process does to itself to be in a room, through `entrance`: before a command, or after an import.

Three mechanisms, each of which some machine lacks (`Lacking`):

* `namespaces` (user, mount, PID, network, IPC, UTS): a file system that holds the readable paths alone, read-only, with
  a temporary folder in memory; no other process, no network;
* `landlock`: the same paths by the kernel's own list, no TCP, no signals and no sockets to the outside;
* `seccomp`: system calls that no kernel of a library needs end the process, those that move it between CPUs or change
  its priority do nothing, and new namespaces and `io_uring` are not there.
"""

from __future__ import annotations

#: The exit code of a room that cannot be made, and how the line begins that says why: what the machine lacks follows.
LACKING, LACKS = 96, "room lacks "


class Lacking(Exception):
    """A mechanism that this machine does not offer, and why."""

    def __init__(self, mechanism: str, reason: object) -> None:
        super().__init__(f"{LACKS}{mechanism}: {reason}")
