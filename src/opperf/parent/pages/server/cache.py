"""What was made is kept: a page until anything is written into the database, and what is of runs alone for good.

A page has a tag of what it says, so that a browser which has it already gets a word and no page. Visitors who ask for
the same page at the same time get one that was made once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from hashlib import sha256
from threading import Lock
from typing import Generic, TypeVar

from starlette.responses import Response

from opperf.domain.dataclass import dataclass

Value = TypeVar("Value")
#: The pages that a process keeps, and the bytes of the largest of them.
PAGES, LARGEST = 64, 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """What a page says, as which media type, and its title where that stands apart."""

    body: bytes
    kind: str
    status: int = 200
    title: str = ""

    @property
    def tag(self) -> str:
        """What a browser tells the page by; weak, since packed or not it says the same."""
        return f'W/"{sha256(self.body).hexdigest()[:32]}"'

    def response(self, tags: str | None) -> Response:
        """Return the page, or that it is the one that the browser has, where its tag is among these."""
        tag = self.tag
        if self.status == 200 and tag.removeprefix("W/") in (tags or ""):
            return Response(status_code=304, headers={"ETag": tag})
        return Response(self.body, self.status, {"ETag": tag}, self.kind)


class Cache(Generic[Value]):
    """What was made of things that change rarely: what was asked for last, each with the stamp of what it was made of.

    Only what is `small` is kept.
    """

    def __init__(self, most: int, small: Callable[[Value], bool] = lambda _: True) -> None:
        self._most, self._small = most, small
        self._values: OrderedDict[Hashable, tuple[Hashable, Future[Value]]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, stamp: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key; it is made where there is none, or one that was made under another stamp.

        The stamp is read before anything else is: what is kept may be newer than it says, and never older.
        """
        with self._lock:
            former, value = self._values.get(key, (None, None))
            is_new = value is None or former != stamp
            if value is None or is_new:
                value = Future()
            self._values[key] = stamp, value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        if is_new:
            try:
                value.set_result(make())
            except BaseException as error:
                value.set_exception(error)
            if value.exception() is not None or not self._small(value.result()):
                self._forget(key, value)
        return value.result()

    def _forget(self, key: Hashable, value: Future[Value]) -> None:
        with self._lock:
            if self._values.get(key, (None, None))[1] is value:
                del self._values[key]
