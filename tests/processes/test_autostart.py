"""Whole scripts, profiled as environment variables say: their output, their end and their exit code are their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Profile
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

#: What Python runs before any script.
SITE = "from opperf.profiler import autostart\nautostart()\n"
#: How the scripts begin: an operator that takes no time but virtual one.
BEGIN = """
import os, signal, sys, time
from opperf.child.backends.null.watcher import span, spend

def call(name):
    with span(name):
        spend(1000)

def kill(number):
    os.kill(os.getpid(), number)
    time.sleep(9)

call("first")
"""


@dataclass(frozen=True)
class Ran:
    """What became of a script, and the profiles that its processes left."""

    code: int
    out: str
    err: str
    profiles: list[Profile]

    @property
    def names(self) -> list[str]:
        """What was seen, in order, of the one process."""
        (profile,) = self.profiles
        return [event.name for event in profile.events]


@pytest.fixture
def profiled(tmp_path: Path) -> Callable[..., Ran]:
    """Run a script with the profiler started before it; it and its modules lie in one folder."""

    def run(text: str, python: object = sys.executable, quiet: bool = True, **options: Any) -> Ran:
        site, output, script = tmp_path / "site", tmp_path / "output", tmp_path / "script.py"
        site.mkdir()
        (site / "sitecustomize.py").write_text(SITE)
        script.write_text(text)
        variables = {
            "PYTHONPATH": f"{site}{os.pathsep}{package_folder()}",
            "OPPERF_PROFILER_OPTIONS": json.dumps({"framework": "null", **options}),
            "OPPERF_PROFILER_OUTPUT": str(output),
            "OPPERF_PROFILER_QUIET": "1" if quiet else "",
        }
        done = subprocess.run(
            [str(python), str(script)], env=os.environ | variables, capture_output=True, text=True, timeout=300
        )
        files = sorted(output.iterdir()) if output.exists() else []
        profiles = [from_trace(json.loads(file.read_text()), file.name) for file in files]
        return Ran(done.returncode, done.stdout, done.stderr, profiles)

    return run


def test_a_script_says_what_it_says_and_its_profile_is_written(profiled: Callable[..., Ran], tmp_path: Path) -> None:
    ran = profiled(BEGIN + "print('mine'); call('second')", quiet=False)
    assert (ran.code, ran.out, ran.names) == (0, "mine\n", ["first", "second"])
    (file,) = (tmp_path / "output").iterdir()
    assert ran.err == f"opperf: profile written to {file}\n"
    ((process, facts),) = ran.profiles[0].processes.items()
    assert file.name == f"opperf_profile_{process}.json"
    assert str(facts["command"]).endswith("script.py")


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("raise ValueError('mine')", 1, "ValueError: mine\n"),
        ("sys.exit(7)", 7, ""),
        ("kill(signal.SIGINT)", -signal.SIGINT, "KeyboardInterrupt"),
        ("kill(signal.SIGTERM)", -signal.SIGTERM, ""),
        ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(9)); kill(signal.SIGTERM)", 9, ""),
    ],
    ids=["exception", "exit", "interrupt", "termination", "own handler"],
)
def test_however_a_script_ends_its_exit_code_is_its_own_and_the_profile_is_kept(
    end: str, code: int, said: str, profiled: Callable[..., Ran]
) -> None:
    ran = profiled(BEGIN + end)
    assert (ran.code, ran.names) == (code, ["first"])
    assert said in ran.err
    assert "opperf:" not in ran.err


#: A script that takes and frees blocks that glibc maps, and says how many pages it was given for them.
HUNGRY = """
import resource
from opperf.child.backends.null.watcher import span

def turn():
    with span("block"):
        held = [b"x" * (3 << 20) for _ in range(4)]

def pages():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

turn()
before = pages()
for _ in range(20):
    turn()
print(pages() - before)
"""


def test_a_fixed_allocator_holds_on_to_what_the_script_frees(profiled: Callable[..., Ran]) -> None:
    ran = profiled(HUNGRY, allocator="fixed")
    assert int(ran.out) < 1000
    assert not any("fresh pages" in note for note in ran.profiles[0].notes)


def test_a_script_that_pays_for_fresh_memory_is_told_so(profiled: Callable[..., Ran]) -> None:
    ran = profiled(HUNGRY)
    assert int(ran.out) > 10_000
    assert any("fresh pages of memory" in note for note in ran.profiles[0].notes)


#: A script that shares one processor with another program, until it has had half a second of it.
CROWDED = """
import os, subprocess, sys, time
from opperf.child.backends.null.watcher import span

os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
other = subprocess.Popen([sys.executable, "-c", "print(flush=True)\\nwhile True: pass"], stdout=subprocess.PIPE)
other.stdout.readline()
end = time.process_time() + 0.5
with span("loop"):
    while time.process_time() < end:
        pass
other.kill()
other.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not tell how long threads wait")
def test_a_script_that_shares_its_processor_is_told_how_long_it_waited(profiled: Callable[..., Ran]) -> None:
    (profile,) = profiled(CROWDED).profiles
    facts: Any = next(iter(profile.processes.values()))
    assert 0.1 < facts["waited"] < facts["span"]
    assert 0 < facts["ran"] < facts["span"] - facts["waited"] + 0.1
    assert any("s for a CPU" in note for note in profile.notes)


def test_another_copy_of_the_script_leaves_no_profile(profiled: Callable[..., Ran]) -> None:
    ran = profiled(BEGIN + "child = os.fork()\nif not child:\n    sys.exit(3)\nprint(os.waitpid(child, 0)[1] >> 8)")
    assert (ran.code, ran.out, ran.names) == (0, "3\n", ["first"])


def seen(ran: Ran) -> dict[str, list[str]]:
    """Return the operators of each process, by its name."""
    return {
        str(facts["name"]): [event.name for event in profile.of_kind("operator")]
        for profile in ran.profiles
        for facts in profile.processes.values()
    }


FORKING = "import threading\nfrom multiprocessing import Pool, Process, set_start_method\nset_start_method('fork')\n"
START = """
def start():
    worker = Process(target=call, args=["work"], name="worker 1")
    worker.start()
    worker.join()
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{START}start()", "worker 1"),
        ("with Pool(1) as pool:\n    pool.map(call, ['work'])", "ForkPoolWorker-1"),
    ],
    ids=["that leaves", "that is terminated"],
)
def test_a_copy_that_multiprocessing_makes_leaves_its_own_profile_by_its_name(
    text: str, name: str, profiled: Callable[..., Ran]
) -> None:
    ran = profiled(f"{FORKING}{BEGIN}{text}")
    assert (ran.code, ran.err) == (0, "")
    assert seen(ran) == {"script.py": ["first"], name: ["work"]}


def test_a_copy_that_is_made_within_a_call_is_seen_as_the_call_is(profiled: Callable[..., Ran]) -> None:
    ran = profiled(f"{FORKING}{BEGIN}{START}call('before')\nstart()\n", function="__main__:start")
    assert (ran.code, ran.err) == (0, "")
    assert seen(ran) == {"script.py": [], "worker 1": ["work"]}
    assert [profile.notes for profile in ran.profiles] == [(), ()]


@pytest.mark.parametrize(
    "started",
    [
        "from opperf.child.backends.null.watcher import Watcher\nWatcher.allows_copies = False\nstart()\n",
        "thread = threading.Thread(target=start)\nthread.start()\nthread.join()\n",
    ],
    ids=["framework", "thread"],
)
def test_a_copy_that_cannot_be_profiled_leaves_no_profile_and_the_rest_is_seen(
    started: str, profiled: Callable[..., Ran]
) -> None:
    ran = profiled(f"{FORKING}{BEGIN}{START}{started}call('last')\n")
    assert (ran.code, ran.err) == (0, "")
    assert seen(ran) == {"script.py": ["first", "last"]}


WORKERS = """
import multiprocessing
{imported}

def work():
    nd.tan(nd.ones((8, 8))).sum()

if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
    nd.cos(nd.ones((8, 8))).sum()
    worker = multiprocessing.Process(target=work, name="worker 1")
    worker.start()
    worker.join()
    nd.sin(nd.ones((8, 8))).sum()
    print(worker.exitcode)
"""


@pytest.mark.parametrize(
    ("framework", "imported", "method"),
    [
        ("torch", "import torch as nd", "fork"),
        ("torch", "import torch as nd", "spawn"),
        ("mxnet", "from mxnet import nd", "fork"),
    ],
)
def test_each_process_of_a_program_is_profiled_by_itself_on_one_clock(
    framework: str, imported: str, method: str, profiled: Callable[..., Ran]
) -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    ran = profiled(WORKERS.format(imported=imported, method=method), python, framework=None)
    assert (ran.code, ran.out) == (0, "0\n"), ran.err
    result = {name: {one.removeprefix("aten::") for one in names} for name, names in seen(ran).items()}
    assert result.keys() == {"script.py", "worker 1"}
    assert {"cos", "sin", "tan"} & result["script.py"] == {"cos", "sin"}
    assert {"cos", "sin", "tan"} & result["worker 1"] == {"tan"}
    spans = {
        event.name.removeprefix("aten::"): event for profile in ran.profiles for event in profile.of_kind("operator")
    }
    assert spans["cos"].end <= spans["tan"].begin < spans["tan"].end <= spans["sin"].begin


def test_a_script_that_profiles_a_block_of_its_own_has_it_and_the_rest_is_seen(profiled: Callable[..., Ran]) -> None:
    block = "with profile('null') as p:\n    call('own')\nprint([event.name for event in p.profile.events])\n"
    ran = profiled(f"from opperf.profiler import profile\n{BEGIN}{block}call('last')")
    assert (ran.code, ran.out, ran.names) == (0, "['own']\n", ["first", "last"])


STEPS = """
def step(number):
    call(f"step {number}")

for number in range(5):
    step(number)
    call("between")
"""


def test_some_calls_of_a_function_of_the_script_are_all_that_is_seen(profiled: Callable[..., Ran]) -> None:
    ran = profiled(BEGIN + STEPS, function="__main__:step", skip=1, calls=2)
    assert (ran.code, ran.names) == (0, ["step 1", "step 1", "step 2", "step 2"])
    assert [event.kind for event in ran.profiles[0].events] == ["step", "operator"] * 2


def test_a_function_of_a_module_is_found_when_the_module_is_imported(
    profiled: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "training.py").write_text(BEGIN + "class Trainer:\n    def step(self):\n        call('inner')\n")
    ran = profiled("from training import Trainer\nTrainer().step()\n", function="training:Trainer.step")
    assert (ran.code, ran.names) == (0, ["Trainer.step 0", "inner"])


def test_a_function_that_was_not_called_leaves_a_profile_that_says_so(profiled: Callable[..., Ran]) -> None:
    ran = profiled(BEGIN + STEPS, function="__main__:step", skip=9)
    assert (ran.code, ran.names) == (0, [])
    assert ran.profiles[0].notes == ("`__main__:step` was called 5 times, and 9 were skipped",)


@pytest.mark.parametrize("function", ["__main__:stepp", "nowhere:step"])
def test_a_function_that_is_not_there_is_no_function_that_was_not_called(
    function: str, profiled: Callable[..., Ran]
) -> None:
    ran = profiled(BEGIN + STEPS, function=function)
    assert (ran.code, ran.names) == (0, [])
    assert ran.profiles[0].notes == (f"`{function}` was not found: the script neither defines nor imports it",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"framework": "caffe"}, "no framework `caffe`"),
        ({"colour": "red"}, "no option `colour`"),
        ({"function": "os.path:nothing"}, "AttributeError"),
    ],
)
def test_what_cannot_be_profiled_is_one_line_and_the_script_runs(
    options: dict[str, Any], said: str, profiled: Callable[..., Ran]
) -> None:
    ran = profiled(BEGIN + "print('mine')", **options)
    assert (ran.code, ran.out) == (0, "mine\n")
    assert ran.err.startswith(f"opperf: not profiled: {said}")
    assert ran.err.count("\n") == 1


def test_a_framework_is_watched_from_when_it_has_been_imported(profiled: Callable[..., Ran]) -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    text = "import torch\nones = torch.ones(8)\nprint(torch.relu(ones).sum().item())\n"
    ran = profiled(text, python, framework=None, shapes=True)
    assert (ran.code, ran.out, ran.err) == (0, "8.0\n", "")
    (profile,) = ran.profiles
    counts = {name: sum(event.name == name for event in profile.events) for name in ("aten::ones", "aten::relu")}
    assert counts == {"aten::ones": 1, "aten::relu": 1}
    assert next(event.shapes for event in profile.events if event.name == "aten::sum") == ((8,), ())
    assert [facts["framework"] for facts in profile.processes.values()] == ["torch"]


def test_what_was_seen_long_before_the_end_is_in_the_profile(profiled: Callable[..., Ran]) -> None:
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "jax"), framework="jax")
    step = "def step():\n    jnp.sin(jnp.ones(8)).block_until_ready()\n"
    text = f"import jax.numpy as jnp\n{step}for _ in range(3):\n    step()\n"
    ran = profiled(text, python, framework=None, function="__main__:step", skip=1, calls=1)
    assert (ran.code, ran.profiles[0].of_kind("operator")[-1].module) == (0, "sin"), ran.err


def test_a_script_without_a_framework_leaves_nothing(profiled: Callable[..., Ran]) -> None:
    ran = profiled("print('mine')", framework=None, quiet=False)
    assert (ran.code, ran.out, ran.err, ran.profiles) == (0, "mine\n", "", [])


def torch_python() -> Path:
    """Return the Python that has PyTorch."""
    return interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")


#: Stacks of 25,000 calls, and a thousand operators that are called from there.
DEEP = """
import os, signal, sys, threading, time, torch
square = torch.ones(4, 4)
sys.setrecursionlimit(40_000)

def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        for _ in range(1000):
            torch.addmm(square, square, square)
        end()

def kill(number):
    os.kill(os.getpid(), number)
    time.sleep(9)
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [("kill(signal.SIGTERM)", -signal.SIGTERM), ("raise ValueError", 1), ("pass", 0)],
    ids=["termination", "exception", "return"],
)
def test_a_script_of_deep_calls_ends_as_it_would_and_its_operators_have_their_lines(
    end: str, code: int, profiled: Callable[..., Ran]
) -> None:
    text = f"{DEEP}\ndef end():\n    {end}\n\ndeep(25_000)\n"
    ran = profiled(text, torch_python(), framework=None, stacks=True)
    assert ran.code == code, ran.err[-500:]
    (profile,) = ran.profiles
    calls = [event for event in profile.events if event.name == "aten::addmm"]
    assert len(calls) == 1000
    assert all(event.stack[0].endswith(": deep") and event.stack[-1].endswith(": <module>") for event in calls)


def test_lines_are_those_of_each_thread_and_a_copy_of_the_process_goes_on_by_itself(
    profiled: Callable[..., Ran],
) -> None:
    text = (
        f"{DEEP}\ndef end():\n    pass\n\ndef other():\n    square.tan()\n\ndef main():\n    square.cos()\n\n"
        "thread = threading.Thread(target=other)\nthread.start()\nmain()\nthread.join()\n"
        "child = os.fork()\nif not child:\n    main()\n    deep(9)\n    os._exit(3)\n"
        "print(os.waitpid(child, 0)[1] >> 8)\nmain()\n"
    )
    ran = profiled(text, torch_python(), framework=None, stacks=True)
    assert (ran.code, ran.out) == (0, "3\n"), ran.err
    (profile,) = ran.profiles
    assert not any("following" in note for note in profile.notes)
    lines = {event.name: event.stack[0].rpartition(": ")[2] for event in profile.of_kind("operator")}
    assert lines["aten::tan"] == "other"
    assert [event.stack[0].rpartition(": ")[2] for event in profile.events if event.name == "aten::cos"] == ["main"] * 2


def test_a_script_with_a_profile_function_of_its_own_has_it_and_the_profile_says_so(
    profiled: Callable[..., Ran],
) -> None:
    text = (
        "import sys, torch\nseen = []\ndef first():\n    torch.ones(1)\ndef second():\n    torch.zeros(1)\n"
        "first()\nsys.setprofile(lambda *told: seen.append(told[1]))\nsecond()\nsys.setprofile(None)\n"
        "print(seen.count('call'))\n"
    )
    ran = profiled(text, torch_python(), framework=None, stacks=True, modules=False)
    assert (ran.code, ran.out) == (0, "1\n"), ran.err
    (profile,) = ran.profiles
    stacks = {event.name: event.stack for event in profile.of_kind("operator")}
    assert stacks["aten::ones"][0].endswith(": first")
    assert stacks["aten::zeros"] == ()
    assert any("set its own profile function" in note for note in profile.notes)
    assert not any("recording Python calls took" in note for note in profile.notes)  # of two calls


#: Many calls of Python, of which PyTorch's own recorder keeps kilobytes each; then how much memory the process held.
#: That they cost processor time is told however small its share of the time is, which is smaller on a busy machine.
CALLS = """
import atexit, resource
atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
import torch
from opperf.child.backends.torch import watcher
watcher.SLOW = 0.0
def call():
    pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(400_000):
    call()
torch.ones(1)
"""


def test_calls_of_python_cost_a_few_bytes_each(profiled: Callable[..., Ran]) -> None:
    ran = profiled(CALLS, torch_python(), framework=None, stacks=True)
    assert ran.code == 0, ran.err
    assert int(ran.out) < 100_000  # kilobytes, of 400,000 calls
    assert any("recording Python calls took at least" in note for note in ran.profiles[0].notes)


#: Operators for some seconds, or until they are no longer recorded, between which a tensor comes, stays, or comes and
#: goes; then whether they are. Memory is looked at five times as often as usual, so that the least time for which it
#: counts is over in a second. However long a tensor takes to come, it is gone for twice as long.
LONG = """
import sys, time, torch
from opperf.child.backends.torch import memory_guard
from torch.autograd import profiler
memory_guard.PAUSE /= 5
square, kept = torch.ones(8, 8), []
until = time.monotonic() + {seconds}
while time.monotonic() < until and profiler._is_profiler_enabled:
    for _ in range({operators}):
        torch.add(square, square)
    begin = time.monotonic()
    {tensor}
    time.sleep(max(0.02, 2 * (time.monotonic() - begin)))
print(profiler._is_profiler_enabled)
sys.exit(7)
"""


@pytest.mark.parametrize("more", [{}, {"stacks": True, "shapes": True, "memory": True}], ids=["times", "everything"])
def test_a_recording_ends_before_it_takes_more_than_the_limit_and_the_script_goes_on(
    more: dict[str, bool], profiled: Callable[..., Ran]
) -> None:
    text = LONG.format(seconds=240, operators=200, tensor="pass")
    ran = profiled(text, torch_python(), framework=None, memory_limit=10_000_000, **more)
    assert (ran.code, ran.out) == (7, "False\n"), ran.err
    (profile,) = ran.profiles
    assert sum(event.name == "aten::add" for event in profile.events) > 1000
    (note,) = (note for note in profile.notes if "recording stopped" in note)
    assert "10.0 MB (`--memory-limit`)" in note
    assert "of the script are missing" in note


@pytest.mark.parametrize(
    "tensor",
    ["kept.append(torch.ones(1_000_000))", "torch.ones(25_000_000)"],
    ids=["that stays", "that comes and goes"],
)
def test_memory_of_the_script_is_not_taken_for_the_profiles(tensor: str, profiled: Callable[..., Ran]) -> None:
    text = LONG.format(seconds=3, operators=1, tensor=tensor)
    ran = profiled(text, torch_python(), framework=None, memory_limit=200_000_000)
    assert (ran.code, ran.out) == (7, "True\n"), ran.err
    assert not any("recording stopped" in note for note in ran.profiles[0].notes)
