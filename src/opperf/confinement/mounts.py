"""Namespaces of one's own, and in them a file system that holds the readable paths alone.

Sources: unshare(2), mount(2), pivot_root(2), mount_setattr(2), open_tree(2) and move_mount(2). The readable trees are
copied before anything is mounted over the folder that the new root is built in: it may hold some of them.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress

from opperf.confinement import Lacking

#: Where the command's temporary folder is; until then, where the new root is built.
TEMPORARY = "/tmp"
#: Stands in the new root, where only Landlock is between it and the command.
DECOY = "/.not-listed"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
LINKS = {"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1"}

CLONE_NEW = {"mount": 1 << 17, "uts": 1 << 26, "ipc": 1 << 27, "pid": 1 << 29, "network": 1 << 30}
CLONE_NEWUSER = 1 << 28
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE, MNT_DETACH = 2, 4, 8, 1 << 14, 1 << 18, 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE, OPEN_TREE_CLONE, MOVE_EMPTY_PATH = -100, 0x1000, 0x8000, 1, 4
#: Numbers of system calls that the C library has no function for; from 424 on they are the same everywhere.
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}

_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users"))


def unshare() -> None:
    """Go into new namespaces, with rights over them alone; raises `Lacking`. The next child is the first in them.

    The user stays the same one, so that files that only this user may read stay readable. Root can do without a
    namespace of users, where the system does not allow one.
    """
    user, group = os.geteuid(), os.getegid()
    spaces = sum(CLONE_NEW.values())
    if user == 0:
        with suppress(OSError):
            os.setgroups(())
    try:
        _check("unshare", _libc.unshare(CLONE_NEWUSER | spaces))
    except OSError as problem:
        if user != 0 or _libc.unshare(spaces) < 0:
            raise Lacking("namespaces", problem) from None
        return
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        _write(f"/proc/self/{name}", text)


def build_root(readable: Sequence[str], hidden: Iterable[str], space: int) -> None:
    """Make a file system of what is readable, without what is hidden, and move this process into it.

    `space` are the bytes of the temporary folder, which is in memory. Raises `OSError`.
    """
    base = TEMPORARY
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    places = [_resolve(path) for path in readable]
    links = {link: target for _, way in places for link, target in way.items()}
    trees: dict[str, int] = {}
    for real in sorted({real for real, _ in places}):  # a folder comes before what it holds
        if not any(is_in(real, folder) for folder in trees):
            trees[real] = _open_tree(real, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    # A device can be written to where it is mounted read-only, and keeps its owner and mode there.
    devices = {path: _open_tree(path, ATTR_RDONLY | ATTR_NOSUID) for path in DEVICES if os.path.exists(path)}
    processes = _open_tree("/proc", ATTR_RDONLY | ATTR_NOSUID)
    is_folder = {path: os.path.isdir(path) for path in trees}
    _mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m")
    for folder in (TEMPORARY, "/dev/shm"):
        os.makedirs(base + folder)
        _mount("tmpfs", base + folder, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=700,size={space}")
    for link, target in {**links, **LINKS}.items():
        os.makedirs(os.path.dirname(base + link), exist_ok=True)
        os.symlink(target, base + link)
    for path, tree in devices.items():
        _place(tree, base + path, folder=False)
    for path, tree in trees.items():
        _place(tree, base + path, folder=is_folder[path])
    _mount_processes(base + "/proc", processes)
    for path in hidden:
        _cover(base, path)
    _write(base + DECOY, "")
    _become_root(base)


def is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder, or in it; both without links.

    >>> is_in("/usr/lib", "/usr"), is_in("/usr2", "/usr"), is_in("/usr", "/")
    (True, False, True)
    """
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _resolve(path: str) -> tuple[str, dict[str, str]]:
    """Return the path without links, and the links that lead to it."""
    links: dict[str, str] = {}
    place, names = "/", [name for name in reversed(path.split("/")) if name]
    while names:
        step = os.path.normpath(os.path.join(place, names.pop()))
        if os.path.islink(step):
            links[step] = target = os.readlink(step)
            place = "/" if target.startswith("/") else place
            names.extend(part for part in reversed(target.split("/")) if part)
        else:
            place = step
    return place, links


def _mount_processes(folder: str, processes: int) -> None:
    """Mount the namespace's own processes; those of the machine where part of them is hidden, as in containers."""
    os.makedirs(folder)
    try:
        _mount("proc", folder, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        _set_attributes(AT_FDCWD, folder, ATTR_RDONLY)
        os.close(processes)
    except PermissionError:
        _place(processes, folder, folder=True)


def _cover(base: str, path: str) -> None:
    """Lay something empty over a hidden path."""
    if os.path.isdir(base + path):
        _mount("tmpfs", base + path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4k")
        _set_attributes(AT_FDCWD, base + path, ATTR_RDONLY)
    elif os.path.exists(base + path):
        _place(_open_tree(base + "/dev/null", ATTR_RDONLY), base + path, folder=False)


def _become_root(base: str) -> None:
    here = os.getcwd()
    os.chdir(base)
    _check("pivot_root", _libc.syscall(PIVOT_ROOT.get(platform.machine(), -1), b".", b"."))
    _check("umount2", _libc.umount2(b".", MNT_DETACH))
    os.chdir("/")
    _set_attributes(AT_FDCWD, "/", ATTR_RDONLY)
    os.chdir(here if os.path.isdir(here) else TEMPORARY)


def _check(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _check(f"mount {target}", _libc.mount(*words[:3], ctypes.c_ulong(flags), words[3]))


def _open_tree(path: str, attributes: int) -> int:
    """Return a copy of what is mounted at a path and below it, which is not anywhere yet."""
    flags = OPEN_TREE_CLONE | AT_RECURSIVE | os.O_CLOEXEC
    tree = _check(f"open_tree {path}", _libc.syscall(OPEN_TREE, AT_FDCWD, os.fsencode(path), flags))
    _set_attributes(tree, "", attributes, AT_EMPTY_PATH | AT_RECURSIVE)
    return tree


def _set_attributes(folder: int, path: str, attributes: int, flags: int = 0) -> None:
    wish = _Attributes(attributes, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wish))
    result = _libc.syscall(MOUNT_SETATTR, folder, os.fsencode(path), flags, ctypes.byref(wish), size)
    _check(f"mount_setattr {path}", result)


def _place(tree: int, path: str, *, folder: bool) -> None:
    os.makedirs(path if folder else os.path.dirname(path), exist_ok=True)
    if not folder and not os.path.exists(path):
        _write(path, "")
    result = _libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(path), MOVE_EMPTY_PATH)
    _check(f"move_mount {path}", result)
    os.close(tree)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
