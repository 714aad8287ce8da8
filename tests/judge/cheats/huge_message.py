"""Write 32 MiB without an end of line to every pipe: a parent without a limit keeps it all."""

#: 44
import os
import stat


def f(x):
    part = b"0" * 2**20
    for descriptor in range(1, 64):
        try:
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                for _ in range(32):
                    os.write(descriptor, part)
        except OSError:
            pass
    return x
