"""Why a candidate fails: what is seen of its process and of its results becomes evidence, and that a verdict."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, pairwise
from pathlib import Path

from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure, OpperfError, WorkerFailure
from opperf.domain.judging import PAGE, bytes_of, extent, overlaps
from opperf.domain.message.replies import Inspection, Outlined
from opperf.domain.problem import WrongWeights
from opperf.domain.tensor import ITEM_SIZES
from opperf.domain.units import plural
from opperf.parent.documents.candidates import STAGES, Evidence
from opperf.parent.measuring.judge.bench import RESULT_BYTES, Bench
from opperf.parent.measuring.judge.seat import Seat, Turned

#: What no honest function does, whatever it computes.
CHEATING = frozenset({"works_after_return", "extra_cpu", "exits", "forged_messages", "forbidden", "disturbs"})
#: How long a stand may go on whose result was wrong, in seconds: is it right then? Where threads of it stood ready to
#: run for more than a share of that, without a CPU, it may go on once more, some times.
LATER, READY, LOOKS = 0.05, 0.1, 20
#: What a failure of the child itself means.
DEATHS: Mapping[str, str] = {
    "exit": "exits", "protocol": "forged_messages", "timeout": "timeout", "crash": "fails",
    "works_after_return": "works_after_return",
}  # fmt: skip
#: How far apart the elements of a result may lie, for what it holds: views of something larger do.
MOST_SPREAD = 64
#: Of inspections: what is wrong with a result that looks like nothing in particular.
PLAIN = "wrong_values"
#: And of those what a result may look like that is no result: there the process says more.
UNTOLD = (PLAIN, "copies_an_input")
#: Characters of a name that is a candidate's own.
LONGEST = 80
#: What a message of Python names: a module, or a file.
QUOTED = re.compile(r"'([^'\n]{1,500})'")


class Failing(OpperfError):
    """A candidate fails, for this reason."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__(evidence.message, slug=evidence.slug)
        self.evidence = evidence


def verdict_of(evidence: Evidence) -> str:
    """Return the verdict that evidence against a candidate makes."""
    return "cheats" if evidence.slug in CHEATING else "wrong"


def failure_of(error: OpperfError, stage: str, case: Case | None) -> Failing:
    """Turn an error in the process of a candidate into evidence against it; raises the error where it is none."""
    if isinstance(error, Failing):
        return error
    message, _, _ = error.message.partition("\n")
    if isinstance(error, OperatorFailure):
        slug = "changes_inputs" if "read-only" in message else "load" if stage == "load" else "fails"
        slug = "other_problem" if error.reason.exception == WrongWeights.__name__ else slug
        # Of some exceptions the text alone tells nothing: `KeyError("x")` is `'x'`.
        if slug == "fails" and error.reason.exception not in (None, "SystemExit", message):
            message = f"{error.reason.exception}: {message}"
        if slug == "changes_inputs":
            message = f"it writes to its inputs, which are read-only: {message}"
        return Failing(Evidence(slug, message, stage, case))
    if isinstance(error, WorkerFailure):
        slug = "forbidden" if error.signal == "SIGSYS" else DEATHS.get(error.slug, "fails")
        if slug == "forbidden":
            message = "it made a system call that the room forbids, which ended it (SIGSYS)"
        details: dict[str, object] = {"stderr": error.stderr} if error.stderr else {}
        return Failing(Evidence(slug, message, stage, case, details))
    raise error


def check_outlines(bench: Bench, seat: Seat, stage: str) -> None:
    """Raise `Failing` where results do not lie as those of the reference do, but for their strides."""

    def failing(slug: str, text: str) -> Failing:
        return Failing(Evidence(slug, text, stage, bench.case))

    mine, others = seat.outlines, bench.outlines
    if not mine and others and seat.kind.isidentifier():
        text = f"it returns `{seat.kind[:LONGEST]}`, which holds no tensor of {bench.trial.side.framework}"
        raise failing("other_type", text)
    if len(mine) != len(others):
        raise failing("other_shape", f"it returns {plural(len(mine), 'tensor')}, and the reference {len(others)}")
    for place, (outline, expected) in enumerate(zip(mine, others)):
        if outline.shape != expected.shape:
            shapes = f"{list(outline.shape)}, and {list(expected.shape)} in the reference"
            raise failing("other_shape", f"tensor {place} has the shape {shapes}")
        if outline.dtype != expected.dtype:
            raise failing(
                "other_type", f"tensor {place} is of {outline.dtype}, and of {expected.dtype} in the reference"
            )
        (_, size), (_, usual) = (extent(one.shape, one.strides, ITEM_SIZES[one.dtype]) for one in (outline, expected))
        most = min(MOST_SPREAD * (PAGE + max(usual, bytes_of(expected))), RESULT_BYTES // len(others))
        if len(outline.strides) != len(outline.shape) or size > most:
            raise failing("forged_messages", f"tensor {place} lies with strides of {list(outline.strides)} bytes")
        if overlaps(outline) and not overlaps(expected):
            steps = f"tensor {place} lies with strides of {list(outline.strides)} bytes"
            raise failing("outputs_share_memory", f"{steps}: elements share memory, and none of the reference do")


def layout_remarks(bench: Bench, seat: Seat) -> Iterator[Evidence]:
    """Yield a remark on each tensor of a result whose elements lie in another order than the reference's."""
    for place, (outline, expected) in enumerate(zip(seat.outlines, bench.outlines)):
        if _order(outline) != _order(expected):
            steps = f"tensor {place} lies with strides of {list(outline.strides)} bytes"
            text = f"{steps}, and of {list(expected.strides)} in the reference: who reads it in order pays for that"
            yield Evidence("other_layout", text, "size", bench.case)


def _order(outline: Outlined) -> list[tuple[int, bool]]:
    """Return the axes of a tensor from the longest step to the shortest, each with whether it leads backwards."""
    steps = [(axis, step) for axis, (step, size) in enumerate(zip(outline.strides, outline.shape)) if size > 1]
    return [(axis, step < 0) for axis, step in sorted(steps, key=lambda one: -abs(one[1]))]


def check_places(bench: Bench, seat: Seat, turned: Turned, stage: str) -> None:
    """Raise `Failing` where a result of a turn lies in an input, and none of the reference does."""
    if not any(one.in_input for one in bench.outlines) and seat.lies_in_inputs(turned):
        text = "a result lies in the memory of an input, and changes with it; the reference's has memory of its own"
        raise Failing(Evidence("outputs_share_memory", text, stage, bench.case))


def inspect(bench: Bench, seat: Seat, turned: Turned, place: int, slot: int, stage: str, call: int) -> None:
    """Raise `Failing` where the result of one call of a turn is not that of the reference.

    `call` counts the calls of this process, for who reads the message.
    """
    if len(turned.addresses) < (place + 1) * len(seat.outlines):
        text = f"it says that it has made {len(turned.addresses)} calls, and was asked for more"
        raise Failing(Evidence("forged_messages", text, stage, bench.case))
    try:
        inspection = bench.inspect(seat, turned, place, slot)
    except WorkerFailure as error:
        if error.slug != "unreadable":
            raise
        raise Failing(
            Evidence("forged_messages", f"its results are not where it says: {error.message}", stage, bench.case)
        ) from error
    if not inspection.wrong:
        return
    slug, text = inspection.slug, inspection.wrong
    if _share_memory(turned.addresses, [bytes_of(one) for one in seat.outlines]):
        slug, text = "outputs_share_memory", f"{text}: calls return the same memory"
    elif (later := _right_later(bench, seat, turned, place, slot)) is not None:
        slug, text = "works_after_return", f"{text}. {later * 1000:.0f} ms after it had returned, it was right"
    elif slug in UNTOLD and (kind := next((one.kind for one in seat.outlines if one.kind.isidentifier()), "")):
        slug, text = "other_type", f"{text}. It is of the class `{kind[:LONGEST]}`, which is not the framework's own"
    elif slug in UNTOLD and seat.lies_in_inputs(turned, place):
        slug, text = "outputs_share_memory", f"{text}. It lies in the memory of an input"
    elif slug == PLAIN and _changes(seat, slot):  # it lets go of the result
        slug, text = "unwritten", f"{text}. Called again with the same values, it returns others"
    where = f"timed call {call}" if stage == "timed" else f"call {call} {STAGES[stage]}"
    raise Failing(Evidence(slug, f"wrong result in {where}: {text}", stage, bench.case, inspection.details))


def _share_memory(addresses: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether results of several calls overlap; each call has as many tensors as there are sizes."""
    spans = sorted((start, size) for start, size in zip(addresses, cycle(sizes)) if size)
    return any(start + size > after for (start, size), (after, _) in pairwise(spans))


def _changes(seat: Seat, slot: int) -> bool:
    """Whether two calls with the same values return different bytes: what nobody has written is what was there."""
    seat.line_up((slot, slot))
    turned = seat.go()
    spans = [extent(one.shape, one.strides, ITEM_SIZES[one.dtype])[1] for one in seat.outlines]
    copies = [bytearray(sum(spans)) for _ in range(2)]
    for place, copy in enumerate(copies):
        seat.copy(turned, place, memoryview(copy))
    return copies[0] != copies[1]


def _right_later(bench: Bench, seat: Seat, turned: Turned, place: int, slot: int) -> float | None:
    """Return after how many seconds a result that was wrong is right; None where it stays wrong."""
    freezer = seat.freezer
    for looks in range(LOOKS):
        waiting = freezer.waiting_ns()
        freezer.thaw()
        time.sleep(LATER)
        freezer.freeze()
        later: Inspection = bench.inspect(seat, turned, place, slot)
        if not later.wrong:
            return (looks + 1) * LATER
        if freezer.waiting_ns() - waiting < READY * LATER * 1e9:
            break
    return None


def missing_file(failing: Failing, file: Path) -> Failing:
    """Return the failure of a candidate that misses what lies beside its file, which its room does not hold."""
    for name in QUOTED.findall(failing.message) if failing.slug in ("load", "fails") else ():
        folder = file.absolute().parent
        places = (folder / name, folder / f"{name.partition('.')[0]}.py")
        missed = next((path for path in places if path.parent == folder and path.is_file()), None)
        if missed is not None and missed.name != file.name:
            text = f"`{missed.name}` lies beside it, and its room has its own file alone: make the folder a package"
            return Failing(replace(failing.evidence, message=f"{failing.message}. {text} (`__init__.py`)"))
    return failing


def failing_at_first(failing: Failing, remarks: Sequence[Evidence]) -> Failing:
    """Return the failure of a candidate that raises at each size: at the smallest, of which a remark was made."""
    first = next((one for one in remarks if one.stage == "tiny"), None)
    return failing if first is None or failing.slug != "fails" else Failing(replace(first, slug="fails"))


def with_slug(failing: Failing, slug: str, text: str = "") -> Failing:
    """Return a failure that is known better by now, where its result looked like nothing in particular."""
    evidence = failing.evidence
    if evidence.slug != PLAIN:
        return failing
    return Failing(replace(evidence, slug=slug, message=f"{evidence.message}{text}"))
