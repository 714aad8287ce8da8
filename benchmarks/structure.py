"""How much code there is, how its folders depend on each other, and in how many files one thing is said: then and now.

    python benchmarks/structure.py [COMMIT]

`then` is a commit at which somebody who was new to the code read all of it; it is read out of Git, so a clone needs its
history. A room is a file or a folder of a folder. An arrow goes from one room to another that it imports, for type
checking too; floors are the longest way down those of programs that run. What has been added since is counted apart:
files that only serve something that there was not, by what they serve.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from report import publish

ROOT = Path(__file__).resolve().parents[1]
THEN = "a1f75565"
#: The parent may have so many rooms, floors and arrows, and the contract of imports so many lines.
ROOMS, FLOORS, ARROWS, CONTRACT = 12, 7, 50, 50
#: What was read then may have so many thousand lines, and files, now.
LINES, FILES = 73, 480
#: What stands on a line.
KINDS = ("code", "imports", "docstrings", "comments", "blank")
#: Folders whose rooms are counted.
DRAWN = ("parent", "child/backends")
#: An option of `run` that reaches a child, and what lies between both ways in and it, `keywords` being written.
OPTION = "warmup"
WAYS_IN = (
    *("parent/cli/", "parent/library/", "parent/request", "parent/planning/request"),
    *("parent/sources/option", "parent/sources/gate_", "domain/plan"),
)
WRITTEN = "parent/library/keywords.py"
#: What has been added, and the files that only serve that.
ADDED = {
    "kernels of strangers are judged, in rooms": (
        "child/judging/* confinement/* domain/judging.py domain/problem.py parent/cli/judge.py "
        "parent/commands/judge.py parent/documents/candidates.py parent/library/judging.py "
        "parent/measuring/fleet/judging.py parent/measuring/judge/* parent/reports/exports/flashinfer.py "
        "parent/reports/judge.py "
        "parent/store/judgements.py parent/workers/area.py parent/workers/freezer.py parent/workers/room.py "
        "child/backends/torch/problems.py"
    ),
    "of the user's own code, timed calls are checked": (
        "child/worker/exam.py child/worker/fresh.py child/worker/mutation.py child/worker/promises.py "
        "child/worker/seal.py child/worker/side_work.py child/worker/spot_check.py child/worker/time_limit.py "
        "child/backends/torch/contents.py child/backends/torch/quantization.py parent/workers/other_work.py"
    ),
    "benchmarks of asv, pytest-benchmark and PyTorch run as they are": (
        "child/backends/torch/operator_benchmark.py child/worker/caller.py child/worker/suites/* "
        "compat/operator_benchmark/* compat/torch_benchmark/* domain/parameter.py domain/stats/description.py "
        "own_process.py parent/commands/asv_results.py parent/measuring/fleet/suites.py parent/planning/benchmarks.py "
        "parent/sources/asv_folder.py parent/sources/test_files.py parent/workers/suite_library.py pytest.py"
    ),
    "commits are sides of a comparison": (
        "parent/planning/commit_sides.py parent/workers/build_failures.py parent/workers/commits.py"
    ),
    "models are captured by shapes alone, by configuration, or from published lists": (
        "child/backends/mxnet/abstract.py child/backends/tensorflow/abstract.py "
        "child/backends/tensorflow/graph_values.py child/backends/torch/abstract.py "
        "child/backends/torch/configurations.py child/backends/torch/denoising.py "
        "child/backends/torch/selective_scan.py child/backends/torch/tensor_parallel.py "
        "child/backends/onnxruntime/large_graphs.py domain/arithmetic.py domain/tensor_parallel.py "
        "parent/sources/case_lists/* parent/sources/model_configuration.py"
    ),
    "Kineto traces are replayed alone": (
        "parent/sources/execution_trace/durations.py parent/sources/execution_trace/kineto_nodes.py "
        "parent/sources/execution_trace/overload.py"
    ),
    "operators of language models that serve": (
        "catalog/low_precision.py catalog/serving.py catalog/state_space.py child/backends/*/serving.py"
    ),
    "profiles by module, at the peak of memory, of compiled graphs, and as a difference": (
        "child/backends/torch/compiled_graphs.py child/backends/torch/peak_memory.py "
        "child/backends/torch/recomputation.py domain/profile/compilation.py domain/profile/module_tree.py "
        "domain/profile/pace.py domain/profile/peak_memory.py parent/analysis/call_trees.py "
        "parent/analysis/trace_change.py parent/pages/charts/differences.py parent/pages/profile_page/change.py "
        "parent/pages/profile_page/trace_change.py parent/reports/compiled_graphs.py parent/reports/peak_memory.py "
        "parent/reports/profile_modules.py parent/reports/trace_change.py parent/sources/chrome_trace.py"
    ),
    "where a framework is behind, what a replacement would save, and two suites beside each other": (
        "parent/analysis/module_match.py parent/analysis/what_if.py parent/cli/contrast.py "
        "parent/commands/compare_suites.py parent/commands/contrast.py parent/commands/what_if.py "
        "parent/documents/suite_change.py parent/documents/what_if.py parent/documents/wholes.py "
        "parent/measuring/shares.py parent/measuring/suite_pairs.py parent/reports/comparison_groups.py "
        "parent/reports/contrast.py parent/reports/fastest.py parent/reports/run_groups.py "
        "parent/reports/suite_change.py parent/reports/what_if.py domain/operator_group.py"
    ),
    "fewer pairs, and false alarms found: modes, places in memory, shared imports, busy machines": (
        "child/measure/placement.py child/worker/source.py parent/analysis/crowd.py parent/analysis/modes.py "
        "parent/measuring/next_pair.py parent/measuring/pace.py parent/workers/pair_cpus.py "
        "parent/workers/placement.py parent/workers/source.py parent/documents/load.py"
    ),
    "GPUs and other devices, energy, and memory that stays": (
        "child/backends/tensorflow/devices.py child/backends/torch/accelerator.py child/measure/energy.py "
        "child/measure/growth.py domain/device.py parent/workers/claims.py parent/workers/compiled_code.py "
        "parent/workers/compilers.py parent/workers/gpus.py"
    ),
    "nothing outlives opperf": "child/worker/supervision.py parent/workers/supervision.py",
    "a team's server: runs sent to it, what changed in a week, decisions, messages, and a made-up month": (
        "parent/analysis/triage.py parent/commands/channels.py parent/commands/demo.py parent/commands/notify.py "
        "parent/commands/push.py parent/commands/triage.py parent/documents/triage.py "
        "parent/pages/charts/sparkline.py parent/pages/server/access_log.py parent/pages/server/api.py "
        "parent/pages/server/beside.py parent/pages/server/cache.py parent/pages/server/movers.py "
        "parent/pages/server/processes.py parent/pages/server/suites.py parent/pages/server/visits.py "
        "parent/reports/week.py parent/sources/machine_tokens.py parent/sources/notify_keys.py "
        "parent/store/database/decisions.py parent/store/database/evidence.py parent/store/database/messages.py "
        "parent/store/database/migrations/versions/000[23]* parent/store/database/sides.py "
        "parent/store/database/trails.py parent/workers/passwords.py"
    ),
    "years of asv's results in a minute, and a staircase of the builds of a bisection": (
        "parent/pages/bisect_figures.py parent/pages/charts/staircase.py parent/store/database/intake.py "
        "parent/store/imports/ahead.py parent/store/imports/asv_file.py parent/store/imports/builds.py"
    ),
}


class Module:
    """What is counted of a module."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.lines = path, text, text.count("\n")
        nodes = list(ast.walk(ast.parse(text)))
        self.kinds = _kinds(text, nodes)
        self.imports = {*_imports(nodes)}
        self.for_types = {name for node in nodes if _is_for_types(node) for name in _imports(ast.walk(node))}
        self.declared = {*_declared(nodes)}
        self.numbers = {name for name, value in _defaults(nodes) if isinstance(value, ast.Constant) and value.value}


class Tree:
    """The package at one time: its modules by their paths in it, and its contract of imports."""

    def __init__(self, files: Mapping[str, str]) -> None:
        names = {path: path.removeprefix("src/opperf/") for path in files if path.endswith(".py")}
        self.modules = {name: Module(name, files[path]) for path, name in names.items()}
        self.contract = files[".importlinter"].count("\n")

    def lines(self, paths: Iterable[str]) -> int:
        """Return the lines of modules."""
        return sum(self.modules[path].lines for path in paths)

    def kinds(self) -> Counter[str]:
        """Return how many lines are what."""
        return sum((module.kinds for module in self.modules.values()), Counter())

    def drawing(self, folder: str) -> tuple[int, int, int]:
        """Return the rooms of a folder, its floors and its arrows."""
        rooms = {room for path in self.modules if (room := _room(path, folder))}
        below = self._below(folder, rooms)

        @cache
        def depth(room: str) -> int:
            return 1 + max(map(depth, at_run_time[room]), default=0)

        at_run_time = self._below(folder, rooms, typed=False)
        return len(rooms), max(map(depth, rooms)), sum(map(len, below.values()))

    def _below(self, folder: str, rooms: Iterable[str], *, typed: bool = True) -> dict[str, set[str]]:
        """Return which rooms of a folder each of them imports, for type checking too or not."""
        below: dict[str, set[str]] = {room: set() for room in rooms}
        for path, module in self.modules.items():
            if room := _room(path, folder):
                names = module.imports if typed else module.imports - module.for_types
                below[room] |= {target for name in names if (target := self._target(name, folder))} - {room}
        return below

    def _target(self, name: str, folder: str) -> str:
        """Return the room of a folder that an imported name is in, empty for none."""
        path = name.removeprefix("opperf.").replace(".", "/")
        places = (f"{path}.py", f"{path}/__init__.py", f"{path.rpartition('/')[0]}.py")
        return next((_room(place, folder) for place in places if place in self.modules), "")

    def files_of_option(self, name: str) -> int:
        """Return how many modules between a user and a child declare an option."""
        places = (path for path in self.modules if path.startswith(WAYS_IN) and path != WRITTEN)
        return sum(name in self.modules[path].declared for path in places)

    def defaults(self, name: str) -> int:
        """Return how many modules write out the default of an option."""
        return sum(name in module.numbers for module in self.modules.values())


def _kinds(text: str, nodes: Iterable[ast.AST]) -> Counter[str]:
    """Return how many lines are what; what is blank within a text belongs to the text."""
    kinds: dict[int, str] = {}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            kinds.update((row, "code") for row in _rows(node))
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kinds.update((row, "imports") for row in _rows(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kinds.update((row, "docstrings") for row in _rows(node))
    for row, line in enumerate(map(str.strip, text.splitlines()), 1):
        kinds.setdefault(row, "blank" if not line else "comments" if line[0] == "#" else "code")
    return Counter(kinds.values())


def _rows(node: ast.Constant | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in vars(node.test).values()


def _declared(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of parameters, of fields with a type, and of keys in dictionaries that are written out."""
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Dict):
            yield from (str(key.value) for key in node.keys if isinstance(key, ast.Constant))


def _defaults(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield what parameters, fields and constants are by default."""
    for node in nodes:
        if isinstance(node, ast.arguments):
            places = [*node.posonlyargs, *node.args][-len(node.defaults) or None :]
            yield from ((one.arg, value) for one, value in zip(places, node.defaults))
            yield from ((one.arg, value) for one, value in zip(node.kwonlyargs, node.kw_defaults))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.value
        elif isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = [*zip(node.targets[0].elts, node.value.elts)]
            yield from ((name.id.lower(), value) for name, value in pairs if isinstance(name, ast.Name))


def _room(path: str, folder: str) -> str:
    """Return the room of a folder that a module is in, empty for one elsewhere and for the folder's own."""
    inside = path.removeprefix(f"{folder}/")
    room = "" if inside == path else inside.partition("/")[0].removesuffix(".py")
    return "" if room == "__init__" else room


def tree_of(commit: str | None) -> Tree:
    """Read the package at a commit, or as it stands."""
    if commit is None:
        paths = [ROOT / ".importlinter", *sorted((ROOT / "src").rglob("*.py"))]
        return Tree({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths})
    command = ["git", "-C", str(ROOT), "archive", commit, "--", ".importlinter", "src"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = {one.name: tar.extractfile(one) for one in tar if one.name.endswith((".py", ".importlinter"))}
        return Tree({name: file.read().decode() for name, file in files.items() if file is not None})


def additions(now: Tree, then: Tree) -> dict[str, list[str]]:
    """Return the files of each addition; ends the program for a name of none, of one that was there, or named twice."""
    result: dict[str, list[str]] = {}
    for sentence, names in ADDED.items():
        result[sentence] = []
        for name in names.split():
            files = [path for path in now.modules if fnmatch(path, name)]
            if not files or {*files} & {*then.modules, *(path for paths in result.values() for path in paths)}:
                sys.exit(f"{name}: no such file, one that was there, or named twice")
            result[sentence] += files
    return result


def main() -> None:
    """Count, print and judge."""
    then, now = tree_of(sys.argv[1] if len(sys.argv) > 1 else THEN), tree_of(None)
    added = additions(now, then)
    new = {path for files in added.values() for path in files}
    read = now.modules.keys() - new
    rows = [_row("lines of Python", then.lines(then.modules), now.lines(now.modules))]
    rows += [_row(f"of which {kind}", then.kinds()[kind], now.kinds()[kind]) for kind in KINDS]
    rows += [_row("files", len(then.modules), len(now.modules))]
    for folder in DRAWN:
        figures = zip(("rooms", "floors", "arrows"), then.drawing(folder), now.drawing(folder))
        rows += [_row(f"{what} of {folder}/", *values) for what, *values in figures]
    rows += [
        _row("lines of the contract of imports", then.contract, now.contract),
        _row("files that write out the default tolerance", then.defaults("tolerance"), now.defaults("tolerance")),
        _row(f"files that declare `--{OPTION}`", then.files_of_option(OPTION), now.files_of_option(OPTION)),
    ]
    bought = [
        {"what was added since": sentence, "files": f"{len(files)}", "lines": f"{now.lines(files):,}"}
        for sentence, files in added.items()
    ]
    folders = {path: _folder(path) for path in (*then.modules, *now.modules)}
    by_folder = [
        {
            "folder": folder,
            **{
                title: f"{tree.lines(path for path in paths if folders[path] == folder):,}"
                for title, tree, paths in (
                    ("then", then, [*then.modules]),
                    ("now", now, [*now.modules]),
                    ("of which added", now, [*new]),
                )
            },
        }
        for folder in sorted(set(folders.values()))
    ]
    rooms, floors, arrows = now.drawing("parent")
    publish(
        "structure",
        "the code, then and now",
        rows,
        {
            "lines of what was read": (now.lines(read) / 1000, LINES, "thousand"),
            "files of what was read": (len(read), FILES, "files"),
            "rooms of the parent": (rooms, ROOMS, "rooms"),
            "floors of the parent": (floors, FLOORS, "floors"),
            "arrows of the parent": (arrows, ARROWS, "arrows"),
            "contract of imports": (now.contract, CONTRACT, "lines"),
        },
        {"what was added, in files of its own": bought, "lines by folder": by_folder},
    )


def _row(what: str, then: int, now: int) -> dict[str, str]:
    return {"what": what, "then": f"{then:,}", "now": f"{now:,}"}


def _folder(path: str) -> str:
    """Return the folder that a module is counted in: of the towers, that within them."""
    first, *rest = path.split("/")
    if not rest:
        return "(beside folders)"
    return f"{first}/{rest[0]}" if first in ("parent", "child") and len(rest) > 1 else first


if __name__ == "__main__":
    main()
