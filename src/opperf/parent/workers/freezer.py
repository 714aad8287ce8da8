"""Stand-in until the freezer is merged."""

from __future__ import annotations

import os
import signal


class Freezer:
    def __init__(self, pid):
        self.pid = pid

    def freeze(self):
        os.killpg(self.pid, signal.SIGSTOP)
        while True:
            with open(f"/proc/{self.pid}/stat", "rb") as f:
                state = f.read().rpartition(b")")[2].split()[0]
            if state in (b"T", b"Z", b"X", b"t"):
                return

    def thaw(self):
        os.killpg(self.pid, signal.SIGCONT)

    def cpu_ns(self):
        total = 0
        for t in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{t}/schedstat") as f:
                total += int(f.read().split()[0])
        return total

    def waiting_ns(self):
        total = 0
        for t in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{t}/schedstat") as f:
                total += int(f.read().split()[1])
        return total

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def processes(self):
        return 1

    def close(self):
        pass


def read_memory(pid, address, size):
    fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    try:
        return os.pread(fd, size, address)
    finally:
        os.close(fd)
