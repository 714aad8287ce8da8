"""How a process enters a room: a command, or a process that has imported a framework and was forked for this.

Of up to three processes, one stays outside: it waits, ends as the command did, and removes what the room was made of.
The second is the first process of the room's namespace, which takes in who loses its parent; the third is the command,
or goes on where the room was entered. Where there are no namespaces, it is the child of the one outside. When the one
outside dies, so do they.

What a process does to itself here cannot be undone, so the order counts.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import util
from typing import Any, NoReturn

from opperf.confinement import LACKING, LACKS, Lacking, groups, mounts
from opperf.confinement.mounts import DEVICES, TEMPORARY, is_in
from opperf.confinement.system_calls import Filter

#: The exit code of a command that does not start, as shells have it.
NOT_STARTED = 127
#: Where libraries are loaded from, without a search by other programs: three would take 50 ms.
LIBRARIES = {"c": None, "seccomp": "libseccomp.so.2"}
#: Variables that say where a program keeps what it can make again.
FOLDERS = ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
FOLDERS_BELOW = {
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "NUMBA_CACHE_DIR": "numba",
    "MPLCONFIGDIR": "matplotlib",
    "CUDA_CACHE_PATH": "cuda",
}
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, CAPABILITIES_V3 = 1, 24, 38, 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def main(policy: Mapping[str, Any], command: Sequence[str]) -> NoReturn:
    """Run a command in the room of a policy; ends as the command does, or with `LACKING` and one line of stderr.

    A policy has the fields of `room.Room`, with all paths absolute.
    """
    enter(policy, os.getppid())
    _become(command)


def enter(policy: Mapping[str, Any], owner: int) -> None:
    """Go on in the room of a policy, in a process below this one, which itself ends as `main` does.

    This one must have one thread, and nothing open but what may be open in the room. What is left of the room may be
    removed once its `owner` has ended.
    """
    with _refusing():
        _Entrance(policy).run(groups.label(owner))


def preload(folders: Sequence[str]) -> bool:
    """Import what confines from these folders, for all that this process forks; False where that is not possible."""
    path = [*sys.path]
    sys.path.extend(folders)
    try:
        with _known_libraries():
            import landlockpy
            import pyseccomp  # noqa: F401

            landlockpy.abi_version()  # it looks for the C library then
    except Exception:  # whatever a library of another interpreter raises here
        return False
    finally:
        sys.path[:] = path
    return True


@contextmanager
def _known_libraries() -> Iterator[None]:
    """Have libraries found without a search."""
    search = util.find_library
    util.find_library = LIBRARIES.get  # type: ignore[assignment]
    try:
        yield
    finally:
        util.find_library = search


@contextmanager
def _refusing() -> Iterator[None]:
    """End this process where it cannot be confined, and say why."""
    try:
        yield
        return
    except Lacking as problem:
        _say(str(problem))
    except OSError as problem:
        _say(f"{LACKS}room: {problem}")
    os._exit(LACKING)


class _Entrance:
    def __init__(self, policy: Mapping[str, Any]) -> None:
        self._policy = policy
        self._mechanisms = policy["mechanisms"]
        self._apart = "namespaces" in self._mechanisms
        # What is hidden is hidden under the name that the file system has for it.
        self._hidden = [os.path.realpath(path) for path in policy["hidden"]]
        self._readable = [path for path in policy["readable"] if os.path.exists(path) and not self._hides(path)]
        self._groups: list[str] = []
        self._temporary = TEMPORARY
        self._filter: Filter | None = None

    def _hides(self, path: str) -> bool:
        return any(is_in(os.path.realpath(path), hidden) for hidden in self._hidden)

    def run(self, owner: str) -> None:
        """Return in a child that has entered; this process stays outside, and ends here."""
        with _known_libraries():
            self._load_libraries()
        groups.sweep()
        self._groups = groups.make(
            f"{owner}{os.getpid()}", memory=self._policy["memory"], processes=self._policy["processes"]
        )
        status_reads, status_writes = os.pipe()
        life_reads, life_writes = os.pipe()
        try:
            if self._apart:
                mounts.unshare()
            else:
                self._temporary = tempfile.mkdtemp(prefix=owner)
            child = os.fork()
        except BaseException:
            self._remove()
            raise
        if child == 0:
            os.close(status_reads)
            os.close(life_writes)
            self._enter(life_reads, status_writes)
            return
        try:
            _let_go(status_reads, life_writes)
            _, status = os.waitpid(child, 0)
            word = os.read(status_reads, 4)  # that of the command, where another process is between
        finally:
            self._remove()
        _end_as(int.from_bytes(word, "little") if word else status)

    def _remove(self) -> None:
        """Remove what the room was made of."""
        groups.remove(self._groups)
        if not self._apart:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _load_libraries(self) -> None:
        """Load what cannot be read any more once the room stands."""
        if "landlock" in self._mechanisms:
            try:
                import landlockpy

                version = landlockpy.abi_version()
            except (ImportError, OSError) as problem:
                raise Lacking("landlock", problem) from None
            if not version:
                raise Lacking("landlock", "this kernel has none")
        if "seccomp" in self._mechanisms:
            self._filter = Filter()

    def _enter(self, life: int, status: int) -> None:
        """Confine this process step by step, and return in it, or in a child of it, for which it waits."""
        _die_with_outside(life)
        groups.join(self._groups)
        if self._apart:
            try:
                mounts.build_root(self._readable, self._hidden, self._policy["space"])
            except OSError as problem:
                raise Lacking("namespaces", problem) from None
            _reopen_null()
        self._limit()
        _drop_capabilities()
        if "landlock" in self._mechanisms:
            self._restrict()
        os.environ.update(dict.fromkeys(FOLDERS, self._temporary))
        os.environ.update({name: os.path.join(self._temporary, below) for name, below in FOLDERS_BELOW.items()})
        if self._filter is not None:
            self._filter.load(apart=self._apart)
        if self._apart and (child := os.fork()):
            _let_go(status)
            _serve(child, status)
        os.close(life)
        os.close(status)
        os.setsid()  # what stops the command's group must not stop those that wait for it

    def _limit(self) -> None:
        policy = self._policy
        if policy["cpus"] is not None:
            os.sched_setaffinity(0, policy["cpus"])
        # In a namespace of its own, a user's processes are counted anew.
        others = 0 if self._apart else _tasks()
        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: policy["space"],
            resource.RLIMIT_NOFILE: policy["files"],
            resource.RLIMIT_DATA: policy["memory"],
            resource.RLIMIT_CPU: policy["cpu_time"],
            resource.RLIMIT_NPROC: policy["processes"] and policy["processes"] + others,
        }
        for kind, limit in limits.items():
            _, hard = resource.getrlimit(kind)
            if limit is not None and (hard == resource.RLIM_INFINITY or limit < hard):
                resource.setrlimit(kind, (limit, limit))

    def _restrict(self) -> None:
        """Have Landlock refuse all paths but the room's own, TCP, and signals and sockets to the outside."""
        import landlockpy

        access, scope = landlockpy.AccessFS, landlockpy.Scope
        reading = access.READ_FILE | access.EXECUTE
        writing = reading | access.WRITE_FILE | access.TRUNCATE | access.IOCTL_DEV
        with landlockpy.Ruleset(scoped=scope.ABSTRACT_UNIX_SOCKET | scope.SIGNAL) as rules:
            for path in ["/proc", *self._readable]:
                for part, is_whole in self._parts(os.path.realpath(path)):
                    listing = access.READ_DIR if os.path.isdir(part) else access.NONE
                    rules.allow_path(part, (reading if is_whole else access.NONE) | listing)
            for path in filter(os.path.exists, DEVICES):
                rules.allow_path(path, writing)
            for path in [TEMPORARY, "/dev/shm"] if self._apart else [self._temporary]:
                rules.allow_path(path, rules.handled_fs)
            rules.restrict()

    def _parts(self, path: str) -> Iterator[tuple[str, bool]]:
        """Yield what makes up a path but for what is hidden, and whether all in it may be read.

        A rule can add to that of a folder, not take away. What holds something hidden is listed, so that Python finds
        modules in it. In a file system of its own, something empty lies over what is hidden.
        """
        if self._apart or not any(is_in(hidden, path) for hidden in self._hidden):
            yield path, True
        elif not self._hides(path):
            yield path, False
            for name in os.listdir(path):
                if not os.path.islink(below := os.path.join(path, name)):
                    yield from self._parts(below)


def _tasks() -> int:
    """Return how many threads this user has: limits of processes count them all."""
    number, user = 0, os.geteuid()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            number += len(os.listdir(f"/proc/{name}/task")) if os.stat(f"/proc/{name}").st_uid == user else 0
    return number


def _drop_capabilities() -> None:
    """Give up the rights over the namespaces, and the way to get any by starting a program."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break
    _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header, none = (ctypes.c_uint32 * 2)(CAPABILITIES_V3, 0), (ctypes.c_uint32 * 6)()
    if _libc.capset(header, none) < 0:
        raise OSError(ctypes.get_errno(), "capset")


def _die_with_outside(life: int) -> None:
    """Have the kernel kill this process with the one outside, which holds the other end of a pipe."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if select.select([life], [], [], 0)[0]:  # it died before the kernel was asked
        os._exit(1)


def _reopen_null() -> None:
    """Open anew whatever standard stream is the null device: by that of outside, root could change its mode."""
    null = os.open(os.devnull, os.O_RDWR)
    device = os.fstat(null).st_rdev
    for standard in (0, 1, 2):
        with suppress(OSError):  # it is closed
            if os.fstat(standard).st_rdev == device:
                os.dup2(null, standard)
    os.close(null)


def _let_go(*needed: int) -> None:
    """Hold none of the command's pipes: whoever reads from one waits until nobody has its other end."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in needed:
            with suppress(OSError):  # that of the listing itself
                os.close(descriptor)


def _serve(child: int, status: int) -> NoReturn:
    """Collect who dies in the namespace, until the command does; pass on how it ended. Then all that is left dies."""
    while True:
        pid, how = os.wait()
        if pid == child:
            os.write(status, how.to_bytes(4, "little"))
            os._exit(0)


def _become(command: Sequence[str]) -> NoReturn:
    try:
        os.execvp(command[0], list(command))
    except OSError as problem:
        _say(f"cannot start `{command[0]}`: {problem.strerror}")
    os._exit(NOT_STARTED)


def _say(text: str) -> None:
    os.write(2, text.encode(errors="replace") + b"\n")


def _end_as(status: int) -> NoReturn:
    """End as a process with this status did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL is what it is
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    os._exit(code)
