"""What is done about the system calls of a process in a room, through libseccomp.

All but a few are let through. Of those that always are, the kernel keeps a list, so that they take no longer than
without a filter.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Any

from opperf.confinement import Lacking

#: No kernel of a library needs these: they read or change other processes, the machine, or what is mounted.
FATAL = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "userfaultfd", "bpf"),
    *("perf_event_open", "keyctl", "add_key", "request_key", "setns", "unshare", "mount", "umount2", "pivot_root"),
    *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff"),
    *("acct", "quotactl", "settimeofday", "clock_settime", "iopl", "ioperm", "modify_ldt", "lookup_dcookie"),
)
#: Flags of clone(2) that make namespaces: mount, group, UTS, IPC, user, PID, network.
NEW_SPACES = (1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
#: These only matter to others. OpenMP and frameworks call some of them, so they are told that it worked.
PRETENDED = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority", "ioprio_set")
PR_SET_DUMPABLE = 4
#: Whoever uses these has another way: of `clone3`, a filter cannot see the flags, and `io_uring` works past a filter.
ABSENT = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
#: What changes marks of a file without writing to it, but for modes by path: linkers make programs executable.
MARKS = (
    *("fchmod", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
#: What sends signals, and whether its first argument is whom to.
SIGNALS = {"kill": True, "tgkill": True, "tkill": False, "rt_sigqueueinfo": True, "pidfd_send_signal": False}
#: Families of sockets that a namespace of networks confines: UNIX, IPv4, IPv6, netlink.
FAMILIES, LAST_FAMILY = (1, 2, 10, 16), 45
SOCK_DGRAM, SOCK_RAW, SOCK_TYPE = 2, 3, 0xF


class Filter:
    """The filter of a process. It is made while its library's files can still be read, and set later."""

    def __init__(self) -> None:
        """Load libseccomp; raises `Lacking`."""
        try:
            import pyseccomp
        except (ImportError, RuntimeError, OSError, AttributeError) as problem:
            raise Lacking("seccomp", problem) from None
        self._library = pyseccomp

    def load(self, *, apart: bool) -> None:
        """Set the filter for this process and all that it starts; raises `Lacking`.

        `apart` says that namespaces keep others' processes and the network away. Where none do, there are no sockets
        but pairs, and no signals but to oneself.
        """
        library = self._library
        self._rules = library.SyscallFilter(library.ALLOW)
        # Programs for 32 bits have other numbers, and so would be let through.
        self._rules.set_attr(library.Attr.ACT_BADARCH, library.KILL_PROCESS)
        with suppress(OSError):  # before Linux 5.16 a filter would slow down all code, against Spectre
            self._rules.set_attr(library.Attr.CTL_SSB, 1)
        for name in FATAL:
            self._add(library.KILL_PROCESS, name)
        for flag in NEW_SPACES:
            self._add(library.KILL_PROCESS, "clone", library.Arg(0, library.MASKED_EQ, flag, flag))
        for name in PRETENDED:
            self._add(library.ERRNO(0), name)
        self._add(library.ERRNO(0), "prctl", library.Arg(0, library.EQ, PR_SET_DUMPABLE))
        for name in ABSENT:
            self._add(library.ERRNO(errno.ENOSYS), name)
        self._refuse_sockets(FAMILIES if apart else ())
        if not apart:
            self._refuse_others()
        try:
            self._rules.load()
        except OSError as problem:
            raise Lacking("seccomp", problem) from None

    def _refuse_sockets(self, but: tuple[int, ...]) -> None:
        library = self._library
        refusal = library.ERRNO(errno.EAFNOSUPPORT)
        for family in sorted(set(range(LAST_FAMILY + 1)) - set(but)):
            self._add(refusal, "socket", library.Arg(0, library.EQ, family))
        self._add(refusal, "socket", library.Arg(0, library.GT, LAST_FAMILY))

    def _refuse_others(self) -> None:
        """Refuse what reaches processes and sockets of others, and do nothing to marks of files.

        Landlock has no word for these, and nothing here is mounted read-only. The modes of files that its user owns a
        process can change all the same.
        """
        library = self._library
        for name in MARKS:
            self._add(library.ERRNO(0), name)
        for kind in (SOCK_DGRAM, SOCK_RAW):  # such a pair can send to any socket that has a path
            condition = library.Arg(1, library.MASKED_EQ, SOCK_TYPE, kind)
            self._add(library.ERRNO(errno.EAFNOSUPPORT), "socketpair", condition)
        for name, by_process in SIGNALS.items():
            conditions = [library.Arg(0, library.NE, os.getpid())] if by_process else []
            self._add(library.ERRNO(errno.EPERM), name, *conditions)

    def _add(self, action: int, name: str, *conditions: Any) -> None:
        library = self._library
        if library.resolve_syscall(library.Arch.NATIVE, name) >= 0:  # it is here, and the library knows it
            self._rules.add_rule(action, name, *conditions)
