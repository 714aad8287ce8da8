"""Memory that the parent shares with the children of a judge: inputs to read, and what is written about results."""

from __future__ import annotations

import fcntl
import mmap
import os

#: The kernel's seal against new mappings that can be written. Source: fcntl(2); Python names it from 3.13 on.
F_SEAL_FUTURE_WRITE = 0x0010
#: The bytes in which a stand writes addresses: how many they are, and then each.
ANSWERS = 1 << 16


class Area:
    """Anonymous memory with a descriptor, which children inherit."""

    def __init__(self, name: str, size: int) -> None:
        self.descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.size = size

    def seal(self) -> None:
        """Let nobody write who cannot already: children that inherit it from here on may only read."""
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE)

    def map(self) -> memoryview:
        """Return its bytes, to be read and written."""
        return memoryview(mmap.mmap(self.descriptor, self.size))

    def spans(self, pid: int) -> list[range]:
        """Return the addresses at which a process has it mapped. Source: proc(5), `/proc/PID/maps`."""
        inode, spans = os.fstat(self.descriptor).st_ino, []
        with open(f"/proc/{pid}/maps", "rb") as file:
            for line in file:
                addresses, _, _, _, number, *name = line.split(maxsplit=5)
                if int(number) == inode and name and name[0].startswith(b"/memfd:"):
                    start, end = (int(address, 16) for address in addresses.split(b"-"))
                    spans.append(range(start, end))
        return spans

    def close(self) -> None:
        """Let go of it; mappings stay until their owners end."""
        os.close(self.descriptor)
