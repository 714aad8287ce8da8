"""Profiles are joined: in the order of time, and with what each says of a process."""

from __future__ import annotations

from opperf.domain.profile.event import Event, Profile, Reading, merge


def test_spans_and_readings_of_several_profiles_are_in_the_order_of_time() -> None:
    first = Profile((Event("late", "operator", 9, 1, 1, "main"),), (Reading(9, 1, "cpu/0", 4),))
    second = Profile((Event("early", "operator", 2, 1, 2, "main"),), (Reading(3, 2, "cpu/0", 8),))
    joined = merge([first, second])
    assert [event.name for event in joined.events] == ["early", "late"]
    assert [reading.size for reading in joined.readings] == [8, 4]


def test_a_process_of_two_frameworks_is_of_both_however_often_it_is_joined() -> None:
    torch = Profile(processes={7: {"framework": "torch", "version": "2.13.0", "command": "a.py, b"}})
    jax = Profile(processes={7: {"framework": "jax", "version": "0.10.2", "command": "a.py, b"}})
    joined = merge([merge([torch, jax]), torch])
    assert joined.processes == {7: {"framework": "torch, jax", "version": "2.13.0, 0.10.2", "command": "a.py, b"}}


def test_a_note_of_several_stands_once() -> None:
    assert merge([Profile(notes=("no shapes",)), Profile(notes=("no shapes", "fused"))]).notes == ("no shapes", "fused")
