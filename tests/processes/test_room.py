"""A room keeps what it promises: for each promise, a process inside tries to break it.

Each runs with every set of mechanisms that this machine has, since one alone has to hold where another is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from opperf.confinement.groups import PREFIX, folders, label
from opperf.domain.errors import InputError
from opperf.domain.message.requests import Describe
from opperf.domain.plan import Side
from opperf.parent.documents.environment import CURRENT
from opperf.parent.workers import room as rooms
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.process import Worker
from opperf.parent.workers.room import MECHANISMS, Room, belongings, probe, room_of, under
from opperf.parent.workers.supervision import carry_out

Inside: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Until: TypeAlias = Callable[[Callable[[], Any]], Any]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rooms are made of what Linux offers")

SETS = [MECHANISMS, ("landlock", "seccomp")]
DEADLINE = 120.0


@pytest.fixture(params=SETS, ids="+".join)
def room(request: pytest.FixtureRequest, cache: Path) -> Room:
    """An empty room of some mechanisms, if this machine has them all."""
    empty = replace(room_of(Path(sys.executable), []), mechanisms=request.param)
    try:
        probe(empty)
    except InputError as problem:
        pytest.skip(problem.message)
    if probe(empty) != request.param:
        pytest.skip(f"this machine has {probe(empty)} alone")
    return empty


@pytest.fixture
def inside(room: Room, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Run a program in the room, with words; changes of the room are named."""
    monkeypatch.setattr(rooms, "probe", lambda room: room.mechanisms)

    def run(program: str, *words: object, **changes: Any) -> subprocess.CompletedProcess[str]:
        command = [*under(replace(room, **changes)), sys.executable, "-I", "-c", textwrap.dedent(program)]
        return carry_out([*command, *map(str, words)], DEADLINE, os.environ)

    return run


def _readable() -> tuple[str, ...]:
    return room_of(Path(sys.executable), []).readable


def _living(mark: str) -> list[psutil.Process]:
    """Return the processes whose command has a word, but for those that wait to be collected."""
    living = []
    for process in psutil.process_iter(["cmdline"]):
        with suppress(psutil.Error):
            if mark in (process.info["cmdline"] or []) and process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living


def test_a_room_names_the_mechanisms_that_a_process_in_it_has_met(room: Room) -> None:
    assert set(probe(room)) == set(room.mechanisms)


def test_a_room_is_tried_out_by_a_python_whose_path_goes_through_a_folder_outside(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", f"{tmp_path}/{os.path.relpath(sys.executable, tmp_path)}")
    assert set(rooms._probe.__wrapped__(room.mechanisms)) == set(room.mechanisms)
    assert interpreter(CURRENT, framework="null") == Path(os.path.abspath(sys.executable))


def test_what_holds_too_little_is_refused_with_what_a_candidate_could_do(cache: Path) -> None:
    with pytest.raises(InputError) as refusal:
        under(replace(room_of(Path(sys.executable), []), mechanisms=("seccomp",)))
    assert "write to a folder of the user's" in refusal.value.message
    assert "--room none" in str(refusal.value.hint)


def test_a_mechanism_that_the_machine_lacks_is_left_out_with_the_reason(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = rooms.ENTRANCE.replace("from opperf", "sys.modules['pyseccomp'] = None; from opperf", 1)
    monkeypatch.setattr(rooms, "ENTRANCE", without)
    rooms._probe.cache_clear()
    try:
        outcome = str(probe(room))
    except InputError as refusal:  # without it, Landlock knows no UDP before its version 10
        outcome = refusal.message
    finally:
        rooms._probe.cache_clear()
    if "namespaces" in room.mechanisms:
        assert outcome == str(tuple(name for name in room.mechanisms if name != "seccomp"))
    else:
        assert "room (seccomp: " in outcome or outcome == "('landlock',)"


def test_it_writes_to_its_temporary_folder_alone(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    places = [tmp_path, tmp_path / "own", Path.cwd(), Path.home(), Path(os.__file__).parent, Path("/dev/shm/..")]
    done = inside(
        """
        import os, sys, tempfile
        with open(os.path.join(tempfile.gettempdir(), "note"), "w") as file:
            file.write("written")
        for folder in sys.argv[1:]:
            try:
                open(os.path.join(folder, "trespass"), "w").close()
            except OSError as problem:
                print(problem.strerror)
            else:
                print("written to", folder)
        """,
        *places,
        readable=(*_readable(), str(tmp_path / "own")),
    )
    assert (done.returncode, done.stderr) == (0, "")
    # In a file system of its own, a folder may be there that is its own: nothing of it is there afterwards.
    assert [place for place in places if (place / "trespass").exists()] == []
    assert "written to " + str(tmp_path / "own") not in done.stdout


def test_what_it_writes_is_gone_with_it(inside: Inside) -> None:
    program = """
        import os, tempfile
        print(os.path.exists(os.path.join(tempfile.gettempdir(), "note")), os.environ["HOME"] == tempfile.gettempdir())
        open(os.path.join(tempfile.gettempdir(), "note"), "w").close()
    """
    assert [inside(program).stdout for _ in range(2)] == ["False True\n"] * 2
    assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}*/note"))


@pytest.mark.parametrize("hidden", ["problem.py", "answers"], ids=["file", "folder"])
def test_it_does_not_read_what_is_hidden_in_a_folder_of_its_own(hidden: str, inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    for name in ("problem.py", "answers/expected.txt", "candidate.py"):
        (tmp_path / name).write_text(name)
    os.symlink("problem.py", tmp_path / "link.py")
    done = inside(
        """
        import sys
        for path in sys.argv[1:]:
            try:
                print(repr(open(path).read()))
            except OSError:
                print("refused")
        """,
        *(tmp_path / name for name in ("candidate.py", "problem.py", "link.py", "answers/expected.txt")),
        readable=(*_readable(), str(tmp_path)),
        hidden=(str(tmp_path / hidden),),
    )
    candidate, *others = done.stdout.split()
    assert candidate == "'candidate.py'", done.stderr
    visible = {"'problem.py'", "'answers/expected.txt'"} & set(others)
    assert visible == ({"'answers/expected.txt'"} if hidden == "problem.py" else {"'problem.py'"})


def test_python_finds_modules_beside_what_is_hidden(inside: Inside, tmp_path: Path) -> None:
    for name in ("candidate", "answer"):
        (tmp_path / f"{name}.py").write_text(f"print('{name}')")
    done = inside(
        "import sys; sys.path.insert(0, sys.argv[1]); import candidate, answer; print(answer.__file__)",
        tmp_path,
        readable=(*_readable(), str(tmp_path)),
        hidden=(str(tmp_path / "answer.py"),),
    )
    assert "candidate\n" in done.stdout, done.stderr
    assert "answer\n" not in done.stdout


def test_it_does_not_read_what_is_not_its_own(inside: Inside, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret")
    program = "import sys; print(open(sys.argv[1]).read())"
    for path in (tmp_path / "secret", Path.home() / ".profile", Path("/etc/shadow")):
        done = inside(program, path)
        assert (done.returncode, done.stdout) == (1, ""), (path, done.stderr)


def test_it_reaches_no_network(inside: Inside) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as other:
        other.bind(f"\0opperf-test-{os.getpid()}")
        other.listen()
        done = inside(
            """
            import socket, sys
            port, name = int(sys.argv[1]), "\\0" + sys.argv[2]
            def tcp(): socket.create_connection(("127.0.0.1", port), 5)
            def udp(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
            def unix(): socket.socket(socket.AF_UNIX).connect(name)
            def machine(): socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
            def kernel(): socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
            for attempt in (tcp, udp, unix, machine, kernel):
                try:
                    attempt()
                except OSError:
                    continue
                print(attempt.__name__)
            """,
            server.getsockname()[1],
            f"opperf-test-{os.getpid()}",
        )
    assert (done.stdout, done.stderr) == ("", "")


def test_it_sends_no_signals_to_others(inside: Inside) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        done = inside(
            """
            import os, signal, sys
            for pid in map(int, sys.argv[1:]):
                for number in (0, signal.SIGKILL, signal.SIGSTOP):
                    try:
                        os.kill(pid, number)
                    except OSError:
                        continue
                    print("sent to", pid)
            """,
            os.getpid(),
            bystander.pid,
        )
        assert bystander.poll() is None
        bystander.communicate()
    assert (done.stdout, done.stderr) == ("", "")


def test_it_sees_no_memory_of_others(inside: Inside) -> None:
    done = inside(
        """
        import os, sys
        for flags in (os.O_RDONLY, os.O_RDWR):
            for name in ("mem", "environ", "maps", "fd"):
                try:
                    os.open(f"/proc/{sys.argv[1]}/{name}", flags)
                except OSError:
                    continue
                print(name)
        """,
        os.getpid(),
    )
    # Where no namespace hides it, it is a name without a content: what can be read of it is tried by the room's probe.
    assert {"mem", "environ"} & set(done.stdout.split()) == set()


def test_calls_that_no_kernel_needs_end_it(inside: Inside) -> None:
    done = inside(
        """
        import ctypes, os, sys
        libc, parent = ctypes.CDLL(None), int(sys.argv[1])
        stack = ctypes.create_string_buffer(1 << 16)
        calls = {
            "ptrace": lambda: libc.ptrace(16, parent, 0, 0),
            "process_vm_writev": lambda: libc.process_vm_writev(parent, 0, 0, 0, 0, 0),
            "unshare": lambda: libc.unshare(1 << 28),
            "mount": lambda: libc.mount(None, b"/", None, 0, None),
            "open_tree": lambda: libc.syscall(428, -100, b"/", 1),
            "clone": lambda: libc.clone(ctypes.cast(libc.getpid, ctypes.c_void_p), stack, 1 << 28, 0),
        }
        for name, call in calls.items():
            if (child := os.fork()) == 0:
                call()
                os._exit(0)
            print(name, os.waitstatus_to_exitcode(os.wait()[1]))
        """,
        os.getpid(),
    )
    names = ("ptrace", "process_vm_writev", "unshare", "mount", "open_tree", "clone")
    assert done.stdout.splitlines() == [f"{name} {-signal.SIGSYS}" for name in names]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only there a program of 64 bits makes calls of 32 bits")
def test_calls_of_32_bits_end_it(inside: Inside) -> None:
    done = inside(
        """
        import ctypes, mmap
        code = b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3"  # mov eax, 20; int 0x80; ret
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
        """
    )
    # A kernel without 32 bits knows no such instruction.
    assert done.returncode in (-signal.SIGSYS, -signal.SIGSEGV)
    assert done.stdout == ""


def test_it_stays_on_its_cpus_and_is_told_otherwise(inside: Inside) -> None:
    done = inside(
        """
        import ctypes, os
        before, own = os.sched_getaffinity(0), os.nice(0)
        os.sched_setaffinity(0, range(os.cpu_count()))
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, 5)
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        print(len(before), os.sched_getaffinity(0) == before, os.nice(0) == own)
        print(os.sched_getscheduler(0) == os.SCHED_OTHER, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
        """,
        cpus=(min(os.sched_getaffinity(0)),),
    )
    assert (done.stdout, done.stderr) == ("1 True True\nTrue 1\n", "")


def test_a_fork_bomb_is_bounded(inside: Inside) -> None:
    done = inside(
        """
        import os, time
        number = 0
        try:
            while number < 400:
                if os.fork() == 0:
                    time.sleep(600)
                number += 1
        except OSError:
            pass
        print(number)
        """,
        processes=64,
    )
    assert done.stdout, done.stderr
    if os.geteuid() == 0 and int(done.stdout) == 400:
        pytest.skip("root's processes are bounded by control groups alone, and there are none here")
    assert 30 < int(done.stdout) < 70


def test_it_does_not_leave_its_groups(inside: Inside) -> None:
    done = inside(
        """
        import os
        for folder, _, files in os.walk("/sys/fs/cgroup"):
            for name in {"cgroup.procs", "cgroup.freeze", "pids.max", "memory.max"} & set(files):
                try:
                    open(os.path.join(folder, name), "w").write("0")
                except OSError:
                    continue
                print(folder, name)
        """
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_memory_and_files_are_bounded(inside: Inside) -> None:
    done = inside(
        """
        import os, tempfile
        try:
            bytearray(1 << 30)
        except MemoryError:
            print("no memory")
        try:
            with open(os.path.join(tempfile.gettempdir(), "large"), "wb") as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
        except OSError:
            print("no space")
        """,
        memory=512 << 20,
        space=16 << 20,
    )
    assert done.stdout.splitlines() == ["no memory", "no space"], done.stderr


def test_time_is_bounded(inside: Inside) -> None:
    done = inside("while True: pass", cpu_time=1)
    assert -done.returncode in (signal.SIGXCPU, signal.SIGKILL)


@pytest.mark.parametrize(("end", "code"), [("sys.exit(3)", 3), ("os.abort()", -signal.SIGABRT), ("", 0)])
def test_it_ends_as_its_command_does(end: str, code: int, inside: Inside) -> None:
    assert inside(f"import os, sys\n{end}").returncode == code


def test_a_daemon_ends_with_the_room(inside: Inside, until: Until, tmp_path: Path) -> None:
    mark = str(tmp_path)
    done = inside(
        """
        import os, subprocess, sys
        if os.fork() == 0:
            os.setsid()
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]],
                             start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os._exit(0)
        os.wait()
        print("left")
        """,
        mark,
    )
    assert done.stdout == "left\n", done.stderr
    until(lambda: not _living(mark))


#: Starts a program in a room and waits; that program starts another in a session of its own, and waits too.
_PARENT = """
import json, os, sys, time
import psutil
from opperf.parent.workers import room
from opperf.parent.workers.freezer import Freezer
from opperf.parent.workers.supervision import launch
inner = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:], start_new_session=True); time.sleep(600)"
rooms = room.Room(**json.loads(sys.argv[1]))
command = [sys.executable, "-c", inner, "sleep", "600", sys.argv[2]]
process = launch([*room._command(rooms), *command], None, os.environ)
while not (own := [p for p in psutil.Process(process.pid).children(True) if p.cmdline()[:1] == ["sleep"]]):
    time.sleep(0.01)
if sys.argv[3] == "frozen":
    Freezer(own[0].pid).freeze()
print("started", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("state", ["running", "frozen"])
def test_everything_ends_with_the_parent(state: str, room: Room, start: Callable[..., Any], until: Until) -> None:
    mark = f"0.{os.getpid()}{'01'[state == 'frozen']}{len(room.mechanisms)}"  # `sleep` adds up what it is given
    parent = start("-c", _PARENT, json.dumps(asdict(room)), mark, state)
    assert parent.stdout.readline() == "started\n"
    assert any(process.name() == "sleep" for process in _living(mark))
    parent.kill()
    until(lambda: not _living(mark))


def test_what_was_left_by_a_room_that_was_killed_is_removed_by_the_next(inside: Inside) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    left = Path(tempfile.gettempdir()) / f"{label(gone.pid)}test"
    left.mkdir()
    (left / "note").touch()
    assert inside("").returncode == 0
    assert not left.exists()


def test_a_child_that_is_killed_leaves_nothing(room: Room, worker: Callable[..., Worker]) -> None:
    child = worker(under=under(room))
    child.greet()
    child.kill()
    places = [tempfile.gettempdir(), *folders().values()]
    own = label(child._process.pid)
    assert [name for place in places for name in os.listdir(place) if name.startswith(own)] == []


@pytest.fixture
def child(room: Room, worker: Callable[..., Worker]) -> Iterator[Worker]:
    """A child of the null framework in the room."""
    child = worker(under=under(room))
    child.greet()
    yield child
    child.close()


def test_a_child_in_a_room_is_known_by_its_own_process(child: Worker, until: Until) -> None:
    process = psutil.Process(child.pid)
    assert "opperf.child" in process.cmdline()
    assert os.getpgid(child.pid) == child.pid
    child.pause()
    until(lambda: process.status() == psutil.STATUS_STOPPED)
    child.resume()
    assert child.ask(Describe("add"), DEADLINE)


def test_a_child_of_numpy_answers_from_a_room(room: Room, worker: Callable[..., Worker]) -> None:
    pytest.importorskip("numpy")
    child = worker(side=Side("numpy"), under=under(room))
    child.greet()
    assert "openblas" in str(child.facts) or child.facts["version"]
    child.close()


def test_a_compiler_runs_in_a_room(inside: Inside) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no compiler is here")
    done = inside(
        """
        import os, subprocess, tempfile
        os.chdir(tempfile.gettempdir())
        open("a.c", "w").write("#include <stdio.h>\\nint main(void) { puts(\\"compiled\\"); return 0; }")
        subprocess.run(["gcc", "a.c", "-o", "a"], check=True)
        subprocess.run(["./a"], check=True)
        """
    )
    assert done.stdout == "compiled\n", done.stderr


def test_a_candidates_package_belongs_to_it_and_its_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__init__.py").touch()
    assert belongings(tmp_path / "kernels" / "fast.py") == tmp_path / "kernels"
    assert belongings(tmp_path / "fast.py") == tmp_path / "fast.py"


def test_a_room_that_would_show_the_whole_machine_is_refused() -> None:
    with pytest.raises(InputError, match="a room cannot hold all of `/`"):
        room_of(Path(sys.executable), [Path("/")])
