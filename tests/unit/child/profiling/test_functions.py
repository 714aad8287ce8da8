"""The functions that MXNet's users know, on a framework that is not MXNet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opperf import profiler
from opperf.child.backends.null.watcher import hold, span, spend
from opperf.child.profiling import functions
from opperf.domain.errors import InputError, ProfilerError


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which nothing was configured, and nothing stays on."""
    monkeypatch.setattr(functions, "_config", functions.Config())
    monkeypatch.setattr(functions, "_one", None)
    yield
    if functions._one is not None and not functions._one.idle:
        profiler.set_state("stop")


def call(name: str, nanoseconds: int = 1_000_000, **details: Any) -> None:
    """Run one operator that takes a millisecond."""
    with span(name, **details):
        spend(nanoseconds)


def summary(**options: bool) -> dict[str, Any]:
    """Return the summary as a document."""
    result: dict[str, Any] = json.loads(profiler.get_summary(**options))
    return result


def test_a_summary_is_of_what_ran_since_the_last_reset() -> None:
    profiler.set_config(profile_all=True, framework="null")
    profiler.set_state("run")
    call("relu")
    hold(40)
    profiler.set_state("stop")
    first = summary()
    assert first["Time"]["operator"]["relu"] == {"Count": 1, "Total": 1.0, "Min": 1.0, "Max": 1.0, "Avg": 1.0}
    assert first["Memory"] == {"cpu/0": {"Allocations": 1, "Total Bytes Allocated": 40, "Peak Bytes": 40}}
    assert summary(reset=True) == first
    assert summary()["Time"] == {}


def test_dumps_are_the_table_or_the_summary() -> None:
    profiler.set_config(framework="null")
    profiler.set_state("run")
    call("relu")
    profiler.set_state("stop")
    assert profiler.dumps().splitlines()[2].split()[:2] == ["relu", "1"]
    assert json.loads(profiler.dumps(format="json")) == summary()
    assert profiler.dumps(True, "table")
    assert profiler.dumps().splitlines()[2:] == []


def test_a_dump_is_a_trace_in_the_configured_file(tmp_path: Path) -> None:
    profiler.set_config(framework="null", filename=str(tmp_path / "trace.json"))
    profiler.set_state("run")
    call("relu")
    profiler.set_state("stop")
    profiler.dump()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events if event["ph"] == "X"] == ["relu"]


def test_what_is_paused_is_not_seen() -> None:
    profiler.set_config(framework="null")
    profiler.set_state("run")
    call("first")
    profiler.pause()
    call("second")
    profiler.resume()
    call("third")
    profiler.set_state("stop")
    assert list(summary()["Time"]["operator"]) == ["first", "third"]


def test_mxnets_words_say_what_is_seen() -> None:
    details = {"allocated": 8, "peak": 8}
    seen = []
    for word in ("profile_imperative", "profile_memory", "profile_all"):
        profiler.set_config(framework="null", **{word: True})  # type: ignore[arg-type]
        profiler.set_state("run", "worker")
        call("relu", **details)
        call("call", kind="api")
        profiler.set_state("stop", "worker")
        seen.append((sorted(summary()["Time"]), "allocated" in profiler.dumps()))
    assert seen == [(["operator"], False), (["operator"], True), (["api", "operator"], True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["set_state stop"], "the profiler was not started"),
        (["pause"], "the profiler was not started"),
        (["set_state run", "set_state run"], "the profiler is already running"),
        (["set_state run", "dump"], "the profiler is still running"),
        (["set_state run", "dumps"], "the profiler is still running"),
        (["set_state run", "get_summary"], "the profiler is still running"),
        (["set_state run", "reset"], "the profiler is still running"),
        (["set_state run", "resume"], "the profiler is not paused"),
        (["set_state run", "set_config"], "the profiler is not stopped, so it cannot be configured"),
    ],
)
def test_what_comes_at_the_wrong_time_is_refused(words: list[str], message: str) -> None:
    profiler.set_config(framework="null")
    *before, last = [word.split() for word in words]
    for name, *arguments in before:
        getattr(profiler, name)(*arguments)
    name, *arguments = last
    with pytest.raises(ProfilerError, match=message):
        getattr(profiler, name)(*arguments)


@pytest.mark.parametrize(
    ("attempt", "slug"),
    [
        (lambda: profiler.set_state("start"), "unknown_state"),
        (lambda: profiler.dumps(format="xml"), "unknown_format"),
        (lambda: profiler.dumps(False, "table", "avg"), "unknown_setting"),
        (lambda: profiler.set_state("run", profile_process="server"), "unknown_setting"),
        (lambda: profiler.set_config(framework="null", continuous_dump=True), "unknown_setting"),
        (lambda: profiler.set_config(framework="caffe"), "unknown_framework"),
    ],
)
def test_what_is_not_known_is_refused(attempt: Any, slug: str) -> None:
    profiler.set_config(framework="null")
    with pytest.raises(InputError) as refused:
        attempt()
    assert refused.value.slug == slug


def test_a_setting_with_a_typing_error_is_told_with_the_one_that_is_meant() -> None:
    with pytest.raises(InputError, match="no setting `profile_al`") as refused:
        profiler.set_config(framework="null", profile_al=True)
    assert "`profile_all`" in str(refused.value.hint)


def test_a_script_may_configure_before_it_imports_its_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opperf.child.profiling.recording.WATCHED", ())
    profiler.set_config(profile_all=True)
    with pytest.raises(ProfilerError, match="no framework is imported"):
        profiler.set_state("run")
    monkeypatch.setattr("opperf.child.profiling.recording.WATCHED", ("null",))
    profiler.set_state("run")
    call("relu")
    profiler.set_state("stop")
    assert list(summary()["Time"]["operator"]) == ["relu"]


def test_what_nobody_has_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        profiler.missing  # noqa: B018
    assert all(getattr(profiler, name) is not None for name in profiler.__all__)
