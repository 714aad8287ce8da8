"""The user's own code in a request: an object `{"code": ...}`, or a problem or benchmark files that the user named.

Only a field of the types `OwnCode`, `Named` and `TrialWithCode` is read from it. A trial or a name that anything else
reads is never code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias, Union

from opperf.domain.code import Code, ProblemCode, SuiteCode
from opperf.domain.plan import Trial
from opperf.domain.problem import problem_from_json, problem_to_json
from opperf.domain.type_hint import Form, wrong


def encode_name(name: str | Code | ProblemCode | SuiteCode | None) -> object:
    """Return the JSON form of a name or code in a request."""
    if isinstance(name, ProblemCode):
        return problem_to_json(name)
    if isinstance(name, SuiteCode):
        folders = {"library": name.library, "home": name.home, "shared": name.shared}
        return {"suite": name.kind, "path": name.path, **folders}
    return {"code": name.name} if isinstance(name, Code) else name


def read_name(data: object, where: str) -> str | Code | SuiteCode | None:
    """Read a name, or the user's own code, from a request."""
    if isinstance(data, dict) and data.keys() == {"suite", "path", "library", "home", "shared"}:
        folders = {name: data[name] for name in ("library", "home", "shared")}
        return SuiteCode(str(data["suite"]), str(data["path"]), **folders)
    if isinstance(data, dict) and data.keys() == {"code"} and isinstance(data["code"], str):
        return Code(data["code"])
    if data is None or isinstance(data, str):
        return data
    raise wrong(data, where, "a name or code")


def encode_trial(trial: Trial) -> dict[str, object]:
    """Return the JSON form of a trial in a request."""
    return {**trial.to_json(), "implementation": encode_name(trial.side.implementation)}


def decode_trial(data: object, where: str) -> Trial:
    """Read a trial from a request."""
    trial = Trial.from_json(data, where)
    if not isinstance(data, dict) or "implementation" not in data:
        raise wrong(data, where, "a trial with its `implementation`")
    text, place = data["implementation"], f"{where}.implementation"
    is_problem = isinstance(text, dict) and "problem" in text
    own = problem_from_json(text, place) if is_problem else read_name(text, place)
    return replace(trial, side=replace(trial.side, implementation=own))


def _decode_code(data: object, where: str) -> Code:
    code = read_name(data, where)
    if not isinstance(code, Code):
        raise wrong(data, where, "code")
    return code


#: The user's own code.
OwnCode: TypeAlias = Annotated[Code, Form("code", encode_name, _decode_code)]
#: The name of an operator, or code.
Named: TypeAlias = Annotated[Union[str, Code, SuiteCode, None], Form("a name or code", encode_name, read_name)]
#: A trial, whose implementation may be code.
TrialWithCode: TypeAlias = Annotated[Trial, Form("a trial", encode_trial, decode_trial)]
