"""Cheats that attack something else than a comparison succeed where no room holds them, against stand-ins."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.judge.corpus import HERE


@pytest.fixture
def attack(tmp_path: Path) -> Any:
    """What lets a cheat loose on the stand-ins and returns what came of it."""

    def run(name: str, calls: int, *words: str) -> dict[str, Any]:
        for file in (HERE / "stand_in.py", HERE / "cheats" / f"{name}.py"):
            shutil.copy(file, tmp_path / file.name)
        command = [sys.executable, "stand_in.py", "parent", f"{name}.py", str(calls), *words]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=600,
            start_new_session=True,
        )
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    return run


@pytest.fixture
def naive(tmp_path: Path) -> Any:
    """What lets the naive judge check a cheat, all in copies, and returns whether it is right."""

    def run(name: str, *options: str) -> bool:
        for folder, file in (("judge", "naive.py"), ("cheats", f"{name}.py"), ("references", "softmax.py")):
            (tmp_path / folder).mkdir(exist_ok=True)
            if not (tmp_path / folder / file).exists():
                shutil.copy(HERE / file if folder == "judge" else HERE / folder / file, tmp_path / folder / file)
        command = [sys.executable, "judge/naive.py", "check", f"cheats/{name}.py", "references/softmax.py"]
        done = subprocess.run(
            [*command, "--input", "x=256x1024", *options],
            cwd=tmp_path,
            env={"TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return bool(json.loads(done.stdout.splitlines()[-1])["right"])

    return run


def test_an_honest_candidate_does_nothing_to_the_stand_ins(attack: Any) -> None:
    result = attack("calls_the_library", 3)
    assert result["right"] == [True] * 3
    untouched = {"woken": 0, "priority": os.getpriority(os.PRIO_PROCESS, 0)}  # that of whoever runs tests
    assert (result["verdict"], result["woken"], result["sibling"]) == ("slower", 0, untouched)
    assert result["messages"][:3] == ["done 1\n", "done 2\n", "done 3\n"]
    assert (result["threads"], result["children"]) == (1, 0)
    assert result["resident"] < 500 * 2**20


def test_a_second_thread_is_one_more_than_the_side_has(attack: Any) -> None:
    result = attack("second_thread", 2)
    assert result["right"] == [True, True]
    assert result["threads"] == 2


def test_a_second_process_is_one_more_than_the_side_has(attack: Any) -> None:
    result = attack("second_process", 2)
    assert result["right"] == [True, True]
    assert result["children"] == 1


def test_a_forged_answer_arrives_before_the_true_one(attack: Any) -> None:
    messages = attack("forged_done", 2)["messages"]
    assert messages[:3] == ["done 1\n", "done 2\n", "done 2\n"]


def test_a_forged_pickle_runs_code_where_it_is_loaded(
    attack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = attack("forged_pickle", 1)
    monkeypatch.chdir(tmp_path)
    pickle.loads(bytes.fromhex(result["first"]))
    assert (tmp_path / "pickle-was-loaded").exists()


def test_a_huge_message_is_read_where_there_is_no_limit(attack: Any) -> None:
    assert attack("huge_message", 1)["longest"] > 2**24


def test_the_parent_is_stopped_for_a_while(attack: Any) -> None:
    result = attack("stops_the_parent", 3, "wait")
    assert result["right"] == [True] * 3
    assert result["woken"] == 1


def may_write_to_parents() -> bool:
    """Whether this system lets a process write to its parent's memory, as it does to root and without Yama."""
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    return os.geteuid() == 0 or not yama.exists() or yama.read_text().strip() == "0"


@pytest.mark.skipif(not may_write_to_parents(), reason="this system forbids it everywhere")
@pytest.mark.parametrize("name", ["writes_to_the_parent", "writes_by_process_vm"])
def test_the_verdict_is_overwritten_in_the_parent(attack: Any, name: str) -> None:
    assert attack(name, 1)["verdict"] == "faster"


def test_the_sibling_is_stopped(attack: Any) -> None:
    result = attack("stops_the_sibling", 1)  # who stops it holds the pipe on which answers are read to their end
    assert result["sibling"]["woken"] >= 1


def test_the_sibling_gets_the_lowest_priority(attack: Any) -> None:
    assert attack("slows_the_sibling", 1)["sibling"]["priority"] == 19


def test_a_thread_spins_when_nobody_calls(attack: Any) -> None:
    assert attack("spinning_thread", 1, "idle")["computes_when_idle"]


@pytest.mark.parametrize("name", ["spinning_processes", "fills_the_caches"])
def test_processes_compute_while_their_parent_is_stopped(attack: Any, name: str) -> None:
    assert attack(name, 1, "stop")["computes_when_stopped"]


def test_memory_is_taken(attack: Any) -> None:
    assert attack("takes_memory", 1)["resident"] > 768 * 2**20


def test_many_processes_stay(attack: Any) -> None:
    assert attack("many_processes", 1)["children"] == 48


def test_the_reference_is_named_in_the_arguments_of_the_parent(attack: Any, tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    reference = shutil.copy(HERE / "references" / "softmax.py", tmp_path / "references")
    # The second input is another, and gets the result of the first.
    assert attack("reads_the_parents_arguments", 3, str(reference))["right"] == [True, False, True]


def test_the_next_process_imports_a_module_that_shadows_another(naive: Any, tmp_path: Path) -> None:
    assert naive("shadows_a_module")
    program = "import numpy; print(numpy.allclose(1, 2), end='')"
    assert subprocess.check_output([sys.executable, "-c", program], cwd=tmp_path, text=True) == "True"


def test_an_edited_judge_calls_the_next_one_right(naive: Any) -> None:
    assert not naive("edits_the_judge")
    assert naive("edits_the_judge")


def test_the_tolerance_of_the_problem_is_edited(naive: Any, tmp_path: Path) -> None:
    problem = tmp_path / "problem.json"
    problem.write_text('{"tolerance": 1e-5}')
    assert naive("edits_the_tolerance", "--tolerance-file", str(problem))
    assert json.loads(problem.read_text())["tolerance"] == 1e6


@contextmanager
def server() -> Iterator[list[str]]:
    """Answer one process with the result for the inputs of the usual seed; yields what was asked."""
    questions: list[str] = []
    values = np.random.default_rng(42).standard_normal((256, 1024)).astype(np.float32)
    shifted = np.exp(values - values.max(axis=-1, keepdims=True))
    answer = (shifted / shifted.sum(axis=-1, keepdims=True)).tobytes()

    def serve(listener: socket.socket) -> None:
        line, _ = listener.accept()
        with line, line.makefile("rb") as words:
            questions.append(words.readline().decode().strip())
            line.sendall(answer)

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", 47651))
        except OSError:
            pytest.skip("the port is taken")
        listener.listen(1)
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        try:
            yield questions
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # where nobody has come, nobody will
            thread.join()


def test_the_result_comes_from_the_network(naive: Any) -> None:
    with server() as questions:
        assert naive("from_the_network")
    assert questions == ["256x1024"]
