"""What holds for benchmark files of any tool, beside each other in one command."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.functional.conftest import FEW, Done
from tests.in_process import InProcess

Opperf = Callable[..., Done]
ASV = {
    "bench.py": """
import os
if "WHICH" in os.environ:
    def time_new(): sum(range(1000))
else:
    def time_base(): sum(range(1000))
""",
    "not_in_base.py": "import os\nif 'WHICH' not in os.environ: import nothing_here\ndef time_it(): pass\n",
    "not_in_new.py": "import os\nif 'WHICH' in os.environ: import nothing_here\ndef time_it(): pass\n",
}
#: Files that end the process which imports them, on both sides or on one, beside good ones.
FATAL = {
    "suite/good.py": "def time_it(): sum(range(1000))\n",
    "suite/made.py": "class Sums:\n    def __init__(self): raise ValueError('no luck')\n    def time_it(self): pass\n",
    "suite/crashes.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
    "suite/leaves.py": "import os\nif 'WHICH' in os.environ: os._exit(3)\ndef time_it(): pass\n",
    "suite/prints.py": "print('x' * 3_000_000)\ndef time_it(): pass\n",
    "bench/test_good.py": "def test_it(benchmark): benchmark(sum, [])\n",
    "bench/test_leaves.py": "import os\nos._exit(4)\n",
    "bench/sub/conftest.py": "import os\nos._exit(5)\n",
    "bench/sub/test_it.py": "def test_it(benchmark): benchmark(sum, [])\n",
}
TESTS = """
import os
def test_both(benchmark): benchmark(sum, [])
if "WHICH" in os.environ:
    def test_new(benchmark): benchmark(sum, [])
"""


def test_a_benchmark_of_one_side_alone_is_told(opperf: Opperf, here: Path, forked_children: None) -> None:
    (here / "suite").mkdir()
    for name, text in ASV.items():
        (here / "suite" / name).write_text(text)
    (here / "test_it.py").write_text(TESTS)
    # No verdict is the point, and with so wide a tolerance the first pairs tell enough.
    few = (*FEW, "--tolerance", "1000%", "--trial-budget", "0.01", "--format", "json")
    done = opperf("compare", "asv:suite", "pytest:test_it.py", "--base", "numpy", "--new", "numpy;env.WHICH=new", *few)
    assert done.code == 0, done.err
    told = {one["case"]["operator"]: (one["verdict"], one["reason"]) for one in json.loads(done.out)["comparisons"]}
    assert told.pop("test_it.py::test_both")[0] in ("same", "inconclusive", "slower", "faster")
    missing = {
        "bench.time_base": ("failed", "asv:suite"),
        "bench.time_new": ("skipped", "asv:suite"),
        "test_it.py::test_new": ("skipped", "pytest:test_it.py"),
    }
    told_missing = {name: told.pop(name) for name in missing}
    assert told_missing == {
        name: (word, f"not measured: `{files}` has no `{name}` here") for name, (word, files) in missing.items()
    }
    why = "py:2: ModuleNotFoundError: No module named 'nothing_here'"
    assert told == {
        name: ("failed", f"not measured: cannot import its files: {name.partition('.')[0]}.{why}")
        for name in ("not_in_base", "not_in_base.time_it", "not_in_new.time_it")
    }
    seen = opperf("run", "asv:suite", "--framework", "numpy", "--select", "time_base", "--dry-run")
    assert f"note: `--select` does not look into `not_in_base`: cannot import its files: not_in_base.{why}" in seen.err
    assert "as in `--environment 'numpy==2.4.6 + nothing_here'`" in seen.err


def test_a_file_that_ends_its_process_is_one_record(opperf: Opperf, here: Path, forked_children: None) -> None:
    for name, text in FATAL.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    files = ("asv:suite", "pytest:bench")
    done = opperf("run", *files, "--framework", "numpy", "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    reasons = {one["case"]["operator"]: one["reason"] for one in done.records}
    good = ("good.time_it", "leaves.time_it", "prints.time_it", "bench/test_good.py::test_it")
    assert [reasons.pop(name) for name in good] == [None] * 4
    assert reasons.pop("made")["message"] == "cannot import its files: made.py:2: ValueError: no luck"
    whys = {
        "crashes": ", at crashes.py:2: the child was killed by SIGSEGV",
        "bench/test_leaves.py": ": the child ended with exit code 4",
        "bench/sub": ": the child ended with exit code 5",
    }
    messages = {name: f"importing `{name}` ended the process{why}" for name, why in whys.items()}
    assert {name: (reason["slug"], reason["message"]) for name, reason in reasons.items()} == {
        name: ("fatal_import", message) for name, message in messages.items()
    }
    assert reasons["crashes"]["signal"] == "SIGSEGV"
    assert f"note: {messages['bench/sub']}; it is left out" in done.err
    few = (*FEW, "--tolerance", "1000%", "--trial-budget", "0.01", "--format", "json")
    done = opperf("compare", *files, "--base", "numpy", "--new", "numpy;env.WHICH=new", *few)
    assert done.code == 0, done.err
    told = {one["case"]["operator"]: one["reason"] for one in json.loads(done.out)["comparisons"]}
    leaves = "importing `leaves` ended the process: the child ended with exit code 3"
    assert told["leaves.time_it"] == f"not measured: {leaves}"
    assert {name: told[name] for name in messages} == {
        name: f"not measured: {message}" for name, message in messages.items()
    }
    assert {*told} == {*messages, *good, "made"}


def test_a_file_that_hangs_is_left_out_after_the_timeout(opperf: Opperf, here: Path, forked_children: None) -> None:
    (here / "suite").mkdir()
    (here / "suite" / "good.py").write_text("def time_it(): pass\n")
    (here / "suite" / "hangs.py").write_text("import threading\nthreading.Event().wait()\n")
    done = opperf("run", "asv:suite", "--framework", "numpy", "--timeout", "1", "--dry-run", "--format", "csv")
    why = "importing `hangs` is not over after 1 s, the limit of `--timeout`, at hangs.py:2"
    assert f"note: {why}; it is left out" in done.err
    assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["good.time_it", "hangs"]


def test_what_takes_long_to_set_up_is_set_up_for_two_rounds(
    opperf: Opperf, here: Path, forked_children: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.parent.workers.duel.MAKING_SECONDS", 0.0)
    (here / "suite").mkdir()
    log = (
        "import os\ndef log(place=__name__):\n"
        f"    with open({str(here / 'setups')!r}, 'a') as file: file.write(f'{{os.getpid()}} {{place}}\\n')\n"
    )
    cache = "def setup_cache():\n    log('cache')\n    open('left', 'w').close()\n    return 1000\n"
    timed = "def time_it(n):\n    assert os.path.exists('left')\n    sum(range(n))\ntime_it.setup = lambda n: log()\n"
    (here / "suite" / "bench.py").write_text(f"{log}{cache}{timed}time_it.setup_cache = setup_cache\n")
    (here / "test_it.py").write_text(f"{log}def test_it(benchmark):\n    log()\n    benchmark(sum, range(1000))\n")
    words = ("--base", "numpy", "--new", "numpy;env.X=1", *FEW, "--trial-budget", "0.01", "--tolerance", "90%")
    done = opperf("compare", "asv:suite", "pytest:test_it.py", *words)
    assert done.code == 0, done.err
    setups = Counter((here / "setups").read_text().splitlines())
    caches = [line for line in setups if line.endswith("cache")]
    assert sum(setups.pop(line) for line in caches) == 2  # one of each side, for all of its processes
    assert len(setups) >= 12  # of three processes of each side and either tool
    assert set(setups.values()) <= {2, 3}  # of each side the memory is measured once, too


def test_files_go_out_to_a_fleet_whose_nodes_have_nothing(
    opperf: Opperf, here: Path, fleet: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "suite").mkdir()
    caches = here / "caches"
    made = f"def setup_cache():\n    with open({str(caches)!r}, 'a') as file: file.write('made ')\n    return 1000\n"
    timed = "def time_it(n): sum(range(n))\ntime_it.setup_cache = setup_cache\n"
    (here / "suite" / "bench.py").write_text(made + timed)
    (here / "test_it.py").write_text("def test_it(benchmark, rows): benchmark(sum, rows)\n")
    (here / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef rows(): return [1, 2]\n")
    engine = fleet("old")
    submit = engine.submit

    def elsewhere(ticket: int, node: str, order: str) -> None:
        for file in here.rglob("*.py"):  # what is measured is what came with the order
            file.unlink()
        submit(ticket, node, order)

    monkeypatch.setattr(engine, "submit", elsewhere)
    words = ("--framework", "numpy", "--fleet", "ray", "--runs", "3", "--processes", "2", "--format", "json")
    assert "is not below the current folder" in opperf("run", f"asv:{here / 'suite'}", *words).err
    done = opperf("run", "asv:suite", "pytest:test_it.py", *words)
    assert done.code == 0, done.err
    assert {one["case"]["operator"]: one["status"] for one in done.records} == {
        "bench.time_it": "ok",
        "test_it.py::test_it": "ok",
    }
    assert caches.read_text() == "made "  # once for both processes of the node
