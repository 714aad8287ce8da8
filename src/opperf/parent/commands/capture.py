"""Capture the operators that one call of a function, or a model in a file, runs in a child."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain import registry
from opperf.domain.case import Argument, argument_to_json
from opperf.domain.code import MARK, Code, read_operator
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OperatorFailure
from opperf.domain.message import requests
from opperf.domain.message.replies import Recording
from opperf.domain.message.requests import Usage
from opperf.domain.plan import PROGRAM, Settings, Side
from opperf.domain.suite import LeftOut, Suite, join
from opperf.parent.planning.request import plugin_files
from opperf.parent.sources import model_configuration
from opperf.parent.sources.program_options import CAPTURE_TIMEOUT, Capturing
from opperf.parent.sources.script_text import frameworks_of, libraries_of
from opperf.parent.sources.user_inputs import foreign_case
from opperf.parent.workers.interpreters import program_environment, settled_side
from opperf.parent.workers.pool import Pool

#: How the name of a model's file ends.
MODEL = ".onnx"


@dataclass(frozen=True)
class Capture:
    """The operators of a program as a suite, and those that no suite can hold."""

    suite: Suite
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What the suite does not hold."""
        return self.suite.left_out


@dataclass(frozen=True)
class Place:
    """Where a program is called: on which side, whose environment is `explicit` if the user named it, and how long."""

    side: Side
    explicit: bool
    timeout: float
    plugins: Sequence[Path]
    note: Callable[[str], None]

    @property
    def resolved(self) -> Side:
        """The side with the environment that is found for it."""
        return settled_side(self.side, explicit=self.explicit)

    def pool(self) -> Pool:
        """Return the children that are asked."""
        return Pool(Settings(timeout=self.timeout), self.note, self.plugins)


def capture(codes: Sequence[str], capturing: Capturing, note: Callable[[str], None]) -> Capture:
    """Return the operators of functions `module:name`, or of a model in a file, as a user names them.

    Raises what `capture_functions` and `capture_model` raise.
    """
    framework, usage, timeout = capturing.framework, capturing.usage, capturing.timeout
    plugins = plugin_files(capturing.plugin, [] if framework is None else [framework], note=note)
    model = next((code for code in codes if code.endswith(MODEL)), None)
    if model is not None and len(codes) > 1:
        raise InputError(f"`{model}` is captured by itself", hint="only functions share a suite")
    if model is not None and capturing.abstract:
        raise InputError(f"`{model}` is captured as it runs", hint="`--abstract` is for functions")
    configuration = next((code for code in codes if code.startswith(model_configuration.PREFIX)), None)
    if configuration is not None:
        if len(codes) > 1 or capturing.inputs or framework not in (None, "torch"):
            raise InputError(f"`{configuration}` is captured by itself, in PyTorch, without `--input`")
        path = Path(configuration.removeprefix(model_configuration.PREFIX))
        return capture_configuration(path, usage, note, environment=capturing.environment, timeout=timeout)
    if usage != Usage():
        raise InputError(
            "`--phase`, `--batch`, `--context`, `--dtype`, `--split` and `--layers` apply to configurations only",
            hint="write `config:PATH/config.json`",
        )
    name = framework or ("onnxruntime" if model is not None else _imported_by(codes)) or "torch"
    owner = registry.framework(name).name
    environment = capturing.environment or ("current" if model is not None else _environment(codes, owner))
    side = Side(owner, environment=environment)
    place = Place(side, capturing.environment is not None, timeout, plugins, note)
    if model is not None:
        return capture_model(Path(model), foreign_case(model, capturing.inputs, {}).inputs, place)
    if capturing.inputs:
        raise InputError("`--input` applies to model files only", hint="a function takes no arguments")
    return capture_functions(list(map(_function, codes)), place, abstract=capturing.abstract)


def _function(code: str) -> Code:
    """Return the function that a user names; raises `InputError`."""
    function = read_operator(code)
    if not isinstance(function, Code):
        raise InputError(
            f"`{code}` is not a function", hint="write `module:function`, `file.py:function` or `model.onnx`"
        )
    return function


def _imported_by(codes: Sequence[str]) -> str | None:
    """Return the first framework that files or modules of functions import by themselves; None without one."""
    return next((framework for code in codes for framework in frameworks_of(_words(code))), None)


def _environment(codes: Sequence[str], framework: str) -> str:
    """Return the environment for files or modules of functions: one that has the libraries of modules they import."""
    libraries = dict.fromkeys(library for code in codes for library in libraries_of(_words(code), framework))
    return program_environment(framework, libraries).text


def _words(code: str) -> list[str]:
    """Return the arguments with which Python would run the file or module of a function."""
    place = code.removeprefix(MARK).rpartition(":")[0]
    return [place] if place.endswith(".py") else ["-m", place]


def capture_functions(functions: Sequence[Code], place: Place, *, abstract: bool) -> Capture:
    """Return the operators of functions `module:name`, called in one process; all calls of each end within the timeout.

    Raises `InputError` for code that cannot be loaded, a function that raises or calls no operator, and a framework
    that cannot be watched; `HarnessError` for a child that does not start or is lost.
    """
    side = replace(place.resolved, settings=PROGRAM)
    with place.pool() as pool:
        captures = [_capture_in(pool, side, requests.Capture(code, abstract)) for code in functions]
    return Capture(join([one.suite for one in captures]), tuple(text for one in captures for text in one.notes))


def _capture_in(pool: Pool, side: Side, request: requests.Capture) -> Capture:
    """Return the operators of one function."""
    code = request.code
    try:
        recording = pool.capture(side, request)
    except OperatorFailure as failure:
        raise _refuse(code.name, failure) from failure
    result = _captured(recording, code.name, "user_code")
    if not result.suite.cases and not result.left_out:
        raise InputError(
            f"`{code.name}` calls no operator of {side.framework}",
            hint="name a function that does the work itself, such as one training step",
            slug="empty_capture",
        )
    return result


def capture_configuration(
    path: Path,
    usage: Usage,
    note: Callable[[str], None],
    *,
    environment: str | None = None,
    timeout: float = CAPTURE_TIMEOUT,
) -> Capture:
    """Return the operators of a phase of the model that a file describes, which is built and called by shapes alone.

    Raises `InputError` for a configuration that opperf or the package does not know, `HarnessError` for a child that
    does not start or dies.
    """
    model = model_configuration.read(path, usage)
    side = Side("torch", environment=environment or program_environment("torch", [model.library]).text)
    side = replace(settled_side(side, explicit=environment is not None), settings=PROGRAM)
    with Pool(Settings(timeout=timeout), note) as pool:
        try:
            recording = pool.capture(side, requests.CaptureConfiguration(model.name, model.configuration, usage))
        except OperatorFailure as failure:
            message = failure.message if failure.skipped else f"{failure.reason.exception}: {failure.message}"
            raise InputError(f"`{path}`: {message}", hint=failure.reason.hint, slug="bad_model") from failure
    result = _captured(recording, str(path), "bad_model")
    return Capture(result.suite, (*(f"assumed: {text}" for text in model.assumed), *result.notes))


def capture_workload(name: str, suite: object, note: Callable[[str], None]) -> Capture:
    """Return the operators of a workload that comes with opperf, for a run that names no other `suite`.

    Raises what `capture_configuration` raises.
    """
    if suite is not None:
        raise InputError("`--workload` cannot be combined with `--suite`", hint="leave one of them out")
    captured = capture_configuration(*model_configuration.workload(name), note)
    for text in captured.notes:
        note(text)
    return captured


def capture_model(path: Path, inputs: Mapping[str, Argument], place: Place) -> Capture:
    """Return the nodes of a model in a file, which is run once; `inputs` are those that are not as the file has them.

    Raises `InputError` for an invalid or failing model, `HarnessError` for a child that does not start or dies.
    """
    if not path.is_file():
        raise InputError(f"no file `{path}`", hint="name an existing model, such as `model.onnx`", slug="bad_model")
    specs = {name: argument_to_json(value) for name, value in inputs.items()}
    with place.pool() as pool:
        try:
            recording = pool.capture(place.resolved, requests.CaptureModel(str(path.absolute()), specs))
        except OperatorFailure as failure:
            raise InputError(f"`{path}`: {failure.message}", hint=failure.reason.hint, slug="bad_model") from failure
    return _captured(recording, str(path), "bad_model")


def _captured(recording: Recording, where: str, slug: str) -> Capture:
    """Read a child's answer; raises `InputError` with the slug for a reported problem."""
    if recording.suite is None:
        raise InputError(f"`{where}`: {recording.wrong}", hint=recording.hint, slug=slug)
    return Capture(recording.suite, recording.notes)


def _refuse(code: str, failure: OperatorFailure) -> InputError:
    """Say what a child did not do: a framework that it cannot watch, or what the function raised."""
    reason = failure.reason
    if failure.skipped:
        return InputError(f"`{code}`: {reason.message}", hint=reason.hint, slug="no_capture")
    return InputError(
        f"`{code}` raised {reason.exception}: {reason.message}",
        hint="opperf calls it without arguments, so it must run by itself",
        slug="user_code",
    )
