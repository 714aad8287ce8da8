"""Every reader of opperf, each with a whole file of its kind: what a command does with the file, without measuring."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import Distribution
from itertools import islice
from pathlib import Path
from typing import Any

from typer.main import get_command

from opperf.compat.mxnet_opperf.command.plan import read_rows
from opperf.compat.param.command.kernels import from_ncu
from opperf.domain.case import Case, ListOf
from opperf.domain.errors import OpperfError
from opperf.domain.files.text_file import read_text
from opperf.domain.measurement import Measurement, Memory, Outcome, Sample, Samples, compile_time
from opperf.domain.message.requests import Prepare
from opperf.domain.message.wire import answer_line, read_answer, read_request, request_line
from opperf.domain.peaks import Peaks, Rate
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.event import Event, Profile, Reading
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Run
from opperf.domain.suite import Program, Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.param.cases import cases
from opperf.param.document import read_config
from opperf.parent.cli.main import app
from opperf.parent.documents.floor import Floor
from opperf.parent.documents.judgement import Expectation, document
from opperf.parent.pages import profile_page
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.suites import check_suite
from opperf.parent.reports.text import case_text
from opperf.parent.sources.gate_file import read_gate_file
from opperf.parent.sources.installed_plugins import installed_plugins, module_file
from opperf.parent.sources.plugin_file import declared_operators, with_plugins, workloads
from opperf.parent.sources.script_text import check_function, frameworks_of
from opperf.parent.store.documents import read_expected, read_profile
from opperf.parent.store.machine_file import FLOORS, RATES

#: The config and the traces are the tests' own.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
files: Any = importlib.import_module("tests.unit.parent.sources.conftest")
#: The command line, made once: that takes longer than to read a file.
COMMAND = get_command(app)
#: The exit code of a command that refuses a file.
REFUSED = 2
#: That of `opperf compare` where nothing could be compared.
NOTHING = 3


class WrongCode(Exception):
    """A command left with an exit code that nobody promised."""


@dataclass(frozen=True)
class Reader:
    """What reads one kind of file; `read` raises `InputError` for one that it refuses."""

    kind: str
    whole: bytes
    read: Callable[[Path], object]
    ending: str = ".json"
    packed: bool = False


def command(*words: str) -> Callable[[Path], bool]:
    """Return what gives a file to a command in this process; `FILE` among the words stands for it."""

    def read(path: Path) -> bool:
        try:
            code = COMMAND.main([str(path) if word == "FILE" else word for word in words], standalone_mode=False)
        except Exception as refusal:
            # Typer has a click of its own, whose refusals carry their code as those of click do.
            if isinstance(refusal, OpperfError) or not hasattr(refusal, "exit_code"):
                raise
            code = refusal.exit_code
        except SystemExit as leaving:
            code = leaving.code
        if code not in (0, None, REFUSED, *([NOTHING] if words[0] == "compare" else [])):
            raise WrongCode(f"{words[0]} left with {code}")
        return bool(code != REFUSED)

    return read


def readers(folder: Path) -> list[Reader]:
    """Return them all; whole files that others are read beside are written into a folder."""
    whole = {name: made() for name, made in WHOLE.items()}
    for name, content in whole.items():
        (folder / f"whole_{name}").write_bytes(content)
    beside = {name: str(folder / f"whole_{name}") for name in whole}
    os.environ["OPPERF_CACHE_DIR"] = str(folder / "cache")
    record, trace = whole["record"], whole["trace"]
    return [
        Reader("result file: show", record, command("show", "FILE")),
        Reader("result file: show as json", record, command("show", "FILE", "--format", "json")),
        Reader("result file: show as csv", record, command("show", "FILE", "--format", "csv")),
        Reader("result file: show as md", record, command("show", "FILE", "--format", "md")),
        Reader("result file: merged", record, command("show", "FILE", beside["record"], "--format", "csv")),
        Reader("result file: compared, new", record, command("compare", beside["record"], "FILE")),
        Reader("result file: compared, old", record, command("compare", "FILE", beside["record"], "--format", "json")),
        Reader("journal", whole["journal"], command("show", "FILE"), ".journal"),
        Reader("suite", whole["suite"], plan),
        Reader("inputs of MXNet", whole["rows"], plan),
        Reader("profile", whole["profile"], command("profile", "--read", "FILE")),
        Reader("profile, by module as json", whole["profile"], command(*PROFILE_WORDS)),
        Reader("profile, as a page", whole["profile"], lambda path: profile_page.render(read_profile(path))),
        Reader("profiles, the former", whole["profile"], command(*DIFF_WORDS, "FILE", beside["profile"])),
        Reader("profiles, the later", whole["profile"], command(*DIFF_WORDS, beside["profile"], "FILE")),
        Reader("expectations", whole["expected"], read_expected),
        Reader("noise floors", whole["floors"], lambda path: [one.key for one in FLOORS.read(path).values()]),
        Reader("measured peaks", whole["rates"], limits),
        Reader("gate file", whole["gate"], lambda path: read_gate_file(path), "/opperf.toml"),
        Reader("gate file, shared", whole["shared"], read_gate_file, "/pyproject.toml"),
        Reader("config", whole["config"], files.read_or_refuse_config),
        Reader("config, as PARAM reads it", whole["config"], lenient),
        Reader("rows, for MXNet's command", whole["rows"], read_rows),
        Reader("report of a tool", KERNELS, kernels, ".csv"),
        Reader("trace", trace, command("replay", "FILE", "--dry-run"), packed=True),
        Reader("Kineto trace", whole["kineto"], command("replay", beside["trace"], *KINETO_WORDS), packed=True),
        Reader("plugin", whole["plugin"], plugin, ".py"),
        Reader("script", whole["plugin"], script, ".py"),
        Reader("entry points", b"[opperf.plugins]\none = canary_plugin\ntwo = json.decoder\n", install, ".txt"),
        Reader("module of a plugin", b"json.decoder", lambda path: module_file(read_text(path)), ".txt"),
        Reader("request", request_line(1, Prepare(TRIAL)), asked, ".line"),
        Reader("answer", answer_line(1, MEASUREMENT), answer, ".line"),
        *shapes(),
    ]


DIFF_WORDS = ("profile", "--diff")
#: Two launches, as Nsight Compute writes them behind its own lines.
KERNELS = (
    b'==PROF== Connected\n"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","x:Push/Pop_Range:y"\n'
    b'"","","","","ns",""\n"0","add","(128, 1, 1)","(16, 1, 1)","1,536","0.forward"\n"1","b","(1)","(1)","n/a",""\n'
)
#: So many cases of a config are made: one has a hundred thousand at most, which take seconds.
MOST_CASES = 1000
PROFILE_WORDS = ("profile", "--by", "module", "--format", "json", "--read", "FILE")
KINETO_WORDS = ("--kineto", "FILE", "--dry-run")
CASE = Case("concat", {"data": ListOf((TensorSpec((8, 8)), TensorSpec((8, 4))))}, {"axis": 1})
ADD = Case("add", {"lhs": TensorSpec((4, 4)), "rhs": TensorSpec((2,), "int64", range=(0, 3), literal=None)})
SIDE = Side("null", settings={"slowdown": "2"})
TRIAL = Trial(ADD, SIDE, "forward", "user", 3)
SAMPLES = Samples(tuple(Sample(4, 4000 + i, 3900, 0, 1, 5, None, i != 2) for i in range(12)), 12.5)
MEASUREMENT = Measurement(
    {"time": SAMPLES, "latency": SAMPLES, **Memory(512, 1024, "scripted").metrics(), **compile_time(0.25)},
    {"backward_method": "retained", "block": 1e-3, "clock": "wall", "flops": 16, "bytes": 96},
    (Warning("busy_machine", "samples were disturbed", "stop other programs"),),
    {"sampling": 0.5},
)
RUN = Run("r1", "2026-11-21T08:00:00+00:00", ("run", "add"), Settings(), {"a": "b"}, {"machine": {"cpu": "A"}})
OUTCOMES = (
    *(Outcome(TRIAL, number, "ok", MEASUREMENT, version="1.0") for number in range(3)),
    Outcome(replace(TRIAL, case=CASE), 0, "failed", reason=Reason("crash", "it died", signal="SIGSEGV")),
)


def _record() -> bytes:
    from opperf.parent.analysis.summary import record

    made = [record(TRIAL, OUTCOMES[:3], Settings()), record(OUTCOMES[3].trial, OUTCOMES[3:], Settings())]
    return json.dumps(replace(RUN, records=tuple(made)).to_json()).encode()


def _journal() -> bytes:
    header = {"schema_version": 1, "run": RUN.header()}
    records = [{"record": one} for one in json.loads(_record())["records"]]
    lines = [header, *records, *({"outcome": one.to_json()} for one in OUTCOMES)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _suite() -> bytes:
    program = Program(0.5, 3, "null", "1.0", 1)
    cases = (SuiteCase(ADD, 3, "model", ("forward",)), SuiteCase(CASE), SuiteCase(Case("null:steady", {}, {})))
    return json.dumps(Suite("one", "hand", cases, program).to_json()).encode()


def _profile() -> bytes:
    events = [
        Event("aten::add", "operator", 10, 50, 1, "main", ((2, 3), ()), "net.add", ("a.py:3",), allocated=8, peak=9),
        Event("step", "step", 5, 90, 1, "main"),
        Event("kernel", "kernel", 20, 5, 1, "gpu", device=5, flops=7, backward=True, fused=True),
    ]
    facts = {1: {"framework": "torch", "version": "2", "name": "main", "command": "a.py"}}
    profile = Profile(tuple(events), (Reading(12, 1, "cpu/0", 8),), facts, ("a note",))
    return json.dumps(to_trace(profile)).encode()


def _entries(name: str, *entries: Any) -> bytes:
    return json.dumps({"schema_version": 1, name: [entry.to_json() for entry in entries]}).encode()


#: A whole file of each kind.
WHOLE: Mapping[str, Callable[[], bytes]] = {
    "record": _record,
    "journal": _journal,
    "suite": _suite,
    "rows": lambda: (
        b'{"dot": [{"lhs": [4, 4], "rhs": [4, 4], "transpose_a": true}], "relu": [{"data": [[0.5], [1.5]]}]}'
    ),
    "profile": _profile,
    "expected": lambda: json.dumps(document([Expectation(TRIAL, (1e-6, 2e-6), 8, "x", "1", {"cpu": "A"})])).encode(),
    "floors": lambda: _entries("floors", Floor(TRIAL, 1e-6, 5, 0.01, 0.02, 0.1, 0, 5, "2026-11-21")),
    "rates": lambda: _entries(
        "rates",
        Rate("move", "copy", "float32", 1000, 1e9, "null", "cpu", 1, "2026-11-21"),
        Rate("product", "matmul", "float32", 512, 1e11, "null", "cpu", 1, "2026-11-21"),
    ),
    "gate": lambda: (
        b'operators = ["add", "softmax"]\nbase = "null"\nnew = ["null;slowdown=2"]\ntolerance = "5%"\npairs = 5\n'
        b'budget = "90s"\ntimeout = 60\nseed = 1\ncpus = "0"\ndtypes = ["float32"]\ninconclusive = "pass"\n'
        b'[expected]\nfile = "e.json"\nthreshold = 0.1\nprocesses = 5\nframeworks = ["null"]\n'
    ),
    "shared": lambda: b'[project]\nname = "x"\n[tool.opperf]\noperators = ["add"]\nbase = "null"\npairs = 5\n',
    "config": lambda: files.written(files.CONFIG),
    "trace": lambda: files.written(files.TRACE),
    "kineto": lambda: files.written(files.KINETO),
    "plugin": lambda: (
        b"import opperf\nimport canary\n\n@opperf.operator(sizes={'common': {'x': (4, 4)}})\ndef own(x, times=2):\n"
        b"    '''Scale.'''\n    return x * times\n\nregister_config_iterator('mine', own)\n"
    ),
}


def plan(path: Path) -> object:
    """Read the cases of a suite as a selection has them, and what a plan and a report make of each."""
    chosen = Selection(suite=path, frameworks=["null"])
    check_suite(chosen)
    cases = [entry.case for entry in chosen.suite_cases]
    return [(one.id, case_text(one), one.input_bytes, one.with_dtype("float16").with_values("zeros")) for one in cases]


def limits(path: Path) -> object:
    """Read peaks, and say what bounds some work."""
    peaks = Peaks.of(RATES.read(path).values(), "cpu", 1)
    return peaks.limit(flops=1e6, nbytes=1e6, dtype="float32")


def plugin(path: Path) -> object:
    """Read what a plugin declares, without running it."""
    return declared_operators(path), workloads([path]), with_plugins([], [path], others=False)


def lenient(path: Path) -> object:
    """Make the cases of a config as PARAM's command line does, which passes over what it does not know."""
    config = read_config(path, lenient=True)
    return config.notes, [case_text(one.case) for one in islice(cases(config, 0), MOST_CASES)]


def script(path: Path) -> object:
    """Read what a script's text tells of it, and of its functions."""
    check_function([str(path)], "__main__:own")
    return frameworks_of([str(path)])


class _Package(Distribution):
    """A package of which a file is the entry points."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read_text(self, filename: str) -> str | None:
        """Return a file of it."""
        return self._path.read_text(encoding="utf-8") if filename == "entry_points.txt" else "Name: drawn\n"

    def locate_file(self, path: Any) -> Path:
        """Return where a file of it lies."""
        return self._path.with_name(str(path))


class _Packages:
    """Where Python looks for packages, with one more."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def find_spec(self, *named: object) -> None:
        """Have no module."""

    def find_distributions(self, context: object = None) -> list[Distribution]:
        """Return the package."""
        return [_Package(self._path)]


def install(path: Path) -> object:
    """Read the plugins that installed packages name."""
    here: Any = _Packages(path)
    told: list[str] = []
    sys.meta_path.append(here)
    try:
        return installed_plugins(told.append), told
    finally:
        sys.meta_path.remove(here)


def kernels(path: Path) -> object:
    """Read what a vendor's tool saw."""
    from opperf.domain.errors import InputError

    try:
        return from_ncu(path)
    except ValueError as error:  # a reason on the cases: they are measured all the same
        raise InputError(str(error)) from error


def asked(path: Path) -> object:
    """Read a request; a line that is none is the protocol's error, which ends a child."""
    from opperf.domain.errors import InputError
    from opperf.domain.message.wire import MessageError

    try:
        return read_request(path.read_bytes())
    except MessageError as error:
        raise InputError(str(error)) from error


def answer(path: Path) -> object:
    """Read what a child answers."""
    from opperf.domain.errors import InputError
    from opperf.domain.message.wire import MessageError

    with suppress(FileNotFoundError):
        try:
            return Measurement.from_json(read_answer(path.read_bytes()).result)
        except MessageError as error:
            raise InputError(str(error)) from error
    return None


def shapes() -> list[Reader]:
    """Return the readers of shapes that a user keeps in a file, in each of its formats."""
    from opperf.parent.sources.shapes_file import read_shapes

    return [
        Reader("shapes as csv", b"lhs,rhs,axis\n4x4,4x4,0\n8x8,8x8,1\n", read_shapes, ".csv"),
        Reader("shapes as json", b'[{"lhs": [4, 4], "rhs": "4x4", "axis": 0}, {"lhs": [8]}]', read_shapes),
        Reader("shapes as jsonl", b'{"lhs": [4, 4], "rhs": "4x4"}\n{"lhs": [8], "axis": 1}\n', read_shapes, ".jsonl"),
    ]
