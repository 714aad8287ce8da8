"""Whatever a file holds is read as it was written: cases, outcomes and records of any content."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from opperf.domain.case import Argument, Case, Device, DType, Graph, ListOf
from opperf.domain.measurement import Measurement, Outcome, Quantity, Sample, Samples
from opperf.domain.metric import METRICS
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import STATUSES, Reason, Warning
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.tensor import ITEM_SIZES, STRING, TensorSpec

TEXT = st.text(max_size=8)
NAMES = st.text("abcdefg_", min_size=1, max_size=4)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
AMOUNTS = st.floats(0, allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 2**63)
BOUNDS = st.tuples(FINITE, FINITE)


@st.composite
def specs(draw: st.DrawFn) -> TensorSpec:
    shape = tuple(draw(st.lists(st.integers(0, 2**40), max_size=4)))
    strides = st.none() | st.tuples(*[st.integers(-(2**40), 2**40)] * len(shape))
    return TensorSpec(
        shape,
        draw(st.sampled_from(sorted(ITEM_SIZES))),
        draw(strides),
        draw(st.sampled_from(["uniform", "zeros", "ones"])),
        draw(st.none() | BOUNDS),
        draw(st.none() | st.booleans()),
    )


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
ARGUMENTS: st.SearchStrategy[Argument] = st.recursive(
    SCALARS
    | specs()
    | st.lists(TEXT, max_size=3).map(lambda texts: TensorSpec((len(texts),), STRING, literal=tuple(texts)))
    | st.sampled_from(sorted(ITEM_SIZES)).map(DType)
    | TEXT.map(Device)
    | st.binary(max_size=4).map(Graph),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3).map(tuple).map(ListOf),
    max_leaves=5,
)
CASES = st.builds(
    Case, TEXT, st.dictionaries(NAMES, ARGUMENTS, max_size=2), st.dictionaries(NAMES, ARGUMENTS, max_size=2)
)
SIDES = st.builds(
    Side,
    framework=TEXT,
    environment=TEXT,
    threads=st.integers(1, 64),
    implementation=st.none() | TEXT,
    settings=st.dictionaries(NAMES, TEXT, max_size=2),
)
TRIALS = st.builds(Trial, CASES, SIDES, st.sampled_from(["forward", "backward"]), TEXT)
WARNINGS = st.builds(Warning, TEXT, TEXT, st.none() | TEXT)
WORDS = st.none() | TEXT
REASONS = st.builds(Reason, TEXT, TEXT, WORDS, WORDS, WORDS, WORDS, WORDS)


@st.composite
def samples(draw: st.DrawFn) -> Samples:
    waits, device = draw(st.booleans()), draw(st.booleans())
    one = st.builds(
        Sample,
        calls=st.integers(1, 1000),
        wall_ns=COUNTS,
        cpu_ns=COUNTS,
        switches=COUNTS,
        faults=COUNTS,
        waiting_ns=COUNTS if waits else st.none(),
        device_ns=COUNTS if device else st.none(),
        clean=st.booleans(),
        voluntary=COUNTS,
    )
    return Samples(tuple(draw(st.lists(one, min_size=1, max_size=4))), draw(FINITE))


FACTS = st.dictionaries(NAMES, SCALARS, max_size=2)
NUMBERS = dict.fromkeys(("memory_peak", "compile_time", "energy"), st.builds(Quantity, FINITE, WORDS))
MEASUREMENTS = st.builds(
    Measurement,
    metrics=st.fixed_dictionaries({"time": samples()}, optional={"latency": samples(), **NUMBERS}),
    facts=FACTS,
    warnings=st.lists(WARNINGS, max_size=2).map(tuple),
    spent=st.dictionaries(NAMES, FINITE, max_size=2),
)
OUTCOMES = st.builds(Outcome, TRIALS, st.integers(0, 9), st.just("ok"), MEASUREMENTS, st.none(), WORDS) | st.builds(
    Outcome, TRIALS, st.integers(0, 9), st.sampled_from(STATUSES[1:]), st.none(), REASONS, WORDS
)
STATISTICS = st.builds(
    Statistics,
    *[AMOUNTS] * 7,
    interval=st.none() | BOUNDS,
    interval_reason=WORDS,
    precision=st.none() | FINITE,
    samples=COUNTS,
    calls_per_sample=COUNTS,
    discarded=COUNTS,
    processes=COUNTS,
    sync=WORDS,
    cache=WORDS,
    clock=st.sampled_from(["wall", "cpu"]),
)
RECORDS = st.builds(
    Record,
    TRIALS,
    st.sampled_from(STATUSES),
    REASONS,
    st.dictionaries(st.sampled_from(sorted(METRICS)), STATISTICS | st.builds(Quantity, FINITE, WORDS), max_size=3),
    st.lists(WARNINGS, max_size=2).map(tuple),
    FACTS,
    st.dictionaries(NAMES, st.lists(samples().map(Samples.to_json), max_size=2), max_size=2),
)


def through_json(content: Any) -> Any:
    """Return what a file would hold."""
    return json.loads(json.dumps(content, separators=(",", ":")))


@given(CASES)
def test_a_case_is_read_with_its_content_and_id(case: Case) -> None:
    read = Case.from_json(through_json(case.to_json()))
    assert (read, read.id) == (case, case.id)


@given(TRIALS)
def test_a_trial_is_read_with_its_key(trial: Trial) -> None:
    read = Trial.from_json(through_json(trial.to_json()))
    assert (read, read.key) == (trial, trial.key)


@given(OUTCOMES)
def test_an_outcome_is_read_as_it_was_written(outcome: Outcome) -> None:
    assert Outcome.from_json(through_json(outcome.to_json())) == outcome


@given(RECORDS)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    assert Record.from_json(through_json(record.to_json())) == record


@given(st.lists(RECORDS, max_size=2), st.dictionaries(NAMES, TEXT, max_size=2))
def test_a_run_is_read_as_it_was_written(records: list[Record], labels: dict[str, str]) -> None:
    run = Run("r1", "2026-11-21", ("opperf", "run"), Settings(runs=3), labels, {"machine": {}}, tuple(records))
    assert Run.from_json(through_json(run.to_json())) == run
