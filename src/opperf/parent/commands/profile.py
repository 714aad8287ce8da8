"""Run a script under the profiler, without changing it, and pass on its exit code.

The profiler starts with Python, in every process of the script (`sitecustomize.py`), and leaves a file of each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from opperf.domain.code import is_code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, check_known
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.peaks import Peaks
from opperf.domain.plan import ALLOCATORS
from opperf.domain.profile.chrome import save
from opperf.domain.profile.event import Profile, merge
from opperf.domain.profile.rows import GROUPINGS, PEAK
from opperf.domain.profile.watching import ALLOCATOR, FRESH, GRANULARITY, ONE_BY_ONE, WATCHED, Watching
from opperf.domain.registry import framework
from opperf.parent.documents.trace import Trace
from opperf.parent.measuring.calibration import stored_rates
from opperf.parent.planning.request import plugin_files
from opperf.parent.reports.profile import SORT, SORTS
from opperf.parent.sources import chrome_trace
from opperf.parent.sources.execution_trace.reading import read_traces
from opperf.parent.sources.plugin_file import watched_frameworks
from opperf.parent.sources.program_options import Profiling
from opperf.parent.sources.script_text import check_function, frameworks_of, libraries_of
from opperf.parent.store.documents import read_profile
from opperf.parent.workers import machine, script
from opperf.parent.workers.interpreters import interpreter, program_environment
from opperf.parent.workers.package import autostart_folder
from opperf.parent.workers.passwords import environment_of
from opperf.parent.workers.variables import child_variables

#: How MXNet runs the operators of a graph, and the variables that make it run them one by one.
GRANULARITIES: Mapping[str, Mapping[str, str]] = {"bulk": {}, "operator": ONE_BY_ONE}
#: The framework that records the arguments of its operators.
RECORDS = "torch"
#: Said where a script has left no arguments of its operators.
NO_SUITE = "only PyTorch records the arguments of operators; for other frameworks, use `opperf capture`"
#: The file of all processes together, where there are several.
ALL_PROCESSES = "profile.json"
#: How the file of one process is called, before its number.
PREFIX = "opperf_profile_"
#: Said where the machine's peak is not known.
NO_PEAKS = "to see shares of peak, measure it: `opperf doctor --peaks --framework torch --threads {}`"


@dataclass(frozen=True)
class Options:
    """What to profile of a script; of a `function`, only `calls` calls after the first `skip`.

    With `record` the arguments of its operators are recorded, of which a suite can be made. The allocator is the
    script's own, or `fixed` as that of a measured operator is. Each of `plugins` brings a framework with its `Watcher`.
    """

    watching: Watching = field(default_factory=Watching)
    framework: str | None = None
    granularity: str = GRANULARITY
    function: str | None = None
    skip: int = 0
    calls: int | None = None
    record: bool = False
    allocator: str = ALLOCATOR
    plugins: Sequence[Path] = ()

    @classmethod
    def of(cls, profiling: Profiling) -> Options:
        """Return the options that a user gave; raises `InputError`."""
        return cls(
            *(profiling.watching, profiling.framework, profiling.granularity, profiling.function),
            *(profiling.skip, profiling.calls, profiling.save_suite is not None, profiling.allocator),
            plugin_files(profiling.plugin, [] if profiling.framework is None else [profiling.framework]),
        )

    def __post_init__(self) -> None:
        """Raise `InputError` for options that no profiler supports."""
        watched = self.watched
        if self.framework is not None and framework(self.framework).name not in (*watched, "null"):
            raise InputError(
                f"the operators of {self.framework} cannot be profiled",
                hint=f"known: {', '.join(watched)}",
                slug="no_profiler",
            )
        check_known("granularity", self.granularity, GRANULARITIES)
        check_known("allocator", self.allocator, ALLOCATORS)
        if self.function is None and (self.skip or self.calls is not None):
            raise InputError("`--skip` and `--calls` need `--function`", hint="name it with `--function MODULE:NAME`")
        if self.function is not None and (not is_code(self.function) or ".py:" in self.function):
            raise InputError(
                f"`--function` is `{self.function}`, expected `module:function`",
                hint="write `__main__:step` for a function of the script itself",
            )

    @property
    def watched(self) -> tuple[str, ...]:
        """The frameworks whose operators are looked for."""
        return (*watched_frameworks(self.plugins), *WATCHED)

    def variables(self, folder: Path, ranges: str | None = None) -> dict[str, str]:
        """Return the environment variables that tell the profiler; `ranges` is what a vendor's tool reads."""
        variables = {
            "framework": self.framework,
            **{name: getattr(self.watching, name) for name in ("memory", "shapes", "stacks", "modules", "api")},
            "granularity": self.granularity,
            "function": self.function,
            "skip": self.skip,
            "calls": self.calls,
            "ranges": ranges,
            "record": self.record,
            "allocator": self.allocator,
            "memory_limit": self.watching.memory_limit,
            "plugins": [str(path.absolute()) for path in self.plugins],
        }
        return {
            "OPPERF_PROFILER_AUTOSTART": "1",
            "OPPERF_PROFILER_OPTIONS": json.dumps(variables),
            "OPPERF_PROFILER_OUTPUT": str(folder),
            "OPPERF_PROFILER_QUIET": "1",
            **GRANULARITIES[self.granularity],
        }

    def notes(self, profile: Profile) -> tuple[str, ...]:
        """Return notes for a reader of the profile on how the script was run."""
        return (*self._of_memory(profile), *self._of_limit(profile), *self._of_granularity(profile))

    def _of_memory(self, profile: Profile) -> tuple[str, ...]:
        if not any(FRESH in note for note in profile.notes):
            return ()
        if self.allocator == "fixed":
            return (
                "memory is mapped again at each call, although freed memory is retained: try `--allocator default`",
            )
        return ("`--allocator fixed` retains freed memory, as `opperf run` does",)

    def _of_limit(self, profile: Profile) -> tuple[str, ...]:
        frameworks = [str(facts.get("framework")) for facts in profile.processes.values()]
        if self.watching.memory_limit is None or any("torch" in one for one in frameworks):
            return ()
        return ("`--memory-limit` has no effect here: it bounds PyTorch's recording",)

    def _of_granularity(self, profile: Profile) -> tuple[str, ...]:
        if self.granularity == "bulk":
            return ()
        variables = " ".join(f"{name}={value}" for name, value in GRANULARITIES[self.granularity].items())
        if not any("mxnet" in str(facts.get("framework")) for facts in profile.processes.values()):
            return (f"`--granularity {self.granularity}` has no effect here: it changes how MXNet runs",)
        return (f"run with {variables}: otherwise MXNet fuses the operators of a graph, which is faster",)


@dataclass(frozen=True)
class ProfileResult:
    """What became of a script: its exit code, what was seen, and the files; no profile where it left none.

    `recorded` are its operators with their arguments, where that was asked for and the framework can tell.
    """

    code: int
    profile: Profile | None
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    recorded: Trace | None = None


def command(words: Sequence[str], *, module: bool) -> tuple[str, ...]:
    """Return the arguments of Python; raises `InputError` without a script."""
    if not words:
        raise InputError("no script given", hint="write `opperf profile SCRIPT.py` or `-m MODULE`", slug="no_script")
    if not module and not Path(words[0]).exists():
        raise InputError(f"no script `{words[0]}`", hint="write `-m` before a module's name", slug="no_script")
    return ("-m", *words) if module else tuple(words)


def check_rows(by: str, sort: str | None, depth: int | None = None, *, compared: bool = False) -> None:
    """Raise `InputError` for rows that no table has, before the script has run."""
    check_known("grouping", by, GROUPINGS)
    check_known("order", sort or SORT, SORTS)
    if depth is not None and (by != "module" or compared):
        raise InputError(
            "`--depth` is for one profile, with `--by module`",
            hint=f"write `opperf profile --by module --depth {depth}`",
        )


def check(words: Sequence[str], options: Options) -> None:
    """Raise `InputError` for requests that the script's text shows to be futile: a missing function, or a JAX suite."""
    if options.function is not None:
        check_function(words, options.function)
    frameworks = frameworks_of(words, options.watched) if options.framework is None else (options.framework,)
    if options.record and frameworks and RECORDS not in frameworks:
        raise InputError(
            f"`--save-suite` needs the arguments of operators, which {', '.join(frameworks)} does not record",
            hint="only PyTorch records them; for the others, use `opperf capture`",
            slug="no_suite",
        )


def python_for(
    words: Sequence[str], environment: str | None, options: Options, progress: Callable[[str], None]
) -> Path:
    """Return the Python to run a script in: of the environment that is named, or of one with the script's framework.

    `words` are what Python is given. Raises what `interpreter` raises.
    """
    if environment is None:
        framework = options.framework or next(iter(frameworks_of(words, options.watched)), "null")
        spec = program_environment(framework, libraries_of(words, framework))
        return interpreter(spec, framework=framework, progress=progress)
    spec = environment_of(environment)
    return interpreter(spec, framework=options.framework or spec.framework or "null", progress=progress)


def run(
    words: Sequence[str], python: Path, options: Options, output: Path, *, tool: str | None = None, aside: bool = False
) -> ProfileResult:
    """Run `python WORDS` with the profiler on; its files go to the folder `output`.

    With `tool` it runs under a vendor's profiler, too; with `aside`, what it prints on stdout goes to stderr.
    Raises `InputError` for a folder that cannot be written and a tool that is missing, `HarnessError` when it does not
    start.
    """
    command: tuple[str, ...] = (str(python), *words)
    vendor = None
    scratch = _scratch(output)
    folder = scratch.path
    try:
        if tool is not None:
            from opperf.parent.workers.vendor_tools import wrap

            vendor = wrap(tool, command, output)
            command = vendor.command
        variables = child_variables(autostart_folder(), own_path=True, bytecode=False)
        variables |= options.variables(folder, None if vendor is None else vendor.ranges)
        code = script.run(command, variables, aside=aside)
        files = [file.replace(output / file.name) for file in sorted(folder.glob(f"{PREFIX}*.json"))]
        trace, unread = _record(sorted(folder.glob("operators_*.json")))
    finally:
        scratch.close()
    notes = []
    if vendor is not None:
        notes.append(f"{tool}: {vendor.note}" if vendor.report.exists() else f"{tool} wrote no `{vendor.report}`")
    profile, wrong = _read(files)
    if profile is not None:
        processes = {number: _on_this_machine(facts) for number, facts in profile.processes.items()}
        every_note = (*profile.notes, *options.notes(profile))
        profile = with_peaks(replace(profile, processes=processes, notes=every_note))
        if len(files) > 1:
            files.append(output / ALL_PROCESSES)
            save(profile, files[-1])
    return ProfileResult(code, profile, tuple(files), (*notes, *wrong, *unread), trace)


def _record(files: Sequence[Path]) -> tuple[Trace | None, list[str]]:
    """Return the operators of all processes, or why a recording cannot be read."""
    try:
        return (read_traces(files) if files else None), []
    except InputError as error:
        return None, [error.message]


def _scratch(output: Path) -> ScratchFolder:
    """Return a private folder for this run: other runs may write to `output`, even at the same time."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        return ScratchFolder("profile", output.absolute())
    except OSError as error:
        raise InputError(
            f"cannot write to `{output}`: {error.strerror}", hint="give a folder with `--output`", slug="output"
        ) from error


def with_peaks(profile: Profile) -> Profile:
    """Return the profile with the operations a second that this machine does at its best with a process's threads."""
    if not any(event.flops for event in profile.events):
        return profile
    rates, processes, notes = stored_rates(), {}, dict.fromkeys(profile.notes)
    for number, facts in profile.processes.items():
        threads = facts.get("threads")
        peak = Peaks.of(rates, "cpu", threads).products.get("float32") if isinstance(threads, int) else None
        processes[number] = dict(facts) if peak is None else {**facts, PEAK: peak}
        if threads is not None and peak is None:
            notes[NO_PEAKS.format(threads)] = None
    return replace(profile, processes=processes, notes=tuple(notes))


def _on_this_machine(process: Mapping[str, object]) -> dict[str, object]:
    """Return the facts of a process, with the machine that it ran on."""
    facts = machine.facts()
    return {**process, "machine": f"{facts.get('cpu')}, {facts.get('cores_usable')} cores"}


def read_place(place: Path) -> Profile:
    """Read a profile, of another tool too, or those in a folder that `--output` named as one.

    A command of several processes wrote one of them all behind the others: what is newer is of a later command. Raises
    `InputError` for anything else.
    """
    if not place.is_dir():
        return chrome_trace.read_profile(place)
    files, summary = sorted(place.glob(f"{PREFIX}*.json")), place / ALL_PROCESSES
    if summary.exists():
        since = summary.stat().st_mtime_ns
        files = [file for file in files if file.stat().st_mtime_ns > since] or [summary]
    if not files:
        raise InputError(
            f"`{place}` has no profile: no `{ALL_PROCESSES}`, and no `{PREFIX}*.json`",
            hint="name a folder that `opperf profile --output` wrote to, or a file",
        )
    return merge(chrome_trace.read_profile(file) for file in files)


def _read(files: Sequence[Path]) -> tuple[Profile | None, list[str]]:
    """Return the profile of all processes, and what is wrong with files that hold none."""
    profiles, wrong = [], []
    for file in files:
        try:
            profiles.append(read_profile(file))
        except InputError as error:
            wrong.append(error.message)
    return merge(profiles) if profiles else None, wrong
