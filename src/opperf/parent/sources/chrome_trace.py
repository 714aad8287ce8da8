"""A profile from a Chrome trace that opperf did not write: of MXNet, PyTorch, JAX, ONNX Runtime or any other tool.

The format has no word for an operator, so each tool's own way to mark them is known here, by the categories of spans
or, where a tool has none, by their arguments. Spans of a trace in which nothing is marked all count as operators, and
a note says so.

Spans are complete (`X`), or a beginning and an end: in a thread (`B`, `E`), where they nest, or of a task (`b`, `e`).
Traces are read as they are written: packed, as a mere list of events, one that was not closed, and MXNet's, which have
a comma before the first event from the second dump on.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject, NotJSON, value_of
from opperf.domain.files.text_file import LARGEST
from opperf.domain.profile import mxnet_names
from opperf.domain.profile.chrome import LONGEST, from_trace
from opperf.domain.profile.event import Event, Profile, Reading, in_time, parents
from opperf.parent.sources.execution_trace.node import DAMAGE, STEP, describe, open_trace

#: The kind of a span by its category, in lower case: PyTorch's of now and of before 2021, ONNX Runtime's.
CATEGORIES: Mapping[str, str] = {
    **dict.fromkeys(("cpu_op", "operator", "node"), "operator"),
    **dict.fromkeys(("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"), "kernel"),
    **dict.fromkeys(("cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "xpu_runtime"), "api"),
    **dict.fromkeys(("user_annotation", "session", "overhead"), "task"),
}
#: The recording itself, what is drawn a second time, and lines of Python: no spans of a profile.
NO_SPANS = frozenset({"trace", "python_function", "gpu_user_annotation"})
#: The framework by a category that no other writes.
TOOLS = {"cpu_op": "torch", mxnet_names.INTERFACE.lower(): "mxnet", "session": "onnxruntime"}
#: Arguments of a span that XLA or TensorFlow have for an instruction or an operator.
INSTRUCTION = ("hlo_op", "tf_op", "long_name")
#: How the autograd engine of PyTorch calls what it runs.
ENGINE = "autograd::engine::evaluate_function"
#: Said where a trace marks no operators.
ALL_ARE_OPERATORS = "the trace marks no operators, so all of its spans count as such"


def read_profile(path: Path) -> Profile:
    """Read a profile, of opperf or of another tool; raises `InputError` that says what is wrong and where."""
    return profile_of(_document(path), str(path))


def profile_of(document: object, where: str) -> Profile:
    """Read a profile from a document of Chrome trace events; raises `InputError` that names the place."""
    if isinstance(document, dict) and "opperf" in document:
        return from_trace(document, where)
    entries = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError(
            f"{where}: not a profile: expected `traceEvents`, a list of objects",
            hint="`opperf profile SCRIPT.py` writes profiles; Chrome traces of other tools are read, too",
            slug="bad_profile",
        )
    return _Trace(entries, where).profile()


def _document(path: Path) -> object:
    """Return the JSON of a file, which may be packed or left open; raises `InputError`."""
    try:
        with open_trace(path) as stream:
            pieces: list[bytes] = []
            while piece := stream.read(1 << 20):
                pieces.append(piece)
                if len(pieces) > LARGEST >> 20:
                    raise InputError(f"cannot read `{path}`: over {LARGEST:,} bytes", slug="input")
    except DAMAGE as error:
        raise InputError(f"{path}: not JSON ({describe(error)})", slug="input") from error
    data = b"".join(pieces)
    problem: NotJSON | None = None
    for text in _closed(data):
        try:
            return value_of(text)
        except NotJSON as error:
            problem = problem or error
    raise InputError(f"{path}: not JSON ({problem})", slug="input") from problem


def _closed(data: bytes) -> Iterator[bytes]:
    """Yield the text as it is, then as it is meant."""
    yield data
    text = re.sub(rb'("traceEvents"\s*:\s*\[)\s*,', rb"\1", data, count=1)
    yield text
    for end in (b"]", b"]}"):
        yield text.rstrip().rstrip(b",") + end


@dataclass(frozen=True)
class _Span:
    """A span as the trace has it: times in nanoseconds, and how it ends."""

    entry: JsonObject
    begin: int
    duration: int
    phase: str

    @property
    def category(self) -> str:
        """The category, empty for none."""
        return str(self.entry.get("cat") or "")

    @property
    def arguments(self) -> JsonObject:
        """The arguments, which few spans lack."""
        value = self.entry.get("args")
        return value if isinstance(value, dict) else {}

    @property
    def thread(self) -> tuple[str, str]:
        """The process and thread, as the trace names them."""
        return str(self.entry.get("pid", "")), str(self.entry.get("tid", ""))


class _Trace:
    """The events of one trace."""

    def __init__(self, entries: Sequence[JsonObject], where: str) -> None:
        self._entries = entries
        self._where = where
        self._names: dict[tuple[str, str], str] = {}
        for entry in entries:
            if entry.get("ph") == "M" and entry.get("name") in ("process_name", "thread_name"):
                thread = str(entry.get("tid", "")) if entry["name"] == "thread_name" else ""
                arguments = entry.get("args")
                name = arguments.get("name") if isinstance(arguments, dict) else None
                self._names[str(entry.get("pid", "")), thread] = str(name or "")
        categories = Counter(str(entry.get("cat") or "").lower() for entry in entries)
        self._tools = [tool for category, tool in TOOLS.items() if categories[category]]
        self._is_mxnet = "mxnet" in self._tools or self._has_only_mxnets(categories)
        self._numbers: dict[str, int] = {}

    def profile(self) -> Profile:
        """Return spans, memory over time, and processes."""
        pairs = [(span, self._kind(span)) for span in self._spans()]
        notes: tuple[str, ...] = ()
        if pairs and not any(kind in ("operator", "kernel") for _, kind in pairs):
            pairs, notes = [(span, "operator" if kind else kind) for span, kind in pairs], (ALL_ARE_OPERATORS,)
        events = sorted((self._event(span, kind) for span, kind in pairs if kind), key=in_time)
        readings = tuple(self._readings())
        numbers = {**{event.process: None for event in events}, **{reading.process: None for reading in readings}}
        own = {number: name for name, number in self._numbers.items()}
        tool = {"framework": "mxnet" if self._is_mxnet else ", ".join(self._tools)}
        processes = {number: {**tool, "name": self._names.get((own[number], ""), "")} for number in numbers}
        return Profile(tuple(_in_backward(events)), readings, processes, notes)

    def _has_only_mxnets(self, categories: Mapping[str, int]) -> bool:
        """Whether operators are spans of threads, which only MXNet writes."""
        return bool(categories.get("operator")) and any(
            entry.get("ph") == "B" and entry.get("cat") == "operator" for entry in self._entries
        )

    def _spans(self) -> Iterator[_Span]:
        """Yield all spans that have an end; raises `InputError` for times that are none."""
        opened: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
        for place, entry in enumerate(self._entries):
            phase = entry.get("ph")
            if phase == "X":
                yield _Span(entry, self._time(place, "ts"), self._time(place, "dur") if "dur" in entry else 0, "E")
            elif phase in ("B", "E", "b", "e"):
                keys = ("pid", "tid") if phase in "BE" else ("pid", "cat", "id", "name")
                stack = opened[phase in "be", tuple(str(entry.get(key)) for key in keys)]
                if phase in "Bb":
                    stack.append((place, self._time(place, "ts")))
                elif stack:
                    first, begin = stack.pop()
                    yield _Span(self._entries[first], begin, max(0, self._time(place, "ts") - begin), str(phase))

    def _time(self, place: int, key: str) -> int:
        value = self._entries[place].get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
            raise InputError(f"{self._where}: traceEvents[{place}].{key}: expected microseconds", slug="bad_profile")
        if abs(value) > 100 * LONGEST:
            raise InputError(f"{self._where}: traceEvents[{place}].{key}: {value:g} microseconds", slug="bad_profile")
        return round(value * 1000)

    def _kind(self, span: _Span) -> str:
        """Return the kind of a span; empty for none of a profile's."""
        category, name = span.category.lower(), str(span.entry.get("name", ""))
        if self._is_mxnet:
            return mxnet_names.kind_of_span(name, span.category, span.phase)
        if category in NO_SPANS or name.startswith("$"):  # `$` begins a line of Python in JAX's traces
            return ""
        if name.startswith(STEP):
            return "step"
        if name.startswith(ENGINE):
            return "task"
        if category in CATEGORIES:
            return CATEGORIES[category] if not name.endswith(("_fence_before", "_fence_after")) else ""
        if self._names.get((span.thread[0], ""), "").startswith(("/device:GPU", "/device:TPU")):
            return "kernel"
        return "operator" if any(key in span.arguments for key in INSTRUCTION) else "task"

    def _event(self, span: _Span, kind: str) -> Event:
        name = str(span.entry.get("name", ""))
        process, thread = span.thread
        own = str(span.arguments.get("op_name") or name) if span.category == "Node" else name
        label = self._names.get((process, thread), "") or f"thread {thread}"
        event = Event(own, kind, span.begin, span.duration, self._number(process), label)
        if self._is_mxnet and kind == "operator":
            return replace(event, fused=mxnet_names.is_fused(name), backward=mxnet_names.is_backward(name))
        return replace(event, shapes=_shapes(span.arguments.get("Input Dims"))) if kind == "operator" else event

    def _readings(self) -> Iterator[Reading]:
        """Yield how much memory was held: MXNet's counters, and what PyTorch allocated."""
        for place, entry in enumerate(self._entries):
            arguments = entry.get("args")
            if not isinstance(arguments, dict):
                continue
            process = self._number(str(entry.get("pid", "")))
            if entry.get("ph") == "C":
                for name, size in arguments.items():
                    if name.startswith("Memory: ") and isinstance(size, int):
                        yield Reading(self._time(place, "ts"), process, name.removeprefix("Memory: "), size)
            elif entry.get("name") == "[memory]" and isinstance(size := arguments.get("Total Allocated"), int):
                device = "cpu/0" if arguments.get("Device Type") == 0 else f"gpu/{arguments.get('Device Id', 0)}"
                yield Reading(self._time(place, "ts"), process, device, size)

    def _number(self, process: str) -> int:
        """Return the number of a process: its own, unless the trace calls it by a word; MXNet's are of devices."""
        if self._is_mxnet:
            process = ""
        if process not in self._numbers:
            number = int(process) if re.fullmatch(r"\d{1,10}", process) else len(self._numbers)
            while number in self._numbers.values():
                number += 1
            self._numbers[process] = number
        return self._numbers[process]


def _shapes(value: object) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of inputs as Kineto writes them; one that is no list of sizes is empty."""
    shapes = value if isinstance(value, list) else []
    return tuple(
        tuple(shape) if isinstance(shape, list) and all(type(size) is int for size in shape) else () for shape in shapes
    )


def _in_backward(events: Sequence[Event]) -> list[Event]:
    """Return the spans, operators that PyTorch's autograd engine ran as those of a backward."""
    above = parents(events)
    backward: list[bool] = []
    for place, event in enumerate(events):
        outer = above[place]
        backward.append(event.name.startswith(ENGINE) or (outer is not None and backward[outer]))
    return [
        replace(event, backward=True) if is_within and event.kind == "operator" else event
        for event, is_within in zip(events, backward)
    ]
