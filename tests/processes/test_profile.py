"""`opperf profile`: the script is its own, what it left is read, and Python starts as it would without opperf.

A stand-in for the profiler takes the place of the real one but where a framework is named: it "sees" one call of an
operator in every process that imports `torch`, a file of one line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import opperf
from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Event
from opperf.parent.workers.package import autostart_folder

PACKAGE = Path(opperf.__file__).parent
MODELS = Path(__file__).parents[2] / "examples" / "models"
LENET = MODELS / "lenet_torch.py"
FACE = '''
"""Stands in for the profiler."""
import atexit, json, os, signal, sys
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.event import Event, Profile

def autostart():
    folder, number = os.environ["OPPERF_PROFILER_OUTPUT"], os.getpid()
    options = json.loads(os.environ["OPPERF_PROFILER_OPTIONS"])

    def write():
        if "torch" in sys.modules:
            call = Event("add", "operator", 1000 + number, 500, number, "main")
            facts = {"framework": "torch", "version": "1", "command": sys.argv, "options": options}
            with open(f"{folder}/opperf_profile_{number}.json", "w") as file:
                json.dump(to_trace(Profile((call,), (), {number: facts})), file)

    def ended(number, frame):
        write()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    atexit.register(write)
    signal.signal(signal.SIGTERM, ended)
'''
#: Starts the command with the folder of the stand-in.
COMMAND = """
import sys
from pathlib import Path
import opperf.parent.commands.profile
from opperf.parent.cli.main import main
folder = Path(sys.argv.pop(1))
opperf.parent.commands.profile.autostart_folder = lambda: folder
main()
"""
#: How long PyTorch may take to be installed, imported and watched. Seconds.
TORCH = 240
WAITS = "import torch, time\nopen('waits', 'w').close()\ntime.sleep(600)\n"

Profile: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Until: TypeAlias = Callable[[Callable[[], Any]], Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a module that is called like a framework."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("torch.py").write_text("")
    return tmp_path / "here"


@pytest.fixture
def folder(here: Path, tmp_path: Path) -> Path:
    """The folder for PYTHONPATH, with the stand-in, and everything else of opperf as it is."""
    package = tmp_path / "autostart" / "opperf"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"__path__.append({str(PACKAGE)!r})\n")
    (package / "profiler.py").write_text(FACE)
    (package.parent / "sitecustomize.py").write_text((PACKAGE / "sitecustomize.py").read_text())
    return package.parent


@pytest.fixture
def profile(folder: Path) -> Profile:
    """Run `opperf profile` to its end, in this Python."""

    def run(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", COMMAND, str(folder), "profile", "--environment", "current", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)

    return run


def rows(document: str) -> list[tuple[str, int]]:
    """Return names and calls."""
    return [(row["name"], row["calls"]) for row in json.loads(document)["rows"]]


def test_the_script_has_its_arguments_its_input_its_output_and_its_exit_code(profile: Profile) -> None:
    Path("train.py").write_text(
        "import sys, torch\nprint(sys.argv, sys.stdin.read())\nprint('talk', file=sys.stderr)\nsys.exit(3)\n"
    )
    done = profile("train.py", "--lr", "0.1", "--by=shape", "--help", "--", "-x", "--memory", input="typed")
    assert done.returncode == 3
    first, table, *_ = done.stdout.splitlines()
    assert first == "['train.py', '--lr', '0.1', '--help', '-x', '--memory'] typed"
    assert table.split()[:3] == ["operator", "calls", "total"]
    (file,) = Path().glob("opperf_profile_*.json")
    assert done.stderr.splitlines() == [
        "note: `--by=shape` was read as opperf's own; put the script's options after `--`",
        "talk",
        f"wrote {file}",
    ]


def test_a_module_runs_as_python_runs_it(profile: Profile, here: Path) -> None:
    (here / "pack").mkdir()
    (here / "pack" / "__main__.py").write_text("import sys, torch\nprint(__package__, sys.argv[1:])\n")
    done = profile("-m", "pack", "-m", "--output", "out", "--memory", "-x")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "pack ['-m', '-x']"
    assert len(list((here / "out").iterdir())) == 1


def test_an_exception_is_the_scripts_own_and_the_profile_is_kept(profile: Profile) -> None:
    Path("broken.py").write_text("import torch\nraise ValueError('mine')\n")
    done = profile("broken.py")
    plain = subprocess.run([sys.executable, "broken.py"], capture_output=True, text=True)
    assert (done.returncode, plain.returncode) == (1, 1)
    assert done.stderr.startswith(plain.stderr)
    assert done.stdout.splitlines()[2].startswith("add")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_reaches_the_script_and_what_was_seen_is_kept(
    number: int, code: int, folder: Path, until: Until
) -> None:
    Path("waits.py").write_text(WAITS)
    command = [sys.executable, "-c", COMMAND, str(folder), "profile", "--environment", "current", "waits.py"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        try:
            until(Path("waits").exists)
            run.send_signal(number)
            out, err = run.communicate(timeout=300)
        finally:
            run.kill()
    assert run.returncode == code
    assert out.splitlines()[2].startswith("add")
    assert ("KeyboardInterrupt" in err) == (number == signal.SIGINT)
    (file,) = Path().glob("opperf_profile_*.json")
    assert f"wrote {file}" in err


def test_a_script_that_is_killed_leaves_its_exit_code_and_a_message(profile: Profile) -> None:
    Path("killed.py").write_text("import os, signal, torch\nos.kill(os.getpid(), signal.SIGKILL)\n")
    done = profile("killed.py")
    assert (done.returncode, done.stdout) == (137, "")
    assert done.stderr.startswith("the script was killed (SIGKILL), most likely because it ran out of memory")
    assert "imported none" not in done.stderr


def test_a_script_without_a_framework_runs_as_it_would(profile: Profile, here: Path) -> None:
    Path("plain.py").write_text("import sys\nprint('done')\nsys.exit(4)\n")
    done = profile("plain.py")
    assert (done.returncode, done.stdout) == (4, "done\n")
    assert done.stderr.startswith("no profile: ")
    assert sorted(path.name for path in here.iterdir()) == ["plain.py", "torch.py"]


def test_each_process_leaves_a_file_and_all_of_them_one_more(profile: Profile, here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "opperf_profile_1.json").write_text("of another run")
    Path("starts.py").write_text(
        "import subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', 'import torch'], check=True)\n"
    )
    done = profile("--output", "out", "--format", "json", "starts.py")
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout) == [("add", 2)]
    assert len(json.loads(done.stdout)["processes"]) == 2
    names = sorted(path.name for path in (here / "out").iterdir())
    assert (len(names), names[-1]) == (4, "profile.json")
    again = profile("--format", "json", "--read", "out/profile.json")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    parts = [f"out/{name}" for name in names[:-1] if name != "opperf_profile_1.json"]
    whole, of_parts = (json.loads(text) for text in (done.stdout, profile("--format", "json", "--read", *parts).stdout))
    for facts in whole["processes"].values():
        del facts["machine"]  # a part does not say where it was recorded, and may be read elsewhere
    assert of_parts == whole


def test_a_table_for_programs_stands_alone_on_stdout(profile: Profile) -> None:
    Path("talks.py").write_text("import torch\nprint('epoch 1')\n")
    done = profile("--format", "csv", "talks.py")
    assert done.stdout.splitlines()[0].startswith("name,calls,total_s")
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.startswith("epoch 1\n")


def test_what_is_asked_for_reaches_the_profiler_of_every_process(profile: Profile) -> None:
    Path("asks.py").write_text("import os, torch\nprint(os.environ['MXNET_EXEC_BULK_EXEC_TRAIN'])\n")
    function = ("--function", "model:step", "--skip", 1, "--calls", 3)
    asked = ("--framework", "torch", "--memory", "--no-modules", "--by", "shape", "--granularity", "operator")
    done = profile("--format", "json", *asked, *function, "asks.py")
    document = json.loads(done.stdout)
    (facts,) = document["processes"].values()
    assert facts["options"] == {
        "framework": "torch",
        "memory": True,
        "shapes": True,
        "stacks": False,
        "modules": False,
        "api": False,
        "granularity": "operator",
        "function": "model:step",
        "skip": 1,
        "calls": 3,
        "ranges": None,
        "record": False,
        "allocator": "default",
        "memory_limit": None,
        "plugins": [],
    }
    assert done.stderr.startswith("0\n")
    assert document["notes"] == ["`--granularity operator` has no effect here: it changes how MXNet runs"]


def test_a_script_whose_arguments_nobody_records_leaves_no_suite(profile: Profile, here: Path) -> None:
    Path("train.py").write_text("import torch\n")
    done = profile("train.py", "--save-suite", "suite.json")
    assert done.returncode == 0
    assert "no suite: suite.json is not written" in done.stderr
    assert not (here / "suite.json").exists()


def test_a_file_that_holds_no_profile_is_told_and_the_exit_code_stays(profile: Profile) -> None:
    Path("torn.py").write_text(
        "import atexit, glob, os, sys, torch\n"
        "def tear():\n"
        "    name = os.environ['OPPERF_PROFILER_OUTPUT'] + f'/opperf_profile_{os.getpid()}.json'\n"
        "    open(name, 'w').write('{')\n"
        "    os._exit(5)\n"
        "atexit.register(tear)\n"
    )
    done = profile("torn.py")
    assert (done.returncode, done.stdout) == (5, "")
    assert ".json: not JSON" in done.stderr
    assert "Traceback" not in done.stderr


def python(code: str, *path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Python with folders in PYTHONPATH."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **variables},
    )


def test_the_folder_is_printed_for_other_starts_of_python(command: Profile) -> None:
    done = command("profile", "--print-autostart")
    assert (done.returncode, done.stderr) == (0, "")
    names = {path.name for path in Path(done.stdout.strip()).iterdir()}
    assert names - {"__pycache__"} == {"opperf", "sitecustomize.py"}  # another test may have started Python with it


def test_without_the_variable_nothing_of_opperf_is_imported() -> None:
    done = python("import sys; print([name for name in sys.modules if 'opperf' in name])", autostart_folder())
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("text", ["print('theirs'); value = 5", "raise KeyError('theirs')", "import nothing_there"])
def test_another_sitecustomize_runs_as_python_alone_runs_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(text)
    code = "import sys, sitecustomize; print(sitecustomize.__file__, sitecustomize.value)"
    alone, chained = python(code, tmp_path), python(code, autostart_folder(), tmp_path)
    assert chained.stdout == alone.stdout
    if "value" in text:
        assert (alone.stdout.splitlines()[0], alone.stderr, chained.stderr) == ("theirs", "", "")
    else:
        said = alone.stderr.split("Traceback")[0]
        assert said.startswith("Error in sitecustomize; set PYTHONVERBOSE for traceback:\n")
        assert chained.stderr.startswith(said)


def test_another_sitecustomize_that_raises_does_not_keep_the_profiler_from_starting(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise KeyError('theirs')")
    variables = {"OPPERF_PROFILER_AUTOSTART": "1", "OPPERF_PROFILER_OPTIONS": "{}", "OPPERF_PROFILER_OUTPUT": "."}
    assert python("import torch", folder, tmp_path, Path.cwd(), **variables).returncode == 0
    assert len(list(Path().glob("opperf_profile_*.json"))) == 1


def test_a_profiler_that_does_not_start_is_one_line_and_the_program_runs(folder: Path) -> None:
    (folder / "opperf" / "profiler.py").write_text("def autostart():\n    raise RuntimeError('first\\nsecond')\n")
    done = python("print('ran')", folder, OPPERF_PROFILER_AUTOSTART="1")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr == "opperf: the profiler did not start: RuntimeError: first\n"


def test_a_training_script_is_profiled_in_the_environment_of_its_framework_with_the_lines_that_called(
    here: Path,
) -> None:
    Path("torch.py").unlink()
    command = [sys.executable, "-m", "opperf", "profile"]
    words = ("--shapes", "--stacks", "--format", "json", "--save-suite", "lenet.json")
    done = subprocess.run([*command, LENET, *words], capture_output=True, text=True, timeout=TORCH)
    assert done.returncode == 0, done.stderr
    suite = json.loads(Path("lenet.json").read_text())["cases"]
    assert sum(entry["count"] for entry in suite if entry["case"]["operator"] == "torch:aten::linear.default") == 20
    document = json.loads(done.stdout)
    (facts,) = document["processes"].values()
    assert facts["framework"] == "torch"
    assert ("aten::addmm", 20) in rows(done.stdout)  # two dense layers in ten steps
    (file,) = here.glob("opperf_profile_*.json")
    profile = from_trace(json.loads(file.read_text()), str(file))
    calls = [event for event in profile.of_kind("operator") if event.name == "aten::cross_entropy_loss"]
    assert len(calls) == 10
    assert all(any(": training_step" in line for line in event.stack) for event in calls)
    shown = subprocess.run([*command, "--by", "module", "--read", file], capture_output=True, text=True, timeout=TORCH)
    assert "LeNet.conv1" in shown.stdout


@pytest.mark.parametrize(("framework", "code", "expected"), [("torch", 0, 3), ("null", 7, 7)])
def test_a_function_that_was_never_called_is_told_and_the_exit_code_says_that_nothing_was_measured(
    framework: str, code: int, expected: int, here: Path
) -> None:
    if framework == "torch":  # itself, and not the file
        Path("torch.py").unlink()
    Path("train.py").write_text(f"import sys, torch\ndef step(): torch.ones(1)\nsys.exit({code})\n")
    command = (sys.executable, "-m", "opperf", "profile", "--framework", framework, "--function", "__main__:step")
    done = subprocess.run([*command, "train.py"], capture_output=True, text=True, timeout=TORCH)
    assert done.returncode == expected, done.stderr
    assert "`__main__:step` was called 0 times" in done.stdout
    assert ("nothing was recorded: `__main__:step` was not called" in done.stderr) == (code == 0)


def test_workers_and_programs_of_a_script_are_on_its_timeline(here: Path) -> None:
    Path("torch.py").unlink()
    command = [sys.executable, "-m", "opperf", "profile", "--output", "prof", str(MODELS / "workers_torch.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TORCH)
    assert done.returncode == 0, done.stderr
    profile = from_trace(json.loads(Path("prof/profile.json").read_text()), "prof/profile.json")
    names = {facts["name"]: number for number, facts in profile.processes.items()}
    assert names.keys() == {"workers_torch.py", "Process-1", "Process-2", "-c"}
    assert f"process {names['Process-1']} (Process-1): torch" in done.stdout

    def of(process: str, name: str) -> list[Event]:
        return [event for event in profile.events if (event.process, event.name) == (names[process], f"aten::{name}")]

    made = [*of("Process-1", "cos"), *of("Process-2", "cos")]
    learned, scored = of("workers_torch.py", "linear"), of("-c", "softmax")
    assert (len(made), len(learned), len(scored)) == (256, 4, 1)
    assert min(event.begin for event in made) < min(event.begin for event in learned)
    assert max(event.end for event in (*made, *learned)) < scored[0].begin


TOOL = """#!{python}
import pathlib, subprocess, sys
words = sys.argv[1:]
first = next(i for i, word in enumerate(words) if i and not word.startswith("-"))
(report,) = (word.partition("=")[2] for word in words[:first] if word.startswith("--output="))
pathlib.Path(report + ".nsys-rep").touch()
sys.exit(subprocess.call(words[first:]))
"""


def test_a_vendors_tool_runs_the_script_with_ranges_that_it_reads(profile: Profile, tmp_path: Path) -> None:
    (tmp_path / "nsys").write_text(TOOL.format(python=sys.executable))
    (tmp_path / "nsys").chmod(0o755)
    Path("train.py").write_text("import sys, torch\nsys.exit(3)\n")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = profile("--with", "nsys", "--format", "json", "train.py", env=os.environ | {"PATH": path})
    assert done.returncode == 3, done.stderr
    (facts,) = json.loads(done.stdout)["processes"].values()
    assert facts["options"]["ranges"] == "nvtx"
    assert "nsys: `nsys stats " in done.stderr


def test_a_vendors_tool_that_is_missing_is_told_before_the_script_runs(profile: Profile, here: Path) -> None:
    Path("train.py").write_text("print('ran')")
    done = profile("--with", "nsys", "train.py", env=os.environ | {"PATH": str(here)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: `--with nsys` needs ")
    assert not list(here.glob("opperf*"))


def test_a_page_is_written_beside_the_profile(profile: Profile, here: Path) -> None:
    Path("train.py").write_text("import torch\n")
    done = profile("--html", "--output", "out", "train.py")
    assert done.returncode == 0, done.stderr
    assert "wrote out/profile.html" in done.stderr
    assert "add" in (here / "out" / "profile.html").read_text()
