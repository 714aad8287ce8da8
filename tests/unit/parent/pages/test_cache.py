"""What a server keeps: made once for all who ask, anew where the stamp is another, and not kept where it failed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from opperf.parent.pages.server.cache import Answer, Cache


def test_visitors_who_ask_at_the_same_time_get_what_was_made_once() -> None:
    cache, several, made = Cache[int](8), Barrier(4), Event()
    calls: list[int] = []

    def make() -> int:
        calls.append(1)
        made.wait(60)
        return len(calls)

    def ask(_: int) -> int:
        several.wait(60)
        return cache.get("page", "stamp", make)

    with ThreadPoolExecutor(4) as visitors:
        answers = [visitors.submit(ask, number) for number in range(4)]
        made.set()
        assert [answer.result() for answer in answers] == [1] * 4


def test_another_stamp_has_it_made_anew_and_those_asked_for_longest_ago_go_first() -> None:
    cache = Cache[str](2)
    for key, stamp, expected in (("a", 1, "a1"), ("a", 1, "a1"), ("a", 2, "a2"), ("b", 2, "b2"), ("a", 2, "a2")):
        assert cache.get(key, stamp, lambda: f"{key}{stamp}") == expected  # noqa: B023
    cache.get("c", 2, lambda: "c2")  # `b` goes, since `a` was asked for after it
    assert cache.get("a", 2, lambda: "made again") == "a2"
    assert cache.get("b", 2, lambda: "made again") == "made again"


def test_what_failed_or_is_large_is_made_again() -> None:
    cache = Cache[str](8, small=lambda text: len(text) < 5)

    def fail() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.get("page", 1, fail)
    assert cache.get("page", 1, lambda: "longer") == "longer"
    assert cache.get("page", 1, lambda: "short"[:4]) == "shor"
    assert cache.get("page", 1, fail) == "shor"


def test_a_browser_that_has_a_page_gets_none() -> None:
    answer = Answer(b"a page", "text/html")
    tag = answer.response(None).headers["etag"]
    assert answer.response(f'"other", {tag}').status_code == 304
    assert answer.response(tag.removeprefix("W/")).body == b""
    assert answer.response('"other"').body == b"a page"
    assert Answer(b"an error", "text/html", 404).response(Answer(b"an error", "text/html").tag).status_code == 404
