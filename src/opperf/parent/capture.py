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
from opperf.domain.files.json_text import JsonObject
from opperf.domain.message import requests
from opperf.domain.message.replies import Recording
from opperf.domain.plan import PROGRAM, Settings, Side
from opperf.domain.suite import LeftOut, Suite
from opperf.domain.units import parse_duration
from opperf.parent.request import number, plugin_files
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


def capture(
    code: str,
    note: Callable[[str], None],
    *,
    framework: str | None = None,
    inputs: JsonObject | None = None,
    environment: str | None = None,
    timeout: float | str = 300.0,
    plugin: Sequence[str | Path] = (),
) -> Capture:
    """Return the operators of a function `module:name`, or of a model in a file, as a user names them.

    `inputs` are those of a model whose shapes are open; each `plugin` may bring a framework of the user's
    own. Raises what `capture_function` and `capture_model` raise.
    """
    plugins = plugin_files({"framework": framework, "plugin": plugin}, note=note)
    is_model = code.endswith(MODEL)
    owner = framework or ("onnxruntime" if is_model else _imported_by(code)) or "torch"
    place = environment or ("current" if is_model else _environment(code, owner))
    side = Side(registry.framework(owner).name, environment=place)
    seconds = number(timeout, parse_duration, "timeout")
    if is_model:
        specs = foreign_case(code, inputs or {}, {}).inputs
        return capture_model(Path(code), side, specs, seconds, note, explicit=environment is not None, plugins=plugins)
    if inputs:
        raise InputError("`--input` applies to model files only", hint="a function takes no arguments")
    function = read_operator(code)
    if not isinstance(function, Code):
        raise InputError(
            f"`{code}` is not a function", hint="write `module:function`, `file.py:function` or `model.onnx`"
        )
    return capture_function(function, side, seconds, note, explicit=environment is not None, plugins=plugins)


def _imported_by(code: str) -> str | None:
    """Return the first framework that the file or module of a function imports by itself; None without one."""
    return next(iter(frameworks_of(_words(code))), None)


def _environment(code: str, framework: str) -> str:
    """Return the environment for the file or module of a function: one that has the libraries of modules it imports."""
    return program_environment(framework, libraries_of(_words(code), framework)).text


def _words(code: str) -> list[str]:
    """Return what Python would be given to run the file or module of a function."""
    place = code.removeprefix(MARK).rpartition(":")[0]
    return [place] if place.endswith(".py") else ["-m", place]


def capture_function(
    code: Code,
    side: Side,
    timeout: float,
    note: Callable[[str], None],
    *,
    explicit: bool = False,
    plugins: Sequence[Path] = (),
) -> Capture:
    """Return the operators of a function `module:name`; all of its calls end within `timeout` seconds.

    `explicit` says that the user named the side's environment. Raises `InputError` for code that cannot be loaded, a
    function that raises or calls no operator, and a framework that cannot be watched; `HarnessError` for a child that
    does not start or is lost.
    """
    with Pool(Settings(timeout=timeout), note, plugins) as pool:
        try:
            recording = pool.capture(
                replace(settled_side(side, explicit=explicit), settings=PROGRAM), requests.Capture(code)
            )
        except OperatorFailure as failure:
            raise _refuse(code.name, failure) from failure
    result = _take(recording, code.name, "user_code")
    if not result.suite.cases and not result.left_out:
        raise InputError(
            f"`{code.name}` calls no operator of {side.framework}",
            hint="name a function that does the work itself, such as one training step",
            slug="empty_capture",
        )
    return result


def capture_model(
    path: Path,
    side: Side,
    inputs: Mapping[str, Argument],
    timeout: float,
    note: Callable[[str], None],
    *,
    explicit: bool = False,
    plugins: Sequence[Path] = (),
) -> Capture:
    """Return the nodes of a model in a file, which is run once; `inputs` are those that are not as the file has them.

    Raises `InputError` for an invalid or failing model, `HarnessError` for a child that does not start or dies.
    """
    if not path.is_file():
        raise InputError(f"no file `{path}`", hint="name an existing model, such as `model.onnx`", slug="bad_model")
    specs = {name: argument_to_json(value) for name, value in inputs.items()}
    with Pool(Settings(timeout=timeout), note, plugins) as pool:
        try:
            recording = pool.capture(
                settled_side(side, explicit=explicit), requests.CaptureModel(str(path.absolute()), specs)
            )
        except OperatorFailure as failure:
            raise InputError(f"`{path}`: {failure.message}", hint=failure.reason.hint, slug="bad_model") from failure
    return _take(recording, str(path), "bad_model")


def _take(recording: Recording, where: str, slug: str) -> Capture:
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
