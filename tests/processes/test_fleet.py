"""Fleets of real nodes: a Ray cluster of two on this machine, and jobs of submitit's local executor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from opperf.parent.documents.environment import CURRENT
from opperf.parent.measuring.fleet.bootstrap import requirements
from opperf.parent.workers.installer import uv
from opperf.parent.workers.package import autostart_folder

T = TypeVar("T")
Start = Callable[..., "subprocess.Popen[str]"]
#: Its nodes are those that are measured on here: they take longer to start than most that is done with them.
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fleet.py"
#: How long a run on a fleet may take here, in seconds.
LIMIT = 600
#: Has a process wait for every node, and for what each has in hand: one that is slow to start on a busy machine would
#: else find that others have done its part.
PATIENT = f"""
import sys
from opperf.parent.measuring.fleet import ray_engine, scheduler, slurm_engine
scheduler.OVERDUE_SECONDS = ray_engine.START_LIMIT = slurm_engine.START_LIMIT = {LIMIT}.0
"""
#: The command.
COMMAND = f"""{PATIENT}
from opperf.parent.cli.main import main
sys.argv[0] = "opperf"
main()
"""
#: Has the example measure on a fleet, and saves what it compares.
MEASURE = f"""{PATIENT}
import runpy, opperf
example, compare, results = runpy.run_path(sys.argv[1]), opperf.compare, []
opperf.compare = lambda *names, **options: results.append(compare(*names, **options)) or results[0]
example["measure"](sys.argv[2])
results[0].save("compared.json")
"""
#: By which the children of these tests are known among all that run here.
MARK = {"OPPERF_TEST_FLEET": str(os.getpid())}
OPERATORS = ("sum", "mean", "max", "min", "prod", "add", "multiply", "exp", "log", "tanh", "relu", "sqrt")
#: Twice as many as there are nodes.
FEW = OPERATORS[:4]


@pytest.fixture(scope="module")
def cluster(one_cache: Path) -> Iterator[str]:
    """A fleet of two nodes, which ends with the module."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("fleet_cluster.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | MARK | {"OPPERF_CACHE_DIR": str(one_cache)},
    ) as nodes:
        assert nodes.stdin is not None
        assert nodes.stdout is not None
        yield nodes.stdout.readline().strip()
        nodes.stdin.close()


@pytest.fixture
def start() -> Iterator[Start]:
    """Start `opperf run` on some operators of NumPy; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: object, **variables: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", COMMAND, *map(str, words)]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | MARK | variables))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def run_words(
    fleet: str, output: Path, *more: object, operators: Sequence[str] = OPERATORS, budget: float = 0.6
) -> list[object]:
    """A run whose trials last for so many seconds: those that are disturbed, or wait for a node, for longer."""
    return [
        *("run", *operators, "--framework", "numpy", "--direction", "forward", "--trial-budget", budget),
        *("--fleet", fleet, "--output", output, *more),
    ]


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    _, stderr = process.communicate(timeout=LIMIT)
    assert process.returncode == code, stderr
    return stderr


def records(path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_text())
    result: list[dict[str, Any]] = document["records"]
    return result


def once(path: Path, operators: Sequence[str] = OPERATORS) -> bool:
    names = Counter(record["case"]["operator"] for record in records(path))
    return names == Counter(operators)


def own(process: psutil.Process) -> bool:
    """Whether a process is of these tests, and alive."""
    with suppress(psutil.Error):  # it has ended meanwhile
        return process.status() != psutil.STATUS_ZOMBIE and MARK.items() <= process.environ().items()
    return False


def measuring() -> list[int]:
    """Return the children that measure for these tests."""
    processes = psutil.process_iter(["cmdline"])
    return [one.pid for one in processes if "opperf.child" in (one.info["cmdline"] or ()) and own(one)]


def nobody_measures(seconds: float = LIMIT) -> bool:
    limit = time.monotonic() + seconds
    while measuring():
        if time.monotonic() > limit:
            return False
        time.sleep(0.1)
    return True


def journal_lines(path: Path) -> int:
    try:
        return path.with_name(path.name + ".journal").read_text().count('"outcome"')
    except FileNotFoundError:  # it has not begun, or has ended
        return 0


def wait_for(condition: Callable[[], T]) -> T:
    """Return what the condition returns as soon as that is true."""
    limit = time.monotonic() + LIMIT
    while not (value := condition()):
        assert time.monotonic() < limit
        time.sleep(0.05)
    return value


def actors() -> list[psutil.Process]:
    """Return the processes of Ray's that measure for these tests."""
    named = ((process, process.info["name"] or "") for process in psutil.process_iter(["name"]))
    return [process for process, name in named if name.startswith("ray::Actor") and own(process)]


def busy_actors() -> list[psutil.Process]:
    """Return those that have a child at this moment."""
    children = set(measuring())
    return [actor for actor in actors() if children & {child.pid for child in actor.children(recursive=True)}]


def test_a_cluster_measures_each_trial_once_and_records_say_where(cluster: str, start: Start, tmp_path: Path) -> None:
    output = tmp_path / "fleet.json"
    ended(start(*run_words(cluster, output, budget=0.05)))
    assert once(output)
    document = json.loads(output.read_text())
    nodes = document["run"]["environment"]["nodes"]
    assert len(nodes) == 2
    assert all(node["machine"]["cpu"] == document["run"]["environment"]["machine"]["cpu"] for node in nodes.values())
    assert all(isinstance(node["noise"], list) for node in nodes.values())
    assert {record["facts"]["node"]["name"] for record in document["records"]} == set(nodes)
    assert not output.with_name(output.name + ".journal").exists()


def test_a_node_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    cluster: str, start: Start, tmp_path: Path
) -> None:
    output = tmp_path / "fleet.json"
    # Who has a child has a trial too, until there are no more: so there must be some when it has been looked up, which
    # takes long on a busy machine.
    for budget in (2.0, 8.0, 30.0):
        run = start(*run_words(cluster, output, "--force", operators=FEW, budget=budget))
        wait_for(lambda: journal_lines(output) >= 1 or run.poll() is not None)  # noqa: B023
        busy = wait_for(lambda: busy_actors() or run.poll() is not None)  # noqa: B023
        if isinstance(busy, list):
            busy[0].send_signal(signal.SIGKILL)
        if "lost " in (stderr := ended(run)):
            break
    assert "lost " in stderr
    assert once(output, FEW)
    assert all(record["status"] == "ok" for record in records(output))
    assert nobody_measures()


def test_ctrl_c_ends_every_child_on_every_node_and_the_run_goes_on_later(
    cluster: str, start: Start, tmp_path: Path
) -> None:
    output = tmp_path / "fleet.json"
    for budget in (0.6, 3.0, 12.0):  # on a busy machine the signal may come when all is measured
        run = start(*run_words(cluster, output, "--force", budget=budget))
        wait_for(lambda: journal_lines(output) >= 2 or run.poll() is not None)  # noqa: B023
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=LIMIT)
        if run.returncode == 130 and len(records(output)) < len(OPERATORS):
            break
    assert (run.returncode, f"--resume {output}" in stderr) == (130, True), stderr
    assert nobody_measures()
    assert 2 <= len(records(output)) < len(OPERATORS)
    ended(start(*run_words(cluster, output, "--resume", output, "--force", budget=budget)))
    assert once(output)


def test_the_example_compares_on_each_node_that_it_has_started_and_merges_what_they_say(
    cluster: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", MEASURE, str(EXAMPLE), cluster]
    done = subprocess.run(command, env=os.environ | MARK, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "slower on all machines" in done.stdout
    document = json.loads((tmp_path / "compared.json").read_text())
    assert len({one["node"]["name"] for one in document["comparisons"]}) == 2
    (merged,) = document["machines"]
    assert (merged["finding"], merged["machines"]) == ("slower on all machines", 2)
    assert merged["ratio"] == pytest.approx(1.2, rel=0.01)


def test_jobs_of_submitit_measure_each_trial_once_and_leave_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "fleet.json"
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "bench.py").write_text("def time_it(): sum(range(1000))\n")
    monkeypatch.chdir(tmp_path)
    words = run_words("slurm:2", output, operators=(*FEW, "asv:suite"), budget=0.05)
    ended(start(*words, OPPERF_SUBMITIT_CLUSTER="local"))
    assert once(output, (*FEW, "bench.time_it"))
    assert len({record["facts"]["node"]["name"] for record in records(output)}) == 2
    assert nobody_measures()


def test_a_job_of_submitit_judges_a_candidate_in_a_room(start: Start, tmp_path: Path) -> None:
    output, candidate = tmp_path / "judged.jsonl", tmp_path / "exits.py"
    candidate.write_text("import os\ndef f(data, axis=-1):\n    os._exit(3)\n")
    words = ("judge", candidate, "--against", "softmax", "--framework", "numpy", "--input", "data=4x8")
    ended(start(*words, "--fleet", "slurm:1", "--output", output, OPPERF_SUBMITIT_CLUSTER="local"), 3)
    (row,) = map(json.loads, output.read_text().splitlines())
    assert (row["verdict"], row["evidence"][0]["slug"]) == ("cheats", "exits")
    assert row["room"]
    assert row["node"]["name"].startswith("node-")
    assert nobody_measures()


def test_a_node_needs_python_only(tmp_path: Path, one_cache: Path) -> None:
    python = tmp_path / "bare" / "bin" / "python"
    uv(CURRENT, "venv", "--seed", "--python", sys.executable, str(tmp_path / "bare"))
    code = (
        "from opperf.parent.measuring.fleet.bootstrap import prepare\n"
        f"prepare({requirements()})\n"
        "from opperf.parent.measuring.fleet.node import Hands\n"
        "print(Hands().introduce())"
    )
    variables = {"PYTHONPATH": str(autostart_folder()), "OPPERF_CACHE_DIR": str(tmp_path / "cache")}
    command = [str(python), "-c", code]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["machine"]["cpu"]
