"""Which of 100 drawn mutants of opperf's own code the tests kill: how much of what they run they also check.

.venv/bin/uv pip install cosmic-ray
.venv/bin/python benchmarks/code_mutants.py [--tree CHECKOUT] [--against RESULT] [--journal FILE] [--jobs 2]

A mutant is one change that cosmic-ray makes in one place. It is written into a clone with an environment of its own,
and the tests that run its line are run there, the units of its folder first, until one fails: the mutant is killed.
Which tests run a line is measured first, once for each commit. An operator has up to eleven alternatives (`/` could be
any other), most of which could not run at all: one of them is drawn.

Mutants are known by their file, function, operator and line, so that those of one checkout are found again in another:
`--against` takes the mutants of an earlier result, and compares. A run that was interrupted goes on from its journal.

A mutant may kill the wrong process, wait for ever or fill the memory: its tests have a process namespace of their own
(Linux, `unshare` and `prlimit` of util-linux), a cache of their own, and limits.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData
from report import publish

HERE = Path(__file__).resolve().parents[1]
WORK = HERE / "build" / "mutants"
FOLDERS = ("analysis", "planning", "workers", "store")
TESTS = ("tests/unit", "tests/functional", "tests/docs")
SEED, COUNT = 34, 100
#: Seconds of one test, far beyond what any takes on a busy machine: a test that takes longer hangs. Then a backstop
#: for all tests of a mutant, and bytes of one process.
LONGEST_TEST, LONGEST_RUN, MOST_MEMORY = 300, 7200, 8 << 30
#: Part of the mutants that tests may leave alive, in percent.
SURVIVORS = 15
#: What became of a mutant; a test that hangs has killed it, and no test may run its line at all.
KILLED, ALIVE = ("killed", "timeout"), ("survived", "not run")
NOT_RUN = {"fate": "not run"}

#: Tells coverage which test runs, with its fixtures; a test with many rows is one.
PLUGIN = """
import coverage
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    coverage.Coverage.current().switch_context(item.nodeid.partition("[")[0])
"""

#: A test that failed, in what pytest says at its end.
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """One change of the code: its name holds in every checkout, its place in one."""

    name: str
    file: str
    operator: str
    #: How many places of this operator in the file are before it.
    occurrence: int
    line: int
    #: Operators of one family at one place are alternatives.
    place: tuple[str, str, tuple[int, int]]


@cache
def operators() -> dict[str, Any]:
    """Return cosmic-ray's operators that need nothing to be told."""
    return {
        name.removeprefix("core/"): get_operator(name)()
        for name in operator_names()
        if not get_operator(name).arguments()
    }


class Source:
    """A file of the checkout: which function, statement or annotation is where."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.tree = ast.parse(self.text)
        self._nodes = list(ast.walk(self.tree))

    def function(self, line: int) -> str:
        """Return the names of the classes and functions around a line."""
        return ".".join(
            node.name
            for node in self._nodes
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and line in _extent(node)
        )

    def statement(self, line: int) -> range:
        """Return the lines of the innermost statement at a line, of a compound one those of its head."""
        around = [node for node in self._nodes if isinstance(node, ast.stmt) and line in _extent(node)]
        inner = min(around, key=lambda node: len(_extent(node)))
        body = getattr(inner, "body", None)
        return range(_extent(inner).start, body[0].lineno if body and body[0].lineno > line else _extent(inner).stop)

    @cached_property
    def idle(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Where nothing runs: annotations, and what only type checkers read."""
        result: list[tuple[tuple[int, int], tuple[int, int]]] = []
        for node in self._nodes:
            parts = (getattr(node, "annotation", None), getattr(node, "returns", None))
            result.extend(_span(part) for part in parts if isinstance(part, ast.expr))
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                result.append(_span(node))
        return result


def _extent(node: ast.stmt) -> range:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return range(first, (node.end_lineno or node.lineno) + 1)


def _span(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)


def mutants(tree: Path) -> Iterator[Mutant]:
    """Yield every mutant of the folders of a checkout."""
    parent = tree / "src/opperf/parent"
    for path in sorted(path for folder in FOLDERS for path in (parent / folder).rglob("*.py")):
        file, source = path.relative_to(parent).as_posix(), Source(path)
        nodes = list(ast_nodes(get_ast(source.text)))
        names: Counter[str] = Counter()
        for operator, change in operators().items():
            positions = [position for node in nodes for position, _ in change.mutation_positions(node)]
            for occurrence, position in enumerate(positions):
                line = position[0]
                words = f"{file} {source.function(line)}: {operator}: {source.lines[line - 1].strip()}"
                names[words] += 1
                if not any(start <= position < end for start, end in source.idle):
                    name = words if names[words] == 1 else f"{words} #{names[words]}"
                    yield Mutant(
                        name, file, operator, occurrence, line, (file, re.sub("_.*|True|False", "", operator), position)
                    )


def code(tree: Path, mutant: Mutant) -> str:
    """Return the file as the mutant has it; nothing where that means the same, or is not Python."""
    whole = (tree / "src/opperf/parent" / mutant.file).read_text(encoding="utf-8")
    changed: str = MutationVisitor.mutate_code(whole, operators()[mutant.operator], mutant.occurrence)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(changed, mutant.file, "exec")
        except (SyntaxError, ValueError):
            return ""
    return "" if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(whole)) else changed


def draw(tree: Path) -> list[Mutant]:
    """Return mutants that differ from the code, one of each place, by a fixed seed."""
    chance, places = random.Random(SEED), defaultdict(list)
    for mutant in mutants(tree):
        places[mutant.place].append(mutant)
    shuffled = [chance.choice(alternatives) for _, alternatives in sorted(places.items())]
    chance.shuffle(shuffled)
    result: list[Mutant] = []
    while len(result) < COUNT:
        if code(tree, mutant := shuffled.pop()):
            result.append(mutant)
    return result


class Clone:
    """A copy of a commit in which mutants are tried, with an environment of its own."""

    def __init__(self, tree: Path, number: int) -> None:
        self.commit = _git(tree, "rev-parse", "--short", "HEAD")
        self.folder = WORK / f"{self.commit}-{number}"
        if not self.folder.is_dir():
            _git(tree, "clone", "--quiet", str(tree), str(self.folder))
        _git(self.folder, "checkout", "--quiet", "--force", self.commit)
        subprocess.run(["make", "--silent", ".venv/bin/.ready"], cwd=self.folder, check=True, stdout=sys.stderr)

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a Python module of the clone, so that nothing of it reaches or outlives anything outside."""
        shutil.rmtree(self.folder / ".hypothesis", ignore_errors=True)
        cache, uv = self.folder / "build" / "cache", os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
        apart = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "prlimit", f"--as={MOST_MEMORY}")
        # The first process of a namespace is deaf to signals: that is the shell.
        shell = ("sh", "-c", '"$@"; exit $?', "sh")
        return subprocess.run(
            [*apart, *shell, ".venv/bin/python", "-m", *words],
            cwd=self.folder,
            env={**os.environ, "XDG_CACHE_HOME": str(cache), "UV_CACHE_DIR": uv, **environment},
            capture_output=True,
            text=True,
            errors="replace",
            start_new_session=True,
            timeout=LONGEST_RUN,
        )

    def test(self, tests: Sequence[str]) -> tuple[str, str]:
        """Return what these tests do to the code as it stands, and which of them."""
        wanted = self.folder / "build" / "wanted"
        wanted.parent.mkdir(exist_ok=True)
        wanted.write_text("\n".join(tests))
        limits = ("-o", f"faulthandler_timeout={LONGEST_TEST}", "-o", "faulthandler_exit_on_timeout=true")
        options = ("-x", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", "--hypothesis-seed=0", *limits)
        try:
            done = self.run("pytest", *options, f"@{wanted}")
        except subprocess.TimeoutExpired:
            return "timeout", "all of them"
        if done.returncode == 0:
            return "survived", ""
        if done.returncode in (4, 5):  # pytest was called wrongly
            raise RuntimeError(done.stdout + done.stderr)
        if "Timeout (" in done.stderr:
            return "timeout", ""
        by = FAILURE.search(done.stdout)
        return "killed", by.group(1) if by else f"exit code {done.returncode}"

    def fate(self, mutant: Mutant, tests: Sequence[str]) -> tuple[str, str]:
        """Return what these tests do to a mutant, and which of them."""
        path = self.folder / "src/opperf/parent" / mutant.file
        whole, changed = path.read_text(encoding="utf-8"), code(self.folder, mutant)
        try:
            path.write_text(changed, encoding="utf-8")
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink()  # of the same second and size, it would be taken for this one's
            return self.test(tests)
        finally:
            path.write_text(whole, encoding="utf-8")

    def lines(self) -> tuple[CoverageData, set[str]]:
        """Return which tests run each line, and which tests fail here without any mutant: those kill none."""
        data, broken = WORK / f"{self.commit}.coverage", WORK / f"{self.commit}.broken"
        if not data.is_file():
            settings, measured = self.folder / "build" / "lines.ini", self.folder / "build" / "lines.coverage"
            settings.parent.mkdir(exist_ok=True)
            (settings.parent / "lines_of_tests.py").write_text(PLUGIN)
            include = "".join(f"\n    src/opperf/parent/{folder}/*" for folder in FOLDERS)
            settings.write_text(f"[run]\nrelative_files = true\ndata_file = {measured}\ninclude ={include}\n")
            options = ("-q", "-rfE", "-p", "lines_of_tests", "-p", "no:cacheprovider", "-m", "not slow")
            words = ("coverage", "run", f"--rcfile={settings}", "-m", "pytest", *options, "--hypothesis-seed=0", *TESTS)
            done = self.run(*words, PYTHONPATH=str(settings.parent))
            if done.returncode not in (0, 1):
                raise RuntimeError(done.stdout + done.stderr)
            broken.write_text("\n".join(one.partition("[")[0] for one in FAILURE.findall(done.stdout)))
            measured.rename(data)
        result = CoverageData(str(data))
        result.read()
        return result, set(broken.read_text().splitlines())


def stages(tree: Path, lines: CoverageData, broken: set[str], mutant: Mutant) -> list[list[str]]:
    """Return the tests that run a mutant's line: units, those of its folder first, then all others.

    A line that runs at import is tested by what runs anything else of its file, or of its folder where there is nothing
    else. Tests that share a fixture share its lines.
    """
    path = f"src/opperf/parent/{mutant.file}"  # of the clone itself: no other code was measured
    source = Source(tree / path)
    tests = _tests(lines, path, source.statement(mutant.line))
    if "" in tests:
        beside = (one for one in lines.measured_files() if Path(one).parent == Path(path).parent)
        tests = (
            _tests(lines, path) if _tests(lines, path) != {""} else set().union(*(_tests(lines, one) for one in beside))
        )
    tests -= {"", *broken}
    files = {test.partition("::")[0] for test in tests}
    shared = {file for file in files if 'scope="' in (tree / file).read_text(encoding="utf-8")}
    tests = {file if (file := test.partition("::")[0]) in shared else test for test in tests}
    mirror = f"tests/unit/parent/{Path(mutant.file).parent}/"
    units = {test for test in tests if test.startswith("tests/unit/")}
    return [sorted(units, key=lambda test: (mirror not in test, test)), sorted(tests - units)]


def _tests(lines: CoverageData, path: str, wanted: range | None = None) -> set[str]:
    """Return the tests that run a file, or some lines of it; at import, no test does."""
    contexts = lines.contexts_by_lineno(path)
    return {test for line, tests in contexts.items() if wanted is None or line in wanted for test in tests}


def tell(rows: Sequence[dict[str, Any]]) -> None:
    """Print what the tests left alive, and how each change reads."""
    for row in rows:
        if row["fate"] in ALIVE:
            print(f"{row['fate']}: {row['mutant']}\n  becomes: {row['change']}")


def _is_open(row: dict[str, Any] | None, stage: int) -> bool:
    return row is None or (row["stage"] < stage and row["fate"] in ALIVE)


def _git(tree: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=tree, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Draw mutants or take those of an earlier result, try each, print and judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=Path, default=HERE, help="the checkout whose commit is looked at")
    parser.add_argument("--against", type=Path, help="an earlier result, whose mutants are taken")
    parser.add_argument("--journal", type=Path, default=WORK / "journal.jsonl")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=1)
    parser.add_argument("--first", type=int, default=COUNT, help="how many of the mutants are tried")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    clones: SimpleQueue[Clone] = SimpleQueue()
    for number in range(options.jobs):
        clones.put(first := Clone(options.tree.resolve(), number))
    before = {row["mutant"]: row for row in json.loads(options.against.read_text())["rows"]} if options.against else {}
    here = {mutant.name: mutant for mutant in mutants(first.folder)} if before else {}
    chosen = [here[name] for name in before if name in here] if before else draw(first.folder)
    lines, broken = first.lines()
    with options.journal.open("a+") as journal:
        journal.seek(0)
        rows = {row["mutant"]: row for row in map(json.loads, journal)}

        def judge(mutant: Mutant, stage: int, tests: Sequence[str]) -> None:
            clone = clones.get()
            try:
                start, old = time.monotonic(), Source(clone.folder / "src/opperf/parent" / mutant.file).lines
                new = code(clone.folder, mutant).splitlines()
                fate, by = clone.fate(mutant, tests) if tests else (rows.get(mutant.name, NOT_RUN)["fate"], "")
            finally:
                clones.put(clone)
            change = next((line.strip() for line, whole in zip(new, old) if line != whole), "")
            row = {"fate": fate, "mutant": mutant.name, "line": mutant.line, "change": change, "by": by}
            rows[mutant.name] = row = {**row, "stage": stage, "seconds": round(time.monotonic() - start, 1)}
            journal.write(json.dumps(row) + "\n")
            journal.flush()
            print(f"{fate}: {mutant.name} ({by or f'{len(tests)} tests'}, {row['seconds']} s)", flush=True)

        # All units first, since they kill most of them and take seconds; then what few tests run.
        for stage in (0, 1):
            open_ones = [mutant for mutant in chosen[: options.first] if _is_open(rows.get(mutant.name), stage)]
            jobs = [(mutant, stage, stages(first.folder, lines, broken, mutant)[stage]) for mutant in open_ones]
            with ThreadPoolExecutor(options.jobs) as pool:
                list(pool.map(lambda job: judge(*job), sorted(jobs, key=lambda job: len(job[2]))))
    results = [rows[mutant.name] for mutant in chosen if mutant.name in rows]
    results += [{**before[name], "fate": "gone", "by": ""} for name in before if name not in here]
    tell(results)
    alive = [row for row in results if row["fate"] in ALIVE]
    killed = {row["mutant"] for row in results if row["fate"] in KILLED}
    lost = [row for row in alive if before and before[row["mutant"]]["fate"] in KILLED]
    publish(
        "code_mutants",
        f"Mutants of {', '.join(FOLDERS)} at {first.commit}",
        results,
        {
            "mutants that survive": (100 * len(alive) / max(1, len(alive) + len(killed)), SURVIVORS, "%"),
            **({"mutants killed before and alive now": (len(lost), 0, "mutants")} if before else {}),
        },
    )


if __name__ == "__main__":
    main()
