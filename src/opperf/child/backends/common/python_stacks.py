"""Which Python functions called what a profiler saw: each thread's calls over time, in a few bytes each.

A profile function (`sys.setprofile`) notes when a Python function is entered and left, and nothing more: a time and a
pointer to its code. Where that leads in the tree of calls is found afterwards. So a program that imports large
libraries, or calls Python millions of times between two operators, costs 16 bytes a moment.

The program's own profile function (a debugger's, `cProfile`'s) goes first: from then on that thread is not followed.
Before Python 3.12 threads that ran already are not either.
"""

from __future__ import annotations

import os
import site
import sys
import threading
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, TypeAlias

Follower: TypeAlias = Callable[[FrameType, str, Any], object]

#: Lines to keep at each end of a longer stack.
MOST = 100
#: Bytes of a moment: its time, the pointer to its code, and later its place.
MOMENT = 20
#: The number of calls made to measure what following one call costs.
PROBE = 2000
#: The place outside of every function, and of what is not known.
NOWHERE = 0
PROFILE_FUNCTION_SET = "the script set its own profile function, so later Python lines of its thread are missing"


class Moments:
    """When functions of one thread were entered, and left (a time below zero); `None` where no more is known."""

    def __init__(self, frame: FrameType | None) -> None:
        self.times = array("q")
        self.codes: list[CodeType | None] = []
        begin = time.time_ns()
        for code in reversed(_codes(frame)):
            self.times.append(begin)
            self.codes.append(code)

    def lose(self) -> None:
        """Note that nothing more is known."""
        self.times.append(time.time_ns())
        self.codes.append(None)


class Tree:
    """All places that calls led to, each by what called it and its code, and the lines that lead there."""

    def __init__(self) -> None:
        self._callers = [NOWHERE]
        self._codes: list[CodeType | None] = [None]
        self._depths = [0]
        self._tops = [NOWHERE]  # the place that is as deep as lines are told of the outer end
        self._places: dict[tuple[int, int], int] = {}
        self._line = lru_cache(None)(_Line())

    def enter(self, caller: int, code: CodeType) -> int:
        """Return the place that a call leads to."""
        key = caller, id(code)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._callers)
            self._callers.append(caller)
            self._codes.append(code)
            self._depths.append(self._depths[caller] + 1)
            self._tops.append(place if self._depths[place] <= MOST else self._tops[caller])
        return place

    def return_place(self, place: int, code: CodeType) -> int:
        """Return the place that a function returns to; what was not seen to return before it is left as well."""
        outer = place
        while outer != NOWHERE and self._codes[outer] is not code:
            outer = self._callers[outer]
        return place if outer == NOWHERE else self._callers[outer]

    def lines(self, place: int) -> tuple[str, ...]:
        """Return the lines that lead to a place, the innermost first, of very many those at both ends."""
        left_out = self._depths[place] - 2 * MOST
        if left_out <= 0:
            return tuple(self._walk_up(place, 2 * MOST))
        return (*self._walk_up(place, MOST), f"... {left_out} more calls", *self._walk_up(self._tops[place], MOST))

    def _walk_up(self, place: int, most: int) -> Iterator[str]:
        while place != NOWHERE and most:
            code = self._codes[place]
            if code is not None:
                yield self._line(code)
            place, most = self._callers[place], most - 1


class _Line:
    """Writes where a function begins as PyTorch's own stacks do: without the folders that modules are imported from."""

    def __init__(self) -> None:
        folders = {os.path.abspath(one) + os.sep for one in (*sys.path, *site.getsitepackages(), os.getcwd())}
        self._folders = sorted(folders, key=len, reverse=True)

    def __call__(self, code: CodeType) -> str:
        file = code.co_filename
        folder = next((one for one in self._folders if file.startswith(one)), "")
        return f"{file[len(folder) :]}({code.co_firstlineno}): {code.co_name}"


class Stacks:
    """The lines that called, by thread and time, once it is over."""

    def __init__(self, threads: Mapping[int, Sequence[Moments]]) -> None:
        tree = Tree()
        self._lines = lru_cache(None)(tree.lines)
        self._threads = {number: [_read(tree, one) for one in several] for number, several in threads.items()}

    def at(self, thread: int, when: int) -> tuple[str, ...]:
        """Return the lines that called what ran in a thread (the system's number) at a time, the innermost first."""
        for times, places in reversed(self._threads.get(thread, [])):
            if times and times[0] <= when:
                return self._lines(places[bisect_right(times, when) - 1])
        return ()


def _read(tree: Tree, moments: Moments) -> tuple[array[int], array[int]]:
    """Return times and the places that they led to; the moments are used up by it."""
    times, places = moments.times, array("i")
    place = NOWHERE
    for number, (when, code) in enumerate(zip(times, moments.codes)):
        if code is None:
            place = NOWHERE
        elif when >= 0:
            place = tree.enter(place, code)
        else:
            place = tree.return_place(place, code)
            times[number] = -when
        places.append(place)
    moments.codes.clear()
    del times[len(places) :]  # an interrupt may come between a time and its code
    return times, places


class PythonCalls:
    """Follows the calls of Python functions between `start` and `stop`, which come in turn."""

    def __init__(self) -> None:
        self._threads: dict[int, list[Moments]] = {}
        self._first: Follower = _nothing
        self._over = True
        self.has_rival = False

    @property
    def size(self) -> int:
        """About how many bytes all that is."""
        return MOMENT * sum(len(one.times) for several in list(self._threads.values()) for one in list(several))

    def start(self) -> None:
        """Follow this thread, and those that begin from now on."""
        _watch_changes()
        _running.append(self)
        self._over = False
        self._first = self._first_event
        if threading.getprofile() is None:
            threading.setprofile(self._first)
        if sys.getprofile() is not None:
            self.has_rival = True
            return
        everywhere = getattr(threading, "setprofile_all_threads", None)
        if everywhere is not None:
            everywhere(self._first)
        else:
            sys.setprofile(self._first)

    def stop(self) -> None:
        """Follow no more; another thread finds out when a function of it returns."""
        if self not in _running:
            return
        _running.remove(self)
        self._over = True
        if threading.getprofile() == self._first:
            threading.setprofile(None)
        present = sys.getprofile()
        if present == self._first or getattr(present, "owner", None) is self:
            _set(None)

    @property
    def spent(self) -> float:
        """About how many seconds of processors following took, C functions not counted: as few calls cost now."""
        calls = self.size / MOMENT / 2
        plain = _time_of_calls()
        twin = PythonCalls()
        twin._over = False
        present: Any = sys.getprofile()
        _set(twin._follower(None))
        try:
            call_time = _time_of_calls()
        finally:
            _set(present)
        return calls * max(0.0, call_time - plain) / PROBE

    def take(self) -> Stacks:
        """Return the stacks seen since the last time; only while stopped."""
        threads, self._threads = self._threads, {}
        return Stacks(threads)

    def _first_event(self, frame: FrameType, event: str, argument: Any) -> None:
        """Begin to follow the thread that this is called in."""
        if self._over:
            _set(None)
            return
        follower = self._follower(frame.f_back if event == "call" else frame)
        _set(follower)
        follower(frame, event, argument)

    def _follower(self, frame: FrameType | None) -> Follower:
        moments = Moments(frame)
        self._threads.setdefault(threading.get_native_id(), []).append(moments)
        # This runs at each call of Python, so that it looks nothing up twice.
        now, note_time, note_code = time.time_ns, moments.times.append, moments.codes.append

        def follow(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call":
                note_time(now())
                note_code(frame.f_code)
            elif event == "return":
                note_time(-now())
                note_code(frame.f_code)
                if self._over:
                    _set(None)

        def lose() -> None:
            moments.lose()
            self.has_rival = True

        follow.owner = self  # type: ignore[attr-defined]
        follow.lose = lose  # type: ignore[attr-defined]
        return follow


def _time_of_calls() -> float:
    """Return the seconds of processor that some calls of a function that does nothing take."""
    begin = time.thread_time()
    for _ in range(PROBE):
        _nothing(None, "", None)
    return time.thread_time() - begin


def _codes(frame: FrameType | None) -> list[CodeType]:
    """Return the functions that are being called, the innermost first."""
    codes = []
    while frame is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes


#: Those that are between their start and their stop.
_running: list[PythonCalls] = []
#: Whether this module is setting a profile function, by thread.
_setting = threading.local()
_watching = False


def _nothing(frame: FrameType | None, event: str, argument: Any) -> None:
    """Follow nothing."""


def _set(follower: Follower | None) -> None:
    _setting.own = True
    try:
        sys.setprofile(follower)
    finally:
        _setting.own = False


def _watch_changes() -> None:
    """Call back when the program sets a profile function. Python has no way to stop listening."""
    global _watching
    if not _watching:
        _watching = True
        sys.addaudithook(_on_change)
        os.register_at_fork(after_in_child=_running.clear)


def _on_change(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "sys.setprofile" and _running and not getattr(_setting, "own", False):
        lose = getattr(sys.getprofile(), "lose", None)
        if lose is not None:
            lose()
